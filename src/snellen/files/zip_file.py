"""Zip files: where their files lie, so that each is read by itself, in any order and by several threads, up to a bound."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from snellen.errors import UserError
from snellen.files.member_names import check_name
from snellen.files.net import reading, reason_of
from snellen.files.npz import MOST_PACKING, check_listing
from snellen.files.plain import GIB, MIB, NotRead, format_size, length_of, open_file, unreadable

LONGEST_LISTING = 256 * MIB  # bytes of a zip file's own table of contents: two million files
BOMB = 64 * MIB  # what grows to more than this, and to over a hundred times its size, is no image
MOST_GROWTH = 100
_HEADER = 30  # bytes in front of a file's name
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}


@dataclass(frozen=True)
class ZipMember:
    """A file in a zip file: its name there, where its own header begins, its sizes packed and unpacked, and its CRC-32."""

    name: str
    start: int
    packed: int
    size: int
    crc: int
    deflated: bool


def list_zip(path: Path) -> list[ZipMember]:
    """The files in a zip file, in its order; names that lead out of it, links, encrypted files and bombs are refused."""
    with open_file(path, "zip file") as file:
        size = length_of(file)
        check_listing(file, size, path, "a zip file", LONGEST_LISTING)
        with reading(path, "a zip file"), zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
    members = [_member(info, path) for info in infos]
    _check_names(members, path)
    packed = sum(member.packed for member in members)
    if packed > size or any(member.start + _HEADER + member.packed > size for member in members):
        raise UserError(f"zip file '{path}' is damaged: its files overlap, or reach beyond its end; copy it again")
    return members


def read_zip_members(path: Path, members: Sequence[ZipMember], most: int = GIB) -> Iterator[bytes | NotRead]:
    """The content of each of some members, unpacked and compared with its checksum, or why it was not read."""
    with open_file(path, "zip file") as file:
        for member in members:
            if member.size > most:
                yield _not_read(member, path, f"larger than {format_size(most)}, the most that is read")
                continue
            try:
                content = _content(file, member)
            except OSError as error:
                yield unreadable(path, "zip file", error)
            except (zlib.error, ValueError) as error:
                yield _not_read(member, path, f"damaged: {reason_of(error)}")
            else:
                yield content


def _member(info: zipfile.ZipInfo, path: Path) -> ZipMember:
    where = f"zip file '{path}': '{info.filename[:200]}'"
    if info.flag_bits & 1:
        raise UserError(f"{where} is encrypted; pack it without a password")
    if info.compress_type not in _METHODS:
        raise UserError(
            f"{where} is packed by the method {info.compress_type}; pack it stored or deflated (zip -0, zip -6)"
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UserError(f"{where} is a link; pack whole files (zip without -y)")
    deflated = info.compress_type == zipfile.ZIP_DEFLATED
    largest = info.compress_size * MOST_PACKING if deflated else info.compress_size
    if info.file_size > largest:
        raise UserError(
            f"{where} is damaged: {info.compress_size:,} bytes cannot hold {info.file_size:,}; copy it again"
        )
    if info.file_size > max(BOMB, MOST_GROWTH * info.compress_size):
        growth = f"from {format_size(info.compress_size)} to {format_size(info.file_size)}"
        raise UserError(f"{where} grows {growth}, as no image does; leave it out")
    return ZipMember(info.filename, info.header_offset, info.compress_size, info.file_size, info.CRC, deflated)


def _check_names(members: Sequence[ZipMember], path: Path) -> None:
    for member in members:
        check_name(member.name, f"zip file '{path}'")
    names = Counter(member.name for member in members)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise UserError(f"zip file '{path}' holds '{twice[:200]}' twice; pack each file once")


def _content(file: BufferedReader, member: ZipMember) -> bytes:
    file.seek(member.start)
    header = file.read(_HEADER)
    if header[:4] != b"PK\x03\x04":
        raise ValueError("no file begins where the table of contents says so")
    names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    file.seek(member.start + _HEADER + names)
    packed = file.read(member.packed)
    content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.size + 1) if member.deflated else packed
    if len(content) != member.size or zlib.crc32(content) != member.crc:
        raise ValueError("its checksum does not match")
    return content


def _not_read(member: ZipMember, path: Path, reason: str) -> NotRead:
    return NotRead(f"'{member.name}' in '{path}' is {reason}", f"it is {reason}")
