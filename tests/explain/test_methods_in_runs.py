"""Every method of maps where maps are used: map requests, `salient`, `inside_mask` and `snellen explain`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import snellen
from snellen.cli import main
from snellen.data import from_arrays, load_data
from snellen.data.canvas import Canvas
from snellen.distort import parse
from snellen.engine import MapRequest
from snellen.engine.requests.map import bind_map
from snellen.engine.settings import Settings
from snellen.errors import UserError
from snellen.explain import attention, explain_images, iba, overlay
from snellen.explain.methods import METHODS
from snellen.explain.reference import load_statistics
from snellen.hashing import key_of
from snellen.models import Model, from_torch
from snellen.models.subject import Subject

pytestmark = pytest.mark.filterwarnings("ignore:iba estimates what is usual")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "cache"))


def small_network(classes: int) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        *(
            nn.Conv2d(3, 4, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(4, 8, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3, 2, 1),
            nn.ReLU(),
        ),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, classes)),
    )


def phantom(count: int = 12):
    return load_data(f"phantom:test?size=32&n={count}")


@pytest.fixture
def model() -> Model:
    data = phantom(1)
    return from_torch(small_network(len(data.classes)), classes=data.classes, size=32, name="net", device="cpu")


def test_a_run_stores_iba_maps_estimated_from_its_own_data(model: Model, tmp_path: Path) -> None:
    data = phantom()
    audits = "inside_mask(method=iba)"
    run = snellen.audit(model, data, audits, out=tmp_path / "r", quiet=True, report=False, batch_size=5)
    stored = run.maps("net", method="iba")
    images = torch.from_numpy(np.stack([one.image for one in data.read(range(12))])).permute(0, 3, 1, 2).contiguous()
    expected = iba(model, images, estimation_data=data)
    assert np.allclose(stored.of(data.samples.ids) / 65535, expected, atol=0.01)
    share = run.findings().query("name == 'inside_mask'")["value"].item()
    assert 0 < share < 1
    assert any("iba estimates what is usual from 12 images of the test data" in one for one in run.results()["notices"])


def test_salient_hides_by_iba_and_by_captum(model: Model, tmp_path: Path) -> None:
    pytest.importorskip("captum")
    audits = "interference([salient(0.25, most, black, method=iba), salient(0.25, most, method='captum:Saliency')])"
    run = snellen.audit(model, phantom(), audits, out=tmp_path / "r", quiet=True, report=False)
    shares = run.sql(
        "select c.distortion, avg(s.covered) as covered from shown s join cells c using (shown) group by 1"
    )
    covered = dict(zip(shares["distortion"], shares["covered"]))
    for text in ("iba", "'captum:Saliency'"):
        (share,) = (value for name, value in covered.items() if f"method={text}" in name)
        assert share == 0.25
    text = next(name for name in covered if "captum" in name)
    assert str(parse(text)) == text
    assert run.maps("net", method="captum:Saliency").maps.shape == (12, 32, 32)


def test_attention_asks_from_the_masks_of_the_data(tmp_path: Path) -> None:
    import timm

    torch.manual_seed(0)
    data = phantom(6)
    network = timm.create_model(
        "vit_tiny_patch16_224", img_size=32, patch_size=8, num_classes=len(data.classes), depth=2
    )
    for block in network.blocks:
        nn.init.normal_(block.attn.qkv.weight, std=0.3)
    model = from_torch(network, classes=data.classes, size=32, name="vit", device="cpu")
    run = snellen.audit(
        model, data, "inside_mask(method=attention)", out=tmp_path / "r", quiet=True, report=False, batch_size=4
    )
    photos = data.read(range(6))
    images = torch.from_numpy(np.stack([one.image for one in photos])).permute(0, 3, 1, 2).contiguous()
    masks = torch.from_numpy(np.stack([one.maps["mask"] for one in photos]).astype(bool))
    stored = run.maps("vit", method="attention").of(data.samples.ids) / 65535
    assert np.allclose(stored, attention(model, images, masks), atol=0.01)
    assert not np.allclose(stored, attention(model, images), atol=0.05)


def test_keys_of_grad_cam_stay_and_those_of_iba_depend_on_the_reference(model: Model, monkeypatch) -> None:
    data, canvas = phantom(), Canvas(32, 32, "native")
    subject, settings = Subject("net", "net", model.card, model, by_text=False), Settings()
    facts = [data.fingerprint, str(canvas), model.card.fingerprint, "fp32"]
    of_gradcam = [*facts, "gradcam", None, 1]
    assert bind_map(MapRequest(), subject, data, canvas, settings, ranked=True).key == key_of(of_gradcam)
    assert bind_map(MapRequest(), subject, data, canvas, settings).key == key_of([*of_gradcam, {"bits": 16}])
    key = bind_map(MapRequest("iba"), subject, data, canvas, settings).key
    method = METHODS["iba"]
    assert method.reference is not None
    other = replace(method, reference=replace(method.reference, most=100))
    monkeypatch.setitem(METHODS, "iba", other)
    assert bind_map(MapRequest("iba"), subject, data, canvas, settings).key != key


def test_a_dry_run_counts_the_passes_of_a_map(model: Model, tmp_path: Path) -> None:
    from snellen.exam.prepare import prepare
    from snellen.exam.request import AuditRequest

    def passes(audits: str) -> int:
        request = AuditRequest(models=(model,), data=phantom(), audits=audits, out=tmp_path / "r", device="cpu")
        return prepare(request).plan().forward_passes

    assert passes("inside_mask(method=iba)") - passes("inside_mask()") == 12 * (METHODS["iba"].passes - 1)


def test_statistics_are_estimated_once_per_run_and_found_again(model: Model, tmp_path: Path, monkeypatch) -> None:
    from snellen.explain import reference

    real, calls = reference.estimate, []

    def count(*arguments):
        calls.append(1)
        return real(*arguments)

    monkeypatch.setattr(reference, "estimate", count)
    for folder in ("a", "b"):
        how = {"out": tmp_path / folder, "quiet": True, "report": False, "batch_size": 4, "shard": 4}
        snellen.audit(model, phantom(), "inside_mask(method=iba)", **how)
    assert len(calls) == 1


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    random = np.random.default_rng(0)
    paths = [tmp_path / f"photo{number}.png" for number in range(3)]
    for path in paths:
        Image.fromarray(random.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(path)
    return paths


def test_several_methods_are_drawn_side_by_side(model: Model, photos: list[Path]) -> None:
    notes: list[str] = []
    explained = explain_images(model, photos, method="gradcam,iba", notice=notes.append)
    assert [one.picture.name for one in explained] == [f"photo{number}.gradcam+iba.png" for number in range(3)]
    picture = np.asarray(Image.open(explained[0].picture))[:224][::7, ::7]  # captions are below
    assert picture.shape == (32, 96, 3)
    images = torch.from_numpy(np.stack([np.asarray(Image.open(path)) for path in photos])).permute(0, 3, 1, 2)
    heat = iba(model, images.contiguous(), estimation_data=images.contiguous())[0]
    assert np.abs(picture[:, 64:].astype(int) - overlay(images[0], heat)).max() <= 2
    assert notes == ["iba estimates what is usual from 3 images; maps are reliable from 1,000 on"]
    with pytest.raises(UserError, match=r"at least 2 images.*--data"):
        explain_images(model, photos[:1], method="iba", notice=notes.append)


def test_data_beside_image_files_are_what_is_usual(model: Model, photos: list[Path], monkeypatch, tmp_path, capsys):
    data = "phantom:test?size=32&n=20"
    (tmp_path / "nets.py").write_text(
        "from torch import nn\n"
        "def net():\n"
        "    return nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU(), nn.Conv2d(4, 4, 3, 2, 1), nn.ReLU(), "
        "nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(
            ["explain", "python:nets.py:net", "photo0.png", "--data", data, "--method", "iba,gradcam", "--out", "there"]
        )
    assert not caught.value.code
    assert (tmp_path / "there" / "photo0.iba+gradcam.png").exists()
    assert "iba estimates what is usual from 20 images" in capsys.readouterr().err
    (one,) = explain_images(model, photos[:1], method="iba", data=data, notice=lambda text: None)
    pixels = torch.from_numpy(np.asarray(Image.open(photos[0])).copy()).permute(2, 0, 1)[None]
    heat = iba(model, pixels, estimation_data=load_statistics(model, data, None))[0]
    picture = np.asarray(Image.open(one.picture))[:224][::7, ::7]
    assert np.abs(picture[:, 32:].astype(int) - overlay(pixels[0], heat)).max() <= 2


def test_unreadable_reference_data_are_named(model: Model) -> None:
    empty = from_arrays({"images": np.zeros((2, 16, 16, 3), np.uint8), "labels": np.zeros(2, int)}, "memory:small", "1")
    native = from_torch(small_network(3), name="native", device="cpu")
    assert load_statistics(native, empty, None).count == 2
    gone = replace(empty, read=lambda rows: [snellen.data.dataset.Unreadable("is gone") for _ in rows])
    with pytest.raises(UserError, match="none of the images of memory:small can be read"):
        load_statistics(model, gone, "0")
