"""Marcu & Prügel-Bennett 2022: networks trained with and without mixing, and what occlusion and shuffling do to them.

    python examples/download.py cifar10 cifar100 --out datasets
    python examples/replication/data_modification.py                                # as published: 200 epochs, 5 runs
    python examples/replication/data_modification.py --recipe fast --runs 3 --device cuda --compile
    python examples/replication/data_modification.py --part left_out --recipe fast --runs 3 --device cuda
    python examples/replication/data_modification.py --arch smallnet --recipe fast --epochs 1 --runs 2 --limit 500

PreAct-ResNet18 on CIFAR-10 (or Fashion-MNIST), one group of runs for each mix. Occluders that are not uniform are cut
from CIFAR-100 (or MNIST). `--part` says what is compared: the mixes (tables 1, 3, 5, 6, 9 to 12, 14, 16), networks that
never saw the dominant class (table 7), random labels (15), partners from another dataset (8), or architectures (B.8).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from protocol import arguments, audit_groups, finish, train_group
from small_images import NAMES, small_images

from snellen.data import Dataset, limited, random_labels, without_classes
from snellen.train import preset

DONORS = {"cifar10": "cifar100", "fashion_mnist": "mnist", "mnist": "fashion_mnist"}
LEFT_OUT = {"cifar10": "truck", "fashion_mnist": "bag", "mnist": "1"}  # the class that shuffled images are taken for
LARGE = [f"occlude(uniform(0.7, 1), {fill}, inside=false)" for fill in ("black", "mean", "donor")]
WITHIN = [f"occlude(uniform(0.1, 1), {fill})" for fill in ("black", "mean")]
CLOUDS = [f"fourier(uniform(0.7, 1), {fill})" for fill in ("black", "mean")]
INTERPLAY = "occlusion(fills=[mean, black, donor], maskings=[salient(layer=-2)], validate=true)"


@dataclass(frozen=True)
class Group:
    """Runs that differ only in their seed: how they are trained, and on what."""

    name: str
    mix: str = "none"
    arch: str | None = None
    partner: Dataset | None = None
    objective: str = "classic"


def main() -> None:
    parser = arguments(__doc__, arch="preact_resnet18", recipe="marcu2022", name="marcu2022")
    parser.add_argument("--part", default="mixes", choices=list(PARTS))
    parser.add_argument("--data", default="cifar10", choices=["cifar10", "fashion_mnist"])
    parser.add_argument(
        "--mixes", nargs="+", default=["none", "mixup", "fmix", "cutmix"], help="as `snellen train --mix`"
    )
    parser.add_argument(
        "--more-runs", nargs="*", default=[], metavar="GROUP=N", help="groups with another number of runs"
    )
    parser.add_argument("--archs", nargs="+", default=ARCHITECTURES, help="for --part architectures")
    parser.add_argument("--partners", nargs="+", default=["cifar100"], choices=NAMES, help="for --part partners")
    parser.add_argument("--seen", type=int, default=10_000, help="training images that iOcclusion asks about")
    chosen = parser.parse_args()

    learnt, test = (small_images(chosen.data, split, chosen.root, chosen.limit) for split in ("train", "test"))
    donors = small_images(DONORS[chosen.data], "test", chosen.root)
    if chosen.part == "left_out":
        learnt, test = (without_classes(one, [LEFT_OUT[chosen.data]]) for one in (learnt, test))
    elif chosen.part == "random_labels":
        learnt = random_labels(learnt, 1.0)
    more = {name: int(runs) for name, _, runs in (one.partition("=") for one in chosen.more_runs)}
    groups = {}
    for group in PARTS[chosen.part](chosen):
        recipe = preset(
            chosen.recipe, arch=group.arch or chosen.arch, mix=group.mix, epochs=chosen.epochs, updates=chosen.updates,
            objective=group.objective,
        )  # fmt: skip
        how = {"test": test, "partner": group.partner, "runs": more.get(group.name)}
        groups[group.name] = train_group(recipe, learnt, chosen.out / "models" / group.name, chosen, **how)
    chosen.audits = chosen.audits or _audits(chosen)
    asked = limited(learnt, chosen.seen) if "occlusion(" in chosen.audits else None
    finish(audit_groups(groups, test, asked, chosen, donors=donors), groups, chosen)


def _mixes(chosen: argparse.Namespace) -> list[Group]:
    return [Group("basic" if mix == "none" else mix, mix) for mix in chosen.mixes]


def _partners(chosen: argparse.Namespace) -> list[Group]:
    """Each mix with the reformulated objective: partners of the same data (the baseline), then of others."""
    partners = {
        name: small_images(name, "test" if name == "cifar100" else "train", chosen.root) for name in chosen.partners
    }
    mixed = [mix for mix in chosen.mixes if mix != "none"]
    return [
        Group(
            mix if name is None else f"{mix}-with-{name}",
            mix,
            partner=partners.get(name or ""),
            objective="reformulated",
        )
        for mix in mixed
        for name in (None, *chosen.partners)
    ]


def _architectures(chosen: argparse.Namespace) -> list[Group]:
    return [Group(arch, arch=arch) for arch in chosen.archs]


PARTS = {
    "mixes": _mixes, "left_out": _mixes, "random_labels": _mixes, "partners": _partners, "architectures": _architectures,
}  # fmt: skip
ARCHITECTURES = ["preact_resnet18", "resnet20", "wide_resnet16_4", "vgg16_bn", "bagnet17", "bagnet9"]


def _audits(chosen: argparse.Namespace) -> str:
    """What a part is asked for; the grid is the default one, and in table 10 each other."""
    if chosen.part == "random_labels":
        return INTERPLAY
    grids = ["shuffle(2)", "shuffle(4)", "shuffle(8)"] if chosen.data == "cifar10" else ["shuffle(2)", "shuffle(4)"]
    if chosen.part != "mixes":
        return _interference([*grids[:2], LARGE[0], LARGE[2]])
    asked = [*grids, *LARGE, *WITHIN, *CLOUDS, "occlude(0.3, donor)"]
    return ", ".join([_interference(asked), INTERPLAY, "augmentation([mix(mixup), mix(cutmix), mix(fmix)])"])


def _interference(distortions: list[str]) -> str:
    return f"interference([{', '.join(distortions)}])"


if __name__ == "__main__":
    main()
