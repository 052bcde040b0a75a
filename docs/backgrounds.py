"""`make docs`: the variants of some phantoms as an audit shows them (backgrounds.md), and as files that were built with
GrabCut's masks (results/backgrounds.md)."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from phantom_pictures import sheet, words

from snellen.data import Photo, load_data
from snellen.data.in9 import build
from snellen.data.in9.layout import file_name
from snellen.distort import Background, Donors, View
from snellen.distort.background import VariantKind

DOCS = Path(__file__).parent
WORLD = "phantom:test?size=96&n=120&background_bias=1&object_size=0.35..0.6"
ROWS = (3, 17, 50)
FILES = "phantom:test?size=96&n=48&background_bias=1&object_size=0.35..0.6"
FILE_ROWS = (1, 8, 20, 30)


def variants(world: str = WORLD, rows: tuple[int, ...] = ROWS) -> list[list[np.ndarray]]:
    """uint8 [S, S, 3] of each image under each kind; donors are the world's own images."""
    data = load_data(world)
    photos = [photo for photo in data.read(range(len(data))) if isinstance(photo, Photo)]
    images = torch.from_numpy(np.stack([photo.image for photo in photos])).permute(0, 3, 1, 2).contiguous()
    masks = torch.from_numpy(np.stack([photo.maps["mask"] for photo in photos]))
    boxes = [photo.boxes for photo in photos if photo.boxes is not None]
    labels, ids = data.samples.labels, data.samples.ids
    pool = Donors(images, ids, "world", labels, boxes, masks, data.classes, len(data.classes))
    view = View.of(ids, labels=labels, boxes=boxes, masks=masks, donors=pool)
    shown = [Background(kind, sigma=5)(images, view).permute(0, 2, 3, 1).numpy() for kind in get_args(VariantKind)]
    return [[pixels[row] for pixels in shown] for row in rows]


def built(world: str, rows: tuple[int, ...]) -> list[list[np.ndarray]]:
    """uint8 [S, S, 3]: true mask, GrabCut's mask and the files of each variant, of some images of a set."""
    made = []
    with TemporaryDirectory() as folder:
        build(world, folder, "all", size=96, scale=96, workers=1, quiet=True)
        sets = [load_data(f"in9:{folder}/{kind}") for kind in get_args(VariantKind)]
        truth = load_data(world)
        place = {file_name(sample): at for at, sample in enumerate(truth.samples.ids)}
        for row in rows:
            sample = sets[0].samples.ids[row]
            (true,) = truth.read([place[sample]])
            shown = [held.read([held.samples.ids.index(sample)])[0] for held in sets]
            masks = [photo.maps["mask"] for photo in (true, shown[0]) if isinstance(photo, Photo)]
            pixels = [photo.image for photo in shown if isinstance(photo, Photo)]
            made.append([*(np.repeat(mask[..., None] * np.uint8(255), 3, 2) for mask in masks), *pixels])
    return made


def draw(folder: Path = DOCS / "images") -> None:
    made = sheet(variants(), [words(*get_args(VariantKind))] * len(ROWS))
    made.quantize(128).save(folder / "backgrounds.png", optimize=True)
    names = words("true mask", "GrabCut", *get_args(VariantKind))
    made = sheet(built(FILES, FILE_ROWS), [names] * len(FILE_ROWS))
    made.quantize(128).save(folder / "backgrounds-built.png", optimize=True)


if __name__ == "__main__":
    draw()
