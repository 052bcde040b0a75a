"""Won et al. 2023: networks trained plainly and with four kinds of mixing, and how far the explanations of each hold.

    python examples/replication/interpretability.py --data 'boxes:tiny/train.csv?root=tiny-imagenet-200' \
        --test 'boxes:tiny/test.csv?root=tiny-imagenet-200' --arch preact_resnet18 --recipe examples/replication/tiny.yaml \
        --epochs 30 --every 30 --jobs 5 --device cuda --bring brought/won2023
    python examples/replication/interpretability.py --epochs 1 --runs 1 --limit 60 --mixes none cutmix --methods gradcam

Test images need boxes or masks; `examples/boxes.py` makes tables of boxes. Without --data all images are phantoms of 32 pixels.
`--jobs` trains, and audits, with so many processes side by side. What is trained or asked already is kept: the same command goes
on where it was stopped. Tables 1 to 3, the counts of figure 5 and the calibration errors are written to `--bring`, with all
findings as findings.csv and the panels of figure 4 as curves.csv.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from interpretability_tables import write_tables
from protocol import arguments, audit_groups, curves_table, each, train_group

from snellen.audits import CalibrationAudit, ConceptsAudit, ExplanationAudit, FaithfulnessAudit
from snellen.data import limited, load_data
from snellen.train import preset

MIXES = ("none", "cutout", "mixup", "cutmix", "saliencymix")
TRAIN, TEST = "phantom:train?size=32&n=9000", "phantom:test?size=32&n=900"
Groups = Mapping[str, Sequence[Path]]


def main() -> None:
    chosen = parse_arguments()
    jobs = [(mix, run, chosen) for mix in chosen.mixes for run in range(chosen.runs)]
    groups: dict[str, list[Path]] = {}
    for (mix, *_), path in zip(jobs, each(_train, jobs, chosen.jobs)):
        groups.setdefault(name_of(mix), []).append(path)
    parts = each(_audit, [(name, groups, chosen) for name in audits_of(chosen)], chosen.jobs)
    folder = chosen.bring or chosen.out / "brought"
    print(write_tables(parts, folder, curves_table(groups)))


def parse_arguments() -> argparse.Namespace:
    parser = arguments(__doc__, arch="smallnet", recipe="fast", name="won2023", runs=2)
    parser.add_argument("--data", default=TRAIN, help="training images")
    parser.add_argument("--test", default=TEST, help="test images of the same classes, with boxes or masks")
    parser.add_argument("--images", type=int, help="at most so many test images")
    parser.add_argument("--mixes", nargs="+", default=MIXES, help="the first one is the baseline")
    parser.add_argument("--methods", nargs="+", default=["gradcam", "iba"], help="attribution methods")
    parser.add_argument("--filter", action="store_true", help="table 1 also on the images that section 5.1 chooses")
    parser.add_argument("--tile", type=int, default=0, help="side of a tile in pixels; default: a 32nd of the image")
    parser.add_argument("--error", type=float, default=0.2, help="allowed in the areas of tables 2 and 3")
    parser.add_argument("--segmenter", help="a segmentation model that names objects; default: what the data know")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    return parser.parse_args()


def name_of(mix: str) -> str:
    return "baseline" if mix == "none" else mix


def audits_of(chosen: argparse.Namespace) -> dict[str, list[Any]]:
    """The audits by the folder of their run: those of one attribution method share its maps."""
    filters = ("off", "on") if chosen.filter else ("off",)
    sources = ("colours", f"model:{chosen.segmenter}") if chosen.segmenter else ()
    by_method: dict[str, list[Any]] = {
        method: [
            *(ExplanationAudit(method=method, filter=one, examples=0, curves="off") for one in filters),
            FaithfulnessAudit(method=method, tile=chosen.tile, error=chosen.error),
        ]
        for method in chosen.methods
    }
    return {**by_method, "concepts": [ConceptsAudit(sources=sources), CalibrationAudit()]}


def _train(job: tuple[str, int, argparse.Namespace]) -> Path:
    mix, run, chosen = job
    recipe = preset(chosen.recipe, arch=chosen.arch, mix=mix, epochs=chosen.epochs, updates=chosen.updates, seed=run)
    folder = chosen.out / "models" / f"{name_of(mix)}-{run}"
    learnt = limited(load_data(chosen.data), chosen.limit)
    (path,) = train_group(recipe, learnt, folder, chosen, runs=1, test=_test_images(chosen))
    return path


def _audit(job: tuple[str, Groups, argparse.Namespace]) -> Any:
    """All networks on the same images, by the audits of one folder."""
    name, groups, chosen = job
    return audit_groups(groups, _test_images(chosen), None, chosen, name, audits=audits_of(chosen)[name])


def _test_images(chosen: argparse.Namespace) -> Any:
    return limited(load_data(chosen.test), chosen.images or chosen.limit)


if __name__ == "__main__":
    main()
