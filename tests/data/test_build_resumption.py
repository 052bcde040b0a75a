"""A build that was killed and goes on after its inputs have changed gives what a new build gives, for every builder."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from snellen.build.destination import Destination

from . import resumed_builds
from .resumed_builds import BUILDS, count_files, make_inputs, pictures, replace_masks, replace_pictures

MOMENTS = {"early": 0.3, "late": 0.85, "moving": -1}  # shares of the files that are in place; −1: all but the last
CASES = [(name, moment) for name in BUILDS for moment in MOMENTS]


def tree_of(folder: Path) -> dict[str, bytes]:
    files = filter(Path.is_file, folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.name != "settings.yaml"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every build was killed at every moment, and then all pictures were replaced."""
    place = tmp_path_factory.mktemp("resumed")
    inputs = place / "inputs"
    make_inputs(inputs)
    orders = []
    for name in BUILDS:
        total = count_files(partial(BUILDS[name], inputs, place / "first" / name))
        for moment, share in MOMENTS.items():
            count = total - 1 if share < 0 else max(2, round(total * share))
            orders.append("\t".join([name, str(inputs), str(place / moment / name), str(count)]))
    ended = subprocess.run(
        [sys.executable, resumed_builds.__file__], input="\n".join(orders), capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == [str(int(signal.SIGKILL))] * len(orders), ended.stderr
    replace_pictures(pictures(inputs))
    return place


@pytest.mark.parametrize(("name", "moment"), CASES)
def test_a_killed_build_resumes_by_content(place: Path, name: str, moment: str) -> None:
    fresh = place / "fresh" / name
    BUILDS[name](place / "inputs", fresh)
    if name != "phantom":  # which reads no file
        assert tree_of(fresh) != tree_of(place / "first" / name)
    assert [path.name for path in (place / moment / name).iterdir() if path.name == ".part"] == [".part"]
    BUILDS[name](place / "inputs", place / moment / name)
    assert tree_of(place / moment / name) == tree_of(fresh)


@pytest.mark.parametrize("name", ["in9", "iruo", "synthetic"])
def test_masks_that_change_while_a_build_is_stopped_are_read_again(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Masks in pictures, and in annotations of clips and of images; the photographs stay as they are."""
    inputs = tmp_path / "inputs"
    shutil.copytree(place / "inputs", inputs)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Destination, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            BUILDS[name](inputs, tmp_path / "stopped")
    written = set(tree_of(tmp_path / "stopped" / ".part").values())
    replace_masks(inputs)
    for out in ("stopped", "fresh"):
        BUILDS[name](inputs, tmp_path / out)
    fresh = tree_of(tmp_path / "fresh")
    assert tree_of(tmp_path / "stopped") == fresh
    assert any(content not in written for file, content in fresh.items() if file.endswith((".png", ".npy", ".csv")))
