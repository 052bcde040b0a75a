"""`python docs/explain.py`: write docs/images/explain.png, phantom images under three methods for a network trained on them."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont

import snellen
from snellen.explain.methods import method_of
from snellen.explain.overlays import outline, overlay
from snellen.train import train

SHEET = Path(__file__).parent / "images" / "explain.png"
METHODS = ("gradcam", "iba", "captum:IntegratedGradients")
DIALS = "size=64&object_size=0.4..0.6"
SIDE, GAP, LINE, COUNT = 160, 6, 22, 3
INK = (40, 40, 40)


def sheet() -> Image.Image:
    """A row per image: with the edge of its mask, then each method's map of the right class."""
    data = snellen.load_data(f"phantom:test?{DIALS}&n=1000")
    with tempfile.TemporaryDirectory() as folder:
        (path,) = train("fast", f"phantom:train?{DIALS}&n=2000", folder, arch="smallnet", epochs=8, device="cpu")
        model = snellen.load_model(str(path), "cpu")
    photos = data.read(range(60))
    images = torch.from_numpy(np.stack([one.image for one in photos])).permute(0, 3, 1, 2).contiguous()
    rows = [row for row, best in enumerate(model(images).argmax(1)) if best == data.samples.labels[row]][:COUNT]
    shown, targets = images[rows], [int(data.samples.labels[row]) for row in rows]
    columns = [[outline(photos[row].image, photos[row].maps["mask"].astype(bool)) for row in rows]]
    for name in METHODS:
        method = method_of(name)
        usual = None if method.reference is None else method.reference.estimate(model, data, None, model.canvas)
        maps = method.make(model, shown, targets, statistics=usual)
        columns.append([overlay(image, heat) for image, heat in zip(shown, maps)])
    step, font = SIDE + GAP, ImageFont.load_default(14)
    whole = Image.new("RGB", (len(columns) * step - GAP, LINE + COUNT * step - GAP), "white")
    for number, (head, column) in enumerate(zip(("image", *METHODS), columns)):
        ImageDraw.Draw(whole).text((number * step + SIDE / 2, 3), head.removeprefix("captum:"), INK, font, "ma")
        for row, picture in enumerate(column):
            tile = Image.fromarray(picture).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            whole.paste(tile, (number * step, LINE + row * step))
    return whole


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sheet().save(SHEET)
