"""`pairs:IMAGES,LABELS`: semantic segmentation, a folder of images and one of PNG files with the class of every pixel.

A label map has its image's place and name (`day/7.png` for `day/7.jpg`); `?suffix=_L` is what its name has more. Class numbers
are grey levels or places in the palette. `classes.txt` among the label maps, or `?names=FILE`, names them, one per line; without
it all maps are read once for the highest number. `?ignore=11` is the number that does not count; several are joined with commas.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from snellen.data.dataset import IGNORED, Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.decode import decode_file
from snellen.data.folder import EXTENSIONS
from snellen.data.names import different, read_names, storable
from snellen.data.pixel_files import label_numbers
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import exists, is_folder, is_there, list_below, real_place
from snellen.files.tree import files_below, size_and_time
from snellen.hashing import key_of

LISTED = "classes.txt"
MOST_CLASSES = 32_000  # label maps are 16 bits in training


def load_pairs(path: str, options: Mapping[str, str]) -> Dataset:
    """The images with their label maps int16 [H, W] (`labels` among the maps; −100 does not count); ids are the images' paths."""
    text, conditions = f"pairs:{path}", dict(options)
    images, labels = _folders(path)
    suffix, ignore = _suffix(conditions.pop("suffix", "")), _numbers(conditions.pop("ignore", ""))
    names = conditions.pop("names", None)
    files = _images(images, labels, suffix)
    if not files:
        raise UserError(f"{text}: '{images}' holds no images ({', '.join(sorted(EXTENSIONS))})")
    ids = different([file.relative_to(images).as_posix() for file in files], text)
    list_below(labels)
    maps = [labels / file.relative_to(images).with_name(f"{file.stem}{suffix}.png") for file in files]
    _check_maps(ids, maps, labels)
    listed = expand_home(names) if names is not None else labels / LISTED
    classes = read_names(listed) if names is not None or exists(listed) else _count(maps, ignore, text)
    if len(classes) > MOST_CLASSES:
        raise UserError(f"{listed} names {len(classes):,} classes, more than {MOST_CLASSES:,}")

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [_with_map(decode_file(files[p]), maps[p], len(classes), ignore) for p in positions]

    stats = [[size_and_time(file) for file in some] for some in (files, maps)]
    fingerprint = key_of(["pairs", ids, stats, classes, sorted(ignore)])
    samples = Samples(ids, np.full(len(ids), -1, np.int64))
    return filter_rows(Dataset(text, classes, samples, fingerprint, read, facts=frozenset({"labels"})), conditions)


def _folders(path: str) -> tuple[Path, Path]:
    """The two folders; where names have commas themselves, those that are there."""
    commas = [place for place, sign in enumerate(path) if sign == ","]
    splits = [(expand_home(path[:place]), expand_home(path[place + 1 :])) for place in commas]
    if not splits or not all(path.split(",")):
        raise UserError(f"expected pairs:IMAGES,LABELS, two folders, got 'pairs:{path}'")
    there = [split for split in splits if all(map(is_folder, split))]
    for folder in splits[0] if not there else ():
        if not is_folder(folder):
            raise UserError(f"no folder '{storable(str(folder))}'; give pairs:IMAGES,LABELS")
    return (there or splits)[0]


def _suffix(text: str) -> str:
    """What names of label maps have more; no other folder."""
    if "/" in text or os.sep in text or "\0" in text:
        raise UserError(f"expected suffix as the end of a file's name, such as _label, got '{text[:60]}'")
    return text


def _images(images: Path, labels: Path, suffix: str) -> list[Path]:
    """The files of images; in a folder that also has the label maps, without those."""
    files = files_below(images, EXTENSIONS)
    if real_place(images) != real_place(labels):
        return files
    if not suffix:
        raise UserError(
            f"'{images}' holds images and label maps alike; say how names of label maps end, as in ?suffix=_label"
        )
    return [file for file in files if not file.name.endswith(f"{suffix}.png")]


def _check_maps(ids: Sequence[str], maps: Sequence[Path], labels: Path) -> None:
    """Refuse an image without a label map, and two images that would share one."""
    first: dict[Path, str] = {}
    for sample, file in zip(ids, maps):
        if not is_there(file):
            raise UserError(
                f"image '{sample}' has no label map in {labels}; add it under the same name as PNG, leave the image out, or "
                "say with ?suffix= what its name has more"
            )
        if first.setdefault(file, sample) != sample:
            raise UserError(f"images '{first[file]}' and '{sample}' have one label map in {labels}; rename one of them")


def _numbers(text: str) -> frozenset[int]:
    """The class numbers of `?ignore=`."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isascii() and word.isdigit() and len(word) <= 9 for word in words):
        raise UserError(f"expected ignore as whole numbers of classes, separated by commas, got '{text[:60]}'")
    return frozenset(map(int, words))


def _count(maps: Sequence[Path], ignore: frozenset[int], text: str) -> tuple[str, ...]:
    """Numbers as names, up to the highest that any label map has and that counts; maps that cannot be read are told later."""
    with ThreadPoolExecutor() as pool:
        highest = max(pool.map(lambda file: _highest(file, ignore), maps))
    if highest < 0:
        raise UserError(
            f"{text}: no pixel has a class that counts; leave out ?ignore=, or name the classes in {LISTED}"
        )
    if highest >= MOST_CLASSES:
        raise UserError(
            f"{text}: a label map has the class {highest:,}; name the classes in {LISTED}, or ?ignore={highest}"
        )
    return tuple(map(str, range(highest + 1)))


def _highest(file: Path, ignore: frozenset[int]) -> int:
    values = label_numbers(file)
    if isinstance(values, Unreadable):
        return -1
    return max((int(value) for value in np.unique(values) if int(value) not in ignore), default=-1)


def _with_map(photo: Photo | Unreadable, file: Path, classes: int, ignore: frozenset[int]) -> Photo | Unreadable:
    """The photo with its label map, or why there is none."""
    values = photo if isinstance(photo, Unreadable) else label_numbers(file)
    if isinstance(photo, Unreadable) or isinstance(values, Unreadable):
        return values  # type: ignore[return-value]
    if values.shape != photo.size:
        (height, width), (tall, wide) = values.shape, photo.size
        return Unreadable(f"its label map {storable(file.name)} is {height}x{width}, the image {tall}x{wide}")
    counted = ~np.isin(values, list(ignore))
    wrong = counted & ((values < 0) | (values >= classes))
    if wrong.any():
        return Unreadable(
            f"its label map {storable(file.name)} has the class {values[wrong][0]}, outside the {classes} there are; add "
            f"?ignore={values[wrong][0]} if it does not count"
        )
    return replace(photo, maps={"labels": np.where(counted, values, IGNORED).astype(np.int16)})
