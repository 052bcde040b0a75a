"""Rotation, shift, shear and zoom: whole pixels and right angles exactly, the rest against SciPy, Pillow and torchvision."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy import ndimage
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as peer

from snellen.distort import View, moved, parse, show

NEAR = 2  # grey levels from an interpolation in floating point: weights are in 256ths


def noise(count: int, height: int, width: int) -> torch.Tensor:
    return torch.randint(
        0, 256, (count, 3, height, width), dtype=torch.uint8, generator=torch.Generator().manual_seed(1)
    )


def smooth(count: int, height: int, width: int) -> torch.Tensor:
    """Pictures without fine texture, on which ways of interpolating agree."""
    coarse = noise(count, 5, 5).permute(0, 2, 3, 1).numpy()
    large = np.stack([cv2.resize(one, (width, height), interpolation=cv2.INTER_CUBIC) for one in coarse])
    return torch.from_numpy(large).permute(0, 3, 1, 2).contiguous()


def view(count: int = 4) -> View:
    return View.of([str(number) for number in range(count)])


def distort(text: str, images: torch.Tensor) -> torch.Tensor:
    return parse(text)(images, view(len(images)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(-9, 9), st.integers(-7, 7))
def test_a_shift_by_whole_pixels_copies_them_and_mirrors_the_border(across: int, down: int) -> None:
    images = noise(2, 7, 9)
    out = distort(f"shift({across / 9!r}, {down / 7!r})", images)
    wide = np.pad(images.numpy(), ((0, 0), (0, 0), (7, 7), (9, 9)), mode="symmetric")
    assert np.array_equal(out.numpy(), wide[:, :, 7 - down : 14 - down, 9 - across : 18 - across])


@pytest.mark.parametrize("turns", [-3, -1, 1, 2, 3, 4])
@pytest.mark.parametrize("side", [8, 9])
def test_right_angles_turn_squares_exactly(turns: int, side: int) -> None:
    images = noise(2, side, side)
    assert torch.equal(distort(f"rotate({90 * turns})", images), torch.rot90(images, turns, (2, 3)))


def test_half_a_turn_is_exact_on_any_shape() -> None:
    images = noise(2, 7, 10)
    assert torch.equal(distort("rotate(180)", images), images.flip(2, 3))


def by_scipy(image: np.ndarray, matrix: np.ndarray, offset: tuple[float, float] = (0, 0)) -> np.ndarray:
    """The image [H, W] under a map of (x, y) about its middle, by SciPy, whose axes are (y, x) and whose map leads back."""
    back = np.linalg.inv(matrix)[::-1, ::-1]
    middle = (np.array(image.shape) - 1) / 2
    start = middle - back @ (middle + np.array(offset)[::-1])
    return ndimage.affine_transform(image.astype(float), back, start, order=1, mode="reflect")


def turn(degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def slant(x: float, y: float) -> np.ndarray:
    return np.array([[1, np.tan(np.radians(x))], [np.tan(np.radians(y)), 1]])


@pytest.mark.parametrize(
    ("text", "matrix", "offset"),
    [
        ("rotate(13.7)", turn(13.7), (0, 0)),
        ("rotate(-71)", turn(-71), (0, 0)),
        ("shift(0.137, -0.021)", np.eye(2), (0.137 * 26, -0.021 * 19)),
        ("shear(17, 0)", slant(17, 0), (0, 0)),
        ("shear(-12, 31)", slant(-12, 31), (0, 0)),
        ("zoom(1.3)", 1.3 * np.eye(2), (0, 0)),
        ("zoom(0.43)", 0.43 * np.eye(2), (0, 0)),
    ],
)
@pytest.mark.parametrize("make", [noise, smooth])
def test_every_map_is_scipys_within_two_grey_levels(text: str, matrix: np.ndarray, offset: tuple, make: object) -> None:
    images = make(2, 19, 26)  # type: ignore[operator]
    expected = np.stack([[by_scipy(plane, matrix, offset) for plane in one] for one in images.numpy()])
    assert np.abs(distort(text, images).numpy() - expected).max() <= NEAR


@pytest.mark.parametrize("degrees", [10, -25])
def test_a_rotation_turns_the_way_pillow_and_torchvision_turn(degrees: int) -> None:
    images = smooth(2, 32, 32)
    out = distort(f"rotate({degrees})", images)[
        :, :, 10:22, 10:22
    ].int()  # away from the border, which is another's choice
    pillow = [
        np.asarray(Image.fromarray(one).rotate(degrees, Image.Resampling.BILINEAR))
        for one in images.permute(0, 2, 3, 1).numpy()
    ]
    assert (out - torch.from_numpy(np.stack(pillow)).permute(0, 3, 1, 2)[:, :, 10:22, 10:22]).abs().max() <= NEAR
    turned = peer.rotate(images, degrees, InterpolationMode.BILINEAR)
    assert (out - turned[:, :, 10:22, 10:22]).abs().max() <= NEAR


def test_a_zoom_magnifies_and_a_shear_moves_the_lower_half_to_the_right() -> None:
    images = torch.zeros((1, 3, 9, 9), dtype=torch.uint8)
    images[:, :, 4, 4] = 255
    assert int((distort("zoom(3)", images)[0, 0] > 120).sum()) > 4
    line = torch.zeros((1, 3, 9, 9), dtype=torch.uint8)
    line[:, :, :, 4] = 255
    slanted = distort("shear(30)", line)[0, 0].int()
    middles = [float((slanted[row] * torch.arange(9)).sum() / slanted[row].sum()) for row in (1, 4, 7)]
    assert middles[1] == pytest.approx(4)
    assert middles[2] - middles[1] == pytest.approx(3 * np.tan(np.radians(30)), abs=0.1)


@pytest.mark.parametrize(
    "text", ["rotate(30)", "shift(0.3, 0.1)", "shear(10, 20)", "zoom(1.4)", "rotate(uniform(-30, 30))"]
)
def test_masks_label_maps_and_covers_move_as_the_pixels_do(text: str) -> None:
    images = torch.zeros((4, 3, 24, 24), dtype=torch.uint8)
    images[:, :, 6:15, 8:20] = 255
    masks = images[:, 0] > 0
    there = moved(parse(text), masks, view())
    assert there.dtype == torch.bool
    assert float((there == (parse(text)(images, view())[:, 0] >= 128)).float().mean()) > 0.98
    labels = moved(parse(text), (masks * 7).long(), view())
    assert torch.equal(labels, there * 7)
    white = "occlude(0.2, white)"
    out, cover = show(parse(f"{white} | {text}"), images * 0, view())
    assert cover is not None
    assert float((cover == (out[:, 0] >= 128)).float().mean()) > 0.98


def test_a_stage_after_a_rotation_knows_where_mask_and_box_are_now() -> None:
    images = torch.full((1, 3, 20, 20), 9, dtype=torch.uint8)
    masks = torch.zeros((1, 20, 20), dtype=torch.bool)
    masks[:, 2:8, 3:7] = True
    known = View.of(["a"], masks=masks, boxes=[np.array([[3.0, 2, 7, 8]])])
    for foreground in ("mask", "box"):
        out = parse(f"rotate(90) | background(only_fg, foreground={foreground})")(images, known)
        assert torch.equal(out[0, 0] > 0, torch.rot90(masks[0]))


def test_boxes_go_where_their_corners_go_and_leave_with_the_image() -> None:
    affine = parse("shift(0.5, 0)").affine(10, 20, view(1))  # type: ignore[attr-defined]
    boxes = np.array([[1.0, 2, 5, 8], [8, 0, 14, 4], [12, 1, 15, 3]])
    assert affine.of_boxes(boxes, 10, 20, 0).tolist() == [[11, 2, 15, 8], [18, 0, 20, 4]]
    turned = parse("rotate(90)").affine(20, 20, view(1)).of_boxes(np.array([[3.0, 2, 7, 8]]), 20, 20, 0)  # type: ignore[attr-defined]
    assert turned == pytest.approx(np.array([[2, 13, 8, 17]]))
    assert affine.of_boxes(np.zeros((0, 4)), 10, 20, 0).shape == (0, 4)


def test_a_law_gives_each_image_its_own_angle() -> None:
    images = smooth(1, 24, 24).expand(30, -1, -1, -1)
    out = distort("rotate(uniform(-40, 40))", images)
    assert len({one.numpy().tobytes() for one in out}) == 30
    draws = view(30).parameter("degrees", parse("rotate(uniform(-40, 40))").degrees)  # type: ignore[attr-defined]
    alone = distort(f"rotate({float(draws[7])!r})", images)
    assert torch.equal(out[7], alone[7])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rotate(400)", "degrees in"),
        ("shift(0, 2)", "y in"),
        ("shear(45)", "x in"),
        ("zoom(0)", "factor in"),
        ("blur(-1)", "sigma in"),
        ("jpeg(0)", "quality in"),
    ],
)
def test_parameters_have_bounds(text: str, reason: str) -> None:
    with pytest.raises(Exception, match=reason):
        parse(text)
