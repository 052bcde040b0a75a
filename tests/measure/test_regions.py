"""Regions of images: what is a mask is read as one, whatever holds it; all else is refused with its shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.measure import (
    click_hits,
    diffuseness,
    effective_heat_ratio,
    energy_pointing_game,
    gain_ratio,
    inside_mask,
    patch_shares,
    pointing_game,
    wsol_iou,
    wsol_sweep,
)

DRAW = np.random.default_rng(0)
MAPS = DRAW.random((3, 14, 18))
MASKS = np.zeros((3, 14, 18), bool)
MASKS[0, 2:5, 3:9], MASKS[1, 7:13, 1:4], MASKS[2, 0:14, 9:18] = True, True, True

MEASURES: dict[str, Callable[[Any], np.ndarray]] = {
    "energy": lambda regions: energy_pointing_game(MAPS, regions),
    "heat ratio": lambda regions: effective_heat_ratio(MAPS, regions),
    "pointing": lambda regions: pointing_game(MAPS, regions),
    "gain": lambda regions: gain_ratio(MAPS, MAPS**2, regions),
    "wsol": lambda regions: wsol_iou(MAPS, regions, 0.9),
    "wsol sweep": lambda regions: wsol_sweep(MAPS, regions, (0.5, 0.9), "largest"),
    "inside": lambda regions: inside_mask(MAPS, regions),
}
FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "bool": lambda masks: masks,
    "bytes of 0 and 1": lambda masks: masks.astype(np.uint8),
    "bytes of 0 and 255": lambda masks: masks.astype(np.uint8) * 255,
    "floats": lambda masks: masks.astype(np.float32),
    "torch bool": torch.from_numpy,
    "torch bytes": lambda masks: torch.from_numpy(masks.astype(np.uint8) * 255),
    "torch halves": lambda masks: torch.from_numpy(masks).to(torch.bfloat16),
    "torch with gradients": lambda masks: torch.from_numpy(masks).float().requires_grad_(),
    "with a channel": lambda masks: torch.from_numpy(masks)[:, None],
    "list of bool": list,
    "list of 0 and 1": lambda masks: list(masks.astype(np.uint8)),
    "list of 0 and 255": lambda masks: list(masks.astype(np.uint8) * 255),
    "list of torch bool": lambda masks: list(torch.from_numpy(masks)),
    "list of torch bytes": lambda masks: list(torch.from_numpy(masks.astype(np.uint8) * 255)),
    "tuple of floats": lambda masks: tuple(masks.astype(float)),
    "list of one object each": lambda masks: [torch.from_numpy(mask)[None] for mask in masks],
    "nested lists": lambda masks: masks.astype(int).tolist(),
    "pictures": lambda masks: [Image.fromarray(mask.astype(np.uint8) * 255) for mask in masks],
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("form", FORMS)
def test_a_mask_is_a_mask_whatever_holds_it(measure: str, form: str) -> None:
    assert MEASURES[measure](FORMS[form](MASKS)) == pytest.approx(MEASURES[measure](MASKS))


def test_the_energy_is_that_inside_the_mask_added_by_hand() -> None:
    expected = [MAPS[place][MASKS[place]].sum() / MAPS[place].sum() for place in range(3)]
    assert energy_pointing_game(torch.from_numpy(MAPS), torch.from_numpy(MASKS)) == pytest.approx(expected)


def test_masks_of_several_objects_are_their_union_and_the_best_box_of_each() -> None:
    own = [np.stack([MASKS[0], MASKS[1]]), MASKS[1][None], np.zeros((0, 14, 18), bool)]
    union = energy_pointing_game(MAPS, [MASKS[0] | MASKS[1], MASKS[1], np.zeros((14, 18), bool)])
    assert energy_pointing_game(MAPS, own) == pytest.approx(union, nan_ok=True)
    boxes = [[[3, 2, 9, 5], [1, 7, 4, 13]], [[1, 7, 4, 13]], []]
    assert wsol_iou(MAPS, own, 0.9) == pytest.approx(wsol_iou(MAPS, boxes, 0.9), nan_ok=True)


@pytest.mark.parametrize("form", FORMS)
def test_boxes_in_the_same_forms_stay_boxes(form: str) -> None:
    boxes = np.array([[3, 2, 9, 5], [1, 7, 4, 13], [9, 0, 18, 14]])
    for own in (boxes[:, None], torch.from_numpy(boxes)[:, None], list(torch.from_numpy(boxes)), boxes.tolist()):
        assert energy_pointing_game(MAPS, own) == pytest.approx(energy_pointing_game(MAPS, FORMS[form](MASKS)))


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "inside"])
@pytest.mark.parametrize(
    ("regions", "words"),
    [
        (np.zeros((3, 14, 17), bool), r"masks of the maps' shape \[3, 14, 18\], got \[3, 14, 17\]"),
        (torch.zeros((3, 14, 17), dtype=torch.uint8), r"got an array of shape \[14, 17\] for image 0"),
        ([torch.zeros(18, 14).bool()] * 3, r"mask.* \[14, 18\], got .* \[18, 14\] for image 0"),
        ([[[0, 0, 3, 3, 0.9]], [], []], r"boxes \[n, 4\].*got an array of shape \[1, 5\] for image 0.*score or class"),
        (torch.ones((3, 2, 5)), r"boxes \[n, 4\].*got an array of shape \[2, 5\] for image 0"),
        (np.zeros((2, 14, 18), bool), "for each of 3 maps, got 2"),
        (np.zeros((14, 18), bool), "for each of 3 maps, got 14"),
        ([[], [], [0, 0, 2, 2, 4, 4, 5, 5]], r"got an array of shape \[8\] for image 2"),
        ([[], None, []], "got NoneType for image 1"),
        (np.ones(3), r"got an array of shape \[\] for image 0"),
        (np.array(5), "expected boxes for each of 3 maps, got ndarray"),
        ([[], [["a", 0, 1, 1]], []], "image 1"),
        ([[], [[0, 0], [1, 2, 3]], []], "image 1"),
        (np.full((3, 14, 18), 0.5), r"0 and 1 or 0 and 255, got 0\.5 .*image 0"),
        (np.full((3, 14, 18), np.nan), "0 and 1 or 0 and 255, got nan"),
        (np.tile(np.arange(18), (3, 14, 1)), "0 and 1 or 0 and 255, got 2 .*image 0"),
        ([[[5, 5, 2, 8]], [[1, 1, 2, 2]], [[1, 4, 2, 2]]], r"2 of 3 boxes have x1 < x0 or y1 < y0.*\[5, 5, 2, 8\] of image 0"),
    ],
)  # fmt: skip
def test_what_is_neither_is_refused_with_its_shape(measure: str, regions: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        MEASURES[measure](regions)
    assert "\n" not in str(refusal.value)


def test_inside_mask_takes_masks_alone() -> None:
    with pytest.raises(ValueError, match=r"masks \[B, H, W\].*\[3, 1, 4\]"):
        inside_mask(MAPS, [[[3, 2, 9, 5]]] * 3)
    with pytest.raises(ValueError, match="0 and 1 or 0 and 255, got 0.5"):
        inside_mask(MAPS, np.full((3, 14, 18), 0.5))


def test_a_narrow_image_tells_masks_from_boxes_by_their_type_and_values() -> None:
    heat = np.arange(8.0).reshape(1, 2, 4)
    mask = np.array([[[0, 0, 1, 1], [0, 0, 1, 1]]])  # as boxes: two of one pixel
    assert energy_pointing_game(heat, mask) == pytest.approx((2 + 3 + 6 + 7) / 28)
    assert energy_pointing_game(heat, mask.tolist()) == pytest.approx(0)  # a list of numbers is a list of boxes
    assert energy_pointing_game(heat, np.array([[[0, 0, 2, 2], [0, 0, 1, 2]]])) == pytest.approx((0 + 1 + 4 + 5) / 28)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "with a channel" and "object" not in form])
def test_other_measures_of_masks_read_them_the_same_way(form: str) -> None:
    masks = FORMS[form](MASKS)
    assert patch_shares(masks, (2, 3)) == pytest.approx(MASKS.reshape(3, 2, 7, 3, 6).mean((2, 4)))
    assert diffuseness(masks[0]) == pytest.approx(diffuseness(MASKS[0]))
    assert click_hits([0.3, 0.1, 0.1], [0.2, 0.6, 0.1], list(masks)).tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("values", "odd"), [([0, 0.3], "0.3"), ([0, -1], "-1"), ([np.nan, 1], "nan"), ([0, 300], "300")]
)
def test_clicks_on_what_is_neither_a_mask_nor_a_grey_picture_are_refused(values: list[float], odd: str) -> None:
    """Shares of 0.3 counted as the object, -1 and nan as none, without a word."""
    with pytest.raises(ValueError, match=f"expected a mask of truth values, .* got {odd} .* for click 0"):
        click_hits([0.9], [0.5], [np.array([values])])
    grey = np.array([[0, 129, 120]], np.uint8)
    assert click_hits([0.1, 0.5, 0.9], [0.5] * 3, [grey] * 3).tolist() == [0, 1, 0]
