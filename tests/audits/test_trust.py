"""Which of several interferences stands beside a finding that rests on several distortions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from snellen.audits import Exam, Finding, trust, with_trust
from snellen.audits.model_differences import differences
from snellen.audits.trust import chance_in, interference_of, trust_in
from snellen.distort import Occlude, Shuffle
from snellen.engine import AnswerBlock, Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import chance_of, error_agreement, interference, interference_null

EXAM = Exam(classes={"test": "abcd"}, side=32)
SHUFFLED, COVERED = EXAM.cell(Shuffle(4)), EXAM.cell(Occlude(0.5))
SAMPLES = 800
LABELS = np.arange(SAMPLES) % 4


def block(pred: np.ndarray, valid: bool = True) -> AnswerBlock:
    given = pred[None]
    score, shown = (given == LABELS).astype(np.float32), np.full(SAMPLES, valid)
    return AnswerBlock(given, given, score, score, score, LABELS, np.full(SAMPLES, np.nan), shown, np.arange(SAMPLES))


def errors(*counts: int) -> np.ndarray:
    """So many wrong answers a, b, c and d, each to the first images of other classes that are left; the rest is right."""
    pred = LABELS.copy()
    for name, count in enumerate(counts):
        pred[np.flatnonzero((pred == LABELS) & (name != LABELS))[:count]] = name
    return pred


def answers(shuffled: AnswerBlock, covered: AnswerBlock, name: str = "mine") -> Answers:
    clean = block(errors(30, 30, 30, 30))
    blocks = {EXAM.clean(): clean, EXAM.yardstick(): clean, SHUFFLED: shuffled, COVERED: covered}
    return Answers(name, ["run"], blocks, EXAM.classes)


def accuracy_on(*cells: Cell) -> Finding:
    return Finding("occlusion", "accuracy", "mine", 0.5, 0.4, 0.6, SAMPLES, "", better="higher", cells=cells)


@pytest.mark.parametrize("cells", [(SHUFFLED, COVERED), (COVERED, EXAM.clean(), SHUFFLED)])
def test_a_finding_on_several_distortions_carries_the_strongest_interference(cells: tuple[Cell, ...]) -> None:
    """All errors on shuffled images are answers c, those on covered images fall evenly: the number is in doubt by the first."""
    (one,) = with_trust(
        EXAM, answers(block(errors(0, 0, 200, 0)), block(errors(60, 60, 60, 60))), [accuracy_on(*cells)]
    )
    assert one.trust is not None
    assert one.trust.distortion == "shuffle(grid=4)"
    assert (one.trust.flagged, one.trust.dominant) == (True, "c")
    assert one.trust.index > 1


def test_without_answers_under_mild_noise_nothing_is_flagged_and_the_sentence_says_why() -> None:
    shuffled, even, clean = block(errors(0, 0, 200, 0)), block(errors(60, 60, 60, 60)), block(errors(30, 30, 30, 30))
    seen = Answers("people", ["run"], {EXAM.clean(): clean, SHUFFLED: shuffled, COVERED: even}, EXAM.classes)
    found = trust_in(EXAM, seen, SHUFFLED)
    usual = trust_in(EXAM, answers(shuffled, even), SHUFFLED)
    assert (found.index, found.null95, found.dominant) == (usual.index, usual.null95, "c")
    assert (found.flagged, usual.flagged, found.state) == (False, True, "unclear")
    assert np.isnan(found.noise)
    assert "its DI is more than by chance (DI " in found.text
    assert "no answers under mild noise to compare with" in found.text
    assert "cannot be told from chance" in trust_in(EXAM, seen, COVERED).text


def test_what_is_clearly_above_chance_comes_before_what_is_only_higher() -> None:
    """Of four errors two may name one class by chance, a rise by 25 points; of 280 a rise by 18 points is none."""
    few, many = block(errors(1, 1, 2, 0)), block(errors(53, 53, 121, 53))
    mine = answers(few, many)
    assert trust_in(EXAM, mine, SHUFFLED).index > trust_in(EXAM, mine, COVERED).index
    for one in with_trust(EXAM, mine, [accuracy_on(SHUFFLED, COVERED), accuracy_on(COVERED, SHUFFLED)]):
        assert one.trust is not None
        assert one.trust.flagged
        assert one.trust.distortion.startswith("occlude")


@pytest.mark.parametrize("cells", [(SHUFFLED, COVERED), (COVERED, SHUFFLED)])
def test_a_distortion_without_an_image_never_hides_the_interference_of_another(cells: tuple[Cell, ...]) -> None:
    none, some = block(errors(0, 0, 0, 0), valid=False), block(errors(50, 50, 60, 50))
    mine, other = answers(none, some), answers(none, some, "other")
    (one,) = with_trust(EXAM, mine, [accuracy_on(*cells)])
    assert one.trust is not None
    assert one.trust.distortion.startswith("occlude")
    (difference,) = differences(EXAM, [mine, other], [accuracy_on(*cells)])
    assert difference.trust is not None
    assert difference.trust.distortion.startswith("occlude")


def test_measures_rest_on_the_images_that_count_in_both_conditions_and_count_them_once(monkeypatch) -> None:
    """Some images are excluded from one distortion, none from the other: the errors of neither are taken for the other's."""
    clean, shuffled, covered = errors(30, 30, 30, 30), errors(10, 40, 90, 20), errors(80, 10, 20, 30)
    some = replace(block(covered), valid=np.arange(SAMPLES) % 3 > 0)
    mine = answers(block(shuffled), some)
    counted: list[int] = []
    real = trust.conditions
    monkeypatch.setattr(trust, "conditions", lambda pred, *more: counted.append(pred.shape[1]) or real(pred, *more))
    for cell, pred, kept in ((SHUFFLED, shuffled, slice(None)), (COVERED, covered, some.valid)):
        for _ in range(2):
            found, chance = interference_of(EXAM, mine, cell), chance_in(EXAM, mine, cell)
        before, after, labels = clean[None][:, kept], pred[None][:, kept], LABELS[kept]
        expected = interference(before, after, labels, 4)
        assert found == expected
        agreement = error_agreement(after, labels, 4)
        thrown = interference_null(before, after, labels, 4, agreement=agreement)
        assert chance == chance_of(expected.index, thrown)
    assert counted == [SAMPLES, int(some.valid.sum())]
