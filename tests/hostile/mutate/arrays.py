"""npz and npy files: other types and shapes, members twice or none, headers that lie, pickles inside."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from . import nasty
from .payload import pickled
from .unfit import Unfit, fitting

DTYPES = (
    *("complex64", "complex128", "longdouble", "float16", "float64", "bool", "int8", "uint64", ">i4", ">f8", "U3"),
    *("S3", "M8[s]", "m8[D]", "V4", "i4,f8", "O"),
)
HEADERS = (
    "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999, 99999, 3), }",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 8, 8, 3), }",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 8, 8, 3), }",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551617,), }",
    "{'descr': '<f99', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a', '<i4'), ('a', '<i4')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '|u1', 'fortran_order': 2, 'shape': [3], }",
    "{'descr': '|u1'}",
    "__import__('os').abort()",
    "(" * 9000,
    "",
    "\x00",
)


def strange_array(array: np.ndarray, draw: Random) -> np.ndarray:
    """The array with another type, shape or content."""
    edits: tuple[Callable[[], np.ndarray], ...] = (
        lambda: _as(array, draw.choice(DTYPES)),
        lambda: _as(array, draw.choice(DTYPES)),
        lambda: array.reshape(-1),
        lambda: array[..., None],
        lambda: array[None],
        lambda: array[:0],
        lambda: array[..., :0],
        lambda: array[:-1],
        lambda: np.concatenate([array, array]) if array.ndim else array,
        lambda: np.asfortranarray(array),
        lambda: array.T,
        lambda: np.array(nasty.number(draw)),
        lambda: np.array(nasty.text(draw)),
        lambda: np.full(array.shape, draw.choice([np.nan, np.inf, -1e30, 1e308])),
        lambda: np.full(array.shape, draw.choice([-1, 2**31, 2**63 - 1])),
        lambda: np.array([nasty.text(draw) for _ in range(len(array) if array.ndim else 1)]),
        lambda: np.full(array.shape, "x" * 10_000) if array.size < 50 else np.zeros(3),
        lambda: np.zeros((0,)),
        lambda: np.full(array.shape, np.datetime64("NaT")),
        lambda: np.full(array.shape, np.datetime64(2**62, "s")),
    )
    with fitting():  # not every array can become every other
        return draw.choice(edits)()


def _as(array: np.ndarray, dtype: str) -> np.ndarray:
    try:
        return array.astype(dtype)
    except (ValueError, TypeError):
        return np.zeros(array.shape, dtype)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def lying_npy(draw: Random) -> bytes:
    """A .npy file whose header does not fit what follows, or that is none."""
    header = draw.choice(HEADERS).encode()
    length = draw.choice([len(header), len(header), 0, 65535])
    version = draw.choice([b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"])
    size = struct.pack("<H" if version[0] == 1 else "<I", length)
    return b"\x93NUMPY" + version + size + header + bytes(draw.choice([0, 64, 5000]))


def mutate_npy(file: Path, draw: Random) -> str:
    how = draw.choice(["array", "array", "array", "header", "pickle"])
    if how == "array":
        with fitting():
            array = np.load(io.BytesIO(file.read_bytes()), allow_pickle=False)
        file.write_bytes(npy(strange_array(array, draw)))
    else:
        file.write_bytes(lying_npy(draw) if how == "header" else pickled(file))
    return f"arrays: {how}"


def mutate_npz(file: Path, draw: Random) -> str:
    with fitting(), zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw.choice(sorted(members) or [""])
    how = draw.choice(
        [*["array"] * 6, "header", "header", "pickle", "remove", "rename", "twice", "add", "bytes", "zeros", "no zip"]
    )
    content: list[tuple[str, bytes]] = list(members.items())
    position = next((i for i, (one, _) in enumerate(content) if one == name), 0)
    if not content:
        raise Unfit
    if how == "array":
        with fitting():
            array = np.load(io.BytesIO(content[position][1]), allow_pickle=False)
        content[position] = (name, npy(strange_array(array, draw)))
    elif how == "header":
        content[position] = (name, lying_npy(draw))
    elif how == "pickle":
        content[position] = (name, pickled(file))
    elif how == "remove":
        del content[position]
    elif how == "rename":
        content[position] = (_member_name(draw), content[position][1])
    elif how == "twice":
        content.append((name, npy(np.arange(3))))
    elif how == "add":
        content.append((_member_name(draw), npy(strange_array(np.arange(6), draw))))
    elif how == "bytes":
        content[position] = (name, nasty.some_bytes(draw))
    elif how == "zeros":
        content[position] = (name, npy(np.zeros((12_000_000,), np.uint8)))
    else:
        file.write_bytes(content[position][1])
        return f"arrays: {how} {name}"
    _write(file, content, draw)
    return f"arrays: {how} {name}"


def _member_name(draw: Random) -> str:
    return draw.choice(
        [nasty.text(draw)[:200].encode(errors="replace").decode() or "x", "../out.npy", "/out.npy", "file"]
    )


def _write(file: Path, content: list[tuple[str, Any]], draw: Random) -> None:
    import warnings

    stream = io.BytesIO()
    how = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
    if sum(len(one) for _, one in content) > 10_000_000:
        how = zipfile.ZIP_DEFLATED
    with warnings.catch_warnings(), fitting(), zipfile.ZipFile(stream, "w", how) as archive:
        warnings.simplefilter("ignore")
        for name, one in content:
            archive.writestr(name, one)
    file.write_bytes(stream.getvalue())
