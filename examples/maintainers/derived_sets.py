"""Real photographs of the data pack through the builders of occlusion sets.

    python examples/maintainers/derived_sets.py --out runs/derived

| folder | what is written |
|---|---|
| davis | six DAVIS sequences, cut out by their masks; levels of `davis_levels.csv`, written after looking at the frames |
| objects | camel, car and soapbox of DAVIS as cut-outs |
| hts | pets for people, bounds chosen by MobileNetV2 |
| synthetic, diffuse | the same pets under boxes, objects, gates and lattices |
| sheet.jpg | a page of them, to look at |

The photographs are for research, or of unclear licence: build them for yourself, do not pass them on.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from background_sets import pets
from shared_networks import shared

from snellen.build import diffuse, synthetic
from snellen.build.contact_sheet import Tile, contact_sheet
from snellen.build.hts import build as build_hts
from snellen.build.iruo import build as build_iruo
from snellen.build.occluders import build as build_occluders
from snellen.files.picture import open_image, read_image

HERE = Path(__file__).parent
TYPES = (
    "none",
    "black",
    "white",
    "noise",
    "stripes",
    "object",
    "solid",
    "vertical",
    "horizontal",
    "cross_hatch",
    "oblique",
)
SHOWN = 4  # images of each type on the page


def pet_table(out: Path) -> Path:
    """The pets as a manifest with masks."""
    boxes, _ = pets(out)
    with boxes.open() as file, (out / "pets.csv").open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(("path", "label", "mask", "id"))
        for row in csv.DictReader(file):
            name = Path(row["path"]).stem
            (out / "images").mkdir(exist_ok=True)
            target = out / "images" / f"{name}.jpg"
            target.write_bytes((shared() / "pets" / row["path"]).read_bytes())
            writer.writerow((f"images/{name}.jpg", row["label"], f"masks/{name}.png", name))
    return out / "pets.csv"


def page(sets: list[Path]) -> bytes:
    """The first images of each type of the sets."""
    tiles = []
    for folder in sets:
        with (folder / "val.csv").open() as file:
            rows = list(csv.DictReader(file))
        for kind in [one for one in TYPES if any(row["type"] == one for row in rows)]:
            for row in [row for row in rows if row["type"] == kind][:SHOWN]:
                with open_image(read_image(folder / row["path"], "image")) as image:
                    tiles.append(Tile(_array(image), f"{kind}\n{float(row['hidden']):.0%} hidden"))
    return contact_sheet(tiles, "pets under occluders")


def _array(image: Image.Image) -> object:
    import numpy as np

    return np.asarray(image.convert("RGB"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=Path("runs/derived"))
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    out, workers = chosen.out, chosen.workers
    levels, frames = HERE / "davis_levels.csv", shared() / "davis"
    print(build_iruo(levels, frames, out / "davis", workers=workers).json)
    data = f"manifest:{pet_table(out / 'pets')}"
    instances = f"ovis:{levels}?frames={frames}&view=frame&level=0"
    objects = build_occluders(instances, out / "objects", target=data, without=("cyclist",), workers=workers)
    print(objects.json)
    model = f"python:{HERE / 'shared_networks.py'}:mobilenet_v2@whole"
    labels = str(HERE.parent / "labels" / "pets.json")
    chosen_by = dict(levels=False, per=20, calibrate=(model,), labels=labels, target=0.9)
    print(build_hts(data, out / "hts", workers=workers, **chosen_by).json)
    for name, module, settings in (
        ("synthetic", synthetic, {"occluders": str(objects.out)}),
        ("diffuse", diffuse, {"shares": (50,), "pixels": (2, 16)}),
    ):
        print(module.build(data, out / name, workers=workers, **settings).json)
    (out / "sheet.jpg").write_bytes(page([out / "synthetic", out / "diffuse"]))


if __name__ == "__main__":
    main()
