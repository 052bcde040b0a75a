"""What storage does to maps: nothing that a measure can see. Peaks stay in their places, energies have one scale, old runs
keep their maps."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays
from torch import nn

import snellen
from snellen.data import Dataset, from_arrays
from snellen.distort.salient import as_bytes
from snellen.engine import MapRequest
from snellen.engine.keep.store import Store
from snellen.engine.requests.map import bind_map
from snellen.engine.settings import Settings
from snellen.explain import gradcam
from snellen.explain.feature_grid import as_words, enlarge
from snellen.explain.methods import METHODS, Method
from snellen.measure import effective_heat_ratio, energy_gain, energy_pointing_game, pointing_game, wsol_iou
from snellen.models import Model, from_torch
from snellen.models.subject import Subject

from .backward import counting

SIDE, COUNT = 32, 60
AUDIT = "explanation(boxes=box, curves=off)"
ask = functools.partial(snellen.audit, quiet=True, report=False, device="cpu", shard=25)


def network(seed: int) -> nn.Sequential:
    """Features on a grid of 4 × 4 for images of 32 × 32, so maps are enlarged eight times."""
    torch.manual_seed(seed)
    stem, last = nn.Conv2d(3, 6, 7, 4, 3), nn.Conv2d(6, 5, 3, 2, 1)
    return nn.Sequential(
        stem, nn.ReLU(), last, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(5, 3)
    ).eval()


def model(seed: int = 0, name: str = "net") -> Model:
    return from_torch(network(seed), size=SIDE, name=name, device="cpu")


@pytest.fixture(scope="module")
def data() -> Dataset:
    """Smooth images, each with a box of 12 × 12 pixels somewhere."""
    random = np.random.default_rng(5)
    coarse = torch.from_numpy(random.normal(0, 60, (COUNT, 3, 5, 5)))
    pixels = nn.functional.interpolate(coarse, (SIDE, SIDE), mode="bicubic").add(128).clamp(0, 255)
    corners = random.integers(0, SIDE - 12, (COUNT, 2))
    content = {
        "images": pixels.permute(0, 2, 3, 1).numpy().astype(np.uint8),
        "labels": np.arange(COUNT) % 3,
        "boxes": np.concatenate([corners, corners + 12], 1).astype(float),
    }
    return from_arrays(content, "memory:smooth", "smooth-1")


def boxes_of(data: Dataset) -> list[np.ndarray]:
    return [photo.boxes for photo in data.read(range(len(data)))]


def pixels_of(data: Dataset) -> torch.Tensor:
    return torch.from_numpy(np.stack([photo.image for photo in data.read(range(len(data)))])).permute(0, 3, 1, 2)


def whole_maps(seed: int, data: Dataset) -> np.ndarray:
    """Grad-CAM in double precision, written from its definition: enlarged, then divided by the maximum. float64 [n, H, W]."""
    net = network(seed).double()
    maps = []
    for image in pixels_of(data).double() / 255:
        features = net[:4](image[None]).detach().requires_grad_()
        answers = net[4:](features)[0]
        (slopes,) = torch.autograd.grad(answers.max(), features)
        coarse = (slopes.mean((2, 3), keepdim=True) * features).sum(1, keepdim=True).clamp(min=0).detach()
        large = nn.functional.interpolate(coarse, (SIDE, SIDE), mode="bilinear")[0, 0]
        maps.append((large / large.max() if large.max() > 0 else large).numpy())
    return np.round(np.stack(maps), 12)  # pixels enlarged from one place are equal


def findings(run: snellen.Run) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["model"], one["name"]): one for one in run.results()["findings"] if one["audit"] == "explanation"}


# Against whole maps


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_measures_of_stored_maps_are_those_of_whole_ones(data, tmp_path, seed: int) -> None:
    run = ask(model(seed), data, AUDIT, out=tmp_path / "r")
    whole, boxes, found = whole_maps(seed, data), boxes_of(data), findings(run)
    stored = run.maps("net").maps
    there = whole.any((1, 2))
    assert there.sum() > 20
    assert stored[there].max((1, 2)).min() == 65535
    assert np.abs(stored / 65535 - whole).max() < 1 / 65535 + 1e-5
    assert (pointing_game(stored, boxes)[there] == pointing_game(whole, boxes)[there]).all()
    for name, measure in (("pointing_game", pointing_game), ("energy_pg", energy_pointing_game)):
        assert found["net", name]["value"] == pytest.approx(np.nanmean(measure(whole, boxes)), abs=2e-5), name
    assert found["net", "ehr"]["value"] == pytest.approx(np.nanmean(effective_heat_ratio(whole, boxes)), abs=1e-3)
    assert found["net", "wsol_iou"]["value"] == pytest.approx(np.nanmean(wsol_iou(whole, boxes)), abs=5e-3)


def test_the_gain_ratio_compares_maps_whose_peak_is_one(data, tmp_path) -> None:
    run = ask([model(1, "first"), model(3, "second")], data, AUDIT, out=tmp_path / "r")
    energies = []
    for seed in (3, 1):
        whole, boxes = whole_maps(seed, data), np.stack(boxes_of(data))[:, 0].astype(int)
        inside = np.array([one[y0:y1, x0:x1].sum() / SIDE**2 for one, (x0, y0, x1, y1) in zip(whole, boxes)])
        empty = np.where(whole.any((1, 2)), 1, np.nan)
        energies.append((inside * empty, whole.mean((1, 2)) * empty))
    gain, own = energy_gain(*energies), findings(run)["second", "gain_ratio"]
    assert own["facts"]["gain_whole"] == pytest.approx(gain.whole, abs=1e-5)
    assert own["facts"]["gain_inside"] == pytest.approx(gain.inside, abs=1e-5)
    assert own["value"] == pytest.approx(gain.value, rel=1e-2)


@given(
    numpy_arrays(np.float32, (3, 4, 4), elements=st.floats(0, 8, width=32)),
    st.integers(0, 15),
    st.integers(0, 15),
)
def test_only_the_peak_is_the_peak_in_sixteen_bits(maps: np.ndarray, peak: int, near: int) -> None:
    flat = maps.reshape(3, -1)
    flat[:, peak] = 8
    flat[:, near] = 8 * (1 - 2**-19) if near != peak else 8  # near, but no error of rounding
    words = as_words(torch.from_numpy(maps)).numpy()
    assert ((words == 65535) == (maps >= 8 * (1 - 2**-20))).all()
    order = np.argsort(flat, axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(words.reshape(3, -1).astype(int), order, 1)) >= 0).all()
    exact = np.floor(maps.astype(np.float64) / 8 * 65535)
    assert np.abs(words - exact).max() <= 1


@given(numpy_arrays(np.float32, (2, 5, 5), elements=st.floats(0, 1, width=16)))
def test_the_bytes_of_a_map_are_those_of_its_sixteen_bits(maps: np.ndarray) -> None:
    maps[:, 0, 0] = 1
    assert (as_bytes(as_words(torch.from_numpy(maps))) == as_bytes(torch.from_numpy(maps))).all()


@pytest.mark.parametrize("place", [(0, 0), (0, 3), (6, 6), (3, 6)])
def test_a_peak_at_the_edge_is_all_the_pixels_that_are_enlarged_from_it(place: tuple[int, int]) -> None:
    """A grid of 7 × 7 on 224 pixels: 32 a cell, half of one beyond the middle of the outer cells."""
    random = np.random.default_rng(sum(place))
    coarse = torch.from_numpy(random.uniform(0, 0.7, (50, 7, 7)).astype(np.float32))
    coarse[:, place[0], place[1]] = 0.9
    words = as_words(enlarge(coarse, (224, 224))).numpy()
    at_edge = sum(index in (0, 6) for index in place)
    assert ((words == 65535).sum((1, 2)) == {1: 16, 2: 256}[at_edge]).all()


def test_a_map_without_a_number_or_a_value_is_empty() -> None:
    maps = torch.tensor([[[0.0, 0.0]], [[float("nan"), 0.5]], [[float("inf"), 0.25]], [[-1.0, -2.0]]])
    assert as_words(maps).tolist() == [[[0, 0]], [[0, 65535]], [[0, 65535]], [[0, 0]]]


def test_the_peak_of_public_maps_is_one(data) -> None:
    maps = gradcam(network(1), pixels_of(data).float() / 255)
    peaks = maps.amax((1, 2))
    assert set(peaks.tolist()) <= {0.0, 1.0}
    assert peaks.sum() > 20


def test_maps_of_a_method_that_does_not_reach_one_are_divided_too(data, tmp_path, monkeypatch) -> None:
    def dim(model: Any, images: torch.Tensor, targets: Any, layer: Any) -> torch.Tensor:
        return images[:, 0].float() / 255 * 0.3

    monkeypatch.setitem(METHODS, "dim", Method(dim, "the red channel, dim", gradients=False))
    run = ask(model(), data, "explanation(dim, boxes=box, curves=off)", out=tmp_path / "r")
    maps, reds = run.maps("net", method="dim").maps, pixels_of(data)[:, 0].numpy()
    assert np.abs(maps / 65535 - reds / reds.max((1, 2), keepdims=True)).max() < 2e-5


# What pixels are ranked by


def test_salient_hides_by_the_published_bytes_whatever_else_is_asked(data, tmp_path, monkeypatch) -> None:
    salient = "interference([salient(0.3, most, black)])"
    alone = ask(model(1), data, salient, out=tmp_path / "alone")
    both = ask(model(1), data, [AUDIT, salient], out=tmp_path / "both")
    wanted = "select * from answers join cells using (cell) where distortion like 'salient%' order by sample"
    assert both.sql(wanted).equals(alone.sql(wanted))
    keys = set(alone.sql("select map from cells where distortion like 'salient%'")["map"])
    (kept,) = (alone.store.map_facts(key) for key in keys)
    assert kept["bits"] == 8
    maps = alone.maps("net").maps  # divided on the grid of 4 × 4, enlarged, cut off
    assert maps.dtype == np.uint8
    net = network(1)
    for image, own in zip(pixels_of(data)[:10].float() / 255, maps):
        features = net[:4](image[None]).detach().requires_grad_()
        (slopes,) = torch.autograd.grad(net[4:](features)[0].max(), features)
        coarse = (slopes.mean((2, 3), keepdim=True) * features).mean(1, keepdim=True).clamp(min=0).detach()
        if coarse.max() > 0:
            large = nn.functional.interpolate(coarse / coarse.max(), (SIDE, SIDE), mode="bilinear")[0, 0].numpy() * 255
            assert ((large - own > -1e-3) & (large - own < 1 + 1e-3)).all()
    assert both.maps("net").maps.dtype == np.uint16  # of both, those that measures read


def test_a_method_with_one_kind_of_maps_makes_them_once(data, tmp_path, monkeypatch) -> None:
    asked: list[int] = []

    def red(model: Any, images: torch.Tensor, targets: Any, layer: Any) -> torch.Tensor:
        asked.append(len(images))
        return images[:, 0].float() / 255

    monkeypatch.setitem(METHODS, "red", Method(red, "the red channel", gradients=False))
    audits = ["explanation(red, boxes=box, curves=off)", "interference([salient(0.25, most, black, method=red)])"]
    run = ask(model(), data, audits, out=tmp_path / "r")
    assert sum(asked) == COUNT
    shown = run.sql("select * from shown join cells using (shown) where distortion like 'salient%'")
    assert set(shown["covered"]) == {0.25}


# Old runs


def as_old(folder: Path) -> None:
    """What a run folder of before there were 16 bits says of itself."""
    store = Store(folder)
    facts = store.facts()
    del facts["settings"]["map_bits"]
    store.write_facts(facts)
    for path in (folder / "maps").glob("*/map.json"):
        own = json.loads(path.read_text())
        del own["bits"]
        path.write_text(json.dumps(own))


@pytest.fixture
def old(data, tmp_path, monkeypatch) -> snellen.Run:
    """A run whose maps have 8 bits."""
    from snellen.exam import prepare

    fresh = prepare._fresh_settings
    with monkeypatch.context() as patch:
        patch.setattr(prepare, "_fresh_settings", lambda *how: {**fresh(*how), "map_bits": 8})
        ask([model(1, "first"), model(3, "second")], data, AUDIT, out=tmp_path / "old")
    as_old(tmp_path / "old")
    return snellen.load_run(tmp_path / "old")


def test_the_key_of_a_map_in_eight_bits_is_the_one_it_always_had(data) -> None:
    card = model(1).card
    subject = Subject("net", "net", card)
    wanted = [MapRequest(), subject, data, card.canvas]
    key = bind_map(*wanted, Settings(map_bits=8)).key
    assert key == bind_map(*wanted, Settings(), ranked=True).key
    assert key != bind_map(*wanted, Settings()).key
    from snellen.hashing import key_of

    assert key == key_of([data.fingerprint, str(card.canvas), card.fingerprint, "fp32", "gradcam", None, 1])


def test_an_old_run_is_not_asked_again_and_reports_the_same(data, old, monkeypatch) -> None:
    before, maps = findings(old), old.maps("first").maps
    assert maps.dtype == np.uint8
    assert maps.max((1, 2)).min() < 255  # divided before they were enlarged
    counted = counting(monkeypatch)
    again = ask([model(1, "first"), model(3, "second")], data, AUDIT, out=old.path)
    assert not counted
    assert findings(again) == before
    assert (again.maps("first").maps == maps).all()
    assert again.facts["settings"]["map_bits"] == 8


def test_an_old_run_that_lacks_a_shard_makes_it_as_the_others_are(data, old, monkeypatch) -> None:
    before, maps = findings(old), old.maps("first").maps
    (key,) = old.store.map_keys(model_fingerprint=model(1).card.fingerprint)
    min((old.path / "maps" / key).glob("*.parquet")).unlink()
    counted = counting(monkeypatch)
    again = ask([model(1, "first"), model(3, "second")], data, AUDIT, out=old.path)
    assert sum(counted) == 25
    assert (again.maps("first").maps == maps).all()
    assert findings(again) == before


def test_an_old_folder_without_maps_gets_new_ones(data, tmp_path) -> None:
    ask(model(1), data, "interference([shuffle(2)])", out=tmp_path / "r")
    as_old(tmp_path / "r")
    run = ask(model(1), data, AUDIT, out=tmp_path / "r")
    assert run.maps("net").maps.dtype == np.uint16


@pytest.mark.slow
def test_trained_networks_point_where_their_whole_maps_do(shared, realdata, monkeypatch) -> None:
    """MobileNetV2 on 50 pets: no peak is moved or made a tie by storage."""
    import csv

    from PIL import Image

    monkeypatch.setenv("SNELLEN_SHARED", str(shared.parent))
    with (shared / "pets" / "boxes.csv").open() as file:
        rows = list(csv.DictReader(file))[::3]
    images = np.stack([np.asarray(Image.open(shared / "pets" / row["file"]).convert("RGB")) for row in rows])
    masks = np.stack([np.asarray(Image.open(shared / "pets" / row["mask"])) == 1 for row in rows])
    content = {
        "images": images,
        "labels": np.array([row["species"] == "dog" for row in rows]).astype(np.int64),
        "classes": np.array(["cat", "dog"]),
        "masks": masks,
    }
    factory = Path(__file__).resolve().parents[2] / "examples" / "maintainers" / "shared_networks.py"
    data, text = from_arrays(content, "pets", "pets-precision"), f"python:{factory}:mobilenet_v2@whole"
    run = ask({"net": text}, data, "explanation(boxes=mask, curves=off)", shard=32, batch_size=32)
    stored = run.maps("net").maps
    from snellen.data.canvas import render
    from snellen.models import load_model

    network = load_model(text, device="cpu")
    renderings = [render(photo, network.canvas) for photo in data.read(range(len(data)))]
    shown = torch.from_numpy(np.stack([one.image for one in renderings]))
    inside = np.stack([one.maps["mask"].astype(bool) for one in renderings])
    whole = torch.cat([gradcam(network, some) for some in shown.split(32)]).numpy()
    peaks = whole == 1
    assert ((stored == stored.max((1, 2), keepdims=True)) == peaks).all()
    expected = np.nanmean(pointing_game(whole, inside))
    (own,) = (one for one in run.results()["findings"] if one["name"] == "pointing_game")
    assert own["value"] == pytest.approx(expected, abs=1e-12)
