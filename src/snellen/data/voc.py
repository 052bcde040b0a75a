"""`voc:DIR`: images with one XML file each, as Pascal VOC and ImageNet have them.

Images are below `JPEGImages` (`?images=`), annotations at the same place below `Annotations` (`?annotations=`), both in DIR.
`?split=val` keeps the images that `ImageSets/Main/val.txt` lists (`Segmentation/val.txt` with masks); `?masks=true` reads
`SegmentationObject`. Boxes include
both ends and count from 1, as VOC's do; `?first=0` is for those that count from 0, which is assumed where images lie in
folders named by WordNet id, as ImageNet's do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset, switch
from snellen.data.dataset import Dataset
from snellen.data.folder import EXTENSIONS
from snellen.data.listing_table import FARTHEST
from snellen.data.names import storable
from snellen.data.root import stamp
from snellen.errors import UserError
from snellen.files import expand_home, read_bytes
from snellen.files.picture import open_image, read_image
from snellen.files.places import is_file, is_folder, is_there, list_below
from snellen.files.tree import everything_below
from snellen.files.xml_file import read_xml

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_WNID = re.compile(r"n\d{8}")
_PIXELS = re.compile(r"[0-9]{1,7}(\.0*)?")


def load_voc(path: str, options: Mapping[str, str]) -> Dataset:
    """The images below a folder with their annotations; ids are their paths in the folder of images."""
    text, root = f"voc:{path}", expand_home(path)
    conditions = dict(options)
    images = root / conditions.pop("images", "JPEGImages")
    annotations = root / conditions.pop("annotations", "Annotations")
    list_below(root)
    for folder, option in ((images, "images"), (annotations, "annotations")):
        if not is_folder(folder):
            raise UserError(f"no folder '{storable(str(folder))}'; name it, as in {text}?{option}=FOLDER")
    split, masked = conditions.pop("split", None), switch(conditions, "masks", ("false", "true"), text) == "true"
    files = sorted(file for file in everything_below(images) if file.suffix.lower() in EXTENSIONS and is_file(file))
    if split is not None:
        files = _split(root, split, files, "Segmentation" if masked else "Main")
    nested = [p for p in files if _WNID.fullmatch(p.parent.name)]
    first = int(switch(conditions, "first", ("0", "1") if nested else ("1", "0"), text))
    listing = []
    for file in files:
        inside = file.relative_to(images)
        xml, outline = inside.with_suffix(".xml"), root / "SegmentationObject" / inside.with_suffix(".png")
        image = BoxedImage(
            storable(inside.as_posix()),
            file,
            place=storable(inside.parts[0]) if len(inside.parts) > 1 else None,
            source=storable(f"{annotations.name}/{xml.as_posix()}"),
            mask=partial(_object, outline) if masked else None,
            mask_mark=stamp(outline) if masked else "",
        )
        listing.append(_annotated(image, annotations / xml, first))
    return boxed_dataset(text, listing, conditions=conditions)


def _split(root: Path, split: str, files: Sequence[Path], task: str) -> list[Path]:
    """The files that a list of ImageSets names: the task's own list, else any of that name."""
    sets = root / "ImageSets"
    lists = sorted(
        (file for file in everything_below(sets) if file.name == f"{split}.txt"),
        key=lambda file: (file.parent.name != task, file),
    )
    if not lists:
        raise UserError(f"no list '{split}.txt' below {sets}; leave out ?split=, or name one that is there")
    content = read_bytes(lists[0], "list of images")
    if b"\0" in content:
        raise UserError(f"{lists[0]} is not a list of images; expected text, one name per line")
    names = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff").splitlines()
    wanted = {line.split()[0] for line in names if line.strip()}
    chosen = [file for file in files if file.stem in wanted]
    if not chosen:
        raise UserError(
            f"{lists[0]} names none of the {len(files):,} images; expected one per line, without its ending"
        )
    return chosen


def _annotated(image: BoxedImage, file: Path, first: int) -> BoxedImage:
    """The image with what its XML file says: names, boxes and size; or that it is missing, or what is wrong with it."""
    if not is_there(file):
        return replace(image, annotated=False)
    try:
        root = read_xml(file, "file of annotations", name=image.source)
        things = [_thing(entry, number, first) for number, entry in enumerate(root.iter("object"), 1)]
        size = _size(root)
    except UserError as error:
        reason = str(error)
        return replace(image, problem=reason if image.source in reason else f"{image.source}: {reason}")
    corners = np.array([corners for _, corners in things], float) if things else NO_BOXES
    return replace(image, names=tuple(name for name, _ in things), boxes=corners, size=size)


def _thing(thing: Element, number: int, first: int) -> tuple[str, list[float]]:
    """The class and the box, maximum exclusive, of an object."""
    name = (thing.findtext("name") or "").strip()
    ends = [thing.findtext(f"bndbox/{tag}") for tag in ("xmin", "ymin", "xmax", "ymax")]
    if not name or None in ends:
        raise UserError(f"object {number} has no name or no whole bndbox")
    try:
        x0, y0, x1, y1 = (float(end) for end in ends if end is not None)
    except ValueError:
        raise UserError(f"a corner of object {number} is no number: {', '.join(map(str, ends))[:100]}") from None
    if not all(math.isfinite(end) and abs(end) <= FARTHEST for end in (x0, y0, x1, y1)):
        raise UserError(f"a corner of object {number} is no place in an image: {x0:g}, {y0:g}, {x1:g}, {y1:g}")
    return name, [x0 - first, y0 - first, x1 - first + 1, y1 - first + 1]


def _size(root: Element) -> tuple[int, int] | None:
    """(width, height) where the file states it."""
    stated = [root.findtext(f"size/{tag}") for tag in ("width", "height")]
    if None in stated:
        return None
    width, height = (number.strip() if number is not None else "" for number in stated)
    if not _PIXELS.fullmatch(width) or not _PIXELS.fullmatch(height):
        raise UserError(f"its size is no number of pixels: '{width[:20]}' x '{height[:20]}'")
    return int(float(width)), int(float(height))


def _object(file: Path, number: int) -> np.ndarray:
    """bool [H, W]: the pixels of an object, by its place in the XML file, in a palette image that numbers them from 1."""
    with open_image(read_image(file, "mask")) as image:
        values = np.asarray(image)
    if values.ndim != 2:
        raise UserError(
            f"it has {values.shape[-1]} channels; expected one, a palette image that numbers objects from 1"
        )
    return values == number + 1
