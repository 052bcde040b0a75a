"""`python docs/two_fills.py`: write docs/images/two-fills.png, a square in two fills with what a model gets right under it.

The accuracies are those of the README's command, which is carried out for them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from PIL import Image, ImageDraw, ImageFont

import snellen
from snellen.distort import View, parse, show

PICTURE = Path(__file__).parent / "images" / "two-fills.png"
MODEL, WORLD = "observer:black(otherwise=texture)", "phantom:test?size=32&n=600&texture_bias=1"
AUDIT = "occlusion([0.3], [black, stripes])"
SHOWN = "phantom:test?size=192&n=12&texture_bias=1"  # the same objects, large enough to look at
ROW, SIDE, GAP, LINE = 4, 240, 20, 62
GROUND, INK, RED, GREEN = (255, 255, 255), (32, 33, 36), (176, 0, 32), (0, 107, 60)


def accuracies(folder: str) -> tuple[float, float, float, str]:
    """Clean, under black, under stripes, and the class that new errors under black go to."""
    run = snellen.audit(MODEL, WORLD, AUDIT, out=Path(folder) / "run", report=False, quiet=True)
    rows = {(row["name"], row.get("fill")): row for row in run.findings().to_dict("records")}
    black, stripes = rows["occluded_accuracy", "black"], rows["occluded_accuracy", "stripes"]
    clean = next(row["value"] for (name, _), row in rows.items() if name == "accuracy")
    return clean, black["value"], stripes["value"], black["di_dominant"]


def picture() -> Image.Image:
    """Three images in a row: unmodified, under a black square, under the same square in stripes."""
    with tempfile.TemporaryDirectory() as folder:
        clean, black, stripes, taken = accuracies(folder)
    photo = snellen.load_data(SHOWN).read([ROW])[0]
    image = torch.from_numpy(photo.image).permute(2, 0, 1)[None].contiguous()
    cells = [
        ("none()", f"{clean:.1%} right", "unmodified", GREEN),
        ("occlude(0.3, black)", f"{black:.1%} right", f"black square: taken for '{taken}'", RED),
        ("occlude(0.3, stripes)", f"{stripes:.1%} right", "the same square in stripes", GREEN),
    ]
    large, small = (ImageFont.load_default(size) for size in (22, 15))
    canvas = Image.new("RGB", (GAP + (SIDE + GAP) * len(cells), GAP + SIDE + LINE), GROUND)
    pen = ImageDraw.Draw(canvas)
    for place, (text, number, words, colour) in enumerate(cells):
        out, _ = show(parse(text), image, View.of(["the same place"], 3))
        left = GAP + place * (SIDE + GAP)
        tile = Image.fromarray(out[0].permute(1, 2, 0).numpy()).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        canvas.paste(tile, (left, GAP))
        pen.text((left, GAP + SIDE + 5), number, colour, large)
        pen.text((left, GAP + SIDE + 34), words, INK, small)
    return canvas


if __name__ == "__main__":
    picture().quantize(200).save(PICTURE, optimize=True)
