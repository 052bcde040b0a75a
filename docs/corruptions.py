"""`python docs/corruptions.py [PHOTO]`: write docs/images/corruptions.png, every common corruption at every severity."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont

import snellen
from snellen.distort import View
from snellen.distort.corruptions import CORRUPTIONS, SEVERITIES, Corruption
from snellen.distort.corruptions.corruption import in_words

SHEET = Path(__file__).parent / "images" / "corruptions.png"
SIDE, GAP, LINE, SEED, ACROSS = 112, 4, 16, 5, 2
WHITE, INK = (255, 255, 255), (40, 40, 40)


def sheet(image: torch.Tensor) -> Image.Image:
    """Two kinds side by side, each with its five severities."""
    step, font, view = SIDE + GAP, ImageFont.load_default(12), View.of(["a sheet"], SEED)
    half = step * SEVERITIES + 3 * GAP
    rows = -(-len(CORRUPTIONS) // ACROSS)
    canvas = Image.new("RGB", (half * ACROSS, (step + LINE) * rows + GAP), WHITE)
    pen = ImageDraw.Draw(canvas)
    for place, kind in enumerate(CORRUPTIONS):
        left, top = half * (place // rows), (step + LINE) * (place % rows)
        pen.text((left + GAP, top), in_words(kind), INK, font)
        for severity in range(1, SEVERITIES + 1):
            out = Corruption(kind, severity)(image, view)[0].permute(1, 2, 0).numpy()
            small = Image.fromarray(out).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            canvas.paste(small, (left + GAP + step * (severity - 1), top + LINE))
    return canvas


def photo() -> torch.Tensor:
    """The image on the sheet, uint8 [1, 3, 224, 224]: a file that is named, else one of the phantom world."""
    if len(sys.argv) > 1:
        pixels = np.asarray(Image.open(sys.argv[1]).convert("RGB").resize((224, 224)))
    else:
        pixels = snellen.load_data("phantom:test?size=224&n=60&object_size=1").read([7])[0].image
    return torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].contiguous()


if __name__ == "__main__":
    sheet(photo()).quantize(96).save(SHEET, optimize=True)
