"""What sweep.json holds and the page of a sweep shows: the sweep's table, and what was swept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from snellen.audits.facts import Number
from snellen.errors import UserError
from snellen.files import fit


class SweepRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table: a point, what it was trained on, a test or gap, and its value with a 95% interval over `n` images.

    `std` is the deviation over runs and `per_run` has their values as text, with spaces between; `warnings` names checks.
    """

    point: str
    x: Number
    trained_on: str
    images: int | None
    classes: int | None
    runs: int
    test: str
    test_data: str
    measure: str
    value: Number
    low: Number
    high: Number
    n: int
    std: Number
    per_run: str
    warnings: str = ""


class SweepRecipe(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a training that the page names."""

    arch: str
    robust: str
    mix: str


class SweepPage(msgspec.Struct, frozen=True, kw_only=True):
    """A sweep's page as plain values; `recipe` has every setting of the training by name, None where nothing was trained."""

    kind: str
    title: str
    created: str
    snellen: str
    command: str
    commands: list[str]
    recipe: dict[str, Any] | None = None
    runs: int
    axis: str | None
    tests: dict[str, str]
    source: str | None = None
    gaps: list[tuple[str, str]]
    rows: list[SweepRow]

    @property
    def trained(self) -> SweepRecipe | None:
        """The settings of the training that the page names."""
        return None if self.recipe is None else fit(self.recipe, SweepRecipe, "recipe")

    @property
    def of_models(self) -> bool:
        """Whether its points are models that were there, and nothing was trained."""
        return self.kind in ("methods", "domains")

    def check(self, path: Path) -> None:
        """Refuse a recipe that cannot be named, and rows that are not one of every test at every point."""
        if self.recipe is not None:
            fit(self.recipe, SweepRecipe, f"{path}: recipe")
        points, tests = {row.point for row in self.rows}, {row.test for row in self.rows}
        pairs = {(row.point, row.test) for row in self.rows}
        if not pairs or len(pairs) != len(self.rows) or len(pairs) != len(points) * len(tests):
            raise UserError(f"{path}: rows: expected one row of each test at each point, got {len(self.rows)} rows")
        if len({(row.test, row.measure) for row in self.rows}) != len(tests):
            raise UserError(f"{path}: rows: expected the rows of one test to have one measure")
        if not {test for gap in self.gaps for test in gap} <= tests:
            raise UserError(f"{path}: gaps: expected names of tests that have rows")
        if self.source is not None and self.source not in tests:
            raise UserError(f"{path}: source: expected the name of a test that has rows")
        if self.axis is not None and any(row.x is None for row in self.rows):
            raise UserError(f"{path}: rows: expected 'x' as a number, since there is an axis")
