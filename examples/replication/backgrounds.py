"""Xiao et al. 2021, table 5: one network per variant of the training images, each asked about every variant of the test images.

    python examples/replication/backgrounds.py --in9 variants-train variants-test --arch torchvision:resnet50
    python examples/replication/backgrounds.py --boxes train.csv test.csv --masks masks --size 64 --arch preact_resnet18
    python examples/replication/backgrounds.py --recipe fast --epochs 1 --runs 1 --limit 300

`--in9` names two folders that `snellen build in9` made (`--split train` and `val`); `--boxes` builds them first, from tables
of boxes and masks that are there, so that the machine needs no OpenCV. Without either the variants are phantom worlds whose
scene tells the class always, or never. All networks are then audited together (`--audits background` by default).
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from protocol import arguments, audit_groups, finish, train_group

from snellen.data import Dataset, limited, load_data
from snellen.data.in9 import build
from snellen.sweep import Sweep, variants
from snellen.sweep.by_variant import in9_variants
from snellen.train import preset

WORLDS = [f"{name}=phantom:train?size=32&n=9000&background_bias={bias}" for name, bias in (("biased", 1), ("plain", 0))]
SEEN = [f"{name}=phantom:test?size=32&n=900&background_bias={b}" for name, b in (("mixed_same", 1), ("mixed_rand", 0))]


def chosen_data(chosen: argparse.Namespace) -> tuple[dict[str, Dataset], dict[str, Dataset]]:
    """What to learn from and what to ask about, by name; sets are built where tables of boxes are given."""
    if chosen.boxes:
        chosen.in9 = [built(chosen, table, split) for table, split in zip(chosen.boxes, ("train", "val"), strict=True)]
    learnt, shown = in9_variants(*chosen.in9) if chosen.in9 else (chosen.data or WORLDS, chosen.test or SEEN)
    return _named(learnt, chosen.limit), _named(shown, chosen.limit)


def built(chosen: argparse.Namespace, table: Path, split: str) -> Path:
    """The folder of a set of `--size` pixels, which photos of that size fill to their edges."""
    out = chosen.out / f"set-{split}"
    how: dict[str, Any] = {"classes": chosen.classes, "masks": str(chosen.masks), "size": chosen.size}
    made = build(f"boxes:{table}", out, scale=chosen.size, split=split, balance=chosen.balance, quiet=False, **how)
    print(f"{out}: {made.images:,} of {made.judged:,} images in {len(made.classes)} classes")
    return out


def table_five(found: Sweep) -> str:
    """The grid as Markdown: accuracies and gaps in percent, training sets as rows."""
    wide = found.wide() * 100
    lines = ["| trained on | " + " | ".join(wide.columns) + " |", "|---" * (1 + len(wide.columns)) + "|"]
    lines += [
        f"| {name} | " + " | ".join(f"{value:.1f}" for value in row) + " |"
        for name, row in zip(wide.index, wide.to_numpy())
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = arguments(__doc__, arch="smallnet", recipe="xiao2021", name="xiao2021", runs=1)
    parser.add_argument("--in9", nargs=2, type=Path, metavar=("TRAIN", "TEST"), help="two built folders")
    parser.add_argument("--boxes", nargs=2, type=Path, metavar=("TRAIN", "TEST"), help="two tables to build them from")
    parser.add_argument("--masks", type=Path, help="with --boxes: the folder of masks")
    parser.add_argument("--size", type=int, default=64, help="with --boxes: pixels of the images")
    parser.add_argument("--classes", default="nine", help="with --boxes: nine, all or a CSV file")
    parser.add_argument("--balance", action=argparse.BooleanOptionalAction, default=True, help="with --boxes")
    parser.add_argument("--data", nargs="+", metavar="NAME=DATA", help="other data to train on")
    parser.add_argument("--test", nargs="+", metavar="NAME=DATA", help="other data to ask about; the first is audited")
    parser.set_defaults(audits="background")
    chosen = parser.parse_args()
    if chosen.boxes and chosen.masks is None:
        parser.error("--boxes needs --masks")
    learnt, shown = chosen_data(chosen)
    clean = next(iter(shown.values()))
    recipe = preset(chosen.recipe, arch=chosen.arch, epochs=chosen.epochs, updates=chosen.updates)
    groups = {}
    for name, data in learnt.items():  # where the sweep looks for them: it cannot compile
        groups[name] = train_group(recipe, data, chosen.out / "models" / name, chosen, test=clean)
    found = variants(recipe, learnt, shown, chosen.out, chosen.runs, device=chosen.device, html=False)
    run = audit_groups(groups, clean, None, chosen, folder="audit")
    finish(run, groups, chosen)
    brought = chosen.bring or chosen.out / "brought"
    shutil.copy(found.folder / "sweep.csv", brought / "sweep.csv")
    (brought / "table-5.md").write_text(table_five(found))
    print(table_five(found))


def _named(texts: list[str], limit: int | None) -> dict[str, Dataset]:
    pairs = (text.split("=", 1) for text in texts)
    return {name: limited(load_data(data), limit) for name, data in pairs}


if __name__ == "__main__":
    main()
