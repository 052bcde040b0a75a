"""`tar:`: images in a tar file."""

from __future__ import annotations

import io
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from timm.data.readers.reader_image_in_tar import ReaderImageInTar
from torch import nn

import snellen
from snellen.data import Unreadable
from snellen.errors import UserError
from snellen.files import tar_file
from snellen.lazy_torch import torch
from snellen.models import from_torch

LONG = (
    "a folder with a name that is longer than the hundred characters which the oldest kind of tar file has room for" * 2
)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Three classes of four small images, one of them in a folder with a long name."""
    random = np.random.default_rng(0)
    for name in ("cat", "dog", LONG):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(4):
            pixels = random.integers(0, 256, (9, 7, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "photos" / name / f"{number}.png")
    return tmp_path / "photos"


def pack(photos: Path, form: int = tarfile.PAX_FORMAT, top: str = ".") -> Path:
    file = photos.parent / "photos.tar"
    with tarfile.open(file, "w", format=form) as tar:
        tar.add(photos, arcname=top)
    return file


def image() -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (4, 4)).save(content, "PNG")
    return content.getvalue()


def made(place: Path, names: list[str]) -> Path:
    """A tar file of one image under each of these names, in this order."""
    file = place / "made.tar"
    with tarfile.open(file, "w") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(image())
            tar.addfile(info, io.BytesIO(image()))
    return file


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_it_holds_what_the_folder_holds(photos: Path, form: int):
    there, here = snellen.load_data(f"folder:{photos}"), snellen.load_data(f"tar:{pack(photos, form)}")
    assert here.classes == there.classes
    assert here.samples.ids == there.samples.ids
    assert here.samples.labels.tolist() == there.samples.labels.tolist()
    assert here.samples.columns["bytes"].tolist() == there.samples.columns["bytes"].tolist()
    for ours, theirs in zip(here.read(range(12)), there.read(range(12))):
        assert ours.checksum == theirs.checksum
        assert np.array_equal(ours.image, theirs.image)


def test_classes_are_those_of_timm(photos: Path):
    file = pack(photos, top="train")
    data, theirs = snellen.load_data(f"tar:{file}"), ReaderImageInTar(str(file))
    named = {sample[0].path: theirs.class_idx_to_name[target] for sample, target in zip(theirs.samples, theirs.targets)}
    assert {one: data.classes[label] for one, label in zip(data.samples.ids, data.samples.labels)} == named


def test_images_are_read_in_any_order_by_several_threads(photos: Path):
    data = snellen.load_data(f"tar:{pack(photos)}")
    expected = [photo.checksum for photo in data.read(range(12))]
    orders = [np.random.default_rng(seed).permutation(12).tolist() for seed in range(40)]
    with ThreadPoolExecutor(8) as pool:
        for order, read in zip(orders, pool.map(data.read, orders)):
            assert [photo.checksum for photo in read] == [expected[p] for p in order]


def test_rows_are_filtered_and_an_audit_reads_it(photos: Path, tmp_path: Path):
    file = pack(photos)
    assert snellen.load_data(f"tar:{file}?label=dog").samples.ids == tuple(f"dog/{n}.png" for n in range(4))
    first = from_torch(nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 3, bias=False)), size=8)
    first.module[1].weight.data = torch.tensor([1.0, 0, 0])[:, None].repeat(1, 3 * 8 * 8)  # always the first class
    run = snellen.audit(first, f"tar:{file}", ["occlusion"], out=tmp_path / "run", quiet=True, report=False)
    clean = run.findings().query("name == 'accuracy'")["value"]
    assert clean.tolist() == [pytest.approx(1 / 3)]


def test_hidden_files_and_other_files_are_left_out(tmp_path: Path):
    file = made(tmp_path, ["b/1.png", "b/._1.png", ".hidden/2.png", "a/3.PNG", "a/list.txt"])
    data = snellen.load_data(f"tar:{file}")
    assert data.samples.ids == ("a/3.PNG", "b/1.png")
    assert data.classes == ("a", "b")


def test_another_file_has_another_fingerprint(tmp_path: Path):
    first = snellen.load_data(f"tar:{made(tmp_path, ['a/1.png', 'b/2.png'])}").fingerprint
    assert snellen.load_data(f"tar:{made(tmp_path, ['a/1.png', 'b/3.png'])}").fingerprint != first


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a/1.txt"], "holds no images"),
        (["a/1.png", "2.png"], "'2.png' lies in no folder"),
        (["a/1.png", "a/1.png"], "2 have the id 'a/1.png'"),
        (["a/1.png", "./a/1.png"], "2 have the id 'a/1.png'"),
    ],
)
def test_what_is_no_such_set_is_refused(tmp_path: Path, names: list[str], message: str):
    with pytest.raises(UserError, match=message):
        snellen.load_data(f"tar:{made(tmp_path, names)}")


@pytest.mark.parametrize(("mode", "name"), [("w:gz", "gzip"), ("w:bz2", "bzip2"), ("w:xz", "xz")])
def test_a_compressed_file_is_refused_by_name(tmp_path: Path, mode: str, name: str):
    with tarfile.open(tmp_path / "packed.tar", mode) as tar:  # type: ignore[call-overload]
        tar.addfile(tarfile.TarInfo("a/1.png"))
    with pytest.raises(UserError, match=rf"is compressed \({name}\)"):
        snellen.load_data(f"tar:{tmp_path}/packed.tar")


@pytest.mark.parametrize("sort", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_are_refused(tmp_path: Path, sort: bytes):
    file = made(tmp_path, ["a/1.png"])
    with tarfile.open(file, "a") as tar:
        link = tarfile.TarInfo("a/2.png")
        link.type, link.linkname = sort, "a/1.png"
        tar.addfile(link)
    with pytest.raises(UserError, match="'a/2.png' is a link; pack whole files"):
        snellen.load_data(f"tar:{file}")


def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(tmp_path: Path):
    whole = made(tmp_path, ["a/1.png", "b/2.png", "c/3.png"]).read_bytes()
    ends = [member.start + member.size for member in tar_file.list_tar(tmp_path / "made.tar")]
    for cut in range(100, ends[-1], 77):
        (tmp_path / "cut.tar").write_bytes(whole[:cut])
        if cut % 512 == 0 and whole[cut - 1] == 0:
            continue  # behind a whole file: a tar file may end there
        with pytest.raises(UserError):
            snellen.load_data(f"tar:{tmp_path}/cut.tar")


def test_a_damaged_header_is_not_taken_for_the_end(tmp_path: Path):
    file = made(tmp_path, ["a/1.png", "b/2.png", "c/3.png"])
    second = tar_file.list_tar(file)[1].start - tarfile.BLOCKSIZE
    content = bytearray(file.read_bytes())
    content[second + 3] ^= 1
    file.write_bytes(content)
    with pytest.raises(UserError, match=f"is damaged at byte {second:,}"):
        snellen.load_data(f"tar:{file}")


NEGATIVE, HUGE = b"\xff" * 11 + b"\x00", b"\x80" + b"\0" * 6 + b"\x40" + b"\0" * 4  # −256 and 2³⁸ in base 256


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("a/1.png", NEGATIVE, "has no possible size"),
        ("a/1.png", HUGE, "is cut off in 'a/1.png'"),
        (LONG, NEGATIVE, "cannot be read as a tar file"),  # the first header of a long name says how long it is
        (LONG, HUGE, "a header of impossible size"),
    ],
)
def test_a_size_that_lies_neither_holds_the_reader_up_nor_fills_the_memory(
    tmp_path: Path, name: str, size: bytes, message: str
):
    file = made(tmp_path, [name, "b/2.png"])
    content = bytearray(file.read_bytes())
    content[124:136] = size
    content[148:156] = b" " * 8
    content[148:156] = f"{sum(content[:512]):06o}\0 ".encode()
    file.write_bytes(content)
    with pytest.raises(UserError, match=message):
        snellen.load_data(f"tar:{file}")


def test_a_file_that_changed_gives_unreadable_images_and_no_crash(photos: Path):
    file = pack(photos)
    data = snellen.load_data(f"tar:{file}")
    file.write_bytes(b"x" * 2048)
    assert all(isinstance(one, Unreadable) for one in data.read(range(12)))


def test_a_folder_is_told_what_it_is(tmp_path: Path):
    with pytest.raises(UserError, match="is a folder; give a tar file, or folder:"):
        snellen.load_data(f"tar:{tmp_path}")
    with pytest.raises(UserError, match="no tar file"):
        snellen.load_data(f"tar:{tmp_path}/nowhere.tar")
