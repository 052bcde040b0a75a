"""`coco:annotations.json?images=DIR`: images, boxes and masks in one JSON file, as COCO has them.

Without `?images=` the images are looked for beside the file and beside its folder. Masks are there where every annotation has
a segmentation: run lengths exactly, polygons as Pillow fills them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset
from snellen.data.dataset import Dataset
from snellen.data.manifest import below
from snellen.errors import UserError

Entry = dict[str, Any]  # of an image, an annotation or a category, as the JSON has it
Listing = dict[str, list[Entry]]


def coco(path: str, options: Mapping[str, str]) -> Dataset:
    """The images that a JSON file lists; ids are their file names, classes its categories by their numbers."""
    file, text, conditions = Path(path).expanduser(), f"coco:{path}", dict(options)
    listing = _load(file)
    root = _root(file, listing, conditions.pop("images", None), text)
    names = {entry["id"]: str(entry["name"]) for entry in sorted(listing["categories"], key=lambda c: c["id"])}
    things: dict[object, list[Entry]] = defaultdict(list)
    for number, thing in enumerate(listing["annotations"]):
        where = f"{path}: annotation {thing.get('id', number)}"
        if thing.get("category_id") not in names:
            raise UserError(f"{where} has category_id {thing.get('category_id')!r}, which 'categories' does not list")
        box = thing.get("bbox")
        if not isinstance(box, list) or len(box) != 4 or not all(isinstance(v, int | float) for v in box):
            raise UserError(f"{where} has bbox {box!r}; expected [x, y, width, height]")
        things[thing.get("image_id")].append(thing)
    outlined = bool(listing["annotations"]) and all(thing.get("segmentation") for thing in listing["annotations"])
    images = [_image(entry, things.get(entry["id"], []), names, root, outlined) for entry in listing["images"]]
    repeated = [name for name, count in Counter(image.id for image in images).items() if count > 1]
    if repeated:
        raise UserError(f"{path} lists the image '{repeated[0]}' twice")
    own = {"id", "file_name", "width", "height", "license", "coco_url", "flickr_url", "date_captured"}
    more = {
        name: np.array([entry.get(name) for entry in listing["images"]])
        for name in (listing["images"][0] if listing["images"] else {})
        if name not in own and all(isinstance(entry.get(name), str | int | float) for entry in listing["images"])
    }
    return boxed_dataset(text, images, tuple(names.values()), more, conditions)


def _image(entry: Entry, things: list[Entry], names: Mapping[object, str], root: Path, outlined: bool) -> BoxedImage:
    boxes = [[x, y, x + w, y + h] for x, y, w, h in (thing["bbox"] for thing in things)]
    size = (int(entry["width"]), int(entry["height"])) if {"width", "height"} <= set(entry) else None
    return BoxedImage(
        str(entry["file_name"]),
        below(root, str(entry["file_name"]), f"image {entry['id']}"),
        tuple(names[thing["category_id"]] for thing in things),
        np.array(boxes, float) if boxes else NO_BOXES,
        size=size,
        source="its entry",
        mask=partial(_outline, things, size) if outlined and size else None,
        annotated=bool(things),
    )


def _outline(things: list[Entry], size: tuple[int, int], number: int) -> np.ndarray:
    """bool [H, W]: the pixels of an object."""
    width, height = size
    outline = things[number]["segmentation"]
    if isinstance(outline, dict):
        counts = outline["counts"]
        return filled_runs(unpacked(counts) if isinstance(counts, str) else counts, height, width)
    canvas = Image.new("1", (width, height))
    for polygon in outline:
        ImageDraw.Draw(canvas).polygon([float(value) for value in polygon], fill=1)
    return np.asarray(canvas)


def unpacked(text: str) -> list[int]:
    """Run lengths of COCO's text: groups of five bits, lowest first; see `packed` in the exports of the phantom world."""
    lengths: list[int] = []
    number = shift = 0
    for sign in text:
        group = ord(sign) - 48
        number |= (group & 31) << shift
        shift += 5
        if not group & 32:
            if group & 16:
                number -= 1 << shift
            lengths.append(number + (lengths[-2] if len(lengths) > 2 else 0))
            number = shift = 0
    return lengths


def filled_runs(lengths: list[int], height: int, width: int) -> np.ndarray:
    """bool [H, W]: a mask from the lengths of its runs down the columns, the first of which is outside."""
    inside = np.arange(len(lengths)) % 2 == 1
    flat = np.repeat(inside, lengths)
    if len(flat) != height * width:
        raise ValueError(f"run lengths of {len(flat)} pixels for an image of {width}x{height}")
    return flat.reshape(width, height).T


def _root(file: Path, listing: Listing, folder: str | None, text: str) -> Path:
    """The folder of the images: the one given, else one near the file that holds the first image."""
    if folder is not None:
        root = Path(folder).expanduser()
        if not root.is_dir():
            raise UserError(f"no folder '{folder}'; give the folder of the images, as in {text}?images=DIR")
        return root
    if not listing["images"]:
        raise UserError(f"{text} lists no images")
    first = str(listing["images"][0]["file_name"])
    near = [file.parent, file.parent.parent, *sorted(p for p in file.parent.parent.iterdir() if p.is_dir())]
    for root in near:
        if (root / first).is_file():
            return root
    raise UserError(f"'{first}' is not near {file}; name the folder of the images, as in {text}?images=DIR")


def _load(file: Path) -> Listing:
    if not file.is_file():
        raise UserError(f"no file '{file}'")
    try:
        listing = json.loads(file.read_bytes())
    except ValueError as error:
        reason = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise UserError(f"{file} cannot be read as JSON: {reason}") from None
    for name in ("images", "annotations", "categories"):
        if not isinstance(listing, dict) or not isinstance(listing.get(name), list):
            raise UserError(f"{file} has no list '{name}'; expected COCO's images, annotations and categories")
    for name, wanted in (("images", ("id", "file_name")), ("categories", ("id", "name"))):
        for number, entry in enumerate(listing[name]):
            missing = [w for w in wanted if not isinstance(entry, dict) or w not in entry]
            if missing:
                raise UserError(f"{file}: entry {number} of '{name}' has no '{missing[0]}'")
    return listing
