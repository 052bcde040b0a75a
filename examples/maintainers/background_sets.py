"""Photographs of the data pack as images with boxes, and the variants of ImageNet-9 built from them.

    python examples/maintainers/background_sets.py WHAT --out runs/backgrounds

| WHAT | what is written |
|---|---|
| tiny | Tiny-ImageNet: both packs pooled and split again |
| voc | Pascal VOC photographs of five classes |
| pets | Oxford pets, boxes around their true masks |
| masks | Tiny-ImageNet's masks alone, to build the set elsewhere |
| iou | printed: how well GrabCut finds the pets, and phantoms |

Users build the same from the public datasets with examples/boxes.py.
They are ImageNet training images (Tiny-ImageNet) or of unclear licence: build them for yourself, do not pass them on.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from shared_networks import shared

from snellen.build.in9 import In9Request
from snellen.build.in9.building import In9Built
from snellen.build.in9.segment import segment_object
from snellen.data import Photo, load_data
from snellen.data.in9 import build
from snellen.data.in9.layout import file_name

COLUMNS = ("path", "label", "x0", "y0", "x1", "y1", "wnid")
TEST = 110  # images a class for the test split: the filters leave over 80 of them


def tiny_imagenet(out: Path, seed: int = 0, test: int = TEST) -> list[Path]:
    """Extract both packs and write train.csv and test.csv: `test` images of each class, chosen by the seed, the rest train.

    Their own splits cannot be used: three classes of the full pack have no test images.
    """
    rows: list[dict[str, str]] = []
    for pack in ("tiny_imagenet_boxes", "full/tiny_imagenet_boxes"):
        with zipfile.ZipFile(shared() / pack / "images.zip") as archive:
            archive.extractall(out / "images" / pack.replace("/", "-"))
        with (shared() / pack / "boxes.csv").open() as file:
            for row in csv.DictReader(file):
                path = f"images/{pack.replace('/', '-')}/{row['file']}"
                box = (row[corner] for corner in ("xmin", "ymin", "xmax", "ymax"))
                rows.append(dict(zip(COLUMNS, (path, row["class"], *box, row["wnid"]))))
    drawn = sorted(rows, key=lambda row: hashlib.blake2b(f"{seed}/{Path(row['path']).name}".encode()).digest())
    seen: dict[str, int] = {}
    split: dict[str, list[dict[str, str]]] = {"train": [], "test": []}
    for row in drawn:
        seen[row["label"]] = seen.get(row["label"], 0) + 1
        split["test" if seen[row["label"]] <= test else "train"].append(row)
    files = []
    for name, held in split.items():
        files.append(out / f"{name}.csv")
        with files[-1].open("w", newline="") as opened:
            writer = csv.DictWriter(opened, COLUMNS)
            writer.writeheader()
            writer.writerows(sorted(held, key=lambda row: row["path"]))
    return files


def pets(out: Path) -> tuple[Path, Path]:
    """A table of boxes around the pets' masks (their own list has head boxes), and the masks as white on black."""
    (out / "masks").mkdir(parents=True, exist_ok=True)
    with (shared() / "pets" / "boxes.csv").open() as file, (out / "boxes.csv").open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(("path", "label", "x0", "y0", "x1", "y1", "breed"))
        for row in csv.DictReader(file):
            pet = trimap(row["mask"]) != 2  # the border belongs to the box
            down, across = np.flatnonzero(pet.any(1)), np.flatnonzero(pet.any(0))
            writer.writerow(
                (row["file"], row["species"], across[0], down[0], across[-1] + 1, down[-1] + 1, row["breed"])
            )
            Image.fromarray((trimap(row["mask"]) == 1).astype(np.uint8) * 255).save(
                out / "masks" / f"{Path(row['file']).stem}.png"
            )
    return out / "boxes.csv", out / "masks"


def trimap(mask: str) -> np.ndarray:
    """uint8 [H, W]: 1 pet, 2 background, 3 the border between them."""
    with Image.open(shared() / "pets" / mask) as image:
        return np.asarray(image)


def outlined_pets(table: Path) -> Iterator[tuple[str, Photo, np.ndarray, np.ndarray]]:
    """Name, photo, true mask and the pixels where it is known."""
    data = load_data(f"boxes:{table}?root={shared() / 'pets'}")
    for row, sample in enumerate(data.samples.ids):
        photo = data.read([row])[0]
        assert isinstance(photo, Photo)
        truth = trimap(f"masks/{Path(sample).stem}.png")
        yield sample, photo, truth == 1, truth != 3


def outlined_phantoms(world: str) -> Iterator[tuple[str, Photo, np.ndarray, np.ndarray]]:
    """The same of phantoms, named as their files are in a built set, so that GrabCut has the same seeds."""
    data = load_data(world)
    for row, sample in enumerate(data.samples.ids):
        photo = data.read([row])[0]
        assert isinstance(photo, Photo)
        yield file_name(sample), photo, photo.maps["mask"], np.ones_like(photo.maps["mask"])


def overlap(images: Iterator[tuple[str, Photo, np.ndarray, np.ndarray]], what: str, **settings: Any) -> np.ndarray:
    """The IoU of GrabCut's mask with the true one, where that is known; prints its distribution and GrabCut's speed."""
    import cv2

    cv2.setNumThreads(1)
    found: list[float] = []
    failed, boxed, took = 0, [], 0.0
    for name, photo, truth, known in images:
        assert photo.boxes is not None
        began = time.process_time()
        made = segment_object(photo.image, photo.boxes[0], name, In9Request(data="x", out="x", **settings))
        took += time.process_time() - began
        x0, y0, x1, y1 = photo.boxes[0].astype(int)
        inside = np.zeros_like(truth)
        inside[y0:y1, x0:x1] = True
        boxed.append((inside & truth & known).sum() / ((inside | truth) & known).sum())
        if made.mask is None:
            failed += 1
            continue
        found.append((made.mask & truth & known).sum() / ((made.mask | truth) & known).sum())
    iou = np.array(found)
    quarters = ", ".join(f"{value:.3f}" for value in np.quantile(iou, (0.1, 0.25, 0.5, 0.75, 0.9)))
    print(
        f"{what}: {len(iou) + failed} images, {failed} failed; IoU mean {iou.mean():.3f}, quantiles 10/25/50/75/90 % "
        f"{quarters}, share above 0.5 {np.mean(iou > 0.5):.3f}; the box alone {np.mean(boxed):.3f}; "
        f"{(len(iou) + failed) / took:.1f} images a second and core (CPU time)"
    )
    return iou


def gathered_masks(place: Path) -> int:
    """Write the masks of the sets of a folder to its folder `masks`, a PNG file each: with the tables they make the same sets
    again, on a machine without OpenCV."""
    (place / "masks").mkdir(exist_ok=True)
    files = sorted(place.glob("set-t*/fg_mask/*/*/*.npy"))
    for file in files:
        Image.fromarray(np.load(file) * np.uint8(255)).convert("1").save(place / "masks" / f"{file.stem}.png")
    return len(files)


def told(made: In9Built, took: float) -> None:
    """Print what was built."""
    refused = ", ".join(f"{count} {reason}" for reason, count in made.rejected.items())
    print(
        f"{made.out}: {made.images} of {made.judged} images, a class {min(made.classes.values())} to "
        f"{max(made.classes.values())}; not taken: {refused or 'none'}; {made.judged / took:.1f} images a second"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tiny", "voc", "pets", "iou", "masks"))
    parser.add_argument("--out", type=Path, default=Path("runs/backgrounds"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--segment-size", type=int, default=256, help="of Tiny-ImageNet's 64 pixels; 0: as they are")
    chosen = parser.parse_args()
    place, how = chosen.out / chosen.what, {"seed": chosen.seed, "workers": chosen.workers, "limit": chosen.limit}
    if chosen.what == "iou":
        table, _ = pets(chosen.out / "pets")
        overlap(outlined_pets(table), "pets at 224 px")
        overlap(outlined_phantoms("phantom:test?size=224&n=100"), "phantoms at 224 px")
        small = "phantom:test?size=48&object_size=0.35..0.6&n=240&background_bias=1"  # of phantom_backgrounds.sh
        overlap(outlined_phantoms(small), "phantoms at 48 px", segment_size=192)
        return
    if chosen.what == "masks":
        print(f"{gathered_masks(chosen.out / 'tiny')} masks in {chosen.out / 'tiny' / 'masks'}")
        return
    jobs: list[tuple[str, str, dict[str, Any]]] = []
    if chosen.what == "tiny":
        small: dict[str, Any] = {
            "size": 64,
            "scale": 64,
            "segment_size": chosen.segment_size or None,
            "classes": "nine",
        }
        for file in tiny_imagenet(place, chosen.seed):
            split = "val" if file.stem == "test" else file.stem
            jobs.append((f"boxes:{file}", f"set-{file.stem}", {**small, "split": split}))
    elif chosen.what == "voc":
        alone = f"boxes:{shared()}/voc_boxes/boxes.csv?without=person"  # the three of which are in company
        jobs.append((alone, "set", {"classes": "all", "balance": False}))
    else:
        table, masks = pets(place)
        data = f"boxes:{table}?root={shared() / 'pets'}"
        jobs.append((data, "set", {"classes": "all"}))
        jobs.append((data, "set-true-masks", {"classes": "all", "masks": str(masks)}))
    for data, name, settings in jobs:
        began = time.perf_counter()
        made = build(data, place / name, quiet=False, **how, **settings)
        told(made, time.perf_counter() - began)


if __name__ == "__main__":
    main()
