"""The folders of classes: names of classes as names of files hold them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from snellen.data.earlier import by_earlier_rules
from snellen.data.names import is_visible, storable
from snellen.errors import UserError
from snellen.hashing import key_of

LONGEST_FOLDER = 200  # bytes: file systems allow 255, and names of files may begin with it


def class_folder(name: str) -> str:
    """The name of a class in the set, and of its folder: lower case, `_` for what file names should not hold.

    Letters and symbols of other scripts stay; of a name that is too long for a folder the beginning, and a hash of the whole.
    """
    if by_earlier_rules():
        return re.sub(r"[^a-z0-9._+-]+", "_", name.lower()).strip("._") or "class"
    lower = unicodedata.normalize("NFC", name.lower())
    short = re.sub(r"[^a-z0-9._+-]+", lambda run: _writable(run[0]), lower).strip("._") or "class"
    if len(short.encode()) <= LONGEST_FOLDER:
        return short
    return f"{short.encode()[: LONGEST_FOLDER - 17].decode(errors='ignore')}-{key_of(storable(name))}"


def _writable(run: str) -> str:
    """Characters beyond a-z, 0-9 and `._+-` as a name may hold them."""
    return re.sub("\0+", "_", "".join(sign if is_visible(sign) else "\0" for sign in run))


def class_folders(known: Sequence[str]) -> dict[str, str]:
    """Class → its name in the set; no two may have the same."""
    folder = {name: class_folder(name) for name in known}
    repeated = next((name for name in known if sum(short == folder[name] for short in folder.values()) > 1), None)
    if repeated is not None:
        raise UserError(f"two classes would have the folder '{folder[repeated]}'; rename one of them")
    return folder
