"""Groups of images, such as videos, that are taken for one class together: so many images are not so much evidence."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.measure import chance_of, interference
from snellen.measure.interference_chance import null_between
from snellen.measure.interference_noise import clumping
from snellen.measure.wrong_answers import conditions, wrong_answers

VIDEOS, FRAMES, CLASSES = 12, 25, 5


def videos(seed: int) -> tuple[np.ndarray, ...]:
    """Clean and distorted answers, labels and videos: every wrong answer to a video names one class, drawn anew when it is
    distorted, so that nothing rises over all videos that could be drawn."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(VIDEOS), FRAMES)
    labels = random.integers(CLASSES, size=VIDEOS)[group]
    pair = []
    for wrong in (0.3, 0.6):
        named = (labels + random.integers(1, CLASSES, VIDEOS)[group]) % CLASSES
        pair.append(np.where(random.random(len(group)) < wrong, named, labels))
    return *pair, labels, group


def test_videos_that_change_their_class_at_random_are_no_interference() -> None:
    alone = together = 0
    for seed in range(100):
        clean, distorted, labels, group = videos(seed)
        alone += interference(clean, distorted, labels, CLASSES, repeats=200).beyond_chance
        together += interference(clean, distorted, labels, CLASSES, repeats=200, groups=group).beyond_chance
    assert alone > 40  # as if 300 frames were 300 videos
    assert together <= 12  # 5 expected of 100, 13 with a chance of 0.1%


def test_chance_throws_videos_and_not_frames() -> None:
    clean, distorted, labels, group = videos(0)
    spreads = []
    for groups in (None, group):
        errors = conditions(clean, distorted, labels, CLASSES, None, "errors", groups)
        spreads.append(chance_of(1.0, null_between(*errors)).quantile95)
    assert spreads[1] > 1.5 * spreads[0]


def test_images_of_which_each_is_a_group_count_as_without_groups() -> None:
    clean, distorted, labels, _ = videos(1)
    plain = interference(clean, distorted, labels, CLASSES)
    single = interference(clean, distorted, labels, CLASSES, groups=np.arange(len(labels)))
    assert (single.value, single.low, single.high) == pytest.approx((plain.value, plain.low, plain.high), rel=0.05)


def test_frames_that_are_copies_clump_by_their_number() -> None:
    random = np.random.default_rng(2)
    labels = np.repeat(random.integers(CLASSES, size=400), 4)
    pred = np.repeat(random.integers(CLASSES, size=400), 4)
    errors = wrong_answers(pred, labels, CLASSES, "errors", np.repeat(np.arange(400), 4))
    assert clumping(errors) == pytest.approx(4, rel=0.01)


def test_groups_are_one_per_pair() -> None:
    clean, distorted, labels, group = videos(3)
    with pytest.raises(ValueError, match="one group per pair of samples"):
        interference(clean, distorted, labels, CLASSES, groups=group[:-1])
