"""Write the shared pack's CIFAR-10 test images and ImageNet photographs as snellen data: `python examples/shared_data.py`."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from shared_networks import CIFAR10, _pack, shared

OUT = Path("runs/data")


def cifar10_test(path: Path) -> None:
    """The 2,000 test images with their official positions as ids."""
    images, labels, index = _pack("realdata").load_small("cifar10", "test")
    np.savez(path, images=images, labels=labels, ids=[f"test-{i:05d}" for i in index], classes=CIFAR10)


def imagenet_photographs(path: Path) -> None:
    """A manifest of the 84 photographs, labelled by WordNet id."""
    with (shared() / "imagenet_samples" / "labels.csv").open() as source, path.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["path", "label", "name"])
        writer.writerows([row["file"], row["wnid"], row["name"]] for row in csv.DictReader(source))


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    cifar10_test(OUT / "cifar10_test.npz")
    imagenet_photographs(OUT / "imagenet.csv")
    print(f"--data arrays:{OUT}/cifar10_test.npz")
    print(f"--data 'manifest:{OUT}/imagenet.csv?root={shared()}/imagenet_samples'")
