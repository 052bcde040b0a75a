"""Commands with bad input: one line that says what to do, exit 2, and nothing written."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import save_file

from snellen.cli import main

NETS = """
import numpy as np
from snellen.models import from_callable

def model():
    return from_callable(lambda images: np.full((len(images), 2), 0.5), classes=["a", "b"], size=8, version="1")

def nan():
    return from_callable(lambda images: np.full((len(images), 2), np.nan), classes=["a", "b"], size=8, version="1")

def flat():
    return from_callable(lambda images: np.zeros(len(images)), classes=["a", "b"], size=8, version="1")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model, 40 good photos and everything that is wrong."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.py").write_text(NETS)
    for name in ("good/a", "good/b", "gap/a", "gap/b", "empty", "flat"):
        (tmp_path / name).mkdir(parents=True)
    for number in range(40):
        Image.new("RGB", (8, 8), (number, 9, 9)).save(tmp_path / "good" / "ab"[number % 2] / f"{number:02d}.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "gap/a/0.png")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 this is not one PAR1")
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 broken")
    (tmp_path / "bad.csv").write_text('path,label\ngood/a/00.png,a\n"good/b/01.png,b\n')
    (tmp_path / "leaves.csv").write_text("path,label\n../secret.png,a\n")
    (tmp_path / "bad.json").write_text('{"rule": "mean",\n "map": {"a": }}')
    (tmp_path / "outside.json").write_text('{"rule": "argmax", "classes": {"zebra": [0], "b": [1]}}')
    (tmp_path / "bad.yaml").write_text("data: folder:good\naudits: [occlusion\nlimit: 3\n")
    np.savez(tmp_path / "labels.npz", images=np.zeros((4, 8, 8, 3), np.uint8), labels=[0, 1, 2, 9], classes=["x", "y"])
    save_file({"linear.weight": np.zeros((2, 3), np.float32)}, tmp_path / "other.safetensors")
    return tmp_path


GOOD = ["python:nets.py:model", "--data", "folder:good"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["python:nets.py:model", "--data", "folder:nowhere"],
            "no folder 'nowhere'; give a folder with one sub-folder",
        ),
        (
            ["my net=python:nets.py:model", "--data", "folder:good"],
            "a model cannot have the name 'my net'; write NAME=",
        ),
        ([*GOOD, "--audits", ""], "--audits names no audit; leave it out for those that suit the data"),
        (["python:nets.py:model", "--data", "folder:empty"], "folder 'empty' has no sub-folders; put the images"),
        (["python:nets.py:model", "--data", "folder:gap"], "class folder 'gap/b' holds no images"),
        ([*GOOD, "--train", "folder:good"], "the training data folder:good are the test data, image for image"),
        (["python:nets.py:model", "--data", "foldr:good"], "unknown data scheme 'foldr'; did you mean 'folder'?"),
        (["python:nets.py:model", "--data", "manifest:bad.parquet"], "bad.parquet cannot be read as Parquet"),
        (["python:nets.py:model", "--data", "manifest:bad.csv"], "line 3"),
        (["python:nets.py:model", "--data", "manifest:leaves.csv"], "line 2: path '../secret.png' leaves"),
        (["python:nets.py:model", "--data", "arrays:bad.npz"], "bad.npz cannot be read as npz"),
        (["python:nets.py:model", "--data", "arrays:labels.npz"], "label 2 of image 2 is outside the 2 classes"),
        (["tim:resnet18", "--data", "folder:good"], "did you mean 'timm'?"),
        (["timm:resnet18x.a1_in1k", "--data", "folder:good"], "did you mean 'resnet18"),
        (["torchvision:resnet18x@DEFAULT", "--data", "folder:good"], "did you mean 'resnet18'?"),
        (["torchvision:resnet18@IMAGENET1K_V9", "--data", "folder:good"], "did you mean 'IMAGENET1K_V1'?"),
        (["zoo:resnet2@other.safetensors", "--data", "folder:good"], "did you mean 'resnet20'?"),
        (
            ["zoo:resnet20@other.safetensors", "--data", "phantom:test?n=40"],
            "'other.safetensors' does not fit: 'linear.weight' is [2, 3], expected [2, 64]",
        ),
        (["python:nets.py:modle", "--data", "folder:good"], "modle"),
        (["python:nets.py:nan", "--data", "folder:good"], "answered nan"),
        (["python:nets.py:flat", "--data", "folder:good"], "expected probabilities"),
        ([*GOOD, "--audits", "oclusion"], "unknown audit 'oclusion'; did you mean 'occlusion'?"),
        ([*GOOD, "--audits", "interference([oclude(0.3)])"], "unknown distortion 'oclude'; did you mean 'occlude'?"),
        ([*GOOD, "--require", "accuracy ~ 3"], "accuracy ~ 3"),
        ([*GOOD, "--labels", "bad.json"], "line 2"),
        ([*GOOD, "--labels", "outside.json"], "zebra"),
        ([*GOOD, "--config", "bad.yaml"], "line 3"),
        ([*GOOD, "--out", "nets.py"], "'nets.py' is a file; choose another --out"),
        ([*GOOD, "--out", "good"], "'good' is not empty and not a run folder"),
        ([*GOOD, "--engine", "rai"], "unknown engine 'rai'; did you mean 'ray'?"),
        ([*GOOD, "--limit", "0"], "expected --limit from 1 to 1,000,000,000"),
    ],
)
def test_bad_input_is_one_line_exit_2_and_nothing_written(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    before = listing(here)
    line = refused(["audit", *arguments], capsys)
    assert told in line
    assert listing(here) == before


def test_a_search_that_cannot_be_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["search", *GOOD, "--set", "mnist", "--population", "5"], capsys)
    assert "expected an even population, got 5" in line


@pytest.mark.parametrize("which", ["good", "good/b"])
def test_a_folder_that_may_not_be_read_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], which: str
) -> None:
    """Permissions do not stop root, so the system's refusal is played."""

    def refusing(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *rest: Any) -> Any:
            if Path(os.fspath(path)) == Path(which):
                raise PermissionError(13, "Permission denied", which)
            return real(path, *rest)

        return call

    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    line = refused(["audit", *GOOD], capsys)
    assert f"folder '{which}' cannot be read: permission denied" in line


def damaged(good: Path, kind: str, folder: Path) -> Path:
    """A file that looks like an image and is none."""
    path = folder / {"text": "a.png", "nothing": "b.png", "truncated": "c.jpg", "bomb": "d.png"}[kind]
    if kind == "truncated":
        Image.effect_noise((64, 64), 90).convert("RGB").save(path)
        path.write_bytes(path.read_bytes()[:900])
    elif kind == "bomb":  # a valid header that promises 60,000 × 60,000 pixels
        whole = bytearray(good.read_bytes())
        whole[16:24] = struct.pack(">II", 60_000, 60_000)
        path.write_bytes(whole)
    else:
        path.write_text("hello" if kind == "text" else "")
    return path


@pytest.mark.parametrize("kind", ["text", "nothing", "truncated", "bomb"])
def test_one_image_that_cannot_be_decoded_is_listed_and_three_of_40_stop_the_run(
    here: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    bad = damaged(here / "good/a/00.png", kind, here / "good" / "a")
    run(["audit", *GOOD, "--audits", "interference([shuffle(2)])", "--out", "run"])
    assert bad.name in (here / "run" / "report.html").read_text()
    capsys.readouterr()
    for number in range(2):
        (bad.parent / f"x{number}{bad.suffix}").write_bytes(bad.read_bytes())
    line = refused(["audit", *GOOD, "--audits", "interference([shuffle(2)])", "--out", "again"], capsys)
    assert "3 of 43 test images cannot be shown, more than 5%" in line


def run(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--quiet"])
    assert stopped.value.code == 0


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of a command that is refused."""
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--quiet"])
    assert stopped.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.strip().splitlines()
    assert line.startswith("error: ")
    return line


def listing(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts}
