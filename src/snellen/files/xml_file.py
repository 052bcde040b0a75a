"""XML without entities of its own, of bounded size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.plain import MIB, read_bytes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def read_xml(path: Path | str, kind: str = "XML file", most: int = 16 * MIB, name: str = "") -> Element:
    """The root element of an XML file; `name` is what its errors call it, the path by default."""
    from xml.etree import ElementTree

    content, name = read_bytes(path, kind, most), name or str(path)
    if b"<!ENTITY" in content.replace(b"\0", b""):  # in UTF-16 too; a few of them could stand for gigabytes
        raise UserError(f"{name} declares entities (<!ENTITY …>), which are not read; write their text out")
    with reading(name, "XML"):
        try:
            return ElementTree.fromstring(content)
        except ElementTree.ParseError as error:
            line, column = error.position
            raise UserError(f"{name} line {line}: not well-formed XML at column {column + 1}") from None
