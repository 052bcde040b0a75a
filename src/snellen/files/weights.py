"""Files of tensors: safetensors, and what `torch.save` wrote, read without running code and checked before a tensor is made."""

from __future__ import annotations

import argparse
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

from snellen.errors import UserError
from snellen.files.json_file import decode_json
from snellen.files.net import reading
from snellen.files.plain import MIB, length_of, local_name, open_file

LONGEST_HEADER = 100 * MIB  # what the safetensors library reads too
_PICKLE = b"\x80"  # what a file of torch before 1.6 begins with; later ones are zip archives


def read_metadata(path: Path | str, kind: str = "checkpoint") -> dict[str, str]:
    """The texts in a safetensors header by name, read without torch."""
    texts = _header(path, kind).get("__metadata__", {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise UserError(f"the header of '{path}': expected __metadata__ as texts by name")
    return texts


def count_tensors(path: Path | str, kind: str = "checkpoint") -> int:
    """How many tensors a safetensors file holds by its header."""
    return len(_header(path, kind).keys() - {"__metadata__"})


def _header(path: Path | str, kind: str) -> dict[str, Any]:
    with open_file(path, kind) as file:
        size = length_of(file)
        head = file.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
        if not 2 <= length <= min(size - 8, LONGEST_HEADER):
            raise UserError(f"'{path}' is not a safetensors file: its first 8 bytes state a header of {length:,} bytes")
        header: dict[str, Any] = decode_json(file.read(length), dict[str, Any], f"the header of '{path}'")
    return header


def load_safetensors(path: Path | str, kind: str = "checkpoint") -> dict[str, Any]:
    """The tensors of a safetensors file by name; its library compares the header with the file's length and offsets."""
    with local_name(path, kind) as file:
        from safetensors.torch import load_file

        with reading(path, "safetensors"):
            return load_file(file)


def load_torch(path: Path | str, kind: str = "checkpoint") -> Any:
    """What `torch.save` wrote, on the CPU: tensors and plain values only, never code."""
    with open_file(path, kind) as file:
        _check_archive(file, path)
        import torch

        plain = torch.serialization.safe_globals([argparse.Namespace])  # timm keeps the settings of a training so
        with reading(path, "weights"), warnings.catch_warnings(), plain:
            warnings.simplefilter("ignore")  # of torch, about the ways in which a file is odd
            try:
                return torch.load(file, map_location="cpu", weights_only=True)
            except Exception as error:
                if "weights_only" in str(error):
                    raise UserError(
                        f"'{path}' holds more than weights or is damaged; save it as safetensors"
                    ) from error
                raise


def is_torchscript(path: Path | str) -> bool:
    """Whether a file is what torch.jit.save wrote; False of one that is no archive."""
    with open_file(path, "weights") as file:
        if file.read(2) != b"PK":
            return False
        with reading(path, "weights"), zipfile.ZipFile(file) as archive:
            return _has_code(archive)


def _has_code(archive: zipfile.ZipFile) -> bool:
    return any(name.partition("/")[2].startswith("code/") for name in archive.namelist())


def _check_archive(file: BinaryIO, path: Path | str) -> None:
    """Refuse what torch did not write, whatever was damaged since, and archives that grow when they are unpacked."""
    head = file.read(4)
    if head[:2] == b"PK":
        with reading(path, "weights"), zipfile.ZipFile(file) as archive:
            if _has_code(archive):
                raise UserError(f"'{path}' is a TorchScript program, not weights alone; name it 'torchscript:{path}'")
            packed = [entry.filename for entry in archive.infolist() if entry.compress_type != zipfile.ZIP_STORED]
            if packed:
                raise UserError(f"'{path}' is compressed, which torch.save does not do; save the weights again")
            damaged = archive.testzip()
            if damaged is not None:
                raise UserError(f"'{path}' is damaged: the checksum of '{damaged}' does not match; get the file again")
    elif head[:1] != _PICKLE:
        raise UserError(f"'{path}' is not a file of weights; expected what torch.save or safetensors wrote")
    file.seek(0)
