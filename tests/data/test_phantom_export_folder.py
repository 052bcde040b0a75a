"""Exports as folders: whole or not at all, continued, refused, and made by the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.build.destination import Destination
from snellen.cli import main
from snellen.data.dataset import limited
from snellen.data.phantom import FORMATS, World, export, read_world
from snellen.data.phantom.shapes import SHAPES
from snellen.errors import UserError

CLASSES = list(SHAPES)
CROWD = World("test", n=80, size=40, clutter=0.5, occlusion=0.6, label_noise=0.2, object_size=(0.3, 0.7), seed=4)
CLIPS = World("train", n=44, frames=8, size=40, clutter=0.5, occlusion=0.8, label_noise=0.2, object_size=(0.3, 0.5))


def tree_of(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != "settings.yaml"
    }


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_has_the_same_bytes_again_and_goes_on_where_it_was_stopped(tmp_path, format, monkeypatch):
    world = read_world(FORMATS[format].world.replace("n=60", "n=12")).text
    export(world, format, tmp_path / "a", limit=30)
    whole = tree_of(tmp_path / "a")
    facts = json.loads(whole["phantom.json"])
    assert (facts["world"], facts["format"], facts["images"]) == (world, format, 30)
    assert (facts["world_version"], facts["classes"]) == (World.version, CLASSES)

    write, left = Destination.write, [9]

    def failing(self: Destination, name: str, content: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        write(self, name, content)

    with monkeypatch.context() as patched:
        patched.setattr(Destination, "write", failing)
        with pytest.raises(KeyboardInterrupt):
            export(world, format, tmp_path / "b", limit=30)
    assert [path.name for path in (tmp_path / "b").iterdir()] == [".part"]
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "b" / ".part").rglob("*.png")}
    assert written
    with pytest.raises(UserError, match=r"holds another export.*limit: 30, not 31.*remove .*\.part or choose another"):
        export(world, format, tmp_path / "b", limit=31)
    (tmp_path / "b" / ".part" / "phantom.json.here-7.part").write_bytes(b"{")  # what a kill leaves behind
    export(world, format, tmp_path / "b", limit=30)
    assert tree_of(tmp_path / "b") == whole
    kept = [tmp_path / "b" / path.relative_to(tmp_path / "b" / ".part") for path in written]
    assert sum(path.stat().st_mtime_ns == when for path, when in zip(kept, written.values())) >= len(written) - 3


def test_a_stop_while_files_are_moved_up_is_mended(tmp_path, monkeypatch):
    world = World("test", n=24, size=16)
    export(world, "folder", tmp_path / "a")
    moved, replace = [], os.replace

    def failing(source: Path, target: Path) -> None:
        if Path(source).parent.name == ".part" and Path(target).parent.name == "b":
            moved.append(source)
            if len(moved) > 5:
                raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr("snellen.build.destination.os.replace", failing)
        with pytest.raises(KeyboardInterrupt):
            export(world, "folder", tmp_path / "b")
    assert len(list((tmp_path / "b").iterdir())) == 6
    export(world, "folder", tmp_path / "b")
    assert tree_of(tmp_path / "b") == tree_of(tmp_path / "a")


def test_a_finished_export_is_left_as_it_is_and_another_is_refused(tmp_path):
    world = World("test", n=12, size=16)
    first = export(world, "folder", tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert export(world.text, "folder", tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    with pytest.raises(UserError, match=r"holds another export, folder of phantom:test.*; choose another out"):
        export(World("test", n=12, size=16, seed=1), "folder", tmp_path)


def test_a_limit_takes_the_images_that_it_takes_everywhere(tmp_path):
    export(CROWD, "coco", tmp_path / "coco", limit=7)
    told = json.loads((tmp_path / "coco/annotations/instances_test.json").read_text())
    assert [image["sample"] for image in told["images"]] == list(limited(CROWD.dataset(), 7).samples.ids)
    assert export(CLIPS, "ovis", tmp_path / "ovis", limit=23).images == 16


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--format", "cocoa"), "unknown format 'cocoa'; did you mean 'coco'?"),
        (("--format", "ovis", "--world", "phantom:test?n=8"), "expected a world of clips, got phantom:test?n=8&"),
        (("--format", "ovis", "--limit", "4"), "expected --limit of at least one clip of 10 images, got 4"),
        (("--format", "folder", "--limit", "0"), "expected --limit from 1 to 1,000,000,000, got '0'"),
        (("--format", "folder", "--world", "folder:x"), "expected a world as 'phantom:train?…' or 'phantom:test?…'"),
        (("--format", "folder", "--world", "phantom:val"), "expected phantom:train or phantom:test, got 'phantom:val'"),
        (("--format", "folder", "--world", "phantom:test?sizes=9"), "unknown phantom dial 'sizes'"),
        (("--format", "folder", "--world", "phantom:test?junk"), "unknown phantom dial 'junk'"),
        (("--format", "cue-conflict", "--world", "phantom:test?frames=3"), "expected a world without clips"),
        (("--format", "cue-conflict", "--scene", "skyy"), "unknown scene 'skyy'; did you mean 'sky'?"),
        (("--format", "coco", "--scene", "sky"), "expected --scene only with --format cue-conflict"),
        (("--format", "folder", "--out", "notes"), "holds 'mine.txt' and is no export of the phantom world; choose"),
        (("--format", "folder", "--out", "notes/mine.txt"), "is a file; choose another --out"),
        (
            ("--format", "folder", "--out", "notes/mine.txt/deeper"),
            "lies below the file 'notes/mine.txt'",
        ),
        (("--format", "folder", "--out", "/proc/no/where"), "cannot write /proc/no/where: "),
    ],
)
def test_what_cannot_be_exported_is_told_in_a_line_and_nothing_is_written(
    tmp_path, monkeypatch, capsys, arguments, told
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/mine.txt").write_text("mine")
    out = () if "--out" in arguments else ("--out", "new")
    with pytest.raises(SystemExit) as caught:
        main(["build", "phantom", *arguments, *out])
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert told in error
    assert error.count("\n") == 1
    assert tree_of(tmp_path) == {"notes/mine.txt": b"mine"}
    assert not (tmp_path / "new").exists()


def test_the_command_writes_and_says_where(tmp_path, capsys):
    out = tmp_path / "x"
    base = ["build", "phantom", "--format", "folder", "--out", str(out), "--world", "phantom:test?n=12&size=16"]
    with pytest.raises(SystemExit) as caught:
        main(base)
    assert not caught.value.code
    assert capsys.readouterr().out == f"12 images: {out}\n"
    with pytest.raises(SystemExit):
        main([*base, "--json"])
    assert json.loads(capsys.readouterr().out)["images"] == 12


def test_help_names_every_format_and_imports_no_torch():
    code = (
        "import sys\nfrom snellen.cli import main\ntry:\n    main(['build', 'phantom', '--help'])\n"
        "except SystemExit:\n    print('torch' in sys.modules, 'numpy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Example: snellen build phantom" in told
    assert all(name in told for name in FORMATS)
    assert told.endswith("False False\n")


def test_export_is_found_by_its_full_name():
    import snellen.data

    assert snellen.data.phantom.export is export
