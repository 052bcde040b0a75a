"""Marcu & Prügel-Bennett 2022: networks trained with and without mixing, and what occlusion and shuffling do to them.

    python examples/download.py cifar10 cifar100 --out datasets
    python examples/replication/data_modification.py --device cuda --compile        # as published: 200 epochs, 5 runs
    python examples/replication/data_modification.py --device cuda --compile --jobs 3 --runs 3 --more-runs basic=5 mixup=5 \
        fmix=5 --tidy brought/marcu2022.csv
    python examples/replication/data_modification.py --recipe fast --runs 3 --device cuda --compile
    python examples/replication/data_modification.py --part left_out --recipe fast --runs 3 --device cuda
    python examples/replication/data_modification.py --arch smallnet --recipe fast --epochs 1 --runs 2 --limit 500

PreAct-ResNet18 on CIFAR-10 (or Fashion-MNIST), one group of runs for each mix. Occluders that are not uniform are cut
from CIFAR-100 (or MNIST). `--part` says what is compared: the mixes (tables 1, 3, 5, 6, 9 to 12, 14, 16), networks that
never saw the dominant class (table 7), random labels (15), partners from another dataset (8), or architectures (B.8).
`--jobs` trains so many runs side by side. What is trained or asked already is kept: a command that was stopped goes on.
`--tidy` writes the findings as one small CSV: tidy_findings.py puts several together, data_modification_page.py makes the page.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from protocol import arguments, audit_groups, each, finish, train_group
from small_images import NAMES, small_images
from tidy_findings import tidy_rows, write_tidy

import snellen
from snellen.data import Dataset, limited, load_data, random_labels, without_classes
from snellen.exam.run import Run
from snellen.lazy_torch import torch
from snellen.models.checkpoint import read_card
from snellen.train import preset
from snellen.train.hardening import precision_on

MIXES = ("none", "mixup", "fmix", "cutmix", "random_masks")
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


def main(words: Sequence[str] | None = None) -> None:
    chosen = parse_arguments(words)
    jobs = [
        (group.name, run, chosen)
        for group in PARTS[chosen.part](chosen)
        for run in range(runs_of(chosen).get(group.name, chosen.runs))
    ]
    groups: dict[str, list[Path]] = {}
    for (name, *_), path in zip(jobs, each(_train, jobs, chosen.jobs)):
        groups.setdefault(name, []).append(path)
    chosen.audits = chosen.audits or _audits(chosen)
    images = materials(chosen)
    seen = seen_images(chosen, images) if "occlusion(" in chosen.audits else None
    run = audit_groups(groups, images.test, seen, chosen, donors=images.donors)
    finish(run, groups, chosen)
    if chosen.tidy:
        facts = {name: facts_of(paths, run, chosen) for name, paths in groups.items()}
        findings = [*run.results()["findings"], *map(mix_diversity, groups, groups.values())]
        print(write_tidy(tidy_rows(findings, chosen.part, chosen.data, facts), chosen.tidy))


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = arguments(__doc__, arch="preact_resnet18_fmix", recipe="marcu2022", name="marcu2022")
    parser.add_argument("--part", default="mixes", choices=list(PARTS))
    parser.add_argument("--data", default="cifar10", choices=["cifar10", "fashion_mnist"])
    parser.add_argument("--mixes", nargs="+", default=MIXES, help="as `snellen train --mix`")
    parser.add_argument(
        "--more-runs", nargs="*", default=[], metavar="GROUP=N", help="groups with another number of runs"
    )
    parser.add_argument("--archs", nargs="+", default=ARCHITECTURES, help="for --part architectures")
    parser.add_argument("--partners", nargs="+", default=["cifar100"], choices=NAMES, help="for --part partners")
    parser.add_argument("--seen", type=int, default=10_000, help="training images that iOcclusion asks about")
    parser.add_argument(
        "--seen-data", metavar="DATA", help="ask about these training images instead: an .npz, or any data text"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs to train side by side")
    parser.add_argument("--tidy", type=Path, metavar="CSV", help="write the findings as one small table")
    parser.add_argument("--note", action="append", default=[], help="what else differs from the paper, for the table")
    return parser.parse_args(words)


def runs_of(chosen: argparse.Namespace) -> dict[str, int]:
    return {name: int(runs) for name, _, runs in (one.partition("=") for one in chosen.more_runs)}


@dataclass(frozen=True)
class Materials:
    """The images of a part: to train on, to test on, and to cut occluders from."""

    learnt: Dataset
    test: Dataset
    donors: Dataset


def materials(chosen: argparse.Namespace) -> Materials:
    return _materials(chosen.part, chosen.data, chosen.root, chosen.limit)


@functools.cache
def _materials(part: str, name: str, root: Path, limit: int | None) -> Materials:
    learnt, test = (small_images(name, split, root, limit) for split in ("train", "test"))
    if part == "left_out":
        learnt, test = (without_classes(one, [LEFT_OUT[name]]) for one in (learnt, test))
    elif part == "random_labels":
        learnt = random_labels(learnt, 1.0)
    return Materials(learnt, test, small_images(DONORS[name], "test", root))


def seen_images(chosen: argparse.Namespace, images: Materials) -> Dataset:
    """The training images that iOcclusion asks about: of the training set, unless --seen-data names better ones of it."""
    if chosen.seen_data is None:
        return limited(images.learnt, chosen.seen)
    text = chosen.seen_data
    seen = load_data(f"arrays:{text}" if text.endswith(".npz") and ":" not in text else text)
    if seen.classes != images.learnt.classes:
        raise SystemExit(f"--seen-data {text} has the classes {seen.classes}, expected {images.learnt.classes}")
    return limited(seen, chosen.seen)


def _train(job: tuple[str, int, argparse.Namespace]) -> Path:
    """One run, in a folder of its own: runs side by side would wait for each other in a shared one."""
    name, run, chosen = job
    group = next(one for one in PARTS[chosen.part](chosen) if one.name == name)
    recipe = preset(
        chosen.recipe, arch=group.arch or chosen.arch, mix=group.mix, epochs=chosen.epochs, updates=chosen.updates,
        objective=group.objective, seed=run,
    )  # fmt: skip
    images = materials(chosen)
    folder = chosen.out / "models" / f"{name}-{run}"
    (path,) = train_group(recipe, images.learnt, folder, chosen, runs=1, test=images.test, partner=group.partner)
    return path


def facts_of(paths: Sequence[Path], run: Run, chosen: argparse.Namespace) -> dict[str, Any]:
    """How a group was trained and asked, by the cards of its runs and the card of the audit."""
    cards = [read_card(path) for path in paths]
    images, data = materials(chosen), run.facts["data"]
    recipe = {f"recipe.{name}": value for name, value in cards[0]["recipe"].items() if name != "seed"}
    seen = data.get("train", {}).get("samples", 0)
    return {
        **recipe, "runs": len(paths), "training images": len(images.learnt), "test images": len(images.test),
        "seen images": seen, "seen data": Path(chosen.seen_data).name if chosen.seen_data else "the training set",
        "donor images": len(images.donors), "donors": DONORS[chosen.data],
        "training precision": precision_on(torch.device(cards[0]["device"])), "precision": run.facts["settings"]["precision"],
        "device": _device_name(run), "torch": version("torch"), "snellen": snellen.__version__,
        "date": run.facts["updated"][:10], "seconds per run": round(fmean(card["seconds"] for card in cards)),
        **{f"note {number}": text for number, text in enumerate(chosen.note, 1)},
    }  # fmt: skip


def _device_name(run: Run) -> str:
    return str(run.facts["hardware"].get("gpu") or run.facts["settings"]["device"])


def mix_diversity(name: str, paths: Sequence[Path]) -> dict[str, Any]:
    """The mixed loss of the last epoch as a finding: of each run, where the audit has the mean alone."""
    losses = [read_card(path)["history"][-1].get("mix_diversity") for path in paths]
    values = [math.nan if one is None else one for one in losses]
    shown = {"value": fmean(values), "low": None, "high": None, "unit": "index"}
    return {"name": "mix_diversity", "model": name, "distortions": [], "facts": {}, "per_run": values, **shown}


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
ARCHITECTURES = ["preact_resnet18_fmix", "resnet20", "wide_resnet16_4", "vgg16_bn", "bagnet17", "bagnet9"]


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
