"""What sweep.json must hold; imported when one is read, as msgspec is."""

from __future__ import annotations

from pathlib import Path

import msgspec

from snellen.errors import UserError


class _Row(msgspec.Struct):
    point: str
    x: float | None
    trained_on: str
    images: int | None
    classes: int | None
    runs: int
    test: str
    test_data: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    std: float | None
    per_run: str
    warnings: str = ""


class _Recipe(msgspec.Struct):
    arch: str
    robust: str
    mix: str


class Page(msgspec.Struct):
    """A sweep's page as plain values."""

    kind: str
    title: str
    created: str
    snellen: str
    command: str
    commands: list[str]
    runs: int
    axis: str | None
    tests: dict[str, str]
    gaps: list[tuple[str, str]]
    rows: list[_Row]
    recipe: _Recipe | None = None
    source: str | None = None

    def check(self, path: Path) -> None:
        """Refuse rows that are not one of every test at every point."""
        points, tests = ({getattr(row, name) for row in self.rows} for name in ("point", "test"))
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
