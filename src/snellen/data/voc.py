"""`voc:DIR`: images with one XML file each, as Pascal VOC and ImageNet have them.

Images are below `JPEGImages` (`?images=`), annotations at the same place below `Annotations` (`?annotations=`), both in DIR.
`?split=val` keeps the images that `ImageSets/Main/val.txt` lists (`Segmentation/val.txt` with masks); `?masks=true` reads
`SegmentationObject`. Boxes include
both ends and count from 1, as VOC's do; `?first=0` is for those that count from 0, which is assumed where images lie in
folders named by WordNet id, as ImageNet's do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from snellen.data.boxed_images import NO_BOXES, BoxedImage, boxed_dataset, switch
from snellen.data.dataset import Dataset
from snellen.data.folder import EXTENSIONS
from snellen.errors import UserError

_WNID = re.compile(r"n\d{8}")


def voc(path: str, options: Mapping[str, str]) -> Dataset:
    """The images below a folder with their annotations; ids are their paths in the folder of images."""
    text, root = f"voc:{path}", Path(path).expanduser()
    conditions = dict(options)
    images = root / conditions.pop("images", "JPEGImages")
    annotations = root / conditions.pop("annotations", "Annotations")
    for folder, option in ((images, "images"), (annotations, "annotations")):
        if not folder.is_dir():
            raise UserError(f"no folder '{folder}'; name it, as in {text}?{option}=FOLDER")
    split, masked = conditions.pop("split", None), switch(conditions, "masks", ("false", "true"), text) == "true"
    files = sorted(p for p in images.rglob("*") if p.suffix.lower() in EXTENSIONS and p.is_file())
    if split is not None:
        files = _split(root, split, files, "Segmentation" if masked else "Main")
    nested = [p for p in files if _WNID.fullmatch(p.parent.name)]
    first = int(switch(conditions, "first", ("0", "1") if nested else ("1", "0"), text))
    listing = []
    for file in files:
        inside = file.relative_to(images)
        xml, outline = inside.with_suffix(".xml"), root / "SegmentationObject" / inside.with_suffix(".png")
        image = BoxedImage(
            inside.as_posix(),
            file,
            place=inside.parts[0] if len(inside.parts) > 1 else None,
            source=f"{annotations.name}/{xml.as_posix()}",
            mask=partial(_object, outline) if masked else None,
        )
        listing.append(_annotated(image, annotations / xml, first))
    return boxed_dataset(text, listing, conditions=conditions)


def _split(root: Path, split: str, files: list[Path], task: str) -> list[Path]:
    """The files that a list of ImageSets names: the task's own list, else any of that name."""
    lists = sorted((root / "ImageSets").rglob(f"{split}.txt"), key=lambda p: (p.parent.name != task, p))
    if not lists:
        raise UserError(
            f"no list '{split}.txt' below {root / 'ImageSets'}; leave out ?split=, or name one that is there"
        )
    wanted = {line.split()[0] for line in lists[0].read_text().splitlines() if line.strip()}
    return [file for file in files if file.stem in wanted]


def _annotated(image: BoxedImage, file: Path, first: int) -> BoxedImage:
    """The image with what its XML file says: names, boxes and size; or that it is missing, or what is wrong with it."""
    try:
        root = ElementTree.fromstring(file.read_bytes())
    except FileNotFoundError:
        return replace(image, annotated=False)
    except OSError as error:
        return replace(image, problem=f"{image.source} cannot be read: {error.strerror or error}")
    except ElementTree.ParseError as error:
        line, column = error.position
        return replace(image, problem=f"{image.source} line {line}: not well-formed XML at column {column + 1}")
    names, boxes = [], []
    try:
        for number, thing in enumerate(root.iter("object"), 1):
            names.append((thing.findtext("name") or "").strip())
            ends = [thing.findtext(f"bndbox/{tag}") for tag in ("xmin", "ymin", "xmax", "ymax")]
            if not names[-1] or None in ends:
                raise ValueError(f"object {number} has no name or no whole bndbox")
            x0, y0, x1, y1 = (float(end) for end in ends if end is not None)
            boxes.append([x0 - first, y0 - first, x1 - first + 1, y1 - first + 1])
        width, height = (root.findtext(f"size/{tag}") for tag in ("width", "height"))
        size = None if width is None or height is None else (int(width), int(height))
    except ValueError as error:
        return replace(image, problem=f"{image.source}: {error}")
    corners = np.array(boxes, float) if boxes else NO_BOXES
    if not np.isfinite(corners).all():
        return replace(image, problem=f"{image.source}: a corner of a box is no number")
    return replace(image, names=tuple(names), boxes=corners, size=size)


def _object(file: Path, number: int) -> np.ndarray:
    """bool [H, W]: the pixels of an object, by its place in the XML file, in a palette image that numbers them from 1."""
    with Image.open(file) as image:
        return np.asarray(image) == number + 1
