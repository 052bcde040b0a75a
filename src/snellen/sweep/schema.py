"""What sweep.json must hold; imported when one is read, as msgspec is."""

from __future__ import annotations

import msgspec


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
