"""The one way in: everything that is read from a file passes through here, bounded by size and checked by a schema."""

from snellen.files.json_file import decode_json, fit, read_json
from snellen.files.net import Damaged, reading
from snellen.files.plain import (
    GIB,
    KIB,
    MIB,
    expand_home,
    file_size,
    length_of,
    local_name,
    open_file,
    open_whole,
    read_bytes,
    read_text,
)
from snellen.lazy_names import lister

__all__ = [
    "GIB",
    "KIB",
    "MIB",
    "Damaged",
    "decode_json",
    "expand_home",
    "file_size",
    "fit",
    "length_of",
    "local_name",
    "open_file",
    "open_whole",
    "read_bytes",
    "read_json",
    "read_text",
    "reading",
]
__dir__ = lister(__all__)
