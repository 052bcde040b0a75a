"""What the verdict says of maps inside masks: beside an even map, and only as much as the interval shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from snellen.engine.keep.run_folder import RunFolder
from snellen.report.results import Results
from snellen.report.sections.inside_mask import INSIDE_MASK


def results(value: float | None, low: float, high: float) -> Results:
    finding: dict[str, Any] = {"audit": "inside_mask", "name": "inside_mask", "model": "net", "value": value}
    finding |= {"low": low, "high": high, "facts": {"mask_share": 0.2}}
    return Results({"findings": [finding]}, {}, RunFolder(Path("nowhere")))


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


def test_nothing_is_said_of_maps_that_are_all_empty() -> None:
    assert not INSIDE_MASK.verdict(results(None, float("nan"), float("nan")), "net")
