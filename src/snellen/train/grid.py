"""Search settings on a held-out part of the training data: every combination, each trained once."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.data import load_data
from snellen.data.dataset import Dataset
from snellen.errors import UserError, unknown
from snellen.hashing import key_of
from snellen.models.checkpoint import read_card
from snellen.train.presets import read_settings
from snellen.train.recipe import Recipe, recipe_of
from snellen.train.runs import train


@dataclass(frozen=True)
class Trial:
    """One combination: the settings that were tried, the best held-out accuracy, its epoch and the seconds it took."""

    settings: Mapping[str, Any]
    recipe: Recipe
    accuracy: float
    epoch: int
    seconds: float


def read_grid(path: Path) -> dict[str, list[Any]]:
    """Setting → values from a YAML file such as `lr: [0.1, 0.2]`."""
    held = read_settings(path)
    known = asdict(Recipe())
    for name, values in held.items():
        if name not in known:
            raise unknown(f"setting in {path}", name, known)
        if not isinstance(values, list) or not values:
            raise UserError(f"{path}: expected {name} as a list of values, got '{values}'")
    return held


def search_grid(
    recipe: Recipe,
    data: Dataset | str,
    out: Path | str,
    grid: Mapping[str, Sequence[Any]],
    holdout: float = 0.1,
    **how: Any,
) -> list[Trial]:
    """The trials of all combinations of `grid`, best first; each is a row of `<out>/grid.csv`, written as it ends.

    A trial trains in `<out>/grid/<key>/`, where a search that was stopped finds it again. `how` is passed on to `train`.
    """
    data = load_data(data) if isinstance(data, str) else data
    out = Path(out)
    chosen = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    wanted = [(settings, recipe_of({**asdict(recipe), **settings})) for settings in chosen]  # all are checked first
    trials: list[Trial] = []
    for settings, one in wanted:
        folder = out / "grid" / key_of(asdict(one))[:8]
        (path,) = train(one, data, folder, holdout=holdout, **how)
        card = read_card(path)
        trials.append(Trial(settings, one, card["best"]["accuracy"], card["best"]["epoch"], card["seconds"]))
        write_atomic(out / "grid.csv", _table(sorted(trials, key=_rank)).encode())
    return sorted(trials, key=_rank)


def _rank(trial: Trial) -> float:
    return -trial.accuracy


def _table(trials: Sequence[Trial]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*trials[0].settings, "held_out_accuracy", "epoch", "seconds"])
    writer.writerows([*t.settings.values(), f"{t.accuracy:.6f}", t.epoch, t.seconds] for t in trials)
    return text.getvalue()
