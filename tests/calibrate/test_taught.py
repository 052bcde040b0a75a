"""Networks that learnt under cover: what is planted on each rung, and that iOcclusion sees it."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.calibrate import LADDERS
from snellen.calibrate.climbing import _step
from snellen.calibrate.cover_training import (
    COPIES,
    COVERED_SHARE,
    LEARNT,
    STRANGERS,
    cover_with_black,
    cover_with_noise,
)
from snellen.calibrate.network_series import COVERED
from snellen.data import load_data


@pytest.fixture(scope="module")
def world():
    return load_data(COVERED["train"].format(size=32))


def images_of(data) -> np.ndarray:
    return data.read_together(range(len(data))).images


def test_the_training_images_that_are_shown_are_those_learnt(world):
    seen = load_data(COVERED["audit_train"].format(size=32))
    assert seen.samples.ids == world.samples.ids[:LEARNT]
    np.testing.assert_array_equal(seen.samples.labels, world.samples.labels[:LEARNT])
    np.testing.assert_array_equal(images_of(seen), images_of(world.at(np.arange(LEARNT))))


def test_each_rung_covers_its_share_of_the_showings(world):
    own = np.concatenate([images_of(world.at(np.arange(LEARNT)))] * COPIES)
    for share in LADDERS["trained_keeping_iocclusion"].values:
        changed = (images_of(cover_with_noise(world, share)) != own).any(axis=3)
        covered = changed.mean(axis=(1, 2)) > 0.4  # noise may by chance leave a pixel as it is
        assert covered.mean() == pytest.approx(share, abs=0.05)
        assert covered.sum() == changed.any(axis=(1, 2)).sum()


def test_each_rung_of_the_paint_adds_strangers_and_leaves_the_lessons(world):
    first = cover_with_black(world, 0)
    showings = LEARNT * COPIES
    assert len(first) == showings
    for ratio in LADDERS["trained_paint_cut"].values:
        shown = cover_with_black(world, ratio)
        assert len(shown) == showings + round(ratio * showings)
        np.testing.assert_array_equal(images_of(shown)[:showings], images_of(first))
    assert len(shown) == showings + STRANGERS
    black = (images_of(first) == 0).all(axis=3).sum(axis=(1, 2)) >= 18 * 18
    assert black.mean() == pytest.approx(COVERED_SHARE, abs=0.05)


def test_the_series_under_cover_make_their_own_training_data():
    names = [name for name in LADDERS if name.startswith(("trained_keeping_", "trained_paint_"))]
    assert len(names) == 5
    assert all(LADDERS[name].trained and LADDERS[name].make_training_data for name in names)


@pytest.mark.slow
def test_networks_that_learnt_under_cover_keep_more_of_what_they_memorised(tmp_path):
    ladder = LADDERS["trained_keeping_iocclusion"]
    rungs = ladder.rungs(120)
    bare, covered = (_step("kept", ladder, rungs[place], tmp_path).point for place in (0, -1))
    assert covered.low > bare.high
