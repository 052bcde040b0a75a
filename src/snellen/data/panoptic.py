"""`panoptic:panoptic_val2017.json?images=DIR&segments=DIR`: boxes and masks of things, as COCO-panoptic has them.

The number of a pixel's segment is red + 256 · green + 65,536 · blue in a PNG file per image; `?segments=` names their folder,
which else has the name of the JSON file. Stuff (`isthing` 0: sky, grass) is no object, unless `?stuff=true`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset, switch
from snellen.data.coco import CocoImage, Id, category_names, images_root
from snellen.data.dataset import Dataset
from snellen.data.listing_table import FARTHEST
from snellen.data.names import storable
from snellen.data.root import Root, stamp
from snellen.errors import UserError
from snellen.files import GIB, expand_home, read_json
from snellen.files.picture import open_image, read_image
from snellen.files.places import may_be_folder

_Pixels = Annotated[float, msgspec.Meta(ge=-FARTHEST, le=FARTHEST)]


class PanopticCategory(msgspec.Struct):
    """A class by its id; things are objects, the rest is stuff."""

    id: Id
    name: Annotated[str, msgspec.Meta(pattern=r"\S")] | int
    isthing: bool | int = True


class Segment(msgspec.Struct):
    """A part of an image: its number in the PNG file, its class and its box [x, y, width, height]."""

    id: Annotated[int, msgspec.Meta(ge=0, lt=1 << 24)]
    category_id: Id
    bbox: tuple[_Pixels, _Pixels, _Pixels, _Pixels]


class PanopticAnnotation(msgspec.Struct):
    """The segments of an image, and the PNG file that has them."""

    image_id: Id
    file_name: str
    segments_info: list[Segment]


class PanopticListing(msgspec.Struct):
    """The file."""

    images: list[CocoImage]
    annotations: list[PanopticAnnotation]
    categories: list[PanopticCategory]


def load_panoptic(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a JSON file lists; ids are their file names, classes its things by their numbers."""
    file, text, conditions = expand_home(path), f"panoptic:{path}", dict(options)
    listing: PanopticListing = read_json(file, PanopticListing, "file", 8 * GIB)
    if not listing.images:
        raise UserError(f"{text} lists no images")
    stuff = switch(conditions, "stuff", ("false", "true"), text)
    root = images_root(file, listing.images[0].file_name, conditions.pop("images", None), text)
    segments = _segments_root(file, conditions.pop("segments", None), text)
    used = [category for category in listing.categories if category.isthing or stuff == "true"]
    if not used:
        raise UserError(f"{path}: no category is a thing; add ?stuff=true to take stuff for objects")
    names = category_names(used, path)
    known = {category.id for category in listing.categories}
    annotations: dict[Id, PanopticAnnotation] = {}
    for number, annotation in enumerate(listing.annotations):
        for segment in annotation.segments_info:
            if segment.category_id not in known:
                wrong = f"annotations[{number}] has category_id '{str(segment.category_id)[:60]}'"
                raise UserError(f"{path}: {wrong}, which 'categories' does not list")
        if annotation.image_id in annotations:
            raise UserError(f"{path}: annotations[{number}] is the second of its image; give each image one")
        annotations[annotation.image_id] = annotation
    images = []
    for number, entry in enumerate(listing.images):
        place = root.find(entry.file_name, f"{path}: images[{number}]")
        shown = annotations.get(entry.id)
        things = [] if shown is None else [segment for segment in shown.segments_info if segment.category_id in names]
        png = None if shown is None else segments.find(shown.file_name, f"{path}: the annotation of images[{number}]")
        images.append(_image(entry, (place, png), things, names))
    return boxed_dataset(text, images, tuple(dict.fromkeys(names.values())), {}, conditions, ["panoptic", stuff])


def _image(
    entry: CocoImage, files: tuple[Path, Path | None], things: Sequence[Segment], names: Mapping[Id, str]
) -> BoxedImage:
    place, png = files
    boxes = [[x, y, x + width, y + height] for x, y, width, height in (thing.bbox for thing in things)]
    numbers = [thing.id for thing in things]
    return BoxedImage(
        storable(entry.file_name),
        place,
        tuple(names[thing.category_id] for thing in things),
        np.array(boxes, float) if boxes else NO_BOXES,
        size=entry.size,
        source="its entry",
        mask=partial(_mask, png, numbers),
        mask_mark=[*stamp(png), *numbers],
        annotated=bool(things),
    )


def _mask(png: Path | None, numbers: Sequence[int], place: int) -> np.ndarray:
    """bool [H, W]: the pixels of a segment."""
    assert png is not None  # where there is no annotation there is no object
    with open_image(read_image(png, "map of segments")) as image:
        colours = np.asarray(image.convert("RGB")).astype(np.int64)
    mask = np.asarray(colours @ np.array([1, 256, 65_536]) == numbers[place])
    if not mask.any():
        raise UserError(f"{storable(png.name)} has no pixel of segment {numbers[place]}")
    return mask


def _segments_root(file: Path, folder: str | None, text: str) -> Root:
    place = expand_home(folder) if folder is not None else file.with_suffix("")
    if not may_be_folder(place):
        raise UserError(f"no folder '{place}'; give the folder of the PNG files, as in {text}?segments=DIR")
    return Root(place, "?segments=DIR")
