"""Differences between models: paired, and corrected for the number of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from snellen.audits import Exam, Finding, differences
from snellen.engine import AnswerBlock, Answers

EXAM = Exam(classes={"test": "ab"}, side=32)
SAMPLES = 100


def answers(name: str, right: range) -> Answers:
    """A model that is right on these images and wrong on the others; all are of class a."""
    pred = np.ones((1, SAMPLES), int)
    pred[:, list(right)] = 0
    score, labels = (pred == 0).astype(np.float32), np.zeros(SAMPLES, int)
    whole = np.ones(SAMPLES, bool)
    block = AnswerBlock(pred, pred, score, score, score, labels, np.full(SAMPLES, np.nan), whole, np.arange(SAMPLES))
    return Answers(name, ["run"], {EXAM.clean(): block}, EXAM.classes)


def test_each_pair_is_held_against_the_number_of_pairs() -> None:
    """By SciPy's paired t-test and Holm's rule by hand: the middle p of three is doubled, and a clear difference becomes none."""
    models = [answers("good", range(80)), answers("fair", range(75)), answers("poor", range(65))]
    accuracy = Finding("clean", "accuracy", "good", 0.8, 0.7, 0.9, SAMPLES, "", better="higher", cells=(EXAM.clean(),))
    told = differences(EXAM, models, [accuracy])
    assert [one.model for one in told] == ["good − fair", "good − poor", "fair − poor"]
    assert [one.value for one in told] == pytest.approx([0.05, 0.15, 0.1])

    scores = [one[EXAM.clean()].score[0].astype(float) for one in models]
    alone = [stats.ttest_rel(scores[a], scores[b]).pvalue for a, b in ((0, 1), (0, 2), (1, 2))]
    assert alone[1] < alone[2] < alone[0] < 0.05
    assert [one.plain_facts["p"] for one in told] == pytest.approx(alone)
    corrected = [max(alone[0], 2 * alone[2]), 3 * alone[1], 2 * alone[2]]
    assert [one.plain_facts["p_corrected"] for one in told] == pytest.approx(corrected)
    assert "over 3 tests (differences in accuracy between models: all pairs and questions)" in told[0].text


def test_the_same_comparison_by_two_names_counts_once() -> None:
    """Squares of all sizes where there is one size: two findings that rest on the same answers are one test."""
    models = [answers("good", range(80)), answers("fair", range(75))]
    more = {"better": "higher", "cells": (EXAM.clean(),)}
    twice = [
        Finding("occlusion", name, "good", 0.8, 0.7, 0.9, SAMPLES, "", **more)  # type: ignore[arg-type]
        for name in ("cut_occlusion", "occluded_accuracy")
    ]
    told = differences(EXAM, models, twice)
    assert [one.plain_facts["of"] for one in told] == ["cut_occlusion", "occluded_accuracy"]
    assert [one.plain_facts["p_corrected"] for one in told] == [one.plain_facts["p"] for one in told]
    assert "over 1 test " in told[0].text


def test_a_difference_that_only_looks_clear_alone_is_not_called_clear() -> None:
    models = [answers("a", range(80)), answers("b", range(75)), answers("c", range(5, 80)), answers("d", range(80))]
    accuracy = Finding("clean", "accuracy", "a", 0.8, 0.7, 0.9, SAMPLES, "", better="higher", cells=(EXAM.clean(),))
    first = differences(EXAM, models, [accuracy])[0]
    assert (first.plain_facts["first"], first.plain_facts["second"]) == ("a", "b")
    assert first.plain_facts["p"] < 0.05 < first.plain_facts["p_corrected"]
    assert "not clearly different" in first.text
