"""What the train command does and prints, apart from parsing flags."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from snellen.cli.printing import print_table
from snellen.cli.settings_file import write_config
from snellen.data import load_data
from snellen.data.dataset import Dataset, limited
from snellen.errors import UserError
from snellen.models.checkpoint import read_card
from snellen.train.grid import read_grid, search_grid
from snellen.train.loop import Progress
from snellen.train.presets import preset
from snellen.train.recipe import Recipe
from snellen.train.runs import train

_LEADS = "RANK"  # which process of several this is, as launchers say it


def chosen_recipe(name: str | None, settings: Mapping[str, Any], changes: Sequence[str]) -> Recipe:
    """The recipe of a preset or file, with the flags' settings and `name=value` changes over it."""
    held = dict(settings)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise UserError(f"expected --set name=value, got '{change}'")
        held[key.strip().replace("-", "_")] = value.strip()
    return preset(name, **held)


def run_train(
    recipe: Recipe,
    data: str | None,
    out: Path | None,
    runs: int,
    grid: Path | None,
    how: Mapping[str, Any],
    *,
    limit: int | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Carry a training out (or print what it would do); the exit code."""
    if not data:
        raise UserError("no data given; for example: --data folder:photos (see `snellen list data`)")
    combinations = read_grid(grid) if grid is not None else None
    out = out or Path("models") / recipe.name.rpartition("-")[0]
    loaded = limited(load_data(data), limit)
    leads = os.environ.get(_LEADS, "0") == "0"
    if dry_run:
        _print_plan(recipe, loaded, out, runs, combinations)
        return 0
    quiet = quiet or not leads
    how = {**how, "progress": _said(quiet), "notice": None if quiet else _noted}
    if combinations is not None:
        share = how.get("holdout") or 0.1
        searched = {key: value for key, value in how.items() if key not in ("holdout", "test")}
        trials = search_grid(recipe, loaded, out, combinations, share, **searched)
        recipe = replace(trials[0].recipe, seed=recipe.seed)
        if not quiet:
            named = ", ".join(f"{name} {value}" for name, value in trials[0].settings.items())
            _noted(
                f"best of {len(trials)}: {named} ({trials[0].accuracy:.4f} held out); training on all images with it"
            )
        how = {**how, "holdout": 0.0}
    paths = train(recipe, loaded, out, runs, **how)
    if leads:
        settings = {"data": data, "limit": limit, "runs": runs, **asdict(recipe)}
        write_config(out / "settings.yaml", {**settings, **{k: v for k, v in how.items() if not callable(v)}})
        _print_runs(paths, as_json, quiet)
    return 0


def _print_runs(paths: Sequence[Path], as_json: bool, quiet: bool) -> None:
    cards = {str(path): read_card(path) for path in paths}
    if as_json:
        print(json.dumps(cards, indent=1, ensure_ascii=False))
    elif not quiet:
        rows = [
            (Path(path).stem, _share(card["accuracy"]), _share((card["best"] or {}).get("accuracy")), _clock(card["seconds"]))
            for path, card in cards.items()
        ]  # fmt: skip
        print_table([("run", "accuracy", "best", "time"), *rows])
        print(f"\nsnellen audit {paths[0].stem.rpartition('-')[0]}='{paths[0].parent}/*.safetensors' --data …")


def _print_plan(recipe: Recipe, data: Dataset, out: Path, runs: int, grid: Mapping[str, Sequence[Any]] | None) -> None:
    print(f"data: {data.text} ({len(data):,} images, {len(data.classes)} classes)\nout: {out}\nruns: {runs}")
    for name, value in asdict(recipe).items():
        tried = (grid or {}).get(name)
        print(f"{name}: {' | '.join(map(str, tried)) if tried else value}")


def _said(quiet: bool) -> Callable[[Progress], None]:
    """One line that rewrites itself, on a terminal only."""

    def say(done: Progress) -> None:
        if quiet or not sys.stderr.isatty():
            return
        reached = f", accuracy {done.accuracy:.4f}" if done.accuracy is not None else ""
        left = f", {_clock(done.left)} left" if done.epoch < done.epochs else ""
        end = "\n" if done.epoch == done.epochs else "\r"
        line = f"  {done.run}: epoch {done.epoch} of {done.epochs}, loss {done.loss:.3f}{reached}{left}"
        print(line.ljust(100), end=end, file=sys.stderr, flush=True)

    return say


def _noted(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"
