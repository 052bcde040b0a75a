"""`in9:ROOT/VARIANT`: one variant of a built or published set, paired with the others by the foreground.

`?split=train` names another split than `val`. Ids are the foregrounds'; masks come from `fg_mask`, boxes and the background of
each image from `provenance.csv`, where they are there (the published set has masks, and says backgrounds by file names).
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.folder import folder
from snellen.data.in9.layout import FACTS, MASKS, PROVENANCE, VARIANTS, class_of, foreground_of
from snellen.data.manifest import BOX
from snellen.errors import UserError
from snellen.hashing import checksum, key_of


def in9(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of a variant; columns say the background's id and class, the mask's share and the source."""
    conditions = dict(options)
    split, place = conditions.pop("split", "val"), Path(path).expanduser()
    if not place.is_dir():
        there = [v for v in VARIANTS if (place.parent / v).is_dir()]
        known = (
            f"; {place.parent} has: {', '.join(there)}" if there else "; give in9:ROOT/VARIANT, as in9:set/mixed_rand"
        )
        raise UserError(f"no folder '{path}'{known}")
    if not (place / split).is_dir():
        there = sorted(p.name for p in place.iterdir() if p.is_dir())
        if variants := [name for name in VARIANTS if name in there]:
            raise UserError(
                f"'{path}' is a whole set; name one of its variants, as in9:{path}/{variants[-1]}: {', '.join(variants)}"
            )
        raise UserError(f"'{path}' has no split '{split}'; it has: {', '.join(there) or 'none'}; add ?split=")
    plain = folder(str(place / split), {})
    stems = [Path(file).stem for file in plain.samples.ids]
    provenance = _provenance(place.parent / PROVENANCE, place.name, split)
    facts = [provenance.get(stem, {}) for stem in stems]
    ids = tuple(row.get("foreground") or foreground_of(stem)[0] for row, stem in zip(facts, stems))
    twice = [sample for sample, count in Counter(ids).items() if count > 1]
    if twice:
        raise UserError(f"'{path}' has two images of the foreground '{twice[0]}'; remove one")
    masks = [
        place.parent / MASKS / split / Path(file).parts[0] / f"{sample}.npy"
        for file, sample in zip(plain.samples.ids, ids)
    ]
    masked = all(mask.is_file() for mask in masks)
    boxes = np.array([[_number(row.get(corner)) for corner in BOX] for row in facts], float)
    boxed = not np.isnan(boxes).any()
    size = _size(place.parent / FACTS)
    columns = {
        **plain.samples.columns,
        "background": np.array([row.get("background") or foreground_of(stem)[1] for row, stem in zip(facts, stems)]),
        "background_class": np.array([row.get("background_class", "") for row in facts]),
        "box_share": _share(boxes, size),
        "coarse_class": np.array([row.get("coarse_class", "") for row in facts]),
        "mask_share": np.array([_number(row.get("mask_share")) for row in facts], float),
        "source": np.array([row.get("source", "") for row in facts]),
    }

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [
            _known(photo, masks[p] if masked else None, boxes[p : p + 1] if boxed else None)
            for p, photo in zip(positions, plain.read(positions))
        ]

    outlines = [(m.stat().st_size, m.stat().st_mtime_ns) for m in masks] if masked else []
    return filter_rows(
        replace(
            plain,
            text=f"in9:{path}",
            classes=tuple(map(class_of, plain.classes)),
            samples=Samples(ids, plain.samples.labels, columns),
            fingerprint=key_of(["in9", plain.fingerprint, ids, outlines, checksum(boxes.astype("<f8").tobytes())]),
            read=read,
            size=size,
            facts=frozenset((["masks"] if masked else []) + (["boxes"] if boxed else [])),
        ),
        conditions,
    )


def _provenance(file: Path, variant: str, split: str) -> dict[str, dict[str, str]]:
    """What the manifest says of a variant's files, by their names without ending; nothing where there is none."""
    if not file.is_file():
        return {}
    with file.open(newline="", encoding="utf-8") as opened:
        rows = csv.DictReader(opened)
        missing = [c for c in ("variant", "split", "file", "foreground", *BOX) if c not in (rows.fieldnames or ())]
        if missing:
            raise UserError(f"{file} has no column '{missing[0]}'; build the set again, or remove the file")
        return {Path(row["file"]).stem: row for row in rows if (row["variant"], row["split"]) == (variant, split)}


def _number(text: str | None) -> float:
    return float(text) if text else float("nan")


def _size(file: Path) -> tuple[int, int] | None:
    """The size that all images of a built set have, where its facts state it."""
    try:
        side = int(json.loads(file.read_bytes())["size"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return side, side


def _share(boxes: np.ndarray, size: tuple[int, int] | None) -> np.ndarray:
    """float [n]: the share of the image that each box covers, nan where it is not known."""
    if size is None:
        return np.full(len(boxes), np.nan)
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) / (size[0] * size[1])


def _known(photo: Photo | Unreadable, mask: Path | None, boxes: np.ndarray | None) -> Photo | Unreadable:
    """A photo with its mask and box."""
    if isinstance(photo, Unreadable):
        return photo
    photo = replace(photo, boxes=boxes)
    if mask is None:
        return photo
    try:
        outline = np.load(mask, allow_pickle=False) > 0
    except (ValueError, OSError) as error:
        return Unreadable(f"its mask {mask.name} cannot be read: {error}")
    if outline.shape != photo.image.shape[:2]:
        return Unreadable(f"its mask {mask.name} is {outline.shape}, the image {photo.image.shape[:2]}")
    return replace(photo, maps={"mask": outline})
