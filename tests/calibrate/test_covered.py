"""Lessons under cover: what is covered is what was asked for, and the networks learn from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.calibrate import Ladder
from snellen.calibrate.climbing import _step
from snellen.calibrate.cover_training import under_cover
from snellen.data import load_data
from snellen.data.keys import uniform
from snellen.models.checkpoint import read_card

BLACK = "occlude(0.25, black)"  # a square of 16 of 32 pixels a side
LEARNT, COPIES = 20, 3


@pytest.fixture(scope="module")
def world():
    return load_data("phantom:train?size=32&n=40")


def images_of(data) -> np.ndarray:
    return data.read_together(range(len(data))).images


def covered_in(data, world) -> np.ndarray:
    """Which of the copies differ from the image they are of."""
    shown = images_of(data)[: LEARNT * COPIES]
    own = np.concatenate([images_of(world)[:LEARNT]] * COPIES)
    return (shown != own).any(axis=(1, 2, 3))


def test_without_cover_every_copy_is_the_image_with_its_label(world):
    shown = under_cover(world, LEARNT, COPIES, 0, BLACK)
    assert len(shown) == LEARNT * COPIES
    assert not covered_in(shown, world).any()
    np.testing.assert_array_equal(shown.samples.labels, np.tile(world.samples.labels[:LEARNT], COPIES))
    assert shown.classes == world.classes


def test_under_full_cover_every_copy_has_its_square_elsewhere_and_keeps_its_label(world):
    shown = under_cover(world, LEARNT, COPIES, 1, BLACK)
    black = (images_of(shown) == 0).all(axis=3)
    assert (black.sum(axis=(1, 2)) >= 256).all()  # 16 × 16 pixels, and what is black in the scene
    own = np.concatenate([images_of(world)[:LEARNT]] * COPIES)
    changed = (images_of(shown) != own).any(axis=3)
    assert (changed.sum(axis=(1, 2)) <= 256).all()
    corners = {(row.argmax() // 32, row.argmax() % 32) for row in changed[::LEARNT].reshape(COPIES, -1)}
    assert len(corners) == COPIES
    np.testing.assert_array_equal(shown.samples.labels, np.tile(world.samples.labels[:LEARNT], COPIES))


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_covers_the_same_copies_and_more(world, one, other):
    few, many = (covered_in(under_cover(world, LEARNT, COPIES, x, BLACK), world) for x in sorted((one, other)))
    assert (many | ~few).all()


def test_the_share_is_that_of_the_copies():
    drawn = uniform([f"{i}" for i in range(20_000)], "covered")
    assert np.mean(drawn < 0.3) == pytest.approx(0.3, abs=0.015)
    assert drawn.min() >= 0
    assert drawn.max() < 1


def test_strangers_are_other_images_all_covered_and_all_of_the_first_class(world):
    shown = under_cover(world, LEARNT, COPIES, 0, BLACK, strangers=15)
    own, strangers = images_of(shown)[: LEARNT * COPIES], images_of(shown)[LEARNT * COPIES :]
    assert len(strangers) == 15
    assert (shown.samples.labels[LEARNT * COPIES :] == 0).all()
    assert ((strangers == 0).all(axis=3).sum(axis=(1, 2)) >= 256).all()
    changed = (strangers != images_of(world)[LEARNT : LEARNT + 15]).any(axis=3).sum(axis=(1, 2))
    assert (changed <= 256).all()
    np.testing.assert_array_equal(
        own, np.concatenate([images_of(world)[:LEARNT]] * COPIES)
    )  # those learnt stay as they are


def test_what_is_shown_decides_the_fingerprint(world):
    asked = [(20, 3, 0.5, BLACK, 0), (20, 3, 0.6, BLACK, 0), (20, 3, 0.5, "occlude(0.25, noise)", 0), (20, 3, 0.5, BLACK, 5),
             (20, 2, 0.5, BLACK, 0), (10, 3, 0.5, BLACK, 0)]  # fmt: skip
    prints = [under_cover(world, *one).fingerprint for one in asked]
    assert len({*prints, world.fingerprint}) == len(asked) + 1
    assert under_cover(world, *asked[0]).fingerprint == prints[0]


def test_a_wrong_call_is_told(world):
    with pytest.raises(ValueError, match=r"expected a share in \[0, 1\], got 1.5"):
        under_cover(world, 20, 3, 1.5, BLACK)
    with pytest.raises(ValueError, match="expected at least 60 images, got 40"):
        under_cover(world, 20, 3, 0.5, BLACK, strangers=40)
    with pytest.raises(ValueError, match="expected a world to train on"):
        Ladder(
            "t",
            "p",
            "s",
            "phantom:test",
            "accuracy",
            "up",
            model="observer:guess",
            make_training_data=lambda data, x: data,
        )


@pytest.mark.slow
def test_the_networks_of_a_rung_learn_from_what_they_are_taught(world, tmp_path):
    ladder = Ladder(
        "t", "p", "s", "phantom:test?size=32&n={images}", "iocclusion", "up", train="phantom:train?size={size}&n=40",
        audit_train="phantom:train?size={size}&n=20", audits="occlusion([0.3], [black])", values=(0.5,),
        make_training_data=lambda data, x: under_cover(data, LEARNT, COPIES, x, BLACK),
    )  # fmt: skip
    step = _step("taught", ladder, ladder.rungs(12)[0], tmp_path)
    assert step.n == 12
    networks = sorted((tmp_path / "networks").glob("*/*.safetensors"))
    assert len(networks) == 3
    wanted = under_cover(world, LEARNT, COPIES, 0.5, BLACK).fingerprint
    assert {read_card(path)["fingerprint"] for path in networks} == {wanted}
