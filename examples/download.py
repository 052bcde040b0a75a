"""Download small public datasets and write them as `arrays:` files, one per split.

    python examples/download.py cifar10 --out datasets
    snellen train preact_resnet18 --data arrays:datasets/cifar10-train.npz --test arrays:datasets/cifar10-test.npz --recipe fast

Needs the network once: torchvision downloads CIFAR-10, CIFAR-100, Fashion-MNIST and MNIST from their authors' sites.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SETS = {"cifar10": "CIFAR10", "cifar100": "CIFAR100", "fashion_mnist": "FashionMNIST", "mnist": "MNIST"}
CLASSES = {
    "cifar10": ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    "fashion_mnist": (
        "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot",
    ),
    "mnist": tuple(map(str, range(10))),
}  # fmt: skip


def download(name: str, split: str, folder: Path) -> tuple[np.ndarray, np.ndarray, Sequence[str]]:
    """Images uint8 [N, H, W, 3] or [N, H, W], labels [N] and class names of a split, in the official order."""
    from torchvision import datasets

    dataset: Any = getattr(datasets, SETS[name])(str(folder), train=split == "train", download=True)
    return np.asarray(dataset.data), np.asarray(dataset.targets), CLASSES.get(name, dataset.classes)


def write_split(file: Path, split: str, images: np.ndarray, labels: np.ndarray, classes: Sequence[str]) -> Path:
    """One `arrays:` file; ids are positions in the split."""
    file.parent.mkdir(parents=True, exist_ok=True)
    ids = np.array([f"{split}-{row:05d}" for row in range(len(images))])
    np.savez(file, images=images, labels=labels.astype(np.int64), classes=np.array(classes), ids=ids)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=list(SETS), metavar="NAME", help=", ".join(SETS))
    parser.add_argument(
        "--out", type=Path, default=Path("datasets"), help="folder for the .npz files; default datasets"
    )
    chosen = parser.parse_args()
    for name in chosen.names:
        for split in ("train", "test"):
            images, labels, classes = download(name, split, chosen.out / "download")
            file = write_split(chosen.out / f"{name}-{split}.npz", split, images, labels, classes)
            print(f"arrays:{file}: {len(images):,} images in {len(classes)} classes")


if __name__ == "__main__":
    main()
