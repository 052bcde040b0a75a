"""Train runs of one recipe that differ only in seed, and keep each as a checkpoint with a card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data import load_data
from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.checkpoint import read_card, save_checkpoint
from snellen.train.device_dataset import Memory, channel_statistics, has_label_maps, remember
from snellen.train.groupdro import Groupdro, groups_of, worst_group
from snellen.train.holdout import hold_out
from snellen.train.init_from import Start
from snellen.train.log import open_log
from snellen.train.loop import Callbacks, Job, Progress, accuracy, fit
from snellen.train.mixing import fitted
from snellen.train.normalise import Normalise
from snellen.train.processes import Team, assemble
from snellen.train.recipe import Recipe
from snellen.train.resume import difference
from snellen.train.robust import parse_robust
from snellen.train.state import Saver
from snellen.version import __version__

if TYPE_CHECKING:
    from torch import nn


def train(
    recipe: Recipe,
    data: Dataset | str,
    out: Path | str,
    runs: int = 1,
    test: Dataset | str | None = None,
    device: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    *,
    partner: Dataset | str | None = None,
    init: Path | str | None = None,
    holdout: float = 0.0,
    every: int = 1,
    compile: bool = False,
    log: str | None = None,
    notice: Callable[[str], None] | None = None,
) -> list[Path]:
    """The checkpoints of `runs` runs that differ only in seed: `<out>/<arch>-<mix>-<seed>.safetensors`.

    A run already there (same recipe, same data) is kept; a file of that name made otherwise is an error, not
    overwritten. A run that was stopped goes on from `<out>/state/`. The accuracy on `test` (or on the share `holdout`
    of the data, which is then not learnt from) is measured after every `every` epochs, and the best network yet is in
    `<out>/best/`. `partner` holds the second images of the reformulated objective; `init` is a checkpoint to begin with.
    The same recipe, data, device and number of CPU threads give the same weights to the bit.
    """
    data = load_data(data) if isinstance(data, str) else data
    test = load_data(test) if isinstance(test, str) else test
    partner = load_data(partner) if isinstance(partner, str) else partner
    out = Path(out)
    _check(recipe, data, test, partner, runs, every)
    learnt, kept_back = hold_out(data, holdout) if holdout else (data, None)
    start = Start.of(Path(init)) if init is not None else None
    way = parse_robust(recipe.robust)
    groups = groups_of(learnt, way) if isinstance(way, Groupdro) else None
    identity = {
        "data": data.text,
        "fingerprint": data.fingerprint,
        "holdout": holdout,
        "partner": partner.fingerprint if partner is not None else None,
        "init": start.fingerprint if start is not None else None,
        "groups": groups.fingerprint if groups is not None else None,
    }
    wanted = {out / f"{run.name}.safetensors": run for run in _seeds(recipe, runs)}
    missing = {path: run for path, run in wanted.items() if not _done(path, {**identity, "recipe": asdict(run)})}
    for path in wanted.keys() - missing.keys():
        Saver(out / "state" / f"{path.stem}.pt", {}).remove()  # left by a kill just after the checkpoint
    if not missing:  # known without torch
        return list(wanted)
    team = assemble(device)
    if recipe.batch_size % team.size:
        raise UserError(f"a batch of {recipe.batch_size} cannot be shared by {team.size} processes evenly")
    tell = _once(notice if team.leads else None)

    shown = remember(learnt, team.device, ignore=recipe.ignore)
    if groups is not None:
        shown = replace(shown, groups=torch.from_numpy(groups.members).to(team.device))
    judged = remember(kept_back, team.device, shown.size, recipe.ignore) if kept_back is not None else None
    asked = remember(test, team.device, shown.size, recipe.ignore) if test is not None else None
    normalise = Normalise(*((start and start.statistics) or channel_statistics(shown.images)))
    second, theirs = _second(partner, shown, recipe, team, tell) if partner is not None else (None, None)
    out.mkdir(parents=True, exist_ok=True)
    for path, run in missing.items():
        facts = {**identity, "recipe": asdict(run)}
        seen = judged if judged is not None else asked
        job = Job(run, shown, data.classes, normalise, seen, second, start, every, compile, theirs, groups)
        card = {
            "arch": run.arch,
            "classes": list(data.classes),
            "size": list(shown.size),
            "mean": normalise.mean,
            "std": normalise.std,
            "seed": run.seed,
            "test": test.text if test is not None else None,
            "device": team.device.type,
            "torch": torch.__version__,
            "snellen": __version__,
            **facts,
        }
        _run(job, team, path, card, Saver(out / "state" / f"{run.name}.pt", facts), asked, progress, tell, log)
    return list(wanted)


def _run(
    job: Job,
    team: Team,
    path: Path,
    card: dict[str, Any],
    saver: Saver,
    asked: Memory | None,
    progress: Callable[[Progress], None] | None,
    tell: Callable[[str], None],
    log: str | None,
) -> None:
    """Train one run and write its checkpoint."""
    heard = open_log(log, path.parent, job.recipe.name, asdict(job.recipe)) if log and team.leads else None

    def best(network: nn.Module, row: dict[str, Any]) -> None:
        place = path.parent / "best" / path.name
        place.parent.mkdir(exist_ok=True)
        save_checkpoint(place, network, {**card, "accuracy": row["accuracy"], "epoch": row["epoch"]})

    def epoch(done: Progress, row: dict[str, Any]) -> None:
        if heard is not None:
            heard.epoch(row)
        if progress is not None:
            progress(done)

    try:
        network, history = fit(job, team, Callbacks(epoch, best, tell), saver)
    finally:
        if heard is not None:
            heard.close()
    if not team.leads:
        return
    weighed = history[-1].pop("groups", None)
    reached = [row for row in history if row["accuracy"] is not None]
    last = history[-1]["accuracy"]
    if job.judged is not asked and asked is not None:
        last = accuracy(network, asked, job.normalise)  # judged by what was held out, stated on the test images
    top = max(reached, key=lambda row: row["accuracy"], default=None)
    made = {
        "accuracy": last,
        "best": {"accuracy": top["accuracy"], "epoch": top["epoch"]} if top else None,
        "held_out_accuracy": history[-1]["accuracy"] if card["holdout"] else None,
        "seconds": round(sum(row["seconds"] for row in history), 2),
        "processes": team.size,
        "history": history,
    }
    if weighed is not None:
        made |= {"weighed": weighed, "worst_group": worst_group(weighed)}
    save_checkpoint(path, network, {**card, **made})
    saver.remove()


def _second(
    partner: Dataset, shown: Memory, recipe: Recipe, team: Team, tell: Callable[[str], None]
) -> tuple[Memory, Normalise]:
    """The partner's images in the size of those learnt from, and their own statistics; their labels do not count."""
    held = remember(partner, team.device, labelled=False)
    statistics = Normalise(*channel_statistics(held.images))
    if held.size == shown.size:
        return held, statistics
    (height, width), (tall, wide) = held.size, shown.size
    resize = recipe.resize_partner or height > tall or width > wide
    tell(f"{partner.text} is {'resized' if resize else 'padded'} from {height}x{width} to {tall}x{wide} pixels")
    return Memory(fitted(held.images, shown.size, resize), held.labels), statistics


def _check(recipe: Recipe, data: Dataset, test: Dataset | None, partner: Dataset | None, runs: int, every: int) -> None:
    for name, count in (("run", runs), ("epoch between measurements", every)):
        if count < 1:
            raise UserError(f"expected at least 1 {name}, got {count}")
    for held in (data, test, partner):
        if held is not None and not len(held):
            raise UserError(f"{held.text} holds no images")
    if partner is not None and recipe.objective != "reformulated":
        raise UserError("a partner's labels do not count; add --objective reformulated")
    if has_label_maps(data) and isinstance(parse_robust(recipe.robust), Groupdro):
        raise UserError(f"groupdro weighs groups of images, but {data.text} is learnt pixel by pixel")
    if not has_label_maps(data):
        present = np.unique(data.samples.labels[data.samples.labels >= 0])
        if len(present) < 2:
            known = f"only the class '{data.classes[present[0]]}'" if len(present) else "no known class"
            raise UserError(f"{data.text} shows {known}; training needs at least two")
    if test is not None and test.classes != data.classes:
        raise UserError(f"{test.text} has other classes than {data.text}: {_few(test.classes)} ≠ {_few(data.classes)}")


def _done(path: Path, wanted: dict[str, Any]) -> bool:
    """Whether a run's checkpoint is there; one of another recipe or other data in its place is an error."""
    if not path.exists():
        return False
    told = difference(read_card(path), wanted)
    if told:
        raise UserError(f"'{path}' was trained otherwise ({told}); choose another folder or delete the file")
    return True


def _seeds(recipe: Recipe, runs: int) -> list[Recipe]:
    return [replace(recipe, seed=recipe.seed + run) for run in range(runs)]


def _once(notice: Callable[[str], None] | None) -> Callable[[str], None]:
    """Pass each text on once, though every run has it to say."""
    said: set[str] = set()

    def tell(text: str) -> None:
        if notice is not None and text not in said:
            said.add(text)
            notice(text)

    return tell


def _few(classes: tuple[str, ...]) -> str:
    return ", ".join(classes[:4]) + (f", … ({len(classes)})" if len(classes) > 4 else "")
