"""`snellen train`: make a request of the options and the settings file, carry it out, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.cli.options import AsJson, Config, takes
from snellen.files import expand_home
from snellen.terminal import show, show_json, tell
from snellen.train.recipe import Recipe
from snellen.train.request import TrainRequest, resolve_training

if TYPE_CHECKING:
    from snellen.train.loop import Progress

_RANK = "RANK"  # which process of several this is, as launchers say it


@takes(TrainRequest, Recipe, arguments=("arch",))
def train(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Train a network, or several runs of it, and leave checkpoints that `snellen audit` takes as one model."""
    from snellen.settings_file import write_settings
    from snellen.train.runs import Listener, train_runs

    request = resolve_training(TrainRequest, settings, config)
    leads = os.environ.get(_RANK, "0") == "0"
    quiet = request.quiet or not leads
    if request.dry_run:
        print_plan(request)
        return
    paths = train_runs(request, Listener(None if quiet else show_epoch, None if quiet else note))
    if leads:
        write_settings(request.folder / "settings.yaml", request, request.how)
        print_runs(paths, as_json=json, quiet=quiet)


def print_runs(paths: Sequence[Path], *, as_json: bool, quiet: bool) -> None:
    """What each run reached, and how to audit them."""
    from snellen.cli.printing import print_table
    from snellen.models.checkpoint import read_card
    from snellen.train.shift.tuple_set import table_of

    cards = {str(path): read_card(path) for path in paths}
    if as_json:
        show_json(cards)
    elif not quiet:
        rows = [
            (Path(path).stem, _share(card["accuracy"]), _share((card["best"] or {}).get("accuracy")), _clock(card["seconds"]))
            for path, card in cards.items()
        ]  # fmt: skip
        print_table([("run", "accuracy", "best", "time"), *rows])
        for path, card in cards.items():
            if card.get("transformations"):
                show()
                show(f"worst edits of {Path(path).stem}, as searches appended them:")
                print_table(table_of(card["transformations"], path))
        show()
        show(f"snellen audit {paths[0].stem.rpartition('-')[0]}='{paths[0].parent}/*.safetensors' --data …")


def print_plan(request: TrainRequest) -> None:
    """The whole recipe, the data and where the checkpoints would go."""
    from snellen.train.grid import read_grid
    from snellen.train.sources import Sources

    data = Sources.of(request).data
    grid: Mapping[str, Sequence[Any]] = {} if request.grid is None else read_grid(expand_home(str(request.grid)))
    show(f"data: {data.text} ({len(data):,} images, {len(data.classes)} classes)")
    show(f"out: {request.folder}")
    show(f"runs: {request.runs}")
    for name, value in asdict(request.how).items():
        show(f"{name}: {' | '.join(map(str, grid[name])) if name in grid else value}")


def show_epoch(done: Progress) -> None:
    """One line that rewrites itself, on a terminal only."""
    if not sys.stderr.isatty():
        return
    reached = f", accuracy {done.accuracy:.4f}" if done.accuracy is not None else ""
    left = f", {_clock(done.left)} left" if done.epoch < done.epochs else ""
    end = "\n" if done.epoch == done.epochs else "\r"
    line = f"  {done.run}: epoch {done.epoch} of {done.epochs}, loss {done.loss:.3f}{reached}{left}"
    tell(line.ljust(100), end)


def note(text: str) -> None:
    """A line that a user should read."""
    tell(f"note: {text}")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"
