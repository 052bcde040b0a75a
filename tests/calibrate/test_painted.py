"""The square's paint: CutOcclusion follows it, iOcclusion follows what is kept, and where that ends."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.calibrate import LADDERS, calibrate
from snellen.calibrate.ladder import CHANCE
from snellen.calibrate.series import AREA, KEPT_SHARE, PAINTED_TEST
from snellen.calibrate.truths import paint_truth
from snellen.data.phantom import read_world
from snellen.distort import apply
from snellen.models.observers import parse


@pytest.fixture(scope="module")
def climbed(tmp_path_factory):
    """Some of the series, three rungs of 120 images each, by name."""
    out = tmp_path_factory.mktemp("painted")
    names = ("paint_cut", "paint_iocclusion", "keeping_iocclusion", "keeping_cut", "blinded_iocclusion")
    page = calibrate(out, names, images=120, quick=True, quiet=True)
    return {series["name"]: series for series in page["ladders"]}


def test_cut_occlusion_falls_with_the_paint_and_iocclusion_stays(climbed):
    cut, gap = climbed["paint_cut"], climbed["paint_iocclusion"]
    assert cut["follows"]
    assert cut["slope"]["high"] < -0.3  # the truth: −11/24
    assert gap["follows"]
    assert gap["slope"]["low"] < 0 < gap["slope"]["high"]
    assert gap["inside"] == 3


def test_iocclusion_orders_by_what_is_kept_where_cut_occlusion_orders_the_other_way(climbed):
    gap, cut = climbed["keeping_iocclusion"], climbed["keeping_cut"]
    assert gap["spearman"] == pytest.approx(1)
    assert cut["spearman"] == pytest.approx(-1)
    assert cut["slope"]["high"] < -0.3
    assert gap["slope"]["low"] > 0.5


def test_paint_that_blots_out_memory_too_fools_iocclusion(climbed):
    blinded = climbed["blinded_iocclusion"]
    assert blinded["spearman"] == pytest.approx(-1)
    assert blinded["points"][-1]["value"] == 0  # black decides everything: one class, train and test


def test_the_truths_are_those_worked_by_hand():
    # Test images under black: memory guesses (1/12 of a half), texture is right but where black decides (1/12 there).
    assert paint_truth(0) == pytest.approx(13 / 24)
    assert paint_truth(1) == pytest.approx(CHANCE)
    # Recalled 1, new images: half known, half guessed. Clean gap 1 − 13/24 = 11/24; all fooled 1 − 1/12 = 22/24.
    assert LADDERS["recalling_iocclusion"].truth(1) == pytest.approx((22 / 24) / (11 / 24))
    assert LADDERS["blinded_iocclusion"].truth(0) == KEPT_SHARE


def test_no_square_hides_a_whole_object_so_texture_is_always_right():
    world = read_world(PAINTED_TEST.format(size=32, images=600))
    shown = world.render(range(600)).images
    covered = apply(f"occlude({AREA}, black)", shown, [str(i) for i in range(600)])
    np.testing.assert_array_equal(parse("texture").answer(covered), world.recipe(range(600)).true_class)
