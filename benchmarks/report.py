"""Seconds and MiB of the report of a large run: three models, 10,000 images, every audit, on two cores.

The models are tiny transformers (two blocks, patches of 8 px) that have learnt the phantom world for some seconds, so that every
audit can ask them; what their report costs is what that of large networks costs: it reads answers, maps and pictures. The run is
made once and kept in --out (about an hour on two cores); the report is then written --rounds times, each by a process of its own,
start and imports included. Goals: ≤ 20 s and ≤ 8 MiB.

    python benchmarks/report.py                            # makes the run, then writes its report
    python benchmarks/report.py --images 1000 --out small
    python benchmarks/report.py --models 10 --images 300 --audits occlusion,interference --out ten
    python benchmarks/report.py --classes 5000 --images 5000 --audits occlusion,interference --out classes
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from timm.models.vision_transformer import VisionTransformer

import snellen
from snellen.data import Dataset, from_arrays, load_data
from snellen.models import Model, from_torch

SIDE, PATCH = 32, 8
AUDITS = (
    "occlusion, interference, shape, augmentation, calibration, corruptions, delivery, occluders, background, "
    "adversarial_backgrounds(backgrounds=20, "
    "rates=true), inside_mask, explanation(curves=off), faithfulness(repeats=1, points=16, tile=8), "
    "shift(random=100, evaluations=100), concepts(sources=[colours]), attention"
)
WRITE = "import sys, snellen; snellen.load_run(sys.argv[1]).report(sys.argv[2])"


def tiny_transformer(seed: int, data: Dataset, images: int = 2000, epochs: int = 8) -> Model:
    """A transformer that has seen some images of the data a few times."""
    torch.manual_seed(seed)
    count = len(data.classes)
    network = VisionTransformer(
        img_size=SIDE, patch_size=PATCH, embed_dim=24 + 8 * seed, depth=2, num_heads=2, num_classes=count
    )
    model = from_torch(network, classes=list(data.classes), size=SIDE, name=f"tiny-{seed}", device="cpu")
    places = range(min(images, len(data)))
    read = data.read(places)
    pixels = torch.from_numpy(np.stack([np.asarray(photo.pixels) for photo in read])).permute(0, 3, 1, 2).float() / 255
    labels = torch.from_numpy(np.asarray(data.samples.labels[: len(places)]))
    optimiser = torch.optim.AdamW(network.parameters(), 3e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(places)).split(100):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(pixels[batch]), labels[batch]).backward()
            optimiser.step()
    network.eval()
    return model


def many_classes(images: int, classes: int) -> Dataset:
    """Images of noise in so many classes."""
    noise = np.random.default_rng(0)
    content = {
        "images": noise.integers(0, 256, (images, SIDE, SIDE, 3), dtype=np.uint8),
        "labels": np.arange(images) % classes,
        "classes": np.array([f"class {number:04d}" for number in range(classes)]),
    }
    return from_arrays(content, "arrays:noise", "noise")


def make_run(folder: Path, images: int, models: int, classes: int, audits: str) -> None:
    """The run whose report is timed, continued where it was stopped."""
    world = f"size={SIDE}&background_bias=0.6&occlusion=0.3"
    test = load_data(f"phantom:test?n={images}&{world}") if classes == 0 else many_classes(images, classes)
    train = load_data(f"phantom:train?n={min(images, 2000)}&{world}") if classes == 0 else None
    taught = [tiny_transformer(seed, train or test, epochs=8 if classes == 0 else 1) for seed in range(models)]
    snellen.audit(taught, test, audits, folder, train=train, quiet=True)


def write_report(folder: Path, path: Path, cores: int) -> tuple[float, float]:
    """Seconds that a process of its own takes to write the report, by the clock and of the processor."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(cores)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", WRITE, str(folder), str(path)], check=True, env=environment)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument(
        "--classes", type=int, default=0, help="classes of images of noise instead of the phantom world"
    )
    parser.add_argument("--audits", default=AUDITS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("large_run"))
    options = parser.parse_args()
    began = time.perf_counter()
    make_run(options.out, options.images, options.models, options.classes, options.audits)
    print(f"run: {time.perf_counter() - began:.0f} s")
    path = options.out / "report.html"
    seconds = [write_report(options.out, path, options.cores) for _ in range(options.rounds)]
    size = path.stat().st_size / 2**20
    clock, processor = (statistics.median(some) for some in zip(*seconds))
    print(
        f"report: {clock:.1f} s by the clock, {processor:.1f} s of the processor (medians of {len(seconds)}), {size:.2f} MiB, "
        f"{options.models} models, {options.images:,} images"
    )


if __name__ == "__main__":
    main()
