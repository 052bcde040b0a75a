"""`python docs/occluders.py`: write docs/images/occluders.png, every occluder on one image of the phantom world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont

import snellen
from snellen.data.occluders import Occluders, from_images
from snellen.data.phantom import World
from snellen.distort import View, parse, show
from snellen.distort.occluders.placing import Placing

SHEET = Path(__file__).parent / "images" / "occluders.png"
BOUNDS = {"least": 0.35, "most": 0.65}  # hidden shares of the object in the picture
ROWS = [
    [
        "box(synthetic, black)",
        "box(synthetic, white)",
        "box(synthetic, noise)",
        "box(synthetic, stripes)",
        "cutout_object()",
    ],
    ["box(diffuse_code, grey)", "gates(vertical)", "gates(horizontal)", "gates(cross_hatch)", "gates(oblique)"],
    *([f"lattice({share}, {px})" for px in (1, 2, 4, 8, 16)] for share in (0.25, 0.5, 0.75)),
]
SIDE, GAP, LINE, SEED = 160, 8, 34, 5
WHITE, INK = (255, 255, 255), (40, 40, 40)


def things() -> Occluders:
    """Cut-outs of objects of the phantom world."""
    truth = World("train", size=128).truth(np.arange(12))
    return from_images(np.dstack([alone, 255 * full.astype(np.uint8)]) for alone, full in zip(truth.alone, truth.full))


def sheet() -> Image.Image:
    """One row per family of occluders; below each image its text and the share of the object that is hidden."""
    photo = snellen.load_data(f"phantom:test?size={SIDE}&n=60&object_size=1").read([7])[0]
    image = torch.from_numpy(photo.image).permute(2, 0, 1)[None].contiguous()
    mask = torch.from_numpy(photo.maps["mask"] > 0)[None]
    step, font, pool = SIDE + GAP, ImageFont.load_default(12), things()
    canvas = Image.new("RGB", (GAP + step * len(ROWS[0]), GAP + (step + LINE) * len(ROWS)), WHITE)
    pen = ImageDraw.Draw(canvas)
    for row, texts in enumerate(ROWS):
        for column, text in enumerate(texts):
            distortion = parse(text)
            if isinstance(distortion, Placing):
                distortion = replace(distortion, **BOUNDS)
            out, cover = show(distortion, image, View.of(["a fence"], SEED, masks=mask, occluders=pool))
            assert cover is not None
            hidden = float((cover & mask).sum() / mask.sum())
            left, top = GAP + column * step, GAP + row * (step + LINE)
            canvas.paste(Image.fromarray(out[0].permute(1, 2, 0).numpy()), (left, top))
            pen.text((left, top + SIDE + 2), f"{text}\n{hidden:.0%} hidden", INK, font)
    return canvas


if __name__ == "__main__":
    sheet().quantize(128).save(SHEET, optimize=True)
