"""The losses of mixed batches, worked out by hand and against torch's."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.train.mixing import Targets, majority_loss, mixed_loss

LOGITS = torch.tensor([[math.log(3.0), 0.0], [0.0, 0.0]])  # probabilities 3/4, 1/4 and 1/2, 1/2
OWN, PARTNER = torch.tensor([0, 1]), torch.tensor([1, 0])


def test_the_mixed_loss_is_the_weighted_sum_worked_out_by_hand():
    weight = torch.tensor([0.7, 0.2])
    expected = (0.7 * math.log(4 / 3) + 0.3 * math.log(4) + math.log(2)) / 2
    assert float(mixed_loss(LOGITS, Targets(OWN, PARTNER, weight))) == pytest.approx(expected)
    alone = (math.log(4 / 3) + math.log(2)) / 2
    assert float(mixed_loss(LOGITS, Targets(OWN, PARTNER, torch.ones(2)))) == pytest.approx(alone)
    assert float(mixed_loss(LOGITS, Targets(OWN, OWN, torch.ones(2)))) == pytest.approx(alone)


def test_smoothing_by_hand():
    """Half of the smoothing goes to each of two classes: 0.9 · ln 4/3 + 0.1 · ln 4 in the first row."""
    found = mixed_loss(LOGITS, Targets(OWN, OWN, torch.ones(2)), smoothing=0.2)
    assert float(found) == pytest.approx((0.9 * math.log(4 / 3) + 0.1 * math.log(4) + math.log(2)) / 2)


def test_the_majority_loss_by_hand_takes_the_own_label_in_a_tie():
    for weights, label in (((0.7, 0.2), PARTNER), ((0.5, 0.2), PARTNER), ((0.49, 0.9), OWN)):
        chosen = torch.where(torch.tensor(weights) >= 0.5, OWN, PARTNER)
        expected = [math.log(4 / 3) if chosen[0] == 0 else math.log(4), math.log(2)]
        found = majority_loss(LOGITS, Targets(OWN, PARTNER, torch.tensor(weights)))
        assert float(found) == pytest.approx(sum(expected) / 2), label
    assert float(majority_loss(LOGITS[:1], Targets(OWN[:1], PARTNER[:1], torch.tensor([0.5])))) == pytest.approx(
        math.log(4 / 3)
    )


@settings(max_examples=40)
@given(seed=st.integers(0, 2**30), maps=st.booleans(), smoothing=st.floats(0, 0.5))
def test_the_loss_equals_torchs_against_soft_labels(seed, maps, smoothing):
    generator = torch.Generator().manual_seed(seed)
    shape = (3, 4, 5) if maps else (3,)
    logits = torch.randn(3, 6, *shape[1:], generator=generator)
    own, partner = (torch.randint(6, shape, generator=generator) for _ in range(2))
    weight = torch.rand(3, generator=generator)
    hot = [torch.nn.functional.one_hot(label, 6).movedim(-1, 1).float() for label in (own, partner)]
    share = weight.view(-1, *[1] * len(shape))
    soft = share * hot[0] + (1 - share) * hot[1]
    expected = torch.nn.functional.cross_entropy(logits, soft, label_smoothing=smoothing)
    torch.testing.assert_close(mixed_loss(logits, Targets(own, partner, weight), smoothing), expected)


def test_ignored_pixels_count_nowhere():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 5, 6, 6, generator=generator)
    own = torch.randint(5, (2, 6, 6), generator=generator)
    own[0, :3] = -100
    expected = torch.nn.functional.cross_entropy(logits, own)
    torch.testing.assert_close(mixed_loss(logits, Targets(own, own, torch.ones(2))), expected)
    torch.testing.assert_close(mixed_loss(logits, Targets(own, own.clone(), torch.ones(2))), expected)
    torch.testing.assert_close(mixed_loss(logits, Targets(own, own.clone(), torch.tensor([0.3, 0.6]))), expected)
    torch.testing.assert_close(majority_loss(logits, Targets(own, own, torch.ones(2))), expected)
    void = torch.where(own == -100, 3, own)
    changed = mixed_loss(logits, Targets(void, void, torch.ones(2)), ignore=3)
    assert float(changed) == pytest.approx(float(torch.nn.functional.cross_entropy(logits, void, ignore_index=3)))


def test_gradients_flow_to_both_labels_by_their_weights():
    logits = torch.zeros(1, 3, requires_grad=True)
    mixed_loss(logits, Targets(torch.tensor([0]), torch.tensor([2]), torch.tensor([0.75]))).backward()
    torch.testing.assert_close(logits.grad, torch.tensor([[1 / 3 - 0.75, 1 / 3, 1 / 3 - 0.25]]))
