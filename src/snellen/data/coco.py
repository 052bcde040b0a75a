"""`coco:annotations.json?images=DIR`: images, boxes and masks in one JSON file, as COCO has them.

Without `?images=` the images are looked for beside the file and beside its folder. Masks are there where every annotation has
a segmentation: run lengths and polygons, both as COCO's own tools fill them. An image without annotations has no label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec
import numpy as np

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset
from snellen.data.columns import record_columns
from snellen.data.dataset import Dataset
from snellen.data.listing_table import FARTHEST
from snellen.data.root import Root
from snellen.data.segmentation import is_outline, mask_of, outlines_mark
from snellen.errors import UserError
from snellen.files import GIB, expand_home, fit, read_json
from snellen.files.places import folders_beside, is_file, may_be_folder
from snellen.hashing import checksum

Id = int | float | str
_Pixels = Annotated[float, msgspec.Meta(ge=-FARTHEST, le=FARTHEST)]
_OWN = {"id", "file_name", "width", "height", "license", "coco_url", "flickr_url", "date_captured"}


class Category(msgspec.Struct):
    """A class by its id."""

    id: Id
    name: Annotated[str, msgspec.Meta(pattern=r"\S")] | int


class CocoAnnotation(msgspec.Struct):
    """An object in an image: its class, its box [x, y, width, height] and its outline, not yet decoded."""

    category_id: Id
    bbox: tuple[_Pixels, _Pixels, _Pixels, _Pixels]
    image_id: Id | None = None
    segmentation: msgspec.Raw = msgspec.Raw(b"null")


class CocoImage(msgspec.Struct):
    """An image: its file and, where stated, its size in pixels."""

    id: Id
    file_name: str
    width: _Pixels | None = None
    height: _Pixels | None = None

    @property
    def size(self) -> tuple[int, int] | None:
        return None if self.width is None or self.height is None else (int(self.width), int(self.height))


class CocoListing(msgspec.Struct):
    """The file; images keep their further fields, which become columns."""

    images: list[dict[str, Any]]
    annotations: list[CocoAnnotation]
    categories: list[Category]


class CocoImages(msgspec.Struct):
    """The images of a file, checked."""

    images: list[CocoImage]


def load_coco(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a JSON file lists; ids are their file names, classes its categories by their numbers."""
    file, text, conditions = expand_home(path), f"coco:{path}", dict(options)
    listing: CocoListing = read_json(file, CocoListing, "file", 8 * GIB)
    images_alone: CocoImages = fit({"images": listing.images}, CocoImages, file)
    entries = images_alone.images
    if not entries:
        raise UserError(f"{text} lists no images")
    root = images_root(file, entries[0].file_name, conditions.pop("images", None), text)
    names = category_names(listing.categories, path)
    things: dict[Id | None, list[CocoAnnotation]] = defaultdict(list)
    for number, thing in enumerate(listing.annotations):
        if thing.category_id not in names:
            raise UserError(
                f"{path}: annotations[{number}] has category_id '{_short(thing.category_id)}', which 'categories' does not list"
            )
        things[thing.image_id].append(thing)
    outlined = bool(listing.annotations) and all(
        is_outline(bytes(annotation.segmentation)) for annotation in listing.annotations
    )
    seen: set[Id] = set()
    images = []
    for number, entry in enumerate(entries):
        if entry.id in seen:
            raise UserError(
                f"{path}: images[{number}] has the id '{_short(entry.id)}', as an image before it; give each its own"
            )
        seen.add(entry.id)
        place = root.find(entry.file_name, f"{path}: images[{number}]")
        images.append(_image(entry, place, things.get(entry.id, []), names, outlined))
    return boxed_dataset(
        text, images, tuple(dict.fromkeys(names.values())), record_columns(listing.images, _OWN), conditions
    )


class HasName(Protocol):
    """A category: its id and its name."""

    id: Id
    name: str | int


def category_names(categories: Sequence[HasName], path: str) -> dict[Id, str]:
    """Class names by id, in the order of the ids, numbers first; two ids may share a name, and are then one class."""
    names: dict[Id, str] = {}
    for category in sorted(categories, key=lambda category: (isinstance(category.id, str), category.id)):
        if category.id in names:
            raise UserError(f"{path}: two categories have the id '{_short(category.id)}'; give each its own")
        names[category.id] = str(category.name)
    return names


def _image(
    entry: CocoImage, path: Path, things: Sequence[CocoAnnotation], names: Mapping[Id, str], outlined: bool
) -> BoxedImage:
    boxes = [[x, y, x + width, y + height] for x, y, width, height in (thing.bbox for thing in things)]
    outlines = [bytes(thing.segmentation) for thing in things] if outlined and entry.size else []
    return BoxedImage(
        entry.file_name,
        path,
        tuple(names[thing.category_id] for thing in things),
        np.array(boxes, float) if boxes else NO_BOXES,
        size=entry.size,
        source="its entry",
        mask=partial(_outline, outlines, entry.size) if outlined and entry.size else None,
        mask_mark=checksum(b"\n".join(outlines)) + outlines_mark(outlines) if outlines else "",
        annotated=bool(things),
    )


def _outline(outlines: Sequence[bytes], size: tuple[int, int], number: int) -> np.ndarray:
    """bool [H, W]: the pixels of an object."""
    return mask_of(outlines[number], *size)


def _short(id: Id) -> str:
    return str(id)[:60]


def images_root(file: Path, first: str, folder: str | None, text: str) -> Root:
    """The folder of the images: the one given, else one near the file that holds the first image."""
    if folder is not None:
        place = expand_home(folder)
        if not may_be_folder(place):
            raise UserError(f"no folder '{folder}'; give the folder of the images, as in {text}?images=DIR")
        return Root(place, "?images=DIR")
    for place in (file.parent, file.parent.parent, *folders_beside(file.parent.parent)):
        if is_file(place / first):
            return Root(place, "?images=DIR")
    raise UserError(f"'{first[:200]}' is not near {file}; name the folder of the images, as in {text}?images=DIR")
