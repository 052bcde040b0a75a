"""Very many classes and images: time and peak memory of each stage, from the listing to the report.

The images are made from their numbers, 32 px, and the model answers by what is written in them, right for most of them: what is
measured is everything else. Each stage is a process of its own, so that its peak is its own; `answers` is the pass over all
images under three conditions, `conclusions` the same command again, whose answers are there.

    python benchmarks/scale.py                                       # 21,000 classes, 20,000 and 100,000 images
    python benchmarks/scale.py --images 1000000 --stages listing plan answers conclusions report export
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import snellen
from snellen.data.dataset import Dataset, Photo, Photos, Samples, Unreadable
from snellen.hashing import key_of

SIDE = 32
AUDITS = "occlusion(areas=[0.3], fills=[black])"  # three conditions: clean, mild noise, a square
STAGES = ("import", "listing", "plan", "answers", "conclusions", "report", "export")


def world(images: int, classes: int) -> Dataset:
    """Images whose pixels say their class, in the blue channel's first row as digits of base 16."""
    labels = np.random.default_rng(0).integers(0, classes, images)
    ids = tuple(f"class-{label:05d}/{number:07d}" for number, label in enumerate(labels.tolist()))

    def together(positions: Sequence[int]) -> Photos:
        chosen = np.asarray(positions)
        pixels = (chosen[:, None] * 7919 + np.arange(SIDE * SIDE * 3)).astype(np.uint8).reshape(-1, SIDE, SIDE, 3)
        pixels[:, 0, :5, 2] = (labels[chosen][:, None] >> (4 * np.arange(5)) & 15) * 16 + 8
        return Photos(pixels, [f"{number:016x}" for number in positions])

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return together(positions).apart()

    return Dataset(
        f"made:{images}", tuple(f"class-{number:05d}" for number in range(classes)), Samples(ids, labels),
        key_of(["scale", images, classes]), read, size=(SIDE, SIDE), chunk=256, read_together=together,
    )  # fmt: skip


def reader(classes: int) -> snellen.models.Model:
    """A model that reads the class off the image, wrong on one image of seven."""

    def probabilities(images: np.ndarray) -> np.ndarray:
        digits = images[:, 0, :5, 2].astype(np.int64) >> 4
        answers = (digits << (4 * np.arange(5))).sum(1)
        answers += images[:, 5, 5, 0] % 7 == 0
        out = np.full((len(images), classes), 0.1 / classes, np.float32)
        out[np.arange(len(images)), answers % classes] += 0.9
        return out

    return snellen.models.from_callable(
        probabilities, [f"class-{number:05d}" for number in range(classes)], SIDE, name="reader", version="1"
    )


def stage(name: str, images: int, classes: int, folder: Path) -> None:
    """Carry a stage out, and print its seconds, its peak and what it wrote."""
    import torch

    torch.set_num_threads(1)
    began, worked = time.perf_counter(), time.process_time()
    if name in ("listing", "plan", "answers", "conclusions"):
        data = world(images, classes)
        if name == "listing":
            _ = data.samples.rows, data.samples.keys
        else:
            snellen.audit(reader(classes), data, AUDITS, folder / "run", dry_run=name == "plan", quiet=True)
    elif name == "report":
        snellen.load_run(folder / "run").report()
    elif name == "export":
        snellen.load_run(folder / "run").export(folder / "answers.parquet")
    taken, worked = time.perf_counter() - began, time.process_time() - worked
    files: dict[str, Callable[[], Path]] = {
        "report": lambda: folder / "run" / "report.html",
        "export": lambda: folder / "answers.parquet",
    }
    size = files[name]().stat().st_size / 2**20 if name in files else None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": taken, "processor": worked, "mb": peak, "size": size}))


def measured(name: str, images: int, classes: int, folder: Path) -> dict[str, float | None]:
    """What a stage told from its own process."""
    command = [sys.executable, __file__, "--stage", name, "--folder", str(folder)]
    command += ["--images", str(images), "--classes", str(classes)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    told: dict[str, float | None] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, nargs="*", default=[20_000, 100_000])
    parser.add_argument("--classes", type=int, default=21_000)
    parser.add_argument("--stages", nargs="*", choices=STAGES, default=STAGES)
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    if chosen.stage:
        stage(chosen.stage, chosen.images[0], chosen.classes, chosen.folder)
        return
    print(
        "| stage | images | classes | seconds | of the processor | peak, MB | file, MB |\n|---|---|---|---|---|---|---|"
    )
    for images in chosen.images:
        with tempfile.TemporaryDirectory() as folder:
            for name in chosen.stages:
                told = measured(name, images, chosen.classes, chosen.folder or Path(folder))
                size = f"{told['size']:.1f}" if told["size"] is not None else ""
                times = f"{told['seconds']:.1f} | {told['processor']:.1f}"
                print(
                    f"| {name} | {images:,} | {chosen.classes:,} | {times} | {told['mb']:,.0f} | {size} |", flush=True
                )


if __name__ == "__main__":
    main()
