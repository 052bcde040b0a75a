"""A disk that is full or read-only, or a file where a folder should be: every command that writes ends in one line."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.atomic import write_atomic
from snellen.cli import main
from snellen.errors import UserError
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import NETWORKS

TINY = "phantom:train?size=16&n=24"
TRAIN = ["train", "smallnet", "--data", TINY, "--epochs", "1", "--batch-size", "8"]
SWEEP = ["sweep", "amount", "smallnet", "--data", TINY, "--amounts", "12", "--test", "plain=phantom:test?size=16&n=12",
         "--epochs", "1", "--batch-size", "4"]  # fmt: skip
COMMANDS: dict[str, list[str]] = {
    "train": [*TRAIN, "--out", "OUT"],
    "train, logged": [*TRAIN, "--log", "tensorboard", "--out", "OUT"],
    "demo": ["demo", "--out", "OUT"],
    "build": ["build", "phantom", "--format", "folder", "--world", "phantom:test?size=16&n=4", "--out", "OUT"],
    "sweep": [*SWEEP, "--out", "OUT"],
    "calibrate": ["calibrate", "--quick", "--only", "square_edges", "--images", "6", "--out", "OUT"],
    "report": ["report", "run", "--out", "OUT.html"],
    "explain": ["explain", "net.safetensors", "photo.png", "--out", "OUT"],
    "explain side by side": ["explain", "net.safetensors", "--data", "phantom:test?size=16&n=30", "--out", "OUT"],
    "audit": ["audit", "net.safetensors", "--data", "phantom:test?size=16&n=36", "--audits", "shape", "--out", "OUT"],
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a network, a photo and a run."""
    folder = tmp_path_factory.mktemp("prepared")
    torch.manual_seed(0)
    card = {"arch": "smallnet", "size": [16, 16]}
    save_checkpoint(folder / "net.safetensors", NETWORKS["smallnet"](12), card)
    Image.fromarray(np.zeros((16, 16, 3), np.uint8)).save(folder / "photo.png")
    run = ["audit", str(folder / "net.safetensors"), "--data", "phantom:test?size=16&n=36", "--audits", "shape"]
    with pytest.raises(SystemExit) as stopped:
        main([*run, "--out", str(folder / "run"), "--quiet"])
    assert stopped.value.code == 0
    return folder


@pytest.fixture
def here(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("net.safetensors", "photo.png", "run"):
        (tmp_path / name).symlink_to(prepared / name)
    for name, value in {"TRAIN": TINY, "TEST": TINY.replace("train", "test"), "RUNS": 1}.items():
        monkeypatch.setattr(f"snellen.demo.{name}", value)
    return tmp_path


def ended(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which a command ends."""
    quiet = [] if arguments[0] in ("report", "explain") else ["--quiet"]
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, *quiet])
    told = capsys.readouterr()
    assert (stopped.value.code, told.out) == (2, ""), told.err
    (line,) = [line for line in told.err.strip().splitlines() if not line.startswith(("note:", "warning:"))]
    assert line.startswith("error: ")
    return line


def refusing(code: int) -> Any:
    def replace(source: Any, target: Any) -> None:
        raise OSError(code, os.strerror(code), str(target))

    return replace


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_takes_nothing_ends_the_command_in_one_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    if "logged" in name:
        pytest.importorskip("tensorboard")
    monkeypatch.setattr("snellen.atomic.os.replace", refusing(code))
    line = ended(COMMANDS[name], capsys)
    assert line.startswith("error: cannot write ")
    assert os.strerror(code).lower() in line
    assert not [path for path in here.rglob("*.part") if path.is_file()]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_or_a_device_in_the_way_is_told_before_anything_is_computed(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (here / "file").write_text("")
    monkeypatch.setattr("snellen.train.loop.fit", None)
    for place in ("file/below", "/dev/null/below"):
        line = ended([word.replace("OUT", place) for word in COMMANDS[name]], capsys)
        assert place in line
        assert "choose another --out" in line
    assert (here / "file").read_text() == ""


@pytest.mark.parametrize("place", ["/dev/full", "folder"])
def test_a_device_is_never_replaced_by_a_file(here: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    """Not even by a user who could."""
    (here / "folder").mkdir()
    link = here / "link.html"
    link.symlink_to(place)
    assert "choose the name of a file" in ended(["report", "run", "--out", "link.html"], capsys)
    assert link.is_symlink()
    with pytest.raises(UserError, match="it is a"):
        write_atomic(Path(place), b"content")
    assert Path("/dev/full").is_char_device()
