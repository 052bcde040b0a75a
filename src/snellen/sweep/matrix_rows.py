"""The rows of a matrix: networks to fine-tune alike, from a YAML file.

    defaults: {epochs: 50, batch_size: 64}
    rows:
      - {name: resnet50, arch: 'timm:resnet50', init: 'timm:resnet50.a1_in1k'}
      - {name: resnet50-mixup, arch: 'timm:resnet50', init: 'timm:resnet50.a1_in1k', mix: mixup}
      - {name: dfa, arch: 'timm:resnet50', init: 'row:resnet50,resnet50-mixup', robust: dfa(cutouts), epochs: 20}

A row has a name, where its weights come from (`init`), its `grid` and any setting of a recipe; `defaults` are those of all rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.errors import UserError, concerning, unknown
from snellen.request import settings_of
from snellen.settings_file import read_settings
from snellen.sweep.points import check_name
from snellen.train.grid import check_grid, combinations
from snellen.train.recipe import Recipe

GRID: Mapping[str, Sequence[Any]] = {  # of a row that names none: 12 trials
    "lr": (0.001, 0.01, 0.1),
    "momentum": (0.8, 0.9),
    "weight_decay": (0.0001, 0.001),
}
OF_ROW = "row:"


@dataclass(frozen=True)
class MatrixRow:
    """A network to train: its recipe, the settings to search, and what it begins with (a file, a library's name, or rows)."""

    name: str
    recipe: Recipe
    grid: Mapping[str, Sequence[Any]]
    init: str | None = None

    @property
    def parents(self) -> tuple[str, ...]:
        """The rows whose best network this one begins with."""
        if self.init is None or not self.init.startswith(OF_ROW):
            return ()
        return tuple(name.strip() for name in self.init.removeprefix(OF_ROW).split(","))

    @property
    def recipes(self) -> list[Recipe]:
        """Those of its trials; of a row without a grid its own."""
        return [recipe for _, recipe in combinations(self.recipe, self.grid)]

    @property
    def trials(self) -> int:
        """How many there are; 0 without a grid."""
        return len(self.recipes) if self.grid else 0


def read_rows(path: Path) -> list[MatrixRow]:
    """The rows of a file, in its order; a row that another begins with stands above it."""
    content = read_settings(path)
    for name in content:
        if name not in ("defaults", "rows"):
            raise unknown(f"setting in {path}", name, ("defaults", "rows"))
    defaults, entries = content.get("defaults") or {}, content.get("rows")
    if not isinstance(defaults, dict):
        raise UserError(f"{path}: expected defaults as 'name: value' lines, got '{defaults}'")
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{path}: expected rows as a list such as '- {{name: plain, arch: smallnet}}', got '{entries}'")
    rows: dict[str, MatrixRow] = {}
    for number, entry in enumerate(entries, 1):
        with concerning(path):
            row = _row(entry, defaults, f"{path}, row {number}")
        if row.name in rows:
            raise UserError(f"{path}: two rows are called '{row.name}'; names must differ")
        _check_parents(row, rows, path)
        rows[row.name] = row
    return list(rows.values())


@contextlib.contextmanager
def naming(row: str) -> Iterator[None]:
    """Tell what fails inside with the name of its row."""
    try:
        yield
    except (UserError, ValueError) as error:
        raise UserError(f"row '{row}': {error}") from error


def _row(entry: Any, defaults: Mapping[str, Any], where: str) -> MatrixRow:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise UserError(
            f"{where}: expected settings with a name, such as '{{name: plain, arch: smallnet}}', got '{entry}'"
        )
    name = entry["name"]
    check_name(name, where)
    values = {str(key).replace("-", "_"): value for key, value in {**defaults, **entry}.items() if key != "name"}
    grid, init = values.pop("grid", GRID), values.pop("init", None)
    known = {item.name for item in settings_of(Recipe)}
    with naming(name):
        for setting in values:
            if setting not in known:
                raise unknown("setting", setting, {*known, "grid", "init"})
        recipe = Recipe(**Recipe.checked(values))
        row = MatrixRow(name, recipe, _grid(grid), None if init is None else str(init))
        if not row.recipes:
            raise UserError("its grid is empty")
        return row


def _grid(grid: Any) -> Mapping[str, Sequence[Any]]:
    if grid is None or grid in ("none", {}):
        return {}
    if not isinstance(grid, Mapping):
        raise UserError(f"expected grid as 'setting: [values]' or none, got '{grid}'")
    values = {str(name): list(value) if isinstance(value, tuple) else value for name, value in grid.items()}
    check_grid(values, "its grid")
    return values


def _check_parents(row: MatrixRow, above: Mapping[str, MatrixRow], path: Path) -> None:
    for parent in row.parents:
        if parent not in above:
            raise UserError(f"{path}: row '{row.name}' begins with row '{parent}', which does not stand above it")
        if row.grid and not above[parent].grid:
            raise UserError(
                f"{path}: row '{row.name}' searches a grid on held-out images, which row '{parent}', without a grid, has learnt; "
                f"give '{parent}' a grid"
            )
