"""The tree of classes: published depths, re-scoring by hand, distances of errors."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.measure import (
    IRUO_CLASSES,
    IRUO_TREE,
    accuracy,
    at_level,
    hierarchical_accuracy,
    human_accuracy,
    tree_depths,
    tree_distances,
)

PAIRS = st.lists(st.tuples(st.sampled_from(IRUO_CLASSES), st.sampled_from(IRUO_CLASSES)), min_size=1, max_size=30)


def test_the_23_classes_have_the_published_depths() -> None:
    depths = tree_depths(IRUO_TREE)
    assert len(IRUO_CLASSES) == len(set(IRUO_CLASSES)) == 23
    assert (depths["zebra"], depths["fish"], depths["dog"]) == (4, 2, 4)
    by_depth = {depth: {name for name in IRUO_CLASSES if depths[name] == depth} for depth in range(7)}
    assert by_depth == {
        0: set(),
        1: {"person"},
        2: {"fish", "airplane"},
        3: {"elephant", "giraffe", "sheep", "cow", "monkey", "rabbit", "parrot", "poultry", "bird", "lizard", "turtle"}
        | {"bicycle", "motorcycle"},
        4: {"horse", "zebra", "giant_panda", "bear", "dog"},
        5: {"tiger", "cat"},
        6: set(),
    }


def test_birds_are_one_at_level_2_and_fish_appears_from_level_2() -> None:
    assert at_level(["bird", "parrot", "poultry", "fish"], IRUO_TREE, 2).tolist() == ["birds"] * 3 + ["fish"]
    assert at_level(["fish", "dog", "person"], IRUO_TREE, 1).tolist() == ["animal", "animal", "person"]
    assert at_level([["dog", "tiger"]], IRUO_TREE, 4).tolist() == [["dog", "feline"]]


def test_rescoring_by_hand() -> None:
    label = ["cat", "cat", "bird", "airplane"]
    pred = ["tiger", "dog", "parrot", "bicycle"]
    values = [hierarchical_accuracy(pred, label, IRUO_TREE, level).value for level in range(6)]
    assert values == [1, 1, 0.75, 0.5, 0.25, 0]


@settings(deadline=None)
@given(PAIRS)
def test_coarser_is_never_harder_and_the_deepest_level_is_plain_accuracy(pairs: list[tuple[str, str]]) -> None:
    pred, label = map(list, zip(*pairs))
    values = [hierarchical_accuracy(pred, label, IRUO_TREE, level).value for level in range(6)]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1
    assert hierarchical_accuracy(pred, label, IRUO_TREE, 5) == accuracy(np.array(pred) == np.array(label))


def test_distances_by_hand() -> None:
    errors = tree_distances(["tiger", "tiger", "cat", "dog"], ["cat", "airplane", "cat", "cat"], IRUO_TREE)
    assert errors.counts == {2: 1, 3: 1, 7: 1}
    assert errors.shares == pytest.approx({2: 1 / 3, 3: 1 / 3, 7: 1 / 3})
    assert (errors.value, errors.n, errors.unanswered) == (4, 3, 0)
    assert errors.low < 4 < errors.high


@settings(deadline=None, max_examples=40)
@given(PAIRS)
def test_distance_is_even_handed_and_adds_up(pairs: list[tuple[str, str]]) -> None:
    pred, label = map(list, zip(*pairs))
    there, back = tree_distances(pred, label, IRUO_TREE), tree_distances(label, pred, IRUO_TREE)
    assert there.counts == back.counts
    assert sum(there.counts.values()) == sum(a != b for a, b in pairs)
    depths = tree_depths(IRUO_TREE)
    assert all(2 <= edges <= 2 * max(depths.values()) for edges in there.counts)


def test_several_runs_count_every_answer() -> None:
    errors = tree_distances([["cat", "dog"], ["tiger", "dog"]], ["cat", "cat"], IRUO_TREE)
    assert errors.counts == {2: 1, 3: 2}
    assert errors.n == 2
    assert hierarchical_accuracy([["cat", "dog"], ["tiger", "dog"]], ["cat", "cat"], IRUO_TREE, 4).value == 0.5


def test_an_empty_answer_is_wrong_at_every_level_and_lies_nowhere() -> None:
    pred, label = ["cat", "", None, float("nan")], ["cat"] * 4
    assert [hierarchical_accuracy(pred, label, IRUO_TREE, level).value for level in (0, 5)] == [0.25, 0.25]
    errors = tree_distances(pred, label, IRUO_TREE)
    assert (errors.counts, errors.unanswered, errors.n) == ({}, 3, 0)
    assert isnan(errors.value)


def test_people_are_scored_at_a_level_like_models() -> None:
    label, answer = ["cat", "cat", "bird"], ["tiger", "cat", "parrot"]
    at = {"label": at_level(label, IRUO_TREE, 4), "answer": at_level(answer, IRUO_TREE, 4)}
    people = {"observer": [1, 1, 1], "sample": ["a", "b", "c"], "level": [0, 0, 0], **at}
    model = hierarchical_accuracy(answer, label, IRUO_TREE, 4)
    assert human_accuracy(people, remove_outliers=False).value == model.value == pytest.approx(2 / 3)


def test_numbers_may_be_names() -> None:
    tree = {0: "a", 1: "a", 2: "b", "a": "root", "b": "root"}
    assert hierarchical_accuracy(np.array([0, 1, 2]), np.array([1, 1, 1]), tree, 1).value == pytest.approx(2 / 3)


def test_what_the_tree_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a name of the tree, got 'panda'"):
        hierarchical_accuracy(["panda"], ["cat"], IRUO_TREE, 2)
    with pytest.raises(ValueError, match="a circle above 'a'"):
        tree_depths({"a": "b", "b": "a"})
    with pytest.raises(ValueError, match="below different roots"):
        tree_distances(["a"], ["b"], {"a": "x", "b": "y"})
    with pytest.raises(ValueError, match="one label per sample"):
        hierarchical_accuracy(["cat"], ["cat", "dog"], IRUO_TREE, 2)
    with pytest.raises(ValueError, match="level of 0 or more"):
        at_level(["cat"], IRUO_TREE, -1)


def test_no_answers_give_nan() -> None:
    assert isnan(hierarchical_accuracy([], [], IRUO_TREE, 2).value)
    assert isnan(tree_distances([], [], IRUO_TREE).value)
