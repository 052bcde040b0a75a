"""`in9:ROOT/VARIANT`: one variant of a built or published set, paired with the others by the foreground.

`?split=train` names another split than `val`, `?mask=1` the values of the object in the masks. Ids are the foregrounds'; masks
come from `fg_mask`, boxes and the background of each image from `provenance.csv`, where they are there (the published set has
masks, and says backgrounds by file names).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.folder import load_folder
from snellen.data.in9.layout import FACTS, MASKS, PROVENANCE, VARIANTS, class_of, foreground_of
from snellen.data.in9.provenance import BOX, read_provenance
from snellen.data.pixel_files import ASK, mask_values, read_mask
from snellen.errors import UserError
from snellen.files import expand_home, read_json
from snellen.files.places import exists, is_file, is_folder, list_below
from snellen.files.tree import folders_in, size_and_time
from snellen.hashing import checksum, key_of


def load_in9(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of a variant; columns say the background's id and class, the mask's share and the source.

    >>> from snellen.build.in9 import build
    >>> from snellen.data.in9 import load_in9
    >>> _ = build("phantom:test?size=48&n=12&object_size=0.35..0.6", "set", "all", size=48, masks="data", workers=1)
    >>> len(load_in9("set/mixed_rand", {}))
    12
    """
    conditions = dict(options)
    split, place = conditions.pop("split", "val"), expand_home(path)
    list_below(place)
    if not is_folder(place):
        there = [v for v in VARIANTS if is_folder(place.parent / v)]
        known = (
            f"; {place.parent} has: {', '.join(there)}" if there else "; give in9:ROOT/VARIANT, as in9:set/mixed_rand"
        )
        raise UserError(f"no folder '{path}'{known}")
    if not is_folder(place / split):
        there = folders_in(place)
        if variants := [name for name in VARIANTS if name in there]:
            raise UserError(
                f"'{path}' is a whole set; name one of its variants, as in9:{path}/{variants[-1]}: {', '.join(variants)}"
            )
        raise UserError(f"'{path}' has no split '{split}'; it has: {', '.join(there) or 'none'}; add ?split=")
    plain = load_folder(place / split, {})
    stems = [Path(file).stem for file in plain.samples.ids]
    provenance = read_provenance(place.parent / PROVENANCE, place.name, split, stems)
    ids = tuple(own or foreground_of(stem)[0] for own, stem in zip(provenance.texts("foreground"), stems))
    twice = [sample for sample, count in Counter(ids).items() if count > 1]
    if twice:
        raise UserError(f"'{path}' has two images of the foreground '{twice[0]}'; remove one")
    list_below(place.parent / MASKS / split)
    masks = [
        place.parent / MASKS / split / Path(file).parts[0] / f"{sample}.npy"
        for file, sample in zip(plain.samples.ids, ids)
    ]
    masked = all(is_file(mask) for mask in masks)
    values = mask_values(conditions.pop("mask")) if masked and "mask" in conditions else ()
    boxes = np.stack([provenance.numbers(corner) for corner in BOX], 1)
    boxed = not np.isnan(boxes).any()
    size = _size(place.parent / FACTS)
    backgrounds = [own or foreground_of(stem)[1] for own, stem in zip(provenance.texts("background"), stems)]
    columns = {
        **plain.samples.columns,
        "background": np.array(backgrounds),
        "background_class": np.array(provenance.texts("background_class")),
        "box_share": _share(boxes, size),
        "coarse_class": np.array(provenance.texts("coarse_class")),
        "mask_share": provenance.numbers("mask_share"),
        "source": np.array(provenance.texts("source")),
    }

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [
            _known(photo, masks[p] if masked else None, boxes[p : p + 1] if boxed else None, values)
            for p, photo in zip(positions, plain.read(positions))
        ]

    outlines = [size_and_time(mask) for mask in masks] if masked else []
    facts: list[object] = [
        checksum(np.concatenate([boxes, columns["mask_share"][:, None]], 1).astype("<f8").tobytes()),
        size,
    ]
    facts += [columns[name].tolist() for name in ("background", "background_class", "coarse_class", "source")]
    facts += [["mask", *values]] if values else []
    return filter_rows(
        replace(
            plain,
            text=f"in9:{path}",
            classes=tuple(map(class_of, plain.classes)),
            samples=Samples(ids, plain.samples.labels, columns),
            fingerprint=key_of(["in9", plain.fingerprint, ids, outlines, facts]),
            read=read,
            size=size,
            facts=frozenset((["masks"] if masked else []) + (["boxes"] if boxed else [])),
        ),
        conditions,
    )


class _Facts(msgspec.Struct):
    """What is read of build.json."""

    size: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None


def _size(file: Path) -> tuple[int, int] | None:
    """The size that all images of a built set have, where its facts state it."""
    if not exists(file):
        return None
    facts: _Facts = read_json(file, _Facts, "file of the set's facts")
    return None if facts.size is None else (facts.size, facts.size)


def _share(boxes: np.ndarray, size: tuple[int, int] | None) -> np.ndarray:
    """float [n]: the share of the image that each box covers, nan where it is not known."""
    if size is None:
        return np.full(len(boxes), np.nan)
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) / (size[0] * size[1])


def _known(
    photo: Photo | Unreadable, mask: Path | None, boxes: np.ndarray | None, values: Sequence[int]
) -> Photo | Unreadable:
    """A photo with its mask, of which these values are the object where they are stated, and box."""
    if isinstance(photo, Unreadable):
        return photo
    photo = replace(photo, boxes=boxes)
    if mask is None:
        return photo
    outline = read_mask(mask, photo.size, values=values, advice=ASK)
    return outline if isinstance(outline, Unreadable) else replace(photo, maps={"mask": outline})
