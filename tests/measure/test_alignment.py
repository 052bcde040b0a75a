"""EnergyPG, EHR, WSOL, the pointing game and the gain ratio: published vectors, hand-worked maps and what must not vary."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from snellen.measure import (
    effective_heat_ratio,
    energy_gain,
    energy_pointing_game,
    gain_ratio,
    inside_mask,
    pointing_game,
    suggested_boxes,
    wsol_iou,
    wsol_sweep,
)

MEASURES = (energy_pointing_game, effective_heat_ratio, pointing_game, wsol_iou)
BYTES = arrays(np.uint8, (3, 6, 7))
HEAT = arrays(np.float64, (3, 6, 7), elements=st.floats(0, 100).map(lambda value: round(value, 2)))
MASKS = arrays(bool, (3, 6, 7))


def square(side: int, start: int, stop: int, value: float = 1.0) -> np.ndarray:
    heat = np.zeros((1, side, side))
    heat[0, start:stop, start:stop] = value
    return heat


# EnergyPG


def test_energy_by_hand_rows_are_y_and_boxes_are_half_open() -> None:
    heat = np.arange(12.0).reshape(1, 3, 4)
    assert energy_pointing_game(heat, [[[1, 0, 3, 2]]]) == pytest.approx((1 + 2 + 5 + 6) / 66)
    assert energy_pointing_game(heat, [[[0, 0, 4, 1]]]) == pytest.approx(
        (0 + 1 + 2 + 3) / 66
    )  # the first row, not column


def test_two_boxes_that_overlap_count_once_and_those_beyond_the_image_are_cut() -> None:
    heat = np.ones((1, 4, 5))
    assert energy_pointing_game(heat, [[[0, 0, 2, 2], [1, 1, 3, 3]]]) == pytest.approx(7 / 20)
    assert energy_pointing_game(heat, [[[-5, -5, 2, 2], [4, 3, 90, 90]]]) == pytest.approx(5 / 20)
    assert energy_pointing_game(heat, [[[0.4, 0, 1.6, 4]]]) == pytest.approx(8 / 20)  # the middles of two columns


@given(heat=HEAT, masks=MASKS)
def test_energy_in_masks_is_the_share_inside_them(heat: np.ndarray, masks: np.ndarray) -> None:
    own = energy_pointing_game(heat, masks)
    assert own == pytest.approx(np.where(masks.any((1, 2)), inside_mask(heat, masks), np.nan), nan_ok=True)


# EHR


def by_the_pixels(heat: np.ndarray, inside: np.ndarray, weighted: bool = True) -> float:
    """The published procedure word by word, pixel by pixel."""
    heat = np.where(heat / heat.max() < 0.1, 0, heat / heat.max())
    ratios = []
    for q in np.linspace(0, 1, 11):
        reached = heat >= min(np.quantile(heat[heat >= 0.1], q), 0.99)
        ratios.append((heat if weighted else np.ones_like(heat))[reached & inside].sum() / (reached.sum() + 1e-8))
    return float(np.trapezoid(ratios, np.linspace(0, 1, 11)))


def test_the_published_vectors() -> None:
    region = [[[100, 100, 350, 350]]]
    assert effective_heat_ratio(square(500, 100, 350), region) == pytest.approx([1])
    assert effective_heat_ratio(square(500, 100, 300), region) == pytest.approx([1])
    two_levels = np.maximum(square(100, 20, 80, 0.9), square(100, 40, 60))
    assert effective_heat_ratio(two_levels, [[[40, 40, 60, 60]]]) == pytest.approx([0.2444444], abs=1e-7)
    assert effective_heat_ratio(two_levels * 50, [[[40, 40, 60, 60]]]) == pytest.approx([0.2444444], abs=1e-7)


@given(heat=HEAT | BYTES, masks=MASKS, weighted=st.booleans())
def test_heat_ratios_are_those_of_the_published_procedure(heat: np.ndarray, masks: np.ndarray, weighted: bool) -> None:
    before = heat.copy()
    own = effective_heat_ratio(heat, masks, weighted=weighted)
    assert (heat == before).all()
    for ratio, one, inside in zip(own, heat, masks):
        if not one.any() or not inside.any():
            assert np.isnan(ratio)
        else:
            assert ratio == pytest.approx(by_the_pixels(one, inside, weighted), abs=1e-6)


def test_faint_heat_is_no_heat_to_ehr_but_energy_it_is() -> None:
    heat = np.full((1, 10, 10), 0.099)
    heat[0, :2, :2] = 1
    assert effective_heat_ratio(heat, [[[0, 0, 2, 2]]]) == pytest.approx([1])
    assert energy_pointing_game(heat, [[[0, 0, 2, 2]]]) == pytest.approx([4 / (4 + 96 * 0.099)])


# WSOL


def test_the_suggested_box_holds_what_reaches_the_threshold() -> None:
    heat = np.zeros((1, 8, 10))
    heat[0, 2, 3], heat[0, 5, 7], heat[0, 0, 0] = 100, 15, 14.9
    assert suggested_boxes(heat).tolist() == [[3, 2, 8, 6]]
    assert wsol_iou(heat, [[[3, 2, 8, 6]]]) == [1]
    assert wsol_iou(heat, [[[3, 2, 8, 4], [0, 0, 10, 8], [9, 7, 10, 8]]]) == [0.5]  # the best of 10/20, 20/80 and 0
    assert wsol_iou(heat, [[[3, 2, 4, 3]]], threshold=0.2) == [1]
    assert wsol_sweep(heat, [[[3, 2, 8, 6]]], (0.15, 0.2, 0.1)).tolist() == [[1], [1 / 20], [20 / 48]]


def test_the_largest_component_is_by_pixels_over_corners_and_within_its_image() -> None:
    heat = np.zeros((2, 6, 6))
    heat[0, 0, 5], heat[0, 3, 1], heat[0, 4, 2] = 1, 1, 1  # two that touch by their corners, and one apart
    heat[1, 5, 5] = heat[1, 0, 5] = heat[1, 1, 5] = 1  # the last row touches the next image's first only in memory
    assert suggested_boxes(heat, component="largest").tolist() == [[1, 3, 3, 5], [5, 0, 6, 2]]
    assert suggested_boxes(heat).tolist() == [[1, 0, 6, 5], [5, 0, 6, 6]]
    assert wsol_iou(heat, [[[1, 3, 3, 5]], [[5, 0, 6, 2]]], component="largest") == pytest.approx([1, 1])


@given(heat=HEAT | BYTES, threshold=st.sampled_from([0, 0.15, 0.5, 1]))
def test_the_suggested_box_is_the_tight_box_of_the_pixels(heat: np.ndarray, threshold: float) -> None:
    for box, one in zip(suggested_boxes(heat, threshold), heat):
        rows, columns = np.nonzero(one >= threshold * float(one.max()))
        assert box.tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def test_a_mask_is_compared_by_the_box_around_it() -> None:
    mask = np.zeros((1, 8, 10), bool)
    mask[0, 2, 3] = mask[0, 5, 7] = True
    assert wsol_iou(mask.astype(float), mask) == [1]


# Figure 2: what each of them sees


@given(
    heat=arrays(np.uint8, (8, 8), elements=st.integers(40, 255)),
    start=st.integers(2, 4),
    side=st.integers(1, 3),
)
def test_maps_of_one_silhouette_have_one_wsol_whatever_lies_inside(heat: np.ndarray, start: int, side: int) -> None:
    middle = np.zeros((8, 8), bool)
    middle[start : start + side, start : start + side] = True
    silhouette = np.pad(np.ones((8, 8)), 3)
    centre, edge = (np.pad(np.where(hot, 255, np.minimum(heat, 80)), 3) for hot in (middle, ~middle))
    maps = np.stack([silhouette, centre, edge])
    boxes = [[[start + 3, start + 3, start + side + 3, start + side + 3]]] * 3
    for component in ("all", "largest"):
        assert len(set(wsol_iou(maps, boxes, component=component))) == 1  # type: ignore[arg-type]
    for measure in (energy_pointing_game, effective_heat_ratio):
        _, at_centre, at_edge = measure(maps, boxes)
        assert at_centre > at_edge


# Pointing game and gain ratio


def test_the_pointing_game_shares_what_is_tied() -> None:
    heat = np.zeros((3, 4, 4))
    heat[0, 1, 2], heat[0, 3, 3] = 5, 4
    heat[1, 1, 2], heat[1, 3, 3] = 4, 5
    heat[2, 1, 2] = heat[2, 3, 3] = 7
    assert pointing_game(heat, [[[2, 1, 3, 2]]] * 3).tolist() == [1, 0, 0.5]


def test_the_gain_ratio_by_hand() -> None:
    before = np.zeros((5, 2, 2))
    before[:, 0, 0] = 1
    after = before.copy()
    after[0, 0] = [1.5, 1.5]  # half a unit more inside, two in all
    after[1, 0, 0] = 2  # all of the gain inside
    after[2, 0] = [0.5, 2.5]  # less inside, more in all
    after[4, 0] = [0.5, 0]  # all of the loss inside; the fourth has gained nothing
    ratios = gain_ratio(after, before, [[[0, 0, 1, 1]]] * 5)
    assert ratios == pytest.approx([0.25, 1, -0.25, np.nan, 1], nan_ok=True)


def test_the_gain_over_many_images_is_the_ratio_of_their_sums() -> None:
    draw = np.random.default_rng(0)
    other = draw.uniform(0.1, 0.2, (1, 60)), draw.uniform(0.3, 0.5, (1, 60))
    own = other[0] + 0.02, other[1] + 0.1
    gain = energy_gain(own, other)
    assert (gain.value, gain.inside, gain.whole, gain.n) == (
        pytest.approx(0.2),
        pytest.approx(0.02),
        pytest.approx(0.1),
        60,
    )
    assert np.isnan(gain.low)  # all images alike: nothing was seen to vary
    uneven = other[0] + draw.uniform(0, 0.04, 60), other[1] + draw.uniform(0, 0.2, 60)
    gain = energy_gain(uneven, other)
    assert gain.low < gain.value < gain.high
    assert gain.value == pytest.approx((uneven[0] - other[0]).sum() / (uneven[1] - other[1]).sum())
    either_way = other[1] + draw.normal(0, 0.1, 60)
    assert np.isnan(energy_gain((own[0], either_way), other).low)  # nobody knows whether energy was gained
    assert np.isnan(energy_gain(other, other).value)
    assert energy_gain((own[0] * np.nan, own[1]), other).n == 0


# What is not there


@pytest.mark.parametrize("measure", MEASURES)
def test_maps_of_zeros_nan_or_infinity_and_boxes_that_are_not_there_give_nan(measure) -> None:
    heat = np.ones((6, 3, 4))
    heat[0], heat[1, 0, 0], heat[2, 1, 1] = 0, np.nan, np.inf
    boxes = [[[0, 0, 2, 2]]] * 3 + [[], [[7, 7, 9, 9]], [[0, 0, 2, 2]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = measure(heat, boxes)
        masks = measure(heat, np.arange(6)[:, None, None] > np.full((6, 3, 4), 4))
        assert measure(np.zeros((0, 3, 4)), []).shape == (0,)
    assert np.isnan(values[:5]).all()
    assert np.isfinite(values[5])
    assert np.isnan(masks).tolist() == [True] * 5 + [False]


@pytest.mark.parametrize("value", [1, 255, 1e-9, True])
def test_a_map_of_one_value_has_the_boxs_share(value: float) -> None:
    heat, boxes = np.full((1, 4, 5), value), [[[1, 1, 3, 3]]]
    for measure in MEASURES:
        assert measure(heat, boxes) == pytest.approx([4 / 20])


@given(heat=BYTES, masks=MASKS, scale=st.floats(0.01, 100))
def test_every_value_is_a_share_whatever_the_scale_and_each_image_stands_alone(
    heat: np.ndarray, masks: np.ndarray, scale: float
) -> None:
    for measure in MEASURES:
        values = measure(heat, masks)
        known = values[~np.isnan(values)]
        assert ((known >= 0) & (known <= 1 + 1e-12)).all()
        assert measure(heat[1:2], masks[1:2]) == pytest.approx(values[1:2], nan_ok=True)
        if measure in (energy_pointing_game, pointing_game):
            assert measure(heat * scale, masks) == pytest.approx(values, nan_ok=True)
        assert measure(heat[:, ::-1, ::-1], masks[:, ::-1, ::-1]) == pytest.approx(values, nan_ok=True)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("maps", "boxes", "words"),
    [
        (np.zeros((3, 4)), [], r"expected maps \[B, H, W\], got an array of shape \[3, 4\]"),
        (-np.ones((1, 3, 4)), [[]], "not negative, got -1"),
        (np.ones((2, 3, 4)), [[]], "expected boxes for each of 2 maps, got 1"),
        (np.ones((1, 3, 4)), np.ones((1, 3, 5), bool), r"masks of the maps' shape \[1, 3, 4\], got \[1, 3, 5\]"),
        (np.ones((1, 3, 4)), [[[0, 0, np.nan, 2]]], "expected boxes of numbers, got nan"),
    ],
)
def test_wrong_calls_are_named(measure, maps: np.ndarray, boxes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        measure(maps, boxes)


def test_wrong_thresholds_and_components_are_named() -> None:
    with pytest.raises(ValueError, match=r"expected a threshold in \[0, 1\], got 2"):
        wsol_iou(np.ones((1, 3, 4)), [[]], threshold=2)
    with pytest.raises(ValueError, match="all or largest, got 'smallest'"):
        wsol_iou(np.ones((1, 3, 4)), [[]], component="smallest")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"expected baseline maps of shape \[1, 3, 4\]"):
        gain_ratio(np.ones((1, 3, 4)), np.ones((1, 3, 5)), [[]])
    with pytest.raises(
        ValueError, match="expected maps of one scale, got uint16 and uint8; divide each by its maximum"
    ):
        gain_ratio(np.ones((1, 3, 4), np.uint16), np.ones((1, 3, 4), np.uint8), [[]])
