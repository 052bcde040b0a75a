"""npz files that lie: refused in one line by what their headers promise, before anything is allocated."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snellen.data import Photo, from_arrays, load_data
from snellen.data.columns import column
from snellen.errors import UserError
from snellen.files import npz
from snellen.files.npz import open_npz, read_npy

GOOD = {"images": np.zeros((4, 3, 3), np.uint8), "labels": np.arange(4)}


def npy(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def header(shape: str, descr: str = "'|u1'", version: int = 1, length: int | None = None) -> bytes:
    """The header of an npy file that says whatever one likes."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", size) + text


def write(path: Path, members: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> str:
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return f"arrays:{path}"


def refusal(text: str) -> str:
    with pytest.raises(UserError) as caught:
        load_data(text)
    assert len(str(caught.value)) < 400
    return str(caught.value)


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (header("(1000000000000, 32, 32, 3)") + b"\0" * 64, "its header says uint8"),
        (header("(4, 3, 4)") + b"\0" * 36 + b"\0", "48 bytes, but 37 follow"),
        (header("(4, 3, 2)") + b"\0" * 36, "24 bytes, but 36 follow"),
        (header("(4, 3, 3)", "'|V0'"), "records"),
        (header("(1000000000000,)", "'<U0'"), "damaged"),
        (header("(4, -3, 3)") + b"\0" * 36, "its shape is"),
        (header("(True, 3, 3)") + b"\0" * 36, "its shape is"),
        (header("(4, 3, 3)", "'|O'") + b"\0" * 36, "holds Python objects"),
        (header("(4, 3, 3)", "[('a', '|u1')]") + b"\0" * 36, "holds records"),
        (header("(4, 3, 3)", "'nonsense'") + b"\0" * 36, "the header is damaged"),
        (header("(" * 4000 + ")" * 4000), "the header is damaged"),
        (header("-" * 9000 + "1"), "the header is damaged"),
        (header("(4, 3, 3)", version=9) + b"\0" * 36, "not one that NumPy writes"),
        (header("(4, 3, 3)", version=2, length=4_000_000_000), "its header has 4,000,000,000 bytes"),
        (header("(4, 3, 3)", length=9000), "cut short"),
        (b"\x93NUMPY", "not one that NumPy writes"),
        (b"hello", "is not an array"),
        (b"", "is not an array"),
    ],
)
def test_a_header_that_does_not_fit_its_bytes_is_refused(
    tmp_path: Path, content: bytes, words: str, packing: int
) -> None:
    said = refusal(write(tmp_path / "a.npz", {"images": content, "labels": npy(np.arange(4))}, packing))
    assert "array 'images'" in said
    assert words in said


@pytest.mark.parametrize("field", ["compressed", "unpacked", "both"])
@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sizes_that_the_zip_file_lies_about_are_refused(tmp_path: Path, field: str, packing: int) -> None:
    huge = header("(100000, 1000, 30)") + b"\0" * 100
    write(tmp_path / "a.npz", {"images": huge, "labels": npy(np.arange(100_000))}, packing)
    content = bytearray((tmp_path / "a.npz").read_bytes())
    place = content.index(b"PK\x01\x02")  # the first entry of the table of contents
    lie = struct.pack("<I", 3_000_000_000 + len(huge) - 100)
    if field in ("compressed", "both"):
        content[place + 20 : place + 24] = lie
    if field in ("unpacked", "both"):
        content[place + 24 : place + 28] = lie
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(UserError, match="images' is damaged|cannot be read as npz"):
        load_data(f"arrays:{tmp_path}/a.npz")


def test_a_packed_bomb_is_refused_by_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MOST_UNPACKED", 30_000)
    np.savez_compressed(tmp_path / "a.npz", images=np.zeros((20, 32, 32), np.uint8), labels=np.zeros(20, int))
    assert len(load_data(f"arrays:{tmp_path}/a.npz")) == 20
    np.savez_compressed(tmp_path / "b.npz", images=np.zeros((40, 32, 32), np.uint8), labels=np.zeros(40, int))
    assert "unpacked the arrays of the file have more than" in refusal(f"arrays:{tmp_path}/b.npz")
    np.savez(tmp_path / "c.npz", images=np.zeros((40, 32, 32), np.uint8), labels=np.zeros(40, int))
    assert len(load_data(f"arrays:{tmp_path}/c.npz")) == 40  # as it is stored it needs no memory


def test_arrays_without_a_meaning_are_not_unpacked(tmp_path: Path) -> None:
    bomb = header("(1000000000000,)", "'<f8'")
    notes = npy(np.array({"made": "here"}, object))
    text = write(tmp_path / "a.npz", {"bomb": bomb, "notes": notes} | {k: npy(v) for k, v in GOOD.items()})
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("readme.txt", "not an array")
    assert len(load_data(text)) == 4


def test_too_many_and_doubled_arrays_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.npz", {str(number): npy(np.zeros(1)) for number in range(1001)})
    assert "holds 1,001 arrays, more than 1,000" in refusal(f"arrays:{tmp_path}/a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("images.npy", npy(GOOD["images"]))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("images.npy", npy(GOOD["images"]))
    assert "two arrays named 'images'" in refusal(f"arrays:{tmp_path}/a.npz")
    monkeypatch.setattr(npz, "LONGEST_LISTING", 100)
    assert "its table of contents has" in refusal(f"arrays:{tmp_path}/a.npz")


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packings_are_refused(tmp_path: Path, packing: int) -> None:
    text = write(tmp_path / "a.npz", {name: npy(values) for name, values in GOOD.items()}, packing)
    assert "packed by a method that np.savez does not use" in refusal(text)


def test_stored_images_are_mapped_so_that_memory_does_not_grow_with_their_size(tmp_path: Path) -> None:
    images = np.arange(3 << 20, dtype=np.uint8).reshape(64, 128, 128, 3)
    np.savez(tmp_path / "a.npz", images=images, labels=np.zeros(64, int), turned=np.asfortranarray(images))
    with open_npz(tmp_path / "a.npz") as opened:
        for name in ("images", "turned"):
            mapped = opened.read(name)
            assert isinstance(mapped, np.memmap)
            np.testing.assert_array_equal(mapped, images)
        assert not isinstance(opened.read("labels"), np.memmap)  # small: its checksum is compared instead
    assert mapped[3, 2, 1, 0] == images[3, 2, 1, 0]  # also after the file is closed


CUT = """
import snellen

data = snellen.load_data("arrays:cut.npz")
with open("cut.npz", "r+b") as file:
    file.truncate(100)
print(data.samples.columns["weight"].sum(), data.samples.ids[-1], data.samples.labels.sum())
try:
    photos = data.read([len(data) - 1])
except snellen.UserError as error:
    print(error)
else:
    print(photos[0].boxes.tolist())
"""


@pytest.mark.parametrize(
    ("side", "said"),
    [(1, "[[0.0, 0.0, 1.0, 1.0]]"), (4, "arrays:cut.npz: the file has become shorter while it was read")],
)
def test_a_file_that_is_cut_ends_no_process(tmp_path: Path, side: int, said: str) -> None:
    """By SIGBUS, where what is gone is looked at: boxes and columns are read whole, large images are not."""
    count = 1 << 18  # so many that boxes, labels and columns are mapped when they are read
    np.savez(
        tmp_path / "cut.npz",
        images=np.zeros((count, side, side), np.uint8),
        labels=np.arange(count) % 2,
        weight=np.ones(count),
        boxes=np.tile(np.array([0.0, 0, 1, 1]), (count, 1)),
    )
    ended = subprocess.run([sys.executable, "-c", CUT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    facts, last = ended.stdout.splitlines()
    assert facts == f"{count}.0 {count - 1:06d} {count // 2}"
    assert last.startswith(said)


def test_damaged_bytes_of_a_small_array_are_seen(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **GOOD)
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[content.index(b"\x03" + b"\0" * 7)] ^= 1  # the last label
    (tmp_path / "a.npz").write_bytes(content)
    assert "Bad CRC-32" in refusal(f"arrays:{tmp_path}/a.npz")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"images": np.zeros((4, 0, 3), np.uint8)}, "at least one pixel"),
        ({"images": np.zeros((4, 3, 0, 3), np.uint8)}, "at least one pixel"),
        ({"images": np.zeros((0, 3, 3), np.uint8), "labels": np.zeros(0, int)}, "holds no images"),
        ({"images": np.array(5, np.uint8)}, r"got uint8 []"),
        ({"labels": np.zeros(4, "m8[s]")}, "whole-number labels, got timedelta64"),
        ({"labels": np.array([0, 1, 2, 2**64 - 1], np.uint64), "classes": list("abc")}, "is too large"),
        ({"labels": np.array([-1, -1, -1, -1])}, "no image has a label"),
        ({"labels": np.array([0, 1, -2, 0])}, "label -2 of image 2 is outside the 2 classes"),
        ({"labels": np.array(3)}, "4 whole-number labels, got int64 []"),
        ({"masks": np.zeros((4, 3, 2), bool)}, "masks as bool or whole numbers [4, 3, 3], got bool [4, 3, 2]"),
        ({"masks": np.zeros((4, 3, 3, 1), bool)}, "[4, 3, 3]"),
        ({"masks": np.zeros((4, 3, 3))}, "save them as masks > 0.5"),
        ({"masks": np.full((4, 3, 3), "x")}, "got <U1"),
        ({"masks": np.zeros((4, 3, 3), complex)}, "got complex128"),
        ({"masks": np.array(True)}, "got bool []"),
        ({"boxes": np.full((4, 4), "x")}, "boxes as numbers [4, 4] or [4, k, 4]"),
        ({"boxes": np.zeros((4, 4), complex)}, "got complex128"),
        ({"boxes": np.zeros((3, 4))}, "got float64 [3, 4]"),
        ({"boxes": np.zeros((4, 1, 1, 4))}, "boxes as numbers"),
        ({"boxes": np.zeros((4, 5))}, "boxes as numbers"),
        ({"boxes": np.array(1.0)}, "boxes as numbers"),
        ({"boxes": np.full((4, 4), np.inf)}, "box 0 of image 0 is inf, inf, inf, inf"),
        ({"boxes": np.array([[0, 0, 1, 1]] * 3 + [[0, 0, np.nan, 1]])}, "box 0 of image 3 is 0, 0, nan, 1"),
        ({"boxes": np.full((4, 2, 4), 1e300)}, "box 0 of image 0"),
        ({"classes": np.array("dog")}, "classes as text or whole numbers in one dimension, got <U3 []"),
        ({"classes": np.array([["a", "b", "c", "d"]])}, "in one dimension"),
        ({"classes": np.array(["a", "b", "a", "d"])}, "2 have the name 'a'"),
        ({"classes": np.array(["a", "", "c", "d"])}, "class 1 has an empty name"),
        ({"classes": np.array([0.5, 1, 2, 3])}, "got float64"),
        ({"classes": np.array(["\udcff", "\\xff", "c", "d"])}, r"2 have the name '\xff'"),
        ({"ids": np.array("dog")}, "ids as text"),
        ({"ids": np.array(["a", "b", "a", "d"])}, "4 different ids, got 3 ('a' stands there 2 times)"),
        ({"ids": np.zeros((4, 1), int)}, "ids as text"),
        ({"ids": np.array([], str)}, "4 different ids, got 0"),
        ({"ids": np.zeros(4, complex)}, "ids as text"),
        ({"more": np.zeros(4, complex)}, "column 'more' is complex128"),
        ({"more": np.array([1, 2, 3, np.longdouble(1) / 3])}, "loses digits"),
        ({"more": np.zeros(4, [("a", int)])}, "array 'more' holds records"),
        ({"more": np.array([0, 0, 0, 2**62], "M8[s]")}, "the time of row 3 is outside years 1 to 9999"),
        ({"more": np.array([0, 0, 2**40, 2**62], "M8[D]")}, "the time of row 2"),
        ({"more": np.array([0, 2**60, 0, 0], "m8[s]")}, "the time of row 1 is outside 100,000 days"),
        ({"more": np.zeros(4, "M8[ps]")}, "expected times in one of the units"),
        ({"more": np.zeros(4, "M8")}, "expected times in one of the units"),
        ({"more": np.zeros(4, "m8[Y]")}, "expected times in one of the units"),
        ({"more": np.zeros(4, "M8[25s]")}, "expected times in one of the units"),
    ],
)  # fmt: skip
def test_arrays_of_other_types_shapes_and_ranges_are_refused(
    tmp_path: Path, more: dict[str, np.ndarray], words: str
) -> None:
    np.savez(tmp_path / "a.npz", **{**GOOD, **more})
    assert words in refusal(f"arrays:{tmp_path}/a.npz")


def test_text_beyond_unicode_is_refused(tmp_path: Path) -> None:
    beyond = np.full(4, 0xFFFFFFFF, np.uint32).view("U1")
    for name in ("ids", "classes", "more"):
        np.savez(tmp_path / "a.npz", **{**GOOD, name: beyond})
        assert "characters that do not exist" in refusal(f"arrays:{tmp_path}/a.npz")


def test_what_can_be_stored_without_loss_is_converted(tmp_path: Path) -> None:
    more = {
        "swapped": np.arange(4, dtype=">i4"),
        "swapped_text": np.array(list("abcd"), ">U2"),
        "long": np.array([0.5, np.nan, 2, 3], np.longdouble),
        "half": np.array([0.5, 1, 2, 3], np.float16),
        "bytes": np.array([b"a", b"\xff", "é".encode(), b""]),
        "surrogates": np.array(["a", "\ud800", "\udcfe", "é"]),
        "years": np.array(["2020", "1999", "NaT", "1"], "M8[Y]"),
        "hours": np.array([1, 2, 3, 4], "m8[h]"),
    }
    labels = np.array([3, 2, 1, 0], ">u2")
    ids = np.array(["a\ud800", "b", "=c", "d\n"])
    np.savez(tmp_path / "a.npz", **{**GOOD, "labels": labels, "ids": ids, **more})
    data = load_data(f"arrays:{tmp_path}/a.npz")
    assert data.samples.ids == (r"a\ud800", "b", "=c", "d\n")
    assert data.samples.labels.tolist() == [3, 2, 1, 0]
    columns = data.samples.columns
    assert columns["swapped"].dtype.isnative
    assert columns["swapped"].tolist() == [0, 1, 2, 3]
    assert columns["swapped_text"].tolist() == list("abcd")
    assert columns["long"].dtype == np.float64
    assert columns["bytes"].tolist() == ["a", r"\xff", "é", ""]
    assert columns["surrogates"].tolist() == ["a", r"\ud800", r"\xfe", "é"]
    assert str(columns["years"].dtype) == "datetime64[D]"
    assert columns["hours"].tolist() == [np.timedelta64(n, "h") for n in (1, 2, 3, 4)]
    import pyarrow as pa

    stored = pa.table({name: pa.array(values) for name, values in columns.items()})
    assert stored.column("years").to_pylist()[2] is None


def test_a_box_of_nan_is_no_box() -> None:
    boxes = np.array([[[0, 0, 2, 2], [1, 1, 3, 3]], [[0, 0, 2, 2], [np.nan] * 4]])
    data = from_arrays({"images": np.zeros((2, 3, 3), np.uint8), "labels": np.arange(2), "boxes": boxes}, "m", "f")
    two, one = data.read([0, 1])
    assert isinstance(two, Photo)
    assert isinstance(one, Photo)
    assert (two.boxes.tolist(), one.boxes.tolist()) == (boxes[0].tolist(), [[0, 0, 2, 2]])  # type: ignore[union-attr]


TYPES = [
    "?",
    "i1",
    ">i8",
    "u8",
    "f2",
    ">f4",
    "f8",
    "g",
    "c8",
    "S3",
    "U2",
    ">U2",
    "V2",
    "M8[D]",
    "M8[us]",
    "M8[Y]",
    "m8[s]",
]
LAX = settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@LAX
@given(st.sampled_from(TYPES), st.binary(min_size=16 * 4, max_size=16 * 4))
def test_every_type_is_stored_or_refused(kind: str, content: bytes) -> None:
    values = np.frombuffer(content[: 4 * np.dtype(kind).itemsize], kind)
    try:
        stored = column(values, "column 'x'")
    except UserError as error:
        assert str(error).startswith("column 'x'")
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert stored.shape == (4,)
    file = io.BytesIO()
    pq.write_table(pa.table({"x": pa.array(stored)}), file)
    file.seek(0)
    assert len(pq.read_table(file).to_pandas()) == 4


def test_an_npy_file_is_checked_like_a_member(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6).reshape(2, 3))
    assert read_npy(path).tolist() == [[0, 1, 2], [3, 4, 5]]
    np.save(path, np.asfortranarray(np.arange(6).reshape(2, 3)))
    assert read_npy(path).tolist() == [[0, 1, 2], [3, 4, 5]]
    np.save(path, np.array(7))
    assert read_npy(path) == 7
    for content, words in {
        header("(10,)") + b"\0" * 9: "10 bytes, but 9 follow",
        header("(2000000000,)"): "more than 1 GiB",
        b"": "not an array that np.save wrote",
        npy(np.array([None])): "holds Python objects",
    }.items():
        path.write_bytes(content)
        with pytest.raises(UserError, match=words):
            read_npy(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UserError, match="is a pipe; expected an array"):
        read_npy(path)
    with pytest.raises(UserError, match="is a pipe, not a file"):
        load_data(f"arrays:{path}")
    with pytest.raises(UserError, match="is a folder"):
        load_data(f"arrays:{tmp_path}")
    for text in ("~nobody-of-this-name/x.npz", "x" * 5000, "a\0b"):
        refusal(f"arrays:{text}")
