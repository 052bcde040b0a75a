"""Kassaw et al. 2024: several architectures that learnt from unoccluded objects, asked to recognise occluded ones.

    python examples/replication/recognition.py --device cuda                    # four architectures, 35 epochs, 3 runs
    python examples/replication/recognition.py --data folder:iruo/train --test folder:iruo/none --worlds folder:iruo/high
    python examples/replication/recognition.py --arch smallnet bagnet9 --epochs 1 --runs 1 --limit 300

As in the paper there are three kinds of occlusion. Real: the test images of --worlds, in which other objects stand in
front; by default phantom worlds where that is ever more frequent. Synthetic: squares, and the cut-outs of --occluders if
given. Diffuse: the same shares covered by many small tiles. The table has a row for each and a column for each
architecture.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pandas as pd
from protocol import arguments, audit_groups, bring_back, curves_table, finish, train_group

from snellen.data import Dataset, limited, load_data
from snellen.exam.run import Run
from snellen.train import preset

ARCHITECTURES = ["resnet20", "preact_resnet18", "bagnet17", "vit_small_p4"]
WORLD = "phantom:test?size=32&n=900&occlusion="
SHARES = (0.1, 0.3, 0.5, 0.7)
TILES = ", ".join(f"tiles(8, {share}, black)" for share in SHARES)
AUDITS = f"occlusion(areas={list(SHARES)}, fills=[black, noise]), interference(distortions=[{TILES}])"


def main() -> None:
    parser = arguments(__doc__, arch=ARCHITECTURES, recipe="fast", name="kassaw2024", runs=3)
    parser.add_argument("--data", default="phantom:train?size=32&n=9000&occlusion=0", help="unoccluded training images")
    parser.add_argument("--test", default=f"{WORLD}0", help="unoccluded test images of the same classes")
    parser.add_argument("--worlds", nargs="*", default=[f"{WORLD}{often}" for often in (0.25, 0.5, 0.75, 1)],
                        help="test images with real occlusion, from little to much")  # fmt: skip
    parser.add_argument("--occluders", type=Path, help="a folder of cut-outs, PNGs with transparency")
    chosen = parser.parse_args()
    chosen.audits = chosen.audits or AUDITS
    learnt, test = (limited(load_data(text), chosen.limit) for text in (chosen.data, chosen.test))
    groups = {}
    for arch in chosen.arch:
        recipe = preset(chosen.recipe, arch=arch, epochs=chosen.epochs, updates=chosen.updates)
        groups[arch] = train_group(recipe, learnt, chosen.out / "models" / arch, chosen, test=test)
    run = audit_groups(groups, test, None, chosen, occluders=chosen.occluders)
    finish(run, groups, chosen)
    tables = [accuracies(run, ""), *real(groups, chosen)]
    table = pd.concat(tables)[list(groups)].round(4)
    print(table.to_string())
    table.to_csv((chosen.bring or chosen.out / "brought") / "recognition.csv", index_label="occlusion")


def real(groups: Mapping[str, Sequence[Path]], chosen: argparse.Namespace) -> list[pd.DataFrame]:
    """A table for each of the worlds, whose answers are brought back too."""
    told = []
    for number, text in enumerate(chosen.worlds):
        world: Dataset = limited(load_data(text), chosen.limit)
        run = audit_groups(groups, world, None, chosen, folder=f"world-{number}", audits=[])  # clean accuracy alone
        bring_back(run, curves_table(groups), (chosen.bring or chosen.out / "brought") / f"world-{number}")
        told.append(accuracies(run, f"{text}: "))
    return told


def accuracies(run: Run, prefix: str) -> pd.DataFrame:
    """Mean accuracy over samples and runs: distortions down, the names with `prefix` in front, models across."""
    cells, answers = (
        pd.concat([pd.read_parquet(file, columns=columns) for file in run.store.files(table)])
        for table, columns in (("cells", ["cell", "model", "distortion"]), ("answers", ["cell", "score"]))
    )
    scored = answers.merge(cells, on="cell")
    table = scored.pivot_table(index="distortion", columns="model", values="score", sort=False)
    return table.rename(index=lambda text: prefix + text)


if __name__ == "__main__":
    main()
