"""Shape bias: a hand-worked example, and the published answers of people and networks."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.measure import shape_bias

SHAPE = [0, 0, 1, 1, 2, 2]
TEXTURE = [1, 2, 0, 2, 0, 2]  # the last one agrees: no conflict


def test_a_hand_worked_example() -> None:
    """Shape, texture, neither, shape, outside, and the agreeing image rightly."""
    measured = shape_bias([0, 2, 2, 1, -1, 2], SHAPE, TEXTURE)
    assert measured.shape_accuracy == pytest.approx(3 / 6)
    assert measured.texture_accuracy == pytest.approx(2 / 6)
    assert measured.shape_bias == measured.value == pytest.approx(2 / 3)
    assert (measured.conflicts, measured.decided, measured.n) == (5, 3, 5)
    assert measured.low <= measured.value <= measured.high


def test_runs_are_pooled() -> None:
    measured = shape_bias([SHAPE, TEXTURE], SHAPE, TEXTURE)
    assert measured.value == 0.5
    assert measured.decided == 10


def test_nothing_decided_gives_nan_and_no_images_do_too() -> None:
    assert math.isnan(shape_bias([-1] * 6, SHAPE, TEXTURE).shape_bias)
    assert shape_bias([-1] * 6, SHAPE, TEXTURE).shape_accuracy == 0
    assert math.isnan(shape_bias([2, 1], [2, 1], [2, 1]).value)
    assert math.isnan(shape_bias([], [], []).shape_accuracy)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=30))
def test_swapping_the_cues_mirrors_the_bias(rows: list[tuple[int, int, int]]) -> None:
    pred, shape, texture = np.array(rows).T
    one, other = shape_bias(pred, shape, texture), shape_bias(pred, texture, shape)
    assert (one.shape_accuracy, one.texture_accuracy) == (other.texture_accuracy, other.shape_accuracy)
    if one.decided:
        assert one.value == pytest.approx(1 - other.value)
    names = np.array(["a", "b", "c", "d"])
    assert shape_bias(names[pred], names[shape], names[texture]).decided == one.decided


@pytest.mark.parametrize(
    ("observer", "experiment", "published"),
    [
        ("people", None, 0.959), ("resnet50", None, 0.221), ("vgg", "main", 0.172), ("googlenet", None, 0.312),
        ("alexnet", "main", 0.429), ("resnet50-train-60-epochs", None, 0.806),
    ],
)  # fmt: skip
def test_the_recorded_answers_have_the_published_biases(
    shared: Path, observer: str, experiment: str | None, published: float
) -> None:
    """Answers to all 1,280 images, the 1,200 conflicts counting (the last: trained on Stylized-ImageNet)."""
    held = pd.read_csv(shared / "cue_conflict" / "responses.csv.gz")
    chosen = held[held["observer"].map(lambda name: _is(name, observer))]
    if experiment:
        chosen = chosen[chosen["experiment"] == experiment]
    assert len(chosen)
    cues = chosen["image"].str.split("-", expand=True).map(lambda part: re.sub(r"[^a-z]", "", part))
    measured = shape_bias(chosen["response"].to_numpy(), cues[0].to_numpy(), cues[1].to_numpy())
    assert measured.value == pytest.approx(published, abs=0.0006)


def _is(name: str, wanted: str) -> bool:
    return name.startswith("subject") if wanted == "people" else name == wanted
