"""Very many classes: label maps without a matrix give the answers of the matrix, and nothing is quadratic in the classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from snellen.measure import interference_null
from snellen.models import class_match, labels
from snellen.models.labels import LabelMap, match_classes

MANY = 21_000


@pytest.mark.parametrize("rule", ["argmax", "mean", "sum"])
@pytest.mark.parametrize("outputs_of_a_class", [1, 7])
def test_a_label_map_without_its_matrix_reads_the_same(
    monkeypatch: pytest.MonkeyPatch, rule: labels.Rule, outputs_of_a_class: int
) -> None:
    random = np.random.default_rng(0)
    targets = np.full(300, -1)
    chosen = random.permutation(300)[: 40 * outputs_of_a_class]
    targets[chosen] = np.arange(len(chosen)) % 40
    targets[chosen[:2]] = -1  # two classes have an output less, or none
    label_map = LabelMap(40, rule, tuple(targets.tolist()))
    probabilities = torch.from_numpy(random.dirichlet(np.full(300, 0.1), 64).astype(np.float32))
    probabilities[3, int(chosen[5])] = torch.nan
    truth = torch.from_numpy(random.integers(-1, 40, 64))
    by_matrix = label_map.read(probabilities, truth)
    monkeypatch.setattr(labels, "LARGEST_MATRIX", 0)
    without = label_map.read(probabilities, truth)
    assert torch.equal(by_matrix.pred, without.pred)
    assert torch.equal(by_matrix.raw, without.raw)
    for first, second in zip(by_matrix[2:], without[2:]):
        assert torch.allclose(first, second, rtol=1e-5, atol=1e-7 if outputs_of_a_class > 1 else 0, equal_nan=True)


def test_many_classes_in_another_order_are_matched_and_read() -> None:
    known = [f"class {number}" for number in range(MANY)]
    label_map, notices = match_classes(known[::-1], known, "m")
    assert notices == []
    assert label_map.lost(known) == ()
    probabilities = torch.zeros(2, MANY)
    probabilities[0, 5], probabilities[1, 20_999] = 1, 1
    reading = label_map.read(probabilities, torch.tensor([MANY - 6, 7]))
    assert reading.pred.tolist() == [MANY - 6, 0]
    assert reading.label_prob.tolist() == [1, 0]


def test_hints_are_looked_for_until_enough_names_were_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hint for each would compare 21,000² names, at some microseconds each."""
    looked: list[Sequence[str]] = []
    monkeypatch.setattr(class_match._Outputs, "hints", lambda self, names: looked.append(names) or (0,))
    known, wanted = [f"vidre {n:x}" for n in range(MANY)], {f"{n} mot": 1 for n in range(MANY)}
    matches = class_match.propose(known, MANY, wanted)
    assert not any(match.outputs for match in matches)
    assert len(looked) == class_match.MOST_PAIRS // MANY
    assert [bool(match.candidates) for match in matches].index(False) == len(looked)


def test_errors_that_all_fall_on_one_class_need_no_table_of_classes_by_classes() -> None:
    pred = np.arange(200)[None] * 100 % MANY
    truth = (np.arange(200) * 100 + 1) % MANY
    null = interference_null(pred, pred, truth, MANY, repeats=3, kind="one", clean_errors=False)
    assert null.tolist() == [null[0]] * 3
    assert null[0] > 0
