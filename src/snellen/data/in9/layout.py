"""The files of a built set: the published layout, and the manifests beside it.

<variant>/<split>/<NN_class>/<foreground>.png            original, only_bg_b, only_bg_t, no_fg, only_fg, bg_blurred
<variant>/<split>/<NN_class>/fg_<foreground>_bg_<background>.png                mixed_same, mixed_rand, mixed_next
fg_mask/<split>/<NN_class>/<foreground>.npy              the object's mask, uint8 0 or 1 [H, W]
provenance.csv  rejected.csv  curation.csv  build.json  rejections.md
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from snellen.data.names import is_visible
from snellen.hashing import key_of

PROVENANCE = "provenance.csv"
REJECTED = "rejected.csv"
CURATION = "curation.csv"
FACTS = "build.json"
MASKS = "fg_mask"
COLUMNS = (
    "id", "variant", "split", "file", "class", "coarse_class", "foreground", "background", "background_class",
    "mask_share", "x0", "y0", "x1", "y1", "seed", "source", "source_checksum",
)  # fmt: skip
VARIANTS = (
    "original", "only_bg_b", "only_bg_t", "no_fg", "only_fg", "mixed_same", "mixed_rand", "mixed_next", "bg_blurred",
)  # fmt: skip
LONGEST_NAME = 100  # characters: a mixed image has two names in its own, and file systems allow 255


def folders(classes: Sequence[str]) -> tuple[str, ...]:
    """The folders of the classes, numbered so that they sort in the classes' order: `00_dog`."""
    digits = max(2, len(str(len(classes) - 1)))
    written = ["".join(sign if _can_stay(sign) else "-" for sign in name) for name in classes]
    return tuple(f"{number:0{digits}d}_{name}" for number, name in enumerate(written))


def _can_stay(sign: str) -> bool:
    """Whether the name of a folder can hold a character of a class's."""
    return (" " <= sign <= "~" and sign != "/") or is_visible(sign)


def class_of(folder: str) -> str:
    """The class of a folder: `02_wheeled vehicle` holds wheeled vehicles."""
    return re.sub(r"^\d+_", "", folder)


def mixed_name(foreground: str, background: str) -> str:
    """The name of a mixed image, without its ending."""
    return f"fg_{foreground}_bg_{background}"


def foreground_of(stem: str) -> tuple[str, str]:
    """The foreground and the background (or "") in a file's name."""
    match = re.fullmatch(r"fg_(.+?)_bg_(.+)", stem)
    return (match[1], match[2]) if match else (stem, "")


def file_name(sample: str) -> str:
    """A name for a sample's files: its id without its ending, with `-` for what a file name should not hold.

    Of a long one the beginning, and a hash of the whole.
    """
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", re.sub(r"\.[A-Za-z]{3,4}$", "", sample)).strip("-.") or "image"
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 17]}-{key_of(sample)}"
