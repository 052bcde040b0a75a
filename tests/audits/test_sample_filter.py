"""The sample filter on probabilities and shares given by hand: every run of every model, and bounds that do not count."""

from __future__ import annotations

import numpy as np

from snellen.audits import Exam
from snellen.audits.alignment import Alignment
from snellen.audits.alignment_facts import FilterCounts
from snellen.audits.explanation import SampleFilter
from snellen.engine import AnswerBlock, Answers

EXAM = Exam(classes={"test": ("a", "b")}, side=8)
IDS = ("p", "q", "r", "s", "t")


def sure(*runs: list[float]) -> Answers:
    """A model whose runs give the true class of each image these probabilities."""
    given, size = np.array(runs), len(IDS)
    zeros, ids = np.zeros(given.shape, int), np.array(IDS, object)
    block = AnswerBlock(
        zeros, zeros, given, given, given, np.zeros(size, int), np.full(size, np.nan), np.ones(size, bool), ids
    )
    return Answers("m", [str(run) for run in range(len(runs))], {EXAM.clean(): block}, EXAM.classes)


def sized(*shares: float) -> Alignment:
    """Objects that cover these shares of the images that a model sees."""
    none, boxes = np.zeros((1, len(IDS))), tuple(np.zeros((0, 4)) for _ in IDS)
    iou, suggested = np.zeros((1, 1, len(IDS))), np.zeros((len(IDS), 4), int)
    return Alignment(
        IDS, none, none, none, iou, none, none, np.array(shares), np.zeros((4, len(IDS))), boxes, suggested, (8, 8)
    )


def test_every_run_of_every_model_must_be_sure() -> None:
    """q has 0.5 in one run and 0.95 in the other, and r 0.99 but for the second model: the mean is no measure of either."""
    everyone = [sure([0.9, 0.5, 0.99, 0.7, 0.61], [0.8, 0.95, 0.99, 0.7, 0.6]), sure([0.7, 0.9, 0.5, 0.7, 0.9])]
    alignments = [sized(0.3, 0.3, 0.3, 0.3, 0.3)] * 2
    images = SampleFilter(0.6, 0.1, 0.5).chosen(everyone, alignments, EXAM.clean())
    chosen, counts = list(images.ids), images.counts
    assert chosen == ["p", "s"]  # t is at the bound in one run, not above it
    assert counts == FilterCounts(images=5, confident=2, sized=5, chosen=2)


def test_objects_must_be_of_a_middling_size_on_every_canvas() -> None:
    everyone = [sure([0.9] * 5), sure([0.9, 0.9, 0.9, 0.9, 0.2])]
    alignments = [sized(0.1, 0.11, 0.3, 0.5, 0.3), sized(0.3, 0.49, 0.6, 0.3, 0.3)]
    images = SampleFilter(0.6, 0.1, 0.5).chosen(everyone, alignments, EXAM.clean())
    chosen, counts = list(images.ids), images.counts
    assert chosen == ["q"]
    assert counts == FilterCounts(images=5, confident=4, sized=2, chosen=1)
