"""`zip:`: images in a zip file, and archives that are no sets of images."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from snellen.data import Unreadable, load_data
from snellen.errors import UserError

from .shapes import encoded_images, folder, tarred, write_tar, zipped

IMAGES = encoded_images()
IMAGE = IMAGES["cat/0.png"]


def made(place: Path, names: list[str]) -> Path:
    """A zip file of one image under each of these names, in this order."""
    with zipfile.ZipFile(place / "made.zip", "w") as archive:
        for name in names:
            archive.writestr(name, IMAGE)
    return place / "made.zip"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_it_holds_what_the_folder_holds_read_in_any_order_by_several_threads(tmp_path: Path, method: int) -> None:
    there, here = load_data(folder(IMAGES, tmp_path)), load_data(zipped(IMAGES, tmp_path, method))
    assert (here.classes, here.samples.ids) == (there.classes, there.samples.ids)
    assert here.samples.labels.tolist() == there.samples.labels.tolist()
    assert here.samples.columns["bytes"].tolist() == there.samples.columns["bytes"].tolist()
    expected = there.read(range(12))
    orders = [np.random.default_rng(seed).permutation(12).tolist() for seed in range(20)]
    with ThreadPoolExecutor(8) as pool:
        for order, read in zip(orders, pool.map(here.read, orders)):
            assert [photo.checksum for photo in read] == [expected[p].checksum for p in order]
    assert all(np.array_equal(ours.image, theirs.image) for ours, theirs in zip(here.read(range(12)), expected))
    assert load_data(str(tmp_path / "photos.zip")).text == f"zip:{tmp_path}/photos.zip"


@pytest.mark.skipif(shutil.which("zip") is None, reason="needs the command zip")
def test_what_the_command_zip_writes_is_read(tmp_path: Path) -> None:
    folder(IMAGES, tmp_path)
    subprocess.run(["zip", "-q", "-r", "photos.zip", "photos"], cwd=tmp_path, check=True)
    data = load_data(f"zip:{tmp_path}/photos.zip?label=dog")
    assert data.samples.ids == tuple(sorted(f"photos/{name}" for name in IMAGES if name.startswith("dog")))


def test_hidden_files_and_other_files_are_left_out(tmp_path: Path) -> None:
    names = ["b/1.png", "b/._1.png", "__MACOSX/b/1.png", ".hidden/2.png", "a/3.PNG", "a/list.txt"]
    assert load_data(f"zip:{made(tmp_path, names)}").samples.ids == ("a/3.PNG", "b/1.png")


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_folders_of_splits_are_no_classes_and_one_is_named(tmp_path: Path, kind: str) -> None:
    images = {f"set/{split}/{name}": content for split in ("train", "test") for name, content in IMAGES.items()}
    text = zipped(images, tmp_path) if kind == "zip" else tarred(images, tmp_path)
    with pytest.raises(
        UserError, match=rf"the splits test, train, which are no classes; name one: '{text}.folder=set/test'"
    ):
        load_data(text)
    data = load_data(f"{text}?folder=set/test")
    assert data.samples.ids == tuple(f"set/test/{name}" for name in IMAGES)
    assert data.classes == ("cat", "dog", "eel")
    assert data.fingerprint != load_data(f"{text}?folder=set/train").fingerprint
    with pytest.raises(UserError, match="holds no images below the folder 'set/val'"):
        load_data(f"{text}?folder=set/val")
    signals = {"signals/train/1.png": IMAGE, "signals/test/1.png": IMAGE}  # classes of images that are called so
    text = zipped(signals, tmp_path) if kind == "zip" else tarred(signals, tmp_path)
    assert load_data(text).classes == ("test", "train")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a/1.txt"], "zip file .* holds no images"),
        (["a/1.png", "2.png"], "'2.png' lies in no folder"),
        (["a/1.png", "a/../../1.png"], r"the name 'a/\.\./\.\./1\.png' leads out of it; pack paths that are relative"),
        (["/a/1.png"], "the name '/a/1.png' leads out of it"),
        (["..\\a\\1.png"], "leads out of it"),
        (["C:/a/1.png"], "leads out of it"),
        (["a/inner.zip"], "holds the archive 'a/inner.zip' and no images; take that out of it"),
    ],
)
def test_what_is_no_such_set_is_refused(tmp_path: Path, names: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        load_data(f"zip:{made(tmp_path, names)}")
    assert "\n" not in str(error.value)


def test_names_that_lead_out_of_a_tar_file_are_refused_too(tmp_path: Path) -> None:
    for name in ("../a/1.png", "/a/1.png"):
        with pytest.raises(UserError, match=f"the name '{name}' leads out of it"):
            load_data(f"tar:{write_tar(tmp_path / 'a.tar', {name: IMAGE})}")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds 'a/1.png' twice; pack each file once"):
        load_data(f"zip:{made(tmp_path, ['a/1.png', 'b/1.png', 'a/1.png'])}")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/1.png", IMAGE)
        archive.writestr("a/2.png", bytes(65 << 20))
    with pytest.raises(UserError, match=r"'a/2.png' grows from .* KiB to 65 MiB, as no image does; leave it out"):
        load_data(f"zip:{tmp_path}/bomb.zip")


def patched(file: Path, mark: bytes, place: int, value: bytes, number: int = 0) -> str:
    """The zip file with other bytes at a place behind one of its marks."""
    content = bytearray(file.read_bytes())
    start = -1
    for _ in range(number + 1):
        start = content.index(mark, start + 1)
    content[start + place : start + place + len(value)] = value
    file.write_bytes(content)
    return f"zip:{file}"


ENTRY = b"PK\x01\x02"  # begins an entry of the table of contents


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (8, b"\x01", "'a/1.png' is encrypted; pack it without a password"),
        (10, b"\x0c", "is packed by the method 12; pack it stored or deflated"),
        (24, b"\xff\xff\xff\x0f", "is damaged: .* bytes cannot hold 268,435,455; copy it again"),
        (38, (0o120777 << 16).to_bytes(4, "little"), "'a/1.png' is a link; pack whole files"),
        (
            42,
            b"\xff\xff\xff\x0f",
            "is damaged: its files overlap, or reach beyond its end|cannot be read as a zip file",
        ),
    ],
)
def test_entries_that_lie_are_refused(tmp_path: Path, place: int, value: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_data(patched(made(tmp_path, ["a/1.png", "b/2.png"]), ENTRY, place, value))


def test_files_that_overlap_are_refused(tmp_path: Path) -> None:
    """As those of a bomb whose entries all name the same bytes."""
    file = made(tmp_path, [f"a/{number}.png" for number in range(9)])
    first = file.read_bytes().index(ENTRY)
    content = bytearray(file.read_bytes()[:30] + b"a/0.png" + IMAGE + file.read_bytes()[first:])
    cut = first - (30 + 7 + len(IMAGE))
    for number in range(9):
        place = -1
        for _ in range(number + 1):
            place = content.index(ENTRY, place + 1)
        content[place + 42 : place + 46] = bytes(4)
    end = content.index(b"PK\x05\x06")
    content[end + 16 : end + 20] = (int.from_bytes(content[end + 16 : end + 20], "little") - cut).to_bytes(4, "little")
    file.write_bytes(content)
    assert len(zipfile.ZipFile(file).infolist()) == 9
    with pytest.raises(UserError, match="its files overlap"):
        load_data(f"zip:{file}")


def test_a_damaged_image_and_a_file_that_changed_are_unreadable(tmp_path: Path) -> None:
    text = patched(made(tmp_path, ["a/1.png", "b/2.png"]), IMAGE[:40], 60, b"\0\0")
    data = load_data(text)
    first, second = data.read([0, 1])
    assert isinstance(first, Unreadable)
    assert first.reason == "cannot be read: it is damaged: its checksum does not match"
    assert not isinstance(second, Unreadable)
    (tmp_path / "made.zip").write_bytes(b"x" * 2048)
    assert {photo.reason for photo in data.read([0, 1])} == {"the zip file has changed since it was listed"}


def test_a_folder_and_other_files_are_told_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder; give a zip file, or folder:"):
        load_data(f"zip:{tmp_path}")
    with pytest.raises(UserError, match="no zip file"):
        load_data(f"zip:{tmp_path}/nowhere.zip")
    (tmp_path / "text.zip").write_text("no archive at all")
    with pytest.raises(UserError, match="text.zip cannot be read as a zip file"):
        load_data(f"zip:{tmp_path}/text.zip")
