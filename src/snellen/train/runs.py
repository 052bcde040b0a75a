"""Train runs of one recipe that differ only in seed, and keep each as a checkpoint with a card."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.atomic import check_place, make_folder
from snellen.data import given_data
from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.lazy_torch import torch
from snellen.lock import own_folder
from snellen.models.checkpoint import read_card, save_checkpoint
from snellen.models.zoo import UNIT_INPUTS
from snellen.request import signature_of
from snellen.train.device_dataset import ImagesInMemory, channel_statistics, remember
from snellen.train.groupdro import worst_group
from snellen.train.log import open_log
from snellen.train.loop import Callbacks, Job, Progress, accuracy, fit
from snellen.train.mixing import fitted
from snellen.train.normalise import Normalise
from snellen.train.processes import Team, assemble
from snellen.train.recipe import Recipe
from snellen.train.request import TrainRequest, resolve_training
from snellen.train.robust import parse_robust
from snellen.train.shift.tuple_set import ENDING, WorstTuple, write_tuples
from snellen.train.shift.ways import Rda
from snellen.train.sources import Sources
from snellen.train.state import Saver, difference
from snellen.version import __version__

if TYPE_CHECKING:
    from torch import nn

_BY_PLACE = ("recipe", "data", "out", "runs", "test", "device", "progress")


@dataclass(frozen=True)
class Listener:
    """Called during a training: `progress` after every epoch, `notice` what a user should know, once each."""

    progress: Callable[[Progress], None] | None = None
    notice: Callable[[str], None] | None = None


def train(
    recipe: Recipe | str | None, data: Dataset | str, out: Path | str, *values: Any, **settings: Any
) -> list[Path]:
    """The checkpoints of `runs` runs that differ only in seed: `<out>/<arch>-<mix>-<seed>.safetensors`.

    A run already there (same recipe, same data) is kept; a file of that name made otherwise is an error, not
    overwritten. A run that was stopped goes on from `<out>/state/`. The accuracy on `test` (or on the share `holdout`
    of the data, which is then not trained on) is measured after every `every` epochs, and the best network yet is in
    `<out>/best/`. `partner` holds the second images of the reformulated objective; `init` is a checkpoint to begin with.
    The same recipe, data, device and number of CPU threads give the same weights to the bit.

    `recipe` is a Recipe, a preset's name or a YAML file. Further settings are those of `TrainRequest` and, to change the
    recipe, those of `Recipe`; by place come runs, test, device and progress. `progress` and `notice` are called with the
    epochs that end and with what a user should know; `config` is a settings file.

    >>> from snellen.train import preset, train
    >>> paths = train(preset(None, arch="smallnet", epochs=1), "phantom:train?size=32&n=24", "nets", quiet=True)
    >>> [path.name for path in paths]
    ['smallnet-none-0.safetensors']
    """
    named = {**dict(zip(_BY_PLACE[3:], values)), **settings, "recipe": recipe, "data": data, "out": out}
    listener = Listener(named.pop("progress", None), named.pop("notice", None))
    config = named.pop("config", None)
    named = given_data(named, "data", "test", "partner")
    return train_runs(resolve_training(TrainRequest, named, config and expand_home(config)), listener)


def _signature() -> inspect.Signature:
    own = dict(signature_of(TrainRequest, _BY_PLACE[:6]).parameters)
    call = inspect.Parameter("progress", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    words = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in ("notice", "config")]
    by_place = [own.pop(name).replace(default=inspect.Parameter.empty) for name in _BY_PLACE[:3]]
    by_place += [own.pop(name) for name in _BY_PLACE[3:6]]
    return inspect.Signature([*by_place, call, *own.values(), *words])


train.__signature__ = _signature()  # type: ignore[attr-defined]


def train_runs(request: TrainRequest, listener: Listener | None = None) -> list[Path]:
    """Carry a request out: search its grid first where it has one, then train the runs that are not there yet."""
    listener = listener or Listener()
    sources = Sources.of(request)
    if request.dry_run:
        return list(_checkpoints(request.how, request))
    if request.grid is None:
        return _train_missing(request, sources, listener)
    from snellen.train.grid import best_of_grid

    recipe = best_of_grid(request, sources.data, listener)
    request = replace(request, recipe=recipe, grid=None, holdout=0.0)
    return _train_missing(request, Sources.of(request, sources.data), listener)


def _train_missing(request: TrainRequest, sources: Sources, listener: Listener) -> list[Path]:
    check_place(request.folder)
    wanted = _checkpoints(request.how, request)
    missing = _missing(wanted, sources)
    for path in wanted.keys() - missing.keys():
        Saver(request.folder / "state" / f"{path.stem}.pt", {}).remove()  # left by a kill just after the checkpoint
    if missing:  # else known without torch
        team = assemble(request.device)
        with own_folder(request.folder, leave=False) if team.leads else nullcontext():
            missing = _missing(wanted, sources)  # another process may have trained some since
            _train_all(missing, request, sources, team, listener)
    return list(wanted)


def _missing(wanted: Mapping[Path, Recipe], sources: Sources) -> dict[Path, Recipe]:
    """The runs whose checkpoints are not there."""
    return {
        path: run for path, run in wanted.items() if not _is_done(path, {**sources.identity, "recipe": asdict(run)})
    }


def _train_all(
    missing: Mapping[Path, Recipe], request: TrainRequest, sources: Sources, team: Team, listener: Listener
) -> None:
    """Train some runs, one after the other."""
    if not missing:
        return
    recipe, out = request.how, request.folder
    if recipe.batch_size % team.size:
        raise UserError(f"a batch of {recipe.batch_size} cannot be shared by {team.size} processes evenly")
    listener = Listener(listener.progress, _once(listener.notice if team.leads else None))
    template, test = _job(request, sources, team, listener)
    make_folder(out)
    for path, run in missing.items():
        _run(replace(template, recipe=run), team, _Place(path, request, sources, test), listener)


def _job(request: TrainRequest, sources: Sources, team: Team, listener: Listener) -> tuple[Job, ImagesInMemory | None]:
    """What every run learns from, and the test images, on the device."""
    recipe, groups = request.how, sources.groups
    shown = remember(sources.training, team.device, ignore=recipe.ignore)
    if groups is not None:
        shown = replace(shown, groups=torch.from_numpy(groups.members).to(team.device))

    def judge(data: Dataset | None) -> ImagesInMemory | None:
        return remember(data, team.device, shown.size, recipe.ignore) if data is not None else None

    held_out, test = judge(sources.held_out), judge(sources.test)
    start = sources.start
    normalise = Normalise(*((start and start.statistics) or _statistics(recipe, shown)))
    tell = listener.notice or (lambda text: None)
    second, theirs = (
        _second(sources.partner, shown, recipe, team, tell) if sources.partner is not None else (None, None)
    )
    job = Job(
        recipe=recipe, shown=shown, classes=sources.data.classes, normalise=normalise,
        judged=held_out if held_out is not None else test, partner=second, start=start, every=request.every,
        compile=request.compile, partner_normalise=theirs, groups=groups, tuples=sources.tuples,
    )  # fmt: skip
    return job, test


@dataclass(frozen=True)
class _Place:
    """Where a run's checkpoint goes, and what its card says beside its history."""

    path: Path
    request: TrainRequest
    sources: Sources
    test: ImagesInMemory | None

    def facts(self, job: Job) -> dict[str, Any]:
        """What decides the run, for its saved state and its card."""
        return {**self.sources.identity, "recipe": asdict(job.recipe)}

    def card(self, job: Job, team: Team) -> dict[str, Any]:
        return {
            "arch": job.recipe.arch,
            "classes": list(job.classes),
            "size": list(job.shown.size),
            "mean": job.normalise.mean,
            "std": job.normalise.std,
            "seed": job.recipe.seed,
            "test": self.sources.test.text if self.sources.test is not None else None,
            "device": team.device.type,
            "torch": torch.__version__,
            "snellen": __version__,
            **({"protocol": self.request.protocol, "scale": self.request.scale} if self.request.protocol else {}),
            **self.facts(job),
        }


def _run(job: Job, team: Team, place: _Place, listener: Listener) -> None:
    """Train one run and write its checkpoint."""
    path, name, card = place.path, job.recipe.name, place.card(job, team)
    saver = Saver(path.parent / "state" / f"{name}.pt", place.facts(job))
    tool = place.request.log if team.leads else None
    log = open_log(tool, path.parent, name, asdict(job.recipe)) if tool else None

    def best(network: nn.Module, row: dict[str, Any]) -> None:
        file = path.parent / "best" / path.name
        save_checkpoint(
            file, network, {**card, **_built_from(network), "accuracy": row["accuracy"], "epoch": row["epoch"]}
        )

    def epoch(done: Progress, row: dict[str, Any]) -> None:
        if log is not None:
            log.epoch(row)
        if listener.progress is not None:
            listener.progress(done)

    def tuples(rows: Sequence[WorstTuple]) -> None:
        way = parse_robust(job.recipe.robust)
        write_tuples(path.with_name(path.stem + ENDING), way.set if isinstance(way, Rda) else "", rows)

    tell = listener.notice or (lambda text: None)
    try:
        network, history = fit(job, team, Callbacks(epoch, best, tell, tuples), saver)
    finally:
        if log is not None:
            log.close()
    if team.leads:
        save_checkpoint(
            path, network, {**card, **_built_from(network), **_results(job, network, history, place.test, team)}
        )
        saver.remove()


def _built_from(network: nn.Module) -> dict[str, Any]:
    """The text that a checkpoint's network is built from, where training has completed that of the recipe."""
    return {"arch": network.text} if isinstance(getattr(network, "text", None), str) else {}


def _results(
    job: Job, network: nn.Module, history: list[dict[str, Any]], test: ImagesInMemory | None, team: Team
) -> dict[str, Any]:
    """What a run reached, for its card."""
    weighed, hardening = history[-1].pop("groups", None), history[-1].pop("hardening", {})
    judged = [row for row in history if row["accuracy"] is not None]
    top = max(judged, key=lambda row: row["accuracy"], default=None)
    last = held_out = history[-1]["accuracy"]
    by_held_out = job.judged is not test
    if by_held_out and test is not None:
        last = accuracy(network, test, job.normalise)  # judged by what was held out, stated on the test images
    results = {
        "accuracy": last,
        "best": {"accuracy": top["accuracy"], "epoch": top["epoch"]} if top else None,
        "held_out_accuracy": held_out if by_held_out else None,
        "seconds": round(sum(row["seconds"] for row in history), 2),
        "processes": team.size,
        "history": history,
        **hardening,
    }
    return results if weighed is None else {**results, "weighed": weighed, "worst_group": worst_group(weighed)}


def _statistics(recipe: Recipe, images: ImagesInMemory) -> tuple[list[float], list[float]]:
    """Mean and deviation of each channel, or 0 and 1 for a network that sees pixels in 0…1."""
    return ([0.0] * 3, [1.0] * 3) if recipe.arch in UNIT_INPUTS else channel_statistics(images.images)


def _second(
    partner: Dataset, shown: ImagesInMemory, recipe: Recipe, team: Team, tell: Callable[[str], None]
) -> tuple[ImagesInMemory, Normalise]:
    """The partner's images in the size of those learnt from, and their own statistics; their labels do not count."""
    images = remember(partner, team.device, labelled=False)
    statistics = Normalise(*_statistics(recipe, images))
    if images.size == shown.size:
        return images, statistics
    (height, width), (tall, wide) = images.size, shown.size
    resize = recipe.resize_partner or height > tall or width > wide
    tell(f"{partner.text} is {'resized' if resize else 'padded'} from {height}x{width} to {tall}x{wide} pixels")
    return ImagesInMemory(fitted(images.images, shown.size, resize), images.labels), statistics


def _is_done(path: Path, wanted: dict[str, Any]) -> bool:
    """Whether a run's checkpoint is there; one of another recipe or other data in its place is an error."""
    if not path.exists():
        return False
    mismatch = difference(read_card(path), wanted)
    if mismatch:
        raise UserError(f"'{path}' was trained otherwise ({mismatch}); choose another folder or delete the file")
    return True


def _checkpoints(recipe: Recipe, request: TrainRequest) -> dict[Path, Recipe]:
    """Where each run's checkpoint is, or will be, and its recipe."""
    runs = [replace(recipe, seed=recipe.seed + run) for run in range(request.runs)]
    return {request.folder / f"{run.name}.safetensors": run for run in runs}


def _once(notice: Callable[[str], None] | None) -> Callable[[str], None]:
    """Pass each text on once, though every run repeats it."""
    seen: set[str] = set()

    def tell(text: str) -> None:
        if notice is not None and text not in seen:
            seen.add(text)
            notice(text)

    return tell
