"""Small images for the scripts: the `arrays:` files that `python examples/download.py NAME --out ROOT` writes."""

from __future__ import annotations

from pathlib import Path

from snellen.data import Dataset, limited, load_data

NAMES = ("cifar10", "cifar100", "fashion_mnist", "mnist")


def small_images(name: str, split: str, root: Path, limit: int | None = None) -> Dataset:
    """A split of a dataset, at most `limit` images of it (chosen by a hash of their ids)."""
    file = root / f"{name}-{split}.npz"
    if not file.exists():
        raise SystemExit(f"no {file}; write it with: python examples/download.py {name} --out {root}")
    return limited(load_data(f"arrays:{file}"), limit)
