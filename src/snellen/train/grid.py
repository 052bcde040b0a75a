"""Search settings on a held-out part of the training data: every combination, each trained once."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.data import as_data
from snellen.data.dataset import Dataset
from snellen.errors import UserError, unknown
from snellen.files import expand_home
from snellen.files.plain import place_to_write
from snellen.hashing import key_of
from snellen.models.checkpoint import read_card
from snellen.request import settings_of
from snellen.settings_file import read_settings
from snellen.train.recipe import Recipe
from snellen.train.request import TrainRequest
from snellen.train.runs import Listener, train

MOST_TRIALS = 10_000


@dataclass(frozen=True)
class GridTrial:
    """One combination: the settings that were tried, the best held-out accuracy, its epoch, the seconds it took, and its
    checkpoint."""

    settings: Mapping[str, Any]
    recipe: Recipe
    accuracy: float
    epoch: int
    seconds: float
    path: Path | None = None


def read_grid(path: Path) -> dict[str, list[Any]]:
    """Setting → values from a YAML file such as `lr: [0.1, 0.2]`."""
    grid = read_settings(path)
    check_grid(grid, str(path))
    if not grid:
        raise UserError(f"{path}: expected settings as 'name: [values]' lines, got nothing")
    return grid


def check_grid(grid: Mapping[str, Any], path: str) -> None:
    """Refuse settings and values that no recipe has; `path` is where they come from."""
    known = [field.name for field in settings_of(Recipe)]
    for name, values in grid.items():
        if name not in known:
            raise unknown(f"setting in {path}", name, known)
        if not isinstance(values, list) or not values:
            raise UserError(f"{path}: expected {name} as a list of values, got '{values}'")
        for value in values:
            Recipe.checked({name: value}, path)


def search_grid(
    recipe: Recipe,
    data: Dataset | str,
    out: Path | str,
    grid: Mapping[str, Sequence[Any]],
    holdout: float = 0.1,
    **settings: Any,
) -> list[GridTrial]:
    """The trials of all combinations of `grid`, best first; each is a row of `<out>/grid.csv`, written as it ends.

    A trial trains in `<out>/grid/<key>/`, where a search that was stopped finds it again. `settings` are those of `train`.

    >>> from snellen.train import preset, search_grid
    >>> trials = search_grid(preset(None, arch="smallnet", epochs=1),
    ...     "phantom:train?size=32&n=40", "nets", {"lr": [0.1, 0.01]}, holdout=0.25)
    >>> sorted(trial.settings["lr"] for trial in trials)
    [0.01, 0.1]
    """
    data = as_data(data)
    out = place_to_write(out)
    trials: list[GridTrial] = []
    for values, candidate in combinations(recipe, grid):
        (path,) = train(candidate, data, trial_folder(out, candidate), holdout=holdout, **settings)
        card = read_card(path)
        best = card["best"]
        trials.append(GridTrial(values, candidate, best["accuracy"], best["epoch"], card["seconds"], path))
        write_atomic(out / "grid.csv", _table(sorted(trials, key=_rank)).encode())
    return sorted(trials, key=_rank)


def combinations(recipe: Recipe, grid: Mapping[str, Sequence[Any]]) -> list[tuple[dict[str, Any], Recipe]]:
    """Every combination of a grid, and the recipe that it makes; all are checked before the first is trained."""
    count = math.prod(map(len, grid.values()))
    if count > MOST_TRIALS:
        raise UserError(f"the grid has {count:,} combinations, more than {MOST_TRIALS:,}; leave some values out")
    chosen = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    return [(values, replace(recipe, **Recipe.checked(values))) for values in chosen]


def trial_folder(out: Path, recipe: Recipe) -> Path:
    """Where a trial of a search in `out` trains."""
    return out / "grid" / key_of(asdict(recipe))[:8]


def best_of_grid(request: TrainRequest, data: Dataset, listener: Listener) -> Recipe:
    """The recipe of a request with the settings of its grid that did best on held-out images."""
    grid = request.grid if isinstance(request.grid, Mapping) else read_grid(expand_home(str(request.grid)))
    settings = {name: getattr(request, name) for name in ("device", "partner", "init", "every", "compile", "log")}
    trials = search_grid(
        request.how, data, request.folder, grid, request.holdout or 0.1, progress=listener.progress,
        notice=listener.notice, **settings,
    )  # fmt: skip
    if listener.notice is not None:
        values = ", ".join(f"{name} {value}" for name, value in trials[0].settings.items())
        text = f"best of {len(trials)}: {values} ({trials[0].accuracy:.4f} held out); training on all images with it"
        listener.notice(text)
    return replace(trials[0].recipe, seed=request.how.seed)


def _rank(trial: GridTrial) -> float:
    return -trial.accuracy


def _table(trials: Sequence[GridTrial]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*trials[0].settings, "held_out_accuracy", "epoch", "seconds"])
    writer.writerows([*t.settings.values(), f"{t.accuracy:.6f}", t.epoch, t.seconds] for t in trials)
    return text.getvalue()
