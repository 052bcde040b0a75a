"""Arrays of MATLAB files, as SciPy reads them; what is damaged, too large or of another version is one line."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from snellen.errors import UserError
from snellen.files.mat_file import HEADER, read_mat

KINDS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mat")


@given(
    st.sampled_from(KINDS).flatmap(
        lambda kind: arrays.arrays(np.dtype(kind), arrays.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4))
    ),
    st.booleans(),
    st.text("abcxyzABC", min_size=1, max_size=30),
)
def test_arrays_are_those_that_scipy_reads(folder: Path, array: np.ndarray, packed: bool, name: str) -> None:
    """Beside text, cells, structures and other numbers, which are passed over."""
    file = folder / "a.mat"
    others = {"note_": "words", "cell_": np.array([[1, "a"]], object), "one_": {"a": 1}, "more_": np.eye(3)}
    scipy.io.savemat(file, {**others, name: array, "last_": 2.5}, do_compression=packed)
    (got,) = read_mat(file, [name]).values()
    wanted = scipy.io.loadmat(file)[name]
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)


def test_large_arrays_that_are_stored_as_they_are_are_mapped(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "a.mat", {"X": np.arange(4096, dtype=np.uint8).reshape(4, 32, 32)})
    assert isinstance(read_mat(tmp_path / "a.mat", ["X"])["X"], np.memmap)


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)


def variable(name: bytes, kind: int, content: bytes, shape: tuple[int, ...] = (2, 3), sort: int = 6) -> bytes:
    """A variable byte by byte, as the published description of the format has it."""
    dimensions = struct.pack(f"<{len(shape)}i", *shape)
    parts = element(6, struct.pack("<II", sort, 0)) + element(5, dimensions) + element(1, name) + element(kind, content)
    return element(14, parts)


def write(file: Path, *variables: bytes, mark: bytes = b"IM") -> Path:
    file.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01" + mark + b"".join(variables))
    return file


def test_doubles_kept_in_bytes_come_back_column_by_column(tmp_path: Path) -> None:
    """MATLAB stores whole numbers of any class in the smallest type that has them."""
    file = write(tmp_path / "a.mat", variable(b"y", 2, bytes([1, 2, 3, 4, 5, 6])))
    assert read_mat(file, ["y"])["y"].tolist() == [[1, 3, 5], [2, 4, 6]]
    assert scipy.io.loadmat(file)["y"].tolist() == [[1, 3, 5], [2, 4, 6]]


def test_numbers_in_the_other_byte_order(tmp_path: Path) -> None:
    def big(kind: int, content: bytes) -> bytes:
        return struct.pack(">II", kind, len(content)) + content + b"\0" * (-len(content) % 8)

    parts = big(6, struct.pack(">II", 6, 0)) + big(5, struct.pack(">ii", 1, 2)) + big(1, b"y")
    file = write(tmp_path / "a.mat", big(14, parts + big(9, struct.pack(">dd", 1.5, -2))), mark=b"MI")
    assert read_mat(file, ["y"])["y"].tolist() == [[1.5, -2]]


def packed(content: bytes) -> bytes:
    small = zlib.compress(content)
    return struct.pack("<II", 15, len(small)) + small


GOOD = variable(b"y", 2, bytes(6))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD[:-4], "is cut short: the variable at byte 128 reaches beyond its end"),
        (GOOD + b"abc", "is cut short: the variable at byte"),
        (element(3, b"12345678"), "no variable begins at byte 128"),
        (variable(b"y", 2, bytes(5)), r"'y' is damaged: uint8 \[2, 3\] has 6 bytes, of which 5"),
        (variable(b"y", 2, bytes(6), (2**31 - 1, 2**31 - 1)), "is damaged"),
        (variable(b"y", 2, bytes(6), (-2, -3)), r"its dimensions are \[-2, -3\]"),
        (variable(b"y", 2, bytes(6), (6,)), r"its dimensions are \[6\]"),
        (variable(b"y", 99, bytes(6)), "its numbers are of type 99"),
        (variable(b"y", 2, bytes(6), sort=1), "'y' is a cell array; expected an array of real numbers"),
        (variable(b"y", 2, bytes(6), sort=6 | 0x800), "'y' is complex; expected an array of real numbers"),
        (variable(b"y" * 2000, 2, bytes(6)), "expected up to 1000 bytes of type 1, got 2,000"),
        (element(14, b""), "it ends too early"),
        (packed(GOOD)[:-1], "is cut short"),
        (packed(element(3, b"12345678")), "something of type 3 is packed"),
        (packed(GOOD[:-8]), "does not end where it should"),
        (packed(GOOD + bytes(100)), "does not end where it should"),
        (struct.pack("<II", 15, 8) + b"not zlib", "cannot be unpacked"),
        (struct.pack("<II", 15, len(zlib.compress(GOOD)) - 4) + zlib.compress(GOOD)[:-4], "does not end where it should"),
        (struct.pack("<II", 15, len(zlib.compress(GOOD))) + zlib.compress(GOOD)[:-1] + b"!", "incorrect data check"),
    ],
)  # fmt: skip
def test_damage_is_one_line_that_names_the_file(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        read_mat(write(tmp_path / "a.mat", content), ["y"])
    assert "a.mat" in str(caught.value)


def test_a_variable_larger_than_its_packed_bytes_can_be_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    parts = element(6, struct.pack("<II", 9, 0)) + element(5, struct.pack("<ii", 2**16, 2**15)) + element(1, b"y")
    content = struct.pack("<II", 14, 2**31) + parts + struct.pack("<II", 2, 2**31) + bytes(1000)
    with pytest.raises(UserError, match="'y' is damaged: uint8"):
        read_mat(write(tmp_path / "a.mat", packed(content)), ["y"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n", r"MATLAB 7.3 file \(HDF5\).*'-v7'"),
        (b"\x89HDF\r\n\x1a\n" + bytes(200), r"MATLAB 7.3 file \(HDF5\)"),
        (b"", "its header is not that of version 5"),
        (bytes(HEADER), "its header is not that of version 5"),
    ],
)
def test_other_versions_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(UserError, match=said):
        read_mat(tmp_path / "a.mat", ["y"])


def test_objects_of_newer_versions_are_passed_over(tmp_path: Path) -> None:
    opaque = element(14, element(6, struct.pack("<II", 17, 0)) + element(1, b"strings") + element(1, b"MCOS"))
    nameless = variable(b"", 2, bytes(6), sort=9)  # where MATLAB keeps what belongs to them
    assert list(read_mat(write(tmp_path / "a.mat", opaque, GOOD, nameless), ["y"])) == ["y"]
