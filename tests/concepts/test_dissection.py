"""Dissection: equal to the slow way, found where planted and only there, continued where it was stopped."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.concepts import dissection
from snellen.concepts.dissection import Dissection, iou_of
from snellen.concepts.pictures import _picture, choose_units
from snellen.concepts.probes import Probes
from snellen.concepts.sources import open_sources
from snellen.concepts.thresholds import ERROR
from snellen.data import load_data
from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset, Unreadable
from snellen.engine.keep import survey_checkpoint
from snellen.engine.requests.survey import Ground, SurveyTable
from snellen.errors import UserError
from snellen.measure import concept_iou, detector_units
from snellen.models.model import from_torch
from snellen.models.planted import PLANTED, UNITS, concept_units

from .naive import enlarged, overlaps, thresholds

WORLD = "phantom:test?size=32&n=60"


def network() -> torch.nn.Module:
    torch.manual_seed(5)
    layers = (torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.ReLU(), torch.nn.Conv2d(8, 6, 3, 2, 1))
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(6, 12))


def ground_of(data: Dataset, batch: int = 7, path: Path | None = None) -> Ground:
    return Ground(from_torch(network(), size=32), data, Canvas(32, 32, "crop", 32), batch, 2, path)


def plain(table: SurveyTable) -> list[dict[str, object]]:
    return [{**row, "intersect": list(row["intersect"]), "tops": list(row["tops"])} for row in table.rows]


@pytest.fixture(scope="module")
def world() -> Dataset:
    return load_data(WORLD)


@pytest.fixture(scope="module")
def table(world: Dataset) -> SurveyTable:
    return Dissection(layer="2", grid=16, quantile=0.9).run(ground_of(world))


def test_it_equals_the_slow_way(world: Dataset, table: SurveyTable) -> None:
    ground = ground_of(world, 60)
    (probe,) = Probes(ground, open_sources(["data", "colours"], world), 16).batches()
    module = ground.model.module
    assert module is not None
    with torch.inference_mode():
        features = module[:3](probe.images.float() / 255).numpy()
    values, labels = enlarged(features, 16), probe.labels.numpy()
    limits = np.array([row["threshold"] for row in table.rows])
    near = thresholds(values, 0.9)
    assert (abs(limits - near) <= ERROR * abs(near) + 1e-5).all()
    concepts = len(table.things["concept"])
    assert iou_of(table) == pytest.approx(overlaps(values, limits, labels, concepts), abs=1e-12, nan_ok=True)
    assert iou_of(table) == pytest.approx(overlaps(values, near, labels, concepts), abs=0.01, nan_ok=True)
    best = np.argsort(-values.max((2, 3)), axis=0, kind="stable")[:5].T
    assert [list(row["tops"]) for row in table.rows] == [[world.samples.ids[one] for one in some] for some in best]
    assert table.rows[0]["pixels"] == 60 * 16 * 16


def test_the_size_of_batches_changes_nothing(
    world: Dataset, table: SurveyTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(dissection.AT_ONCE, "cpu", 6 * 256)  # one image at a time
    again = Dissection(layer="2", grid=16, quantile=0.9).run(ground_of(world, 60))
    for one, other in zip(plain(table), plain(again)):
        assert one["threshold"] == pytest.approx(other["threshold"], rel=1e-5)
        assert one["tops"] == other["tops"]
        assert abs(one["activation"] - other["activation"]) <= 2  # type: ignore[operator]  # rounding of products


@pytest.mark.parametrize("stop", [3, 9, 12])
def test_a_stopped_one_continues_to_the_same_table(
    world: Dataset, table: SurveyTable, stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey_checkpoint, "EVERY", 0.0)
    request, calls = Dissection(layer="2", grid=16, quantile=0.9), 0

    def stopping(images: int) -> None:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise KeyboardInterrupt

    ground = ground_of(world, 7, tmp_path / "checkpoint.npz")
    with pytest.raises(KeyboardInterrupt):
        request.run(replace(ground, report=stopping))
    assert (tmp_path / "checkpoint.npz").exists()
    shown: list[int] = []
    assert plain(request.run(replace(ground, report=shown.append))) == plain(table)
    assert sum(shown) == 2 * 60
    assert shown[0] > 0  # the images of the stopped one are not shown again


def test_a_damaged_checkpoint_is_passed_over(world: Dataset, table: SurveyTable, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.npz").write_bytes(b"PK\x03\x04 nothing")
    request = Dissection(layer="2", grid=16, quantile=0.9)
    assert plain(request.run(ground_of(world, 7, tmp_path / "checkpoint.npz"))) == plain(table)


@pytest.mark.parametrize("share", ["0", "0.5", "1"])
def test_planted_concepts_are_found_and_no_others(share: str) -> None:
    data, model = load_data("phantom:test?size=32&n=150"), concept_units(share)
    table = Dissection(layer="units").run(Ground(model, data, Canvas(32, 32, "native"), 50, 2))
    names, categories = table.things["concept"], table.things["category"]
    found = detector_units(iou_of(table), names, categories)
    count = round(float(share) * UNITS)
    assert found.detectors.tolist() == [True] * count + [False] * (UNITS - count)
    assert [(categories[place], names[place]) for place in found.best[:count]] == [
        tuple(one) for one in PLANTED[:count]
    ]
    assert sum(found.unique.values()) == count
    truth = np.array(table.things["truth"]) / table.rows[0]["pixels"]
    for unit in range(count):  # a hundredth of all pixels, all of them on the concept, or all of it and others
        cover = truth[found.best[unit]]
        assert found.iou[unit] == pytest.approx(min(cover, 0.01) / max(cover, 0.01), rel=0.06)


def test_images_that_cannot_be_shown_are_left_out(world: Dataset) -> None:
    def read(positions: list[int]) -> list[object]:
        photos = world.read(positions)
        return [Unreadable("broken") if position % 3 == 0 else one for position, one in zip(positions, photos)]

    broken = replace(world, read=read, read_together=None)  # type: ignore[arg-type]
    rows = Dissection(layer="2", grid=8, sources=("colours",)).run(ground_of(broken)).rows
    assert (rows[0]["images"], rows[0]["pixels"]) == (40, 40 * 64)
    none = replace(world, read=lambda positions: [Unreadable("broken")] * len(positions), read_together=None)
    with pytest.raises(UserError, match="none of the 60 images"):
        Dissection(layer="2", sources=("colours",)).run(ground_of(none))


def test_a_network_with_values_that_are_no_numbers_is_refused(world: Dataset) -> None:
    ground = ground_of(world)
    with torch.no_grad():
        ground.model.module[0].weight[0] = torch.nan  # type: ignore[index, union-attr]
    with pytest.raises(UserError, match="that are no numbers"):
        Dissection(layer="0", sources=("colours",)).run(ground)


def test_the_best_units_are_drawn_with_their_masks(table: SurveyTable) -> None:
    drawn = [row["pictures"] for row in table.rows if row["pictures"]]
    assert drawn
    assert len(drawn[0]) == 5
    with Image.open(io.BytesIO(drawn[0][0])) as picture:
        assert picture.size == (112, 112)
        pixels = np.asarray(picture)
    assert pixels[:, :112].mean() < 255 * 0.6
    assert (pixels == 255).all(2).any()


def test_wrong_settings_are_refused() -> None:
    for settings in ({"quantile": 1.0}, {"grid": 0}, {"tops": 0}, {"sources": ()}):
        with pytest.raises(ValueError, match="expected"):
            Dissection(**settings)  # type: ignore[arg-type]


def test_iou_over_all_pixels_is_not_the_mean_over_images() -> None:
    counts = concept_iou([[1 + 0]], [1 + 3], [1 + 5])  # two images: IoU 1 and 0, the mean would be 0.5
    assert counts[0, 0] == pytest.approx(1 / 9)


def test_detectors_of_every_category_are_drawn_before_others() -> None:
    """30 units: 20 detect one material, one a colour weakly, the others nothing; concept 0 is the material, 1 the colour."""
    intersect = np.zeros((30, 3), np.int64)
    intersect[:20, 1], intersect[20, 2], intersect[21:, 1] = 50 + np.arange(20), 10, 1
    counts = {"intersect": intersect, "activation": np.full(30, 100), "truth": np.array([0, 100, 100])}
    units = choose_units(counts, ["material", "colour"])
    assert len(units) == 16
    assert {19, 20} <= set(units)  # the best of both categories
    assert set(units) - {20} == set(range(5, 20))


def test_a_picture_is_112_pixels_along_its_longer_side_and_at_least_one_along_the_other() -> None:
    for height, width, size in ((24, 24, (112, 112)), (50, 100, (112, 56)), (300, 1, (1, 112)), (1, 300, (112, 1))):
        png = _picture(np.zeros((3, height, width), np.uint8), np.ones((height, width), bool))
        with Image.open(io.BytesIO(png)) as picture:
            assert picture.size == size


def test_each_concept_is_drawn_once_before_any_is_drawn_again() -> None:
    """16 units detect one material well, the last another one weakly: of 16 pictures one is of the other."""
    intersect = np.zeros((17, 3), np.int64)
    intersect[:16, 1], intersect[16, 2] = 50 + np.arange(16), 10
    counts = {"intersect": intersect, "activation": np.full(17, 100), "truth": np.array([0, 100, 100])}
    assert choose_units(counts, ["material", "material"]) == list(range(1, 17))
