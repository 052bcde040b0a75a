"""One writer per folder: a second command on the same --out is refused in one line, whatever it makes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from snellen.build.destination import Destination
from snellen.errors import UserError
from snellen.lock import LOCK, own_folder, writer_lock

from ..commands import exit_code

TRAIN = ["train", "smallnet", "--data", "phantom:train?size=16&n=24", "--epochs", "1", "--device", "cpu", "--quiet"]
SWEEP = [
    *("sweep", "variants", "smallnet", "--train", "plain=phantom:train?size=16&n=24", "--epochs", "1", "--quiet"),
    *("--test", "same=phantom:test?size=16&n=24", "--device", "cpu", "--no-html"),
]
BUILD = ["build", "phantom", "--format", "folder", "--world", "phantom:test?size=16&n=4", "--quiet"]


@pytest.mark.parametrize(
    ("command", "inside"), [(TRAIN, ""), (SWEEP, ""), (BUILD, ".part")], ids=["train", "sweep", "build"]
)
def test_a_second_command_is_refused_while_the_first_writes(
    command: list[str], inside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (out / inside).mkdir(parents=True)
    with writer_lock(out / inside):
        assert exit_code([*command, "--out", str(out)]) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert f"is being written by process {os.getpid()} on" in said
        assert [path.name for path in (out / inside).iterdir()] == [LOCK]
    assert exit_code([*command, "--out", str(out)]) == 0
    assert not list(out.rglob(LOCK)) or command is SWEEP  # the runs inside a sweep keep theirs
    assert exit_code([*command, "--out", str(out)]) == 0


@pytest.mark.parametrize("command", [TRAIN, SWEEP, BUILD], ids=["train", "sweep", "build"])
def test_a_lock_that_is_a_link_is_not_followed(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, precious = tmp_path / "out", tmp_path / "precious"
    precious.write_text("precious")
    place = out / ".part" if command is BUILD else out
    place.mkdir(parents=True)
    (place / LOCK).symlink_to(precious)
    assert exit_code([*command, "--out", str(out)]) == 2
    assert "is not a regular file, so it cannot lock" in capsys.readouterr().err
    assert precious.read_text() == "precious"


def test_a_folder_made_for_nothing_is_gone_with_those_above_it(tmp_path: Path) -> None:
    with pytest.raises(UserError), own_folder(tmp_path / "a" / "b" / "c"):
        raise UserError("refused")
    assert not list(tmp_path.iterdir())
    with own_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "stored").write_text("")
    with pytest.raises(UserError), own_folder(tmp_path / "a" / "b"):
        raise UserError("too late")
    assert (tmp_path / "a" / "b" / "stored").exists()


def test_an_export_that_another_process_finished_meanwhile_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look sees nothing; when the lock is held, the whole export is there."""
    facts = {"format": "folder", "world": "w"}
    to = Destination(tmp_path / "out", facts, "phantom.json", "export", ("format", "world"))
    looks: list[bool] = []
    is_open = Destination._is_open

    def meanwhile(self: Destination) -> bool:
        looks.append(is_open(self))
        if len(looks) == 1:
            with replace(to).writing() as missing:
                assert missing
                to.write("image", b"")
                to.finish()
        return looks[-1]

    monkeypatch.setattr(Destination, "_is_open", meanwhile)
    with to.writing() as missing:
        assert not missing
    assert sorted(path.name for path in to.out.iterdir()) == ["image", "phantom.json"]
