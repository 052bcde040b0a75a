"""People beside a model: gaps by hand, planted, by level and type; clicks beside the object."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.measure import click_hits, human_gap, wrong_object_clicks


def full(people: int, images: int, human: float, seed: int) -> tuple[dict[str, np.ndarray], dict[int, float]]:
    """Everyone sees every image; types alternate, levels too; the model is right on 6 of 10 images."""
    random = np.random.default_rng(seed)
    sample = np.tile(np.arange(images), people)
    rows = {
        "observer": np.repeat(np.arange(people), images),
        "sample": sample,
        "label": np.ones(len(sample), int),
        "answer": (random.random(len(sample)) < human).astype(int),
        "level": sample % 2,
        "kind": np.where(sample % 4 < 2, "solid", "oblique"),
    }
    return rows, {image: float(random.random() < 0.6) for image in range(images)}


def test_the_gap_by_hand() -> None:
    rows = {
        "observer": ["a", "a", "b", "b"],
        "sample": ["x", "y", "x", "y"],
        "label": [1, 1, 1, 1],
        "answer": [1, 1, 1, 0],
        "level": [0, 1, 0, 1],
    }
    gaps = human_gap(rows, {"x": 1, "y": 0, "unseen": 1})
    assert {key: (one.value, one.human, one.model) for key, one in gaps.items()} == {
        (): (0.25, 0.75, 0.5),
        (0,): (0, 1, 1),
        (1,): (0.5, 0.5, 0),
    }


def test_gaps_by_level_and_type_hold_the_planted_one() -> None:
    rows, model = full(12, 400, 0.8, 0)
    gaps = human_gap(rows, model, ("level", "kind"))
    assert set(gaps) == {(), *((level, kind) for level in (0, 1) for kind in ("solid", "oblique"))}
    assert gaps[()].low < 0.2 < gaps[()].high
    assert gaps[()].high - gaps[()].low < 0.15
    assert all(one.n == 100 for key, one in gaps.items() if key)


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 5), st.integers(2, 12), st.integers(0, 1000))
def test_a_model_that_answers_like_the_crowd_has_no_gap(people: int, images: int, seed: int) -> None:
    rows, _ = full(people, images, 0.5, seed)
    crowd = {image: float(rows["answer"][rows["sample"] == image].mean()) for image in range(images)}
    gap = human_gap(rows, crowd, ())[()]
    assert gap.value == pytest.approx(0, abs=1e-12)
    assert gap.low <= 1e-12
    assert gap.high >= -1e-12


def test_the_interval_covers_a_gap_19_times_in_20() -> None:
    # The binomial sd of the coverage is 2.2 %; the bootstrap over both sides is slightly too wide.
    inside = 0
    for seed in range(100):
        gap = human_gap(*full(8, 60, 0.8, seed), (), repeats=200)[()]
        inside += gap.low <= 0.2 <= gap.high
    assert inside >= 89


def test_one_person_or_image_has_no_interval_and_a_missing_answer_is_named() -> None:
    rows, model = full(1, 10, 0.8, 0)
    assert isnan(human_gap(rows, model)[()].low)
    with pytest.raises(
        ValueError, match="answer of the model to every image that people saw, got none to 9, '1' first"
    ):
        human_gap(rows, {0: 1})
    with pytest.raises(ValueError, match="got none to 1, '3' first"):
        human_gap(rows, {**model, 3: nan})


def test_clicks_by_hand() -> None:
    mask = np.zeros((2, 4), np.uint8)
    mask[0, 3] = 255
    mask[1, 0] = 128
    truth = mask == 255
    x, y = [0.76, 1.0, 0.1, 0.0, nan], [0.0, 0.49, 0.2, 1.0, 0.5]
    assert click_hits(x[:4], y[:4], [mask] * 4).tolist() == [1, 1, 0, 0]
    for same in (truth, truth.astype(int)):
        np.testing.assert_array_equal(click_hits(x, y, [same] * 5), [1, 1, 0, 0, nan])
    with pytest.raises(ValueError, match=r"clicks from 0 to 1, got \(3, 0.5\)"):
        click_hits([3], [0.5], [mask])
    with pytest.raises(ValueError, match="one x, y and mask per click"):
        click_hits([0.5], [0.5], [])


def test_wrong_object_clicks_by_level() -> None:
    rows = {
        "observer": ["a", "a", "a", "b", "b", "b"],
        "sample": ["x", "y", "z", "x", "y", "z"],
        "level": [0, 1, 1, 0, 1, 1],
        "hit": [1, 0, 1, 1, 1, nan],
    }
    clicks = wrong_object_clicks(rows)
    assert {level: one.value for level, one in clicks.items()} == pytest.approx({None: 0.5 / 3, 0: 0, 1: 0.25})
    assert isnan(wrong_object_clicks({**rows, "hit": [nan] * 6})[None].value)


def test_images_of_one_video_are_drawn_together() -> None:
    """Four copies of each image in one group are no more evidence than the image itself: the same draws, the same interval."""
    rows, model = full(6, 20, 0.8, 3)
    copies = {name: np.tile(values, 4) for name, values in rows.items()}
    copies["video"] = copies["sample"]
    copies["sample"] = copies["sample"] + 1000 * np.repeat(np.arange(4), len(rows["sample"]))
    scores = {image + 1000 * copy: right for image, right in model.items() for copy in range(4)}
    alone, together = human_gap(rows, model, ()), human_gap(copies, scores, (), groups="video")
    apart = human_gap(copies, scores, ())
    assert together[()].value == pytest.approx(alone[()].value)
    assert (together[()].low, together[()].high) == pytest.approx((alone[()].low, alone[()].high))
    assert apart[()].high - apart[()].low < together[()].high - together[()].low


def test_one_video_gives_no_interval() -> None:
    rows, model = full(3, 4, 0.8, 0)
    gap = human_gap({**rows, "video": np.zeros(12, int)}, model, (), groups="video")[()]
    assert not isnan(gap.value)
    assert isnan(gap.low)
