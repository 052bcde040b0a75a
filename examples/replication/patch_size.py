"""Kassaw et al. 2024, figure 15 against patch size: do lattices hurt a ViT more once their squares are smaller than its patches?

    python examples/download.py cifar10 --out datasets
    python examples/replication/patch_size.py --device cuda --jobs 3 --every 10 --bring brought/patch_size
    python examples/replication/patch_size.py --epochs 1 --limit 300 --arch vit_small_p4 vit_small_p8
    python examples/replication/patch_size.py --draw brought/patch_size      # the chart again, from findings.csv

The paper supposes that occluders smaller than a patch spoil every patch, and could not vary the patches of its networks. Here
transformers that differ in nothing but their patches (2, 4 and 8 pixels of 32) learn CIFAR-10, and lattices over 25, 50 and 75%
of the image with squares of 1 to 16 pixels are laid over the test images. CIFAR-10 has no masks: a share is one of the image.

`--jobs` trains so many networks side by side. What is trained or asked already is kept: the same command goes on where it was
stopped. `--bring` gets tables.md, findings.csv and the chart (figure15.svg, figure15.json).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from patch_size_tables import draw, read_findings, write_tables
from protocol import arguments, audit_groups, curves_table, each, train_group
from small_images import small_images

from snellen.data import Dataset, limited, load_data
from snellen.train import preset

ARCHITECTURES = ["vit_small_p2", "vit_small_p4", "vit_small_p8"]
RECIPE = str(Path(__file__).with_name("vit.yaml"))
SHARES, SIZES = (0.25, 0.5, 0.75), (1, 2, 4, 8, 16)


def main() -> None:
    chosen = parse_arguments()
    if chosen.draw is not None:
        print(draw(read_findings(chosen.draw), chosen.draw))
        return
    jobs = [(arch, run, chosen) for arch in chosen.arch for run in range(chosen.runs)]
    groups: dict[str, list[Path]] = {}
    for (arch, *_), path in zip(jobs, each(_train, jobs, chosen.jobs)):
        groups.setdefault(arch, []).append(path)
    lattices = ", ".join(f"lattice({share:g}, {px})" for share in chosen.shares for px in chosen.sizes)
    audits = chosen.audits or f"interference([{lattices}])"
    run = audit_groups(groups, images_of("test", chosen), None, chosen, audits=audits)
    print(write_tables(run, chosen.bring or chosen.out / "brought", curves_table(groups)))


def parse_arguments() -> argparse.Namespace:
    parser = arguments(__doc__, arch=ARCHITECTURES, recipe=RECIPE, name="kassaw2024-patch-size", runs=1)
    parser.add_argument("--data", help="other training images, such as phantom:train?size=32&n=9000")
    parser.add_argument("--test", help="test images of the same classes")
    parser.add_argument("--images", type=int, help="at most so many test images")
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="of the image that a lattice covers")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="of its squares, in pixels")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument(
        "--draw", type=Path, metavar="FOLDER", help="draw the chart of a folder's findings.csv, no more"
    )
    return parser.parse_args()


def images_of(split: str, chosen: argparse.Namespace) -> Dataset:
    """The training or the test images."""
    text = chosen.data if split == "train" else chosen.test
    limit = chosen.limit if split == "train" else chosen.images or chosen.limit
    return small_images("cifar10", split, chosen.root, limit) if text is None else limited(load_data(text), limit)


def _train(job: tuple[str, int, Any]) -> Path:
    arch, run, chosen = job
    recipe = preset(chosen.recipe, arch=arch, epochs=chosen.epochs, updates=chosen.updates, seed=run)
    folder = chosen.out / "models" / f"{arch}-{run}"
    (path,) = train_group(recipe, images_of("train", chosen), folder, chosen, runs=1, test=images_of("test", chosen))
    return path


if __name__ == "__main__":
    main()
