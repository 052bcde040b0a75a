"""`python docs/derived_sets.py`: write docs/images/derived-sets.png, images of the derived sets, built from the phantom world."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from snellen.build import diffuse, synthetic
from snellen.build.occluders import build as build_occluders

SHEET = Path(__file__).parent / "images" / "derived-sets.png"
DATA = "phantom:test?size=128&n=24&object_size=0.8"
OBJECTS = "phantom:train?size=96&n=24"
SYNTHETIC = ("none", "black", "white", "noise", "stripes", "object")
DIFFUSE = ("solid", "vertical", "cross_hatch", "oblique", "lattice_50_2", "lattice_75_16")
SIDE, GAP, LINE = 128, 8, 34
WHITE, INK = (255, 255, 255), (40, 40, 40)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        objects = build_occluders(
            OBJECTS, folder / "objects", without=("disc",), per_class=2, min_pixels=300, workers=1
        )
        common = {"size": SIDE, "workers": 1}
        boxes = synthetic.build(DATA, folder / "boxes", occluders=str(objects.out), outside="redraw", **common)
        gates = diffuse.build(DATA, folder / "gates", types=DIFFUSE, **common)
        rows = [(boxes.out, SYNTHETIC, 4), (boxes.out, SYNTHETIC, 7), (gates.out, DIFFUSE, 4), (gates.out, DIFFUSE, 7)]
        step = SIDE + GAP
        page = Image.new("RGB", (GAP + len(SYNTHETIC) * step, GAP + len(rows) * (step + LINE)), WHITE)
        pen, font = ImageDraw.Draw(page), ImageFont.load_default(12)
        for down, (built, types, number) in enumerate(rows):
            index = pd.read_csv(built / "val.csv").set_index(["type", "source"])
            source = index.loc["none"].index[number]
            for across, kind in enumerate(types):
                row = index.loc[(kind, source)]
                left, top = GAP + across * step, GAP + down * (step + LINE)
                with Image.open(built / row["path"]) as image:
                    page.paste(image, (left, top))
                pen.text((left, top + SIDE + 2), f"{kind}, level {row['level']}\n{row['hidden']:.1%} hidden", INK, font)
    page.quantize(128).save(SHEET, optimize=True)


if __name__ == "__main__":
    main()
