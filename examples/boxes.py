"""Tables of boxes for `snellen build in9`, from two public datasets that you downloaded and extracted.

    python examples/boxes.py tiny --source tiny-imagenet-200 --out tiny     # train.csv and test.csv, the nine classes
    python examples/boxes.py pets --source oxford-iiit-pet --out pets       # boxes.csv and masks/, cats and dogs
    snellen build in9 --data 'boxes:tiny/test.csv?root=tiny-imagenet-200' --classes nine --size 64 --scale 64 \
        --segment-size 256 --out tiny/set-test

Tiny-ImageNet: http://cs231n.stanford.edu/tiny-imagenet-200.zip. Oxford-IIIT Pet:
https://www.robots.ox.ac.uk/~vgg/data/pets/, images and annotations in one folder. Mind their terms of use.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.models.label_maps.imagenet9 import classes

COLUMNS = ("path", "label", "x0", "y0", "x1", "y1", "wnid")


def tiny_imagenet(source: Path, out: Path, test: int = 110, seed: int = 0) -> list[Path]:
    """train.csv and test.csv of the training photographs that belong to the nine classes.

    The test split has `test` photographs of each class, chosen by the seed. Boxes have an exclusive maximum.
    """
    class_of = {wnid: name for name, wnids in classes().items() for wnid in wnids}
    rows = []
    for table in sorted(source.glob("train/*/*_boxes.txt")):
        wnid = table.parent.name
        for line in table.read_text().splitlines() if wnid in class_of else []:
            name, *box = line.split()
            rows.append((f"train/{wnid}/images/{name}", class_of[wnid], *box, wnid))
    rows.sort(key=lambda row: hashlib.blake2b(f"{seed}/{Path(row[0]).name}".encode()).digest())
    counts: dict[str, int] = {}
    splits: dict[str, list[Sequence[str]]] = {"train": [], "test": []}
    for row in rows:
        counts[row[1]] = counts.get(row[1], 0) + 1
        splits["test" if counts[row[1]] <= test else "train"].append(row)
    return [write_table(out / f"{name}.csv", COLUMNS, sorted(part)) for name, part in splits.items()]


def pets(source: Path, out: Path) -> Path:
    """boxes.csv of boxes around the pets' outlines, and masks/ with the pets white on black.

    The published list gives the breed's file names: those of cats begin with a capital letter.
    """
    (out / "masks").mkdir(parents=True, exist_ok=True)
    rows = []
    for file in sorted((source / "annotations" / "trimaps").glob("[A-Za-z]*.png")):
        with Image.open(file) as image:
            trimap = np.asarray(image)  # 1 pet, 2 background, 3 the border between them
        down, across = np.flatnonzero((trimap != 2).any(1)), np.flatnonzero((trimap != 2).any(0))
        if not len(down):
            continue
        species = "cat" if file.stem[0].isupper() else "dog"
        rows.append((f"images/{file.stem}.jpg", species, across[0], down[0], across[-1] + 1, down[-1] + 1))
        Image.fromarray((trimap == 1).astype(np.uint8) * 255).save(out / "masks" / file.name)
    return write_table(out / "boxes.csv", COLUMNS[:-1], rows)


def write_table(file: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(columns)
        writer.writerows(rows)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", choices=("tiny", "pets"))
    parser.add_argument("--source", type=Path, required=True, help="the folder that you extracted")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    made = tiny_imagenet(chosen.source, chosen.out) if chosen.dataset == "tiny" else [pets(chosen.source, chosen.out)]
    for file in made:
        print(f"--data 'boxes:{file}?root={chosen.source}'")


if __name__ == "__main__":
    main()
