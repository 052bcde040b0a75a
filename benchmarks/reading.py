"""Seconds to read a dataset's listing, and images per second to decode its files: `python benchmarks/reading.py npz folder`

Listings (npz, packed npz, folder, manifest, coco) are timed through `load_data` with warm files, the median over the rounds;
`npz` reads all its images once more, in chunks. The same script runs on another version of the package (PYTHONPATH), for before
and after.

`decode` reads JPEG files of the size of ImageNet's onto a canvas of 224 px, as uint8, with every reader that is there
(`reading_ways.py`): of snellen, torchvision, timm, webdataset and datasets. All in turn in one process; images per second by the
clock, and per second of processor time (that of one core), workers included.

    python benchmarks/reading.py decode --count 2000 --workers 2
    python benchmarks/reading.py decode --count 20000 --workers 16
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from reading_ways import decode

from snellen.data import load_data

CLASSES = 100


def write_npz(folder: Path, count: int) -> str:
    images = np.random.default_rng(0).integers(0, 256, (count, 32, 32, 3), dtype=np.uint8)
    ids = np.array([f"image-{number:06d}" for number in range(count)])
    np.savez(folder / "a.npz", images=images, labels=np.arange(count) % CLASSES, ids=ids, level=np.arange(count) % 5)
    return f"arrays:{folder}/a.npz"


def write_packed(folder: Path, count: int) -> str:
    with np.load(write_npz(folder, count).removeprefix("arrays:")) as content:
        np.savez_compressed(folder / "packed.npz", **content)
    return f"arrays:{folder}/packed.npz"


def write_folder(folder: Path, count: int) -> str:
    Image.new("RGB", (8, 8)).save(folder / "one.png")
    for number in range(CLASSES):
        (folder / "photos" / f"class {number:03d}").mkdir(parents=True)
    for number in range(count):
        shutil.copy(folder / "one.png", folder / "photos" / f"class {number % CLASSES:03d}" / f"{number:06d}.png")
    return f"folder:{folder}/photos"


def write_manifest(folder: Path, count: int) -> str:
    with (folder / "list.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "path", "label", "x0", "y0", "x1", "y1", "group"])
        rows.writerows(
            [f"{n:06d}", f"photos/{n:06d}.png", f"class {n % CLASSES}", 1, 2, 30.5, 31, n % 7] for n in range(count)
        )
    return f"manifest:{folder}/list.csv"


def write_coco(folder: Path, count: int) -> str:
    """So many annotations, two an image."""
    images = [{"id": n, "file_name": f"{n:06d}.png", "width": 64, "height": 64} for n in range(count // 2)]
    annotations = [
        {
            "id": n,
            "image_id": n // 2,
            "category_id": n % CLASSES,
            "bbox": [1, 2, 20.5 + n % 9, 30],
            "area": 600.0,
            "iscrowd": 0,
        }
        for n in range(count)
    ]
    categories = [{"id": n, "name": f"class {n}"} for n in range(CLASSES)]
    (folder / "a.json").write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return f"coco:{folder}/a.json?images={folder}"


READERS: dict[str, Callable[[Path, int], str]] = {
    "npz": write_npz,
    "packed npz": write_packed,
    "folder": write_folder,
    "manifest": write_manifest,
    "coco": write_coco,
}


def read_all(text: str) -> None:
    """Every image of arrays, some hundred at a time."""
    data = load_data(text)
    for start in range(0, len(data), data.chunk):
        data.read(range(start, min(start + data.chunk, len(data))))


def seconds(call: Callable[[str], object], text: str, rounds: int) -> str:
    """The median of the rounds, by the clock and of the processor: the second hardly depends on what else runs."""
    times = []
    call(text)
    for _ in range(rounds):
        began, worked = time.perf_counter(), time.process_time()
        call(text)
        times.append((time.perf_counter() - began, time.process_time() - worked))
    clock, processor = (statistics.median(some) for some in zip(*times))
    return f"{clock:.3f} s ({processor:.3f} s of processor time)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", default=list(READERS), help=", ".join((*READERS, "decode")))
    parser.add_argument("--count", type=int, help="images, rows or annotations: 100,000, and 1,000 to decode")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="threads or processes that decode")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    for name in chosen.readers:
        with tempfile.TemporaryDirectory() as folder:
            if name == "decode":
                decode(Path(folder), chosen.count or 1000, chosen.rounds, chosen.workers)
                continue
            count = chosen.count or 100_000
            text = READERS[name](Path(folder), count)
            print(f"{name}: {count:,} in {seconds(load_data, text, chosen.rounds)}", flush=True)
            if name == "npz":
                print(f"npz, all images: {seconds(read_all, text, chosen.rounds)}", flush=True)


if __name__ == "__main__":
    main()
