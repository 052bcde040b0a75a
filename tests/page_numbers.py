"""The numbers that a page states about its own commands, and where each comes from.

A paragraph or table that states a measured share or a change in points has a mark in the page's source, in its own lines or on
the lines above:

    <!-- numbers of runs/first: accuracy[model=plain]; bg_gap.interval[model=plain, distortion=mixed_rand] -->

names, in their order, the finding of each number that has a decimal (`interval`: value, low and high; `-bg_gap`: the other way
round). Other marks say why nothing is compared: `stated in PAGE`, `by SCRIPT`, `published in PAPER`, `seen once on DATE: WHY`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from .pages import blocks

MARK = re.compile(r"[ ]*<!-- numbers (of|stated in|by|published in|seen once on) (.+?) -->\n", re.S)
MEASURED = re.compile(r"\d\.\d+(%| points| \[| \(\d)|(?<!\d)\d{2} points |\bSeen\b")
DECIMAL = re.compile(r"[−-]?\d+\.\d+")
SELECTOR = re.compile(r"(-?)(\w+)(?:\.(\w+))?(?:\[(.+)\])?")
AS_IT_STANDS = {"inter_model_deletion"}  # in points of 100 already; other findings are shares


@dataclass(frozen=True)
class Statement:
    """A paragraph or table: its text, and its mark as the kind and what it names, both empty without one."""

    text: str
    kind: str = ""
    source: str = ""

    @property
    def numbers(self) -> list[float]:
        """Every number with a decimal, in order; the 95 of "95% interval" has none."""
        return [float(one.replace("−", "-")) for one in DECIMAL.findall(self.text)]


def statements(page: str) -> Iterator[Statement]:
    """What a page states that was measured, marked or not, and whatever else is marked."""
    above = None
    for kind, lines in blocks(page):
        text = "\n".join(lines) + "\n"
        mark = MARK.search(text)
        if mark and mark[0] == text:
            above = mark
            continue
        mark, above = mark or above, None
        if mark:
            yield Statement(MARK.sub("", text), mark[1], " ".join(mark[2].split()))
        elif kind in ("prose", "table") and MEASURED.search(text):
            yield Statement(text)


def named(source: str) -> Iterator[tuple[Path, str]]:
    """The run folder and the finding of each number, from `RUN: FINDING; FINDING | RUN: …`."""
    for part in source.split(" | "):
        run, _, findings = part.partition(": ")
        for one in findings.split("; "):
            yield Path(run), one


def values(run: Path, selector: str) -> list[float]:
    """The numbers that a selector stands for, as a page writes them: shares in percent."""
    match = SELECTOR.fullmatch(selector)
    assert match, f"no selector of a finding: {selector}"
    sign, name, part, filters = match.groups()
    found = pd.read_csv(run / "findings.csv", dtype=str, keep_default_na=False)
    found = found[found["name"] == name]
    for one in filters.split(", ") if filters else ():
        column, _, wanted = one.partition("=")
        found = found[[wanted == cell or (column == "distortion" and wanted in cell) for cell in found[column]]]
    assert len(found) == 1, f"{len(found)} findings of {run} are {selector}:\n{found.to_string()}"
    columns = ["value", *(("high", "low") if sign else ("low", "high"))] if part == "interval" else [part or "value"]
    scale = (-1 if sign else 1) * (1 if name in AS_IT_STANDS else 100)
    return [scale * float(found.iloc[0][column]) for column in columns]


def assert_stated(statement: Statement, within: float | None = 0.1) -> None:
    """Each number is that of its finding, `within` so many points; None holds their count alone."""
    came = [value for run, selector in named(statement.source) for value in values(run, selector)]
    assert len(came) == len(statement.numbers), f"{came}\nfor\n{statement.text}"
    if within is not None:
        assert statement.numbers == pytest.approx(came, abs=within), statement.text
