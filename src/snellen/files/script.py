"""TorchScript files: programs in torch's own small language, which its own interpreter runs, not Python.

Among its operators are some that write and read files by name; a program that names them is refused before it is loaded.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.plain import MIB, open_file

KIND = "network in TorchScript"
LONGEST_CODE = 64 * MIB  # of all parts together
OPENS_FILES = re.compile(rb"\b(?:torch|aten)\.(save|load|from_file)\(|\bops\.(?!prim\b|aten\b|torchvision\b)(\w+)\.")


def load_script(path: Path) -> Any:
    """The module of a TorchScript file, on the CPU."""
    with open_file(path, KIND) as file, reading(path, f"a {KIND}"), zipfile.ZipFile(file) as archive:
        _check(archive, path)
    import torch

    with reading(path, f"a {KIND}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, that a newer format exists
        return torch.jit.load(str(path), map_location="cpu")


def _check(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse what is damaged, what is no TorchScript, and programs that open files or call libraries of others."""
    parts = [entry for entry in archive.infolist() if "/code/" in entry.filename and entry.filename.endswith(".py")]
    if not parts:
        raise UserError(
            f"'{path}' holds no program, so it is no {KIND}; weights alone go with an architecture: zoo:ARCH@{path}"
        )
    if sum(entry.file_size for entry in parts) > LONGEST_CODE:
        raise UserError(f"'{path}' holds a program of more than {LONGEST_CODE:,} bytes, the most that is read")
    if damaged := archive.testzip():
        raise UserError(f"'{path}' is damaged: the checksum of '{damaged}' does not match; get the file again")
    for entry in parts:
        if match := OPENS_FILES.search(archive.read(entry)):
            name = (match[1] or match[2]).decode()
            raise UserError(
                f"'{path}' calls '{name}', which opens files or belongs to another library; use python:file.py:factory if you "
                "trust it"
            )
