"""The table of attribution methods: whatever stands in it is what every user of maps uses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

import snellen
from snellen.audits import Audit, Exam
from snellen.audits.finding import Finding
from snellen.catalogue import catalogue
from snellen.cli import main
from snellen.data import from_arrays
from snellen.engine import Answers, Cell, MapRequest
from snellen.errors import UserError
from snellen.explain import explain_images, overlay
from snellen.explain.methods import METHODS, Method
from snellen.models import Model, from_torch

CALLS: list[tuple[Any, int | str | None]] = []


def top(model: Model, images: Tensor, targets: Any, layer: int | str | None) -> Tensor:
    """Maps that say the top quarter matters, whatever is shown."""
    CALLS.append((targets, layer))
    maps = torch.zeros(len(images), *images.shape[2:])
    maps[:, : images.shape[2] // 4] = 1
    return maps


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    CALLS.clear()
    monkeypatch.setitem(METHODS, "top", Method(top, "the top quarter", version=3))


@pytest.fixture
def model() -> Model:
    torch.manual_seed(0)
    return from_torch(nn.Sequential(nn.Flatten(), nn.Linear(192, 2)), size=8, name="net", device="cpu")


@dataclass(frozen=True)
class Maps(Audit):
    """Asks for maps of a method and concludes nothing."""

    method: str = "top"
    layer: int | str | None = None

    def cells(self, exam: Exam) -> list[Cell]:
        return []

    def maps(self, exam: Exam) -> list[MapRequest]:
        return [MapRequest(self.method, self.layer)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        return []


def photos(count: int = 12) -> Any:
    images = np.random.default_rng(0).integers(1, 255, (count, 8, 8, 3), dtype=np.uint8)
    return from_arrays({"images": images, "labels": np.arange(count) % 2}, "memory:photos", "1")


def test_map_requests_use_the_named_method_and_its_layer(model: Model, tmp_path: Path) -> None:
    run = snellen.audit(model, photos(), [Maps(layer="somewhere")], out=tmp_path / "r", quiet=True, report=False)
    maps = run.maps("net", method="top", layer="somewhere").maps
    assert (maps[:, :2] == 65535).all()
    assert (maps[:, 2:] == 0).all()
    assert CALLS == [(None, "somewhere")]


def test_salient_hides_by_the_named_method(model: Model, tmp_path: Path) -> None:
    audits = "interference([salient(0.25, most, black, method=top)])"
    run = snellen.audit(model, photos(), audits, out=tmp_path / "r", quiet=True, report=False)
    shown = run.sql("select shown from cells where distortion like 'salient%'")["shown"].item()
    pictures = [np.asarray(Image.open(path)) for path in (run.path / "thumbs" / shown).glob("*.png")]
    assert len(pictures) == 12
    assert all((picture[:2] == 0).all() and (picture[2:] > 0).all() for picture in pictures)


def test_pictures_show_the_named_method(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    pixels = np.full((8, 8, 3), 100, np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    (one,) = explain_images(model, [tmp_path / "photo.png"], method="top")
    assert one.picture == tmp_path / "photo.top.png"
    heat = np.zeros((8, 8))
    heat[:2] = 1
    picture = np.asarray(Image.open(one.picture))[:224][::28, ::28]  # the caption is below
    assert (picture == np.concatenate([pixels, overlay(pixels, heat)], 1)).all()
    ((targets, layer),) = CALLS
    assert (targets, layer) == ([int(one.said)], None)
    with pytest.raises(UserError, match="unknown method of maps 'tap'; did you mean 'top'"):
        explain_images(model, [tmp_path / "photo.png"], method="tap")
    (tmp_path / "nets.py").write_text(
        "from torch import nn\ndef net():\n    return nn.Sequential(nn.Flatten(), nn.Linear(192, 2))\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["explain", "python:nets.py:net", "photo.png", "--method", "top", "--out", "there"])
    assert not caught.value.code
    assert (tmp_path / "there" / "photo.top.png").exists()


def test_methods_are_listed_and_their_version_is_in_the_key(model: Model, tmp_path: Path, monkeypatch) -> None:
    assert ("top", "the top quarter") in catalogue("methods")
    keys = []
    for version in (3, 4):
        monkeypatch.setitem(METHODS, "top", Method(top, "the top quarter", version=version))
        run = snellen.audit(model, photos(), [Maps()], out=tmp_path / "r", quiet=True, report=False)
        keys.append({path.name for path in (run.path / "maps").iterdir()})
    assert len(keys[0]) == 1
    assert len(keys[1]) == 2
