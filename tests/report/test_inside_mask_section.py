"""What the verdict says of maps inside masks: beside an even map, and only as much as the interval shows."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from snellen.audits.inside_mask import InsideMaskFacts
from snellen.engine.keep.run_folder import RunFolder
from snellen.report.results import Results
from snellen.report.sections import SECTIONS

from .stored import stored

INSIDE_MASK = SECTIONS["inside_mask"]


def results(value: float | None, low: float | None, high: float | None) -> Results:
    facts = InsideMaskFacts(mask_share=0.2, empty_maps=0, examples=())
    fields = {"audit": "inside_mask", "name": "inside_mask", "model": "net", "value": value, "low": low, "high": high}
    return Results({"findings": [msgspec.to_builtins(stored(facts, **fields))]}, {}, RunFolder(Path("nowhere")))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.25, 0.35, "more than the 20.0%"),
        (0.15, 0.45, "not told apart from the 20.0%"),
        (0.1, 0.19, "less than the 20.0%"),
    ],
)
def test_a_map_is_called_on_the_object_only_where_its_interval_excludes_an_even_map(
    low: float, high: float, words: str
) -> None:
    ((term, sentence),) = INSIDE_MASK.verdict(results((low + high) / 2, low, high), "net")
    assert term == "Maps"
    assert words in sentence
    assert not INSIDE_MASK.verdict(results(0.3, low, high), "other")


def test_nothing_is_said_of_maps_that_are_all_empty_nor_is_a_rank_without_an_interval() -> None:
    assert not INSIDE_MASK.verdict(results(None, None, None), "net")
    ((_, sentence),) = INSIDE_MASK.verdict(results(0.9, None, None), "net")
    assert "not told apart from" in sentence
