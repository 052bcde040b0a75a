"""Input that is wrong or odd: refused in one line, or converted rightly."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.cli import main
from snellen.data import Photo, Unreadable, load_data
from snellen.data.decode import decode_file
from snellen.errors import UserError
from snellen.models import load_model


def test_a_condition_on_a_finding_that_cannot_exist_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["audit", "python:nowhere:model", "--data", "phantom:test", "--audits", "occlusion", "--require"]
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "interference < 1"])
    assert stopped.value.code == 2
    assert "unknown finding in --require 'interference'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_link_that_leads_out_of_the_manifests_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    Image.new("RGB", (4, 4)).save(tmp_path / "out.png")
    (tmp_path / "in" / "link.png").symlink_to(tmp_path / "out.png")
    (tmp_path / "in" / "list.csv").write_text("path,label\nlink.png,1\n")
    with pytest.raises(UserError, match="line 2: path 'link.png' leaves"):
        load_data(f"manifest:{tmp_path}/in/list.csv")
    assert len(load_data(f"manifest:{tmp_path}/in/list.csv?root={tmp_path}")) == 1


def test_a_checkpoint_that_holds_code_is_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return Path.touch, (tmp_path / "ran",)

    (tmp_path / "a.pt").write_bytes(pickle.dumps(Bomb()))
    torch.save({"fc.weight": Bomb()}, tmp_path / "b.pt")
    for name in ("a.pt", "b.pt"):
        with pytest.raises(UserError, match="holds more than weights or is damaged"):
            load_model(f"zoo:resnet20@{tmp_path}/{name}")
    assert not (tmp_path / "ran").exists()


def test_long_images_are_read_and_bombs_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (20_000, 20), 5).save(tmp_path / "long.png")
    read = decode_file(tmp_path / "long.png")
    assert isinstance(read, Photo)
    assert read.image.shape == (20, 20_000, 3)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    bomb = decode_file(tmp_path / "long.png")
    assert isinstance(bomb, Unreadable)
    assert "pixels" in bomb.reason


@pytest.mark.parametrize("label", ["1000000000000000", "²"])
def test_odd_labels_take_no_memory(tmp_path: Path, label: str) -> None:
    (tmp_path / "list.csv").write_text(f"path,label\na.png,{label}\nb.png,x\n")
    assert len(load_data(f"manifest:{tmp_path}/list.csv").classes) == 2
    np.savez(tmp_path / "a.npz", images=np.zeros((1, 4, 4), np.uint8), labels=[10**15])
    with pytest.raises(UserError, match="name the classes"):
        load_data(f"arrays:{tmp_path}/a.npz")
