"""Files and folders of any name and sort: read, listed or refused, and safe in every table, page and line."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.cli import main
from snellen.data import Photo, Unreadable, load_data, only_ids
from snellen.data.names import different, storable
from snellen.data.occluders import read_occluders
from snellen.errors import UserError
from snellen.models import from_callable

CLASSES = [
    b"caf\xe9",
    b"=HYPERLINK(1)",
    b"<script>alert(1)<|script>",
    b"new\nline",
    b"\x1b[31mred\x1b[0m",
    b"a|b`c",
    b" x ",
]
NAMES = [
    b"0.png", b"\xff\xfe.png", b"a\nb.png", b"=1+1.png", b"<img src=x onerror=alert(1)>.png", b"\x1b]0;title\x07.png",
    b"\"';--.png", b" .png", b"x" * 240 + b".png", b"%s{0}.png", b"a..%2f..%2fetc.png", b"\xe2\x80\xa8.png",
]  # fmt: skip


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder of images whose classes and names have any bytes."""
    random = np.random.default_rng(0)
    for folder in CLASSES:
        place = os.path.join(os.fsencode(tmp_path / "odd"), folder)
        os.makedirs(place)
        for name in NAMES:
            Image.fromarray(random.integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(tmp_path / "one.png")
            shutil.move(tmp_path / "one.png", os.fsdecode(os.path.join(place, name)))
    return tmp_path / "odd"


def add_odd_sorts(place: Path) -> None:
    """Links in a circle and to nowhere, a pipe, a socket, a device and a folder, all named like images."""
    (place / "loop.png").symlink_to("loop.png")
    (place / "dangling.png").symlink_to("nowhere")
    (place / "device.png").symlink_to("/dev/zero")
    (place / "up").symlink_to("..")
    (place / "folder.png").mkdir()
    os.mkfifo(place / "pipe.png")
    here = Path.cwd()
    os.chdir(place)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket.png")
    finally:
        os.chdir(here)


def test_ordinary_names_stay_and_bytes_that_are_not_utf8_become_escapes() -> None:
    for name in ("a.png", "é 漢 😀", "a\nb", "\x1b[31m", r"\xff", "=1", ""):
        assert storable(name) == name
    assert storable(os.fsdecode(b"caf\xe9.png")) == r"caf\xe9.png"
    assert storable("\ud800") == r"\ud800"
    storable("".join(map(chr, range(0xD7F0, 0xE010)))).encode()
    with pytest.raises(UserError, match=r"here: 2 have the id '\\xff'; give each its own"):
        different([os.fsdecode(b"\xff"), r"\xff"], "here")


def test_ids_are_stable_different_and_storable_and_lead_back_to_their_files(odd: Path) -> None:
    data, again = load_data(f"folder:{odd}"), load_data(f"folder:{odd}")
    assert data.samples.ids == again.samples.ids
    assert data.fingerprint == again.fingerprint
    assert len(set(data.samples.ids)) == len(data) == len(CLASSES) * len(NAMES)
    assert r"caf\xe9/\xff\xfe.png" in data.samples.ids
    "".join(data.samples.ids + data.classes).encode()
    photos = data.read(range(len(data)))
    assert len({photo.checksum for photo in photos if isinstance(photo, Photo)}) == len(data)


def test_two_files_of_one_id_are_refused(odd: Path) -> None:
    shutil.copy(odd / "a|b`c" / "0.png", odd / "a|b`c" / r"\xff\xfe.png")
    with pytest.raises(UserError, match="2 have the id"):
        load_data(f"folder:{odd}")
    (odd / "a|b`c" / r"\xff\xfe.png").unlink()
    shutil.copytree(odd / "a|b`c", odd / r"caf\xe9")
    with pytest.raises(UserError, match=r"have the (id|class)"):
        load_data(f"folder:{odd}")


def test_a_path_that_is_not_utf8_is_refused(odd: Path) -> None:
    with pytest.raises(UserError, match="has bytes that are not UTF-8; rename the file or folder"):
        load_data(f"folder:{odd}/" + os.fsdecode(b"caf\xe9"))


def test_what_only_looks_like_an_image_is_listed_as_unreadable(odd: Path) -> None:
    before = len(load_data(f"folder:{odd}"))
    add_odd_sorts(odd / "a|b`c")
    data = load_data(f"folder:{odd}")
    reasons = {
        Path(sample).name: photo.reason
        for sample, photo in zip(data.samples.ids, data.read(range(len(data))))
        if isinstance(photo, Unreadable)
    }
    assert reasons == {
        "loop.png": "cannot be read: its links go round in a circle",
        "dangling.png": "cannot be read: it is a link to a file that is not there",
        "device.png": "cannot be read: it is a device",
        "pipe.png": "cannot be read: it is a pipe",
        "socket.png": "cannot be read: it is a socket",
    }
    assert len(data) == before + 5


def test_a_tree_deeper_than_the_stack_is_read(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "class"
    place.mkdir(parents=True)
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    here = os.getcwd()
    os.chdir(place)
    try:
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
        shutil.copy(tmp_path / "a.png", "a.png")
        os.chdir(here)
        (data,) = load_data(f"folder:{tmp_path}/deep").read([0])
        assert isinstance(data, Photo)
        os.chdir(place / Path(*["d"] * 1500))
        for _ in range(1500):  # its path is now longer than the system takes
            os.mkdir("d")
            os.chdir("d")
        os.chdir(here)
        with pytest.raises(UserError, match="cannot be read: file name too long; leave it out"):
            load_data(f"folder:{tmp_path}/deep")
    finally:
        os.chdir(here)
        subprocess.run(["rm", "-rf", tmp_path / "deep"], check=True)  # Python's own way of removing it is recursive


def test_an_audit_of_any_names_ends_with_a_report_in_its_folder_only(
    odd: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(80):  # fewer than one in twenty cannot be shown
        shutil.copy(odd / "a|b`c" / "0.png", odd / "a|b`c" / f"more-{number}.png")
    add_odd_sorts(odd / "a|b`c")
    before = {path for path in tmp_path.rglob("*") if "run" not in path.parts}

    def first(images: np.ndarray) -> np.ndarray:
        return np.tile(np.eye(len(CLASSES))[1], (len(images), 1))

    model = from_callable(first, size=16, name="m", version="1")
    run = snellen.audit(model, f"folder:{odd}", "interference([shuffle(4)])", out=tmp_path / "run", quiet=False)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert r"caf\xe9" in page
    assert "pipe.png: cannot be read: it is a pipe" in page
    assert set(run.sql("select distinct class from samples")["class"]) == set(load_data(f"folder:{odd}").classes)
    assert {path for path in tmp_path.rglob("*") if "run" not in path.parts} == before
    assert "\x1b" not in "".join(capsys.readouterr())
    for arguments in (
        ["sql", str(tmp_path / "run"), "select sample, class, error from samples"],
        ["report", str(tmp_path / "run")],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert not ended.value.code
        assert "\x1b" not in "".join(capsys.readouterr())


def test_lists_of_ids_may_name_them_all_but_for_line_feeds(odd: Path, tmp_path: Path) -> None:
    data = load_data(f"folder:{odd}")
    names = [sample for sample in data.samples.ids if "\n" not in sample]
    (tmp_path / "ids.txt").write_text("\r\n".join(names), encoding="utf-8", newline="")
    assert only_ids(data, tmp_path / "ids.txt").samples.ids == tuple(names)
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(UserError, match="is a (pipe|folder); expected a list of sample ids"):
            only_ids(data, place)
    for name in ("x" * 5000, "a\0b", "~nobody-of-this-name/ids"):
        with pytest.raises(UserError, match="of sample ids"):
            only_ids(data, name)


def test_cutouts_of_any_names_and_sorts(tmp_path: Path) -> None:
    cutout = np.zeros((8, 8, 4), np.uint8)
    cutout[2:6, 2:6] = 255
    place = tmp_path / "cutouts"
    place.mkdir()
    for name in (b"\xff.png", b"a\nb.png", b"=1.png"):
        Image.fromarray(cutout).save(tmp_path / "one.png")
        shutil.move(tmp_path / "one.png", os.fsdecode(os.path.join(os.fsencode(place), name)))
    assert sorted(read_occluders(place).ids) == ["=1.png", r"\xff.png", "a\nb.png"]
    os.mkfifo(place / "pipe.png")
    with pytest.raises(UserError, match=r"pipe.png' is a pipe; expected a cut-out"):
        read_occluders(place)
    for name in ("x" * 5000, "a\0b", "~nobody-of-this-name"):
        with pytest.raises(UserError, match="no folder"):
            read_occluders(name)


@pytest.mark.parametrize("scheme", ["folder", "cue", "in9", "arrays"])
@pytest.mark.parametrize(
    "path", ["x" * 5000, "x/" * 3000, "a\0b", "~nobody-of-this-name/x", "", "/dev/null", "/dev/zero"]
)
def test_paths_that_name_nothing_are_refused(scheme: str, path: str) -> None:
    with pytest.raises(UserError):
        load_data(f"{scheme}:{path}")
