"""Every measured number that a page states says where it comes from, and what it says of that can be found."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from .page_numbers import Statement, assert_stated, named, statements
from .test_commands_run import BLOCKS, ROOT, TRAINED

PAGES = {  # those of understanding/ state rules and what the results' pages measured
    name: tuple(statements((ROOT / name).read_text())) for name in BLOCKS if not name.startswith("docs/understanding/")
}
# How many statements are of each kind: a further one that nothing is compared with changes a number here.
KINDS = {"of": 11, "stated in": 2, "seen once on": 7, "by": 2, "published in": 3}
RULES = ("test at 2.5%",)  # what a rule is, and no result


def test_every_measured_number_says_where_it_comes_from() -> None:
    without = [
        (name, statement.text)
        for name, found in PAGES.items()
        for statement in found
        if not statement.kind and not any(rule in statement.text for rule in RULES)
    ]
    assert not without
    assert Counter(one.kind for found in PAGES.values() for one in found if one.kind) == KINDS


@pytest.mark.parametrize("name", [name for name, found in PAGES.items() if any(one.kind for one in found)])
def test_what_a_mark_names_is_there(name: str) -> None:
    commands = "\n".join(block.text for block in BLOCKS[name])
    for one in PAGES[name]:
        if one.kind == "of":
            assert all(re.search(rf"--out {run.parent}/({run.name}|\$)", commands) for run, _ in named(one.source)), one
        elif one.kind == "stated in":
            assert set(one.numbers) <= {number for other in PAGES[one.source] for number in other.numbers}, one
            assert any(other.kind == "of" for other in PAGES[one.source])
        elif one.kind == "by":
            assert (ROOT / one.source).is_file(), one
        elif one.kind == "seen once on":
            date, _, why = one.source.partition(": ")
            assert datetime.date.fromisoformat(date), one
            assert why, one


def test_marks_are_found_above_and_inside() -> None:
    page = (
        "# T\n\n<!-- numbers of runs/a: accuracy; bg_gap.interval[model=b,\n    fill=c] -->\n"
        "It reaches 90.1%, −0.5 (−1.5 to 2.0).\n\n"
        "- 12 points less.\n  <!-- numbers by x.py -->\n- 3.5% more.\n\n"
        "<!-- numbers published in P -->\n\n| a |\n|---|\n| 1.5 |\n\n"
        "In 95% of cases, of 100 points.\n"
    )
    assert list(statements(page)) == [
        Statement(
            "It reaches 90.1%, −0.5 (−1.5 to 2.0).\n", "of", "runs/a: accuracy; bg_gap.interval[model=b, fill=c]"
        ),
        Statement("- 12 points less.\n", "by", "x.py"),
        Statement("- 3.5% more.\n"),
        Statement("| a |\n|---|\n| 1.5 |\n", "published in", "P"),
    ]
    assert next(statements(page)).numbers == [90.1, -0.5, -1.5, 2.0]
    assert list(named("runs/a: x; y[f=g] | b: z")) == [
        (Path("runs/a"), "x"),
        (Path("runs/a"), "y[f=g]"),
        (Path("b"), "z"),
    ]


def test_a_number_that_did_not_come_is_found(tmp_path: Path) -> None:
    rows = [
        ("accuracy", "a", 0.9, 0.85, 0.95),
        ("accuracy", "b", 0.5, 0.4, 0.6),
        ("inter_model_deletion", "a", 33.9, 32, 35),
    ]
    pd.DataFrame(rows, columns=["name", "model", "value", "low", "high"]).to_csv(tmp_path / "findings.csv")
    source = f"{tmp_path}: accuracy.interval[model=a]; accuracy[model=b]; inter_model_deletion"
    assert_stated(Statement("90.0% (85.0 to 95.0), 50.0%, 33.9", "of", source))
    for wrong in ("90.0% (85.0 to 95.0), 52.0%, 33.9", "90.0% (85.0 to 95.0), 50.0%"):
        with pytest.raises(AssertionError):
            assert_stated(Statement(wrong, "of", source))
    assert_stated(Statement("−50.0% (−60.0 to −40.0)", "of", f"{tmp_path}: -accuracy.interval[model=b]"))
    assert_stated(Statement("45.0%", "of", f"{tmp_path}: accuracy[model=b]"), TRAINED)
    assert_stated(Statement("5.0%", "of", f"{tmp_path}: accuracy[model=b]"), None)
    with pytest.raises(AssertionError, match="2 findings"):
        assert_stated(Statement("90.0%", "of", f"{tmp_path}: accuracy"), None)
