"""Augmentation of batches: pixels and labels move together, the laws and the colours are torchvision's."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, ks_2samp, kstest
from torchvision.transforms import InterpolationMode, RandomResizedCrop
from torchvision.transforms.v2 import functional as vision

from snellen.errors import UserError
from snellen.train.augment import (
    Augment,
    Flip,
    Jitter,
    RandomShift,
    RandomZoom,
    colour_jitter,
    random_crop,
    random_flip,
    random_resized_crop,
)
from snellen.train.augment.jitter import CHANGES


def draws(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def noise(count: int, height: int, width: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 256, (count, 3, height, width), dtype=torch.uint8, generator=draws(seed))


def smooth(count: int, height: int, width: int) -> torch.Tensor:
    """Images with edges and slopes, as photographs have them."""
    coarse = torch.rand(count, 3, 6, 6, generator=draws(9)) * 300 - 20
    fine = torch.nn.functional.interpolate(coarse, (height, width), mode="bicubic")
    return fine.clamp(0, 255).round().to(torch.uint8)


def levels_apart(one: torch.Tensor, other: torch.Tensor) -> int:
    return int((one.int() - other.int()).abs().max())


@pytest.mark.parametrize("side", [20, 70])  # below and above the size from which a CPU copies image by image
@pytest.mark.parametrize(("fill", "numpy_mode"), [("black", "constant"), ("reflect", "reflect")])
def test_a_shift_is_the_window_of_the_image_that_numpy_pads(side, fill, numpy_mode):
    images = noise(8, side, side - 3)
    shift = RandomShift.draw(8, 5, draws(1), fill)
    padded = np.pad(images.numpy(), ((0, 0), (0, 0), (5, 5), (5, 5)), mode=numpy_mode)
    for row, (top, left) in enumerate(shift.corners.T.tolist()):
        window = padded[row, :, top : top + side, left : left + side - 3]
        assert np.array_equal(shift.images(images)[row].numpy(), window)


def test_shifts_and_coins_are_uniform():
    corners = RandomShift.draw(9000, 1, draws()).corners
    assert chisquare(torch.bincount(3 * corners[0] + corners[1], minlength=9).numpy()).pvalue > 1e-3
    assert float(Flip.draw(9000, draws()).mirrored.float().mean()) == pytest.approx(0.5, abs=0.02)


def test_the_functions_are_their_changes_drawn_and_applied():
    images = noise(6, 16, 16)
    assert torch.equal(random_flip(images, draws(3)), Flip.draw(6, draws(3)).images(images))
    assert torch.equal(random_crop(images, 2, draws(3)), RandomShift.draw(6, 2, draws(3)).images(images))
    box = RandomZoom.draw(images.shape, (8, 10), draws(3))
    assert torch.equal(random_resized_crop(images, (8, 10), draws(3)), box.images(images))
    assert torch.equal(colour_jitter(images, draws(3), 0.4), Jitter.draw(6, draws(3), 0.4).images(images))


CHAINS = [
    Augment(flip=True, padding=4),
    Augment(flip=True, padding=3, fill="reflect"),
    Augment(flip=False, padding=2, resized=(0.3, 1.0)),
    Augment(resized=(0.08, 1.0), jitter=0.1),
]


@pytest.mark.parametrize("augment", CHAINS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_label_maps_move_with_their_images(augment, dtype):
    """The left half of every image is bright and labelled 7: wherever a pixel goes, its label goes too."""
    labels = torch.full((40, 66, 64), 3, dtype=dtype)
    labels[:, :, :32] = 7
    images = torch.where(labels[:, None] == 7, 220, 60).to(torch.uint8).expand(40, 3, 66, 64).contiguous()
    shown, maps = augment(images, draws(4), labels)
    assert maps.dtype == dtype
    assert maps.shape == labels.shape
    bright, dark, unknown = maps == 7, maps == 3, maps == 255
    assert (bright | dark | unknown).all()
    assert unknown.any() == (augment.padding > 0 and augment.fill == "black")
    # A resized edge is blurred over a pixel or so: away from it, and from black borders, labels must fit exactly.
    sharp = torch.ones_like(bright) if augment.resized is None else ~_near_an_edge(maps)
    assert (shown[:, 0] > 140)[bright & sharp].all()
    assert (shown[:, 0] < 140)[dark & sharp].all()
    if augment.resized is None:
        assert (shown[:, 0][unknown] == 0).all()


def _near_an_edge(maps: torch.Tensor) -> torch.Tensor:
    changes = torch.zeros(maps.shape)
    changes[:, :, 1:] = (maps[:, :, 1:] != maps[:, :, :-1]).float()
    changes[:, 1:] += (maps[:, 1:] != maps[:, :-1]).float()
    return torch.nn.functional.max_pool2d(changes, 9, 1, 4) > 0


def test_what_is_uncovered_gets_the_label_that_is_asked_for():
    shift = RandomShift(torch.tensor([[0], [0]]), 2)  # down and to the right by two
    maps = shift.maps(torch.ones(1, 4, 4, dtype=torch.int64), ignore=-100)
    expected = torch.tensor([[-100] * 4, [-100] * 4, [-100, -100, 1, 1], [-100, -100, 1, 1]])
    assert torch.equal(maps[0], expected)


@pytest.mark.parametrize(("height", "width"), [(64, 64), (48, 100), (20, 90), (10, 12)])
def test_boxes_follow_the_law_of_torchvisions_random_resized_crop(height, width):
    """20 × 90 often takes the central fallback: its aspect 4.5 is far from the allowed 3/4 … 4/3."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        image = torch.empty(1, height, width)
        theirs = np.array([RandomResizedCrop.get_params(image, [0.08, 1.0], [3 / 4, 4 / 3]) for _ in range(3000)])
    ours = RandomZoom.draw((3000, 3, height, width), (32, 32), draws(1)).boxes.numpy()
    for quantity in (
        lambda box: box[:, 2] * box[:, 3],
        lambda box: box[:, 3] / box[:, 2],
        lambda box: box[:, 0],
        lambda box: box[:, 1],
        lambda box: box[:, 0] + box[:, 2],
    ):
        assert ks_2samp(quantity(ours), quantity(theirs), method="asymp").pvalue > 1e-3
    top, left, tall, wide = ours.T
    assert ((top >= 0) & (left >= 0) & (top + tall <= height) & (left + wide <= width) & (tall > 0) & (wide > 0)).all()


@pytest.mark.parametrize(
    ("shape", "box"),  # as torchvision's fallback, worked out by hand
    [((60, 20), [16, 0, 27, 20]), ((20, 60), [0, 16, 20, 27]), ((20, 20), [0, 0, 20, 20])],
)
def test_where_no_box_fits_the_largest_central_one_is_taken(shape, box):
    zoom = RandomZoom.draw((5, 3, *shape), (8, 8), draws(), scale=(5.0, 6.0))
    assert zoom.boxes.tolist() == [box] * 5


SIZES = [(32, 32), (17, 40), (100, 90)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("picture", [noise, smooth])
def test_resized_pixels_are_torchvisions_and_the_products_are_within_one_level(size, picture):
    images = picture(12, 48, 60)
    zoom = RandomZoom.draw(images.shape, size, draws(2))
    ours, products = zoom.images(images), zoom._products(images)
    for row, (top, left, tall, wide) in enumerate(zoom.boxes.tolist()):
        theirs = vision.resized_crop(images[row], top, left, tall, wide, list(size), antialias=True)
        assert torch.equal(ours[row], theirs)
        assert levels_apart(products[row], theirs) <= 1
    assert ours.dtype == products.dtype == torch.uint8


@pytest.mark.parametrize("size", SIZES)
def test_resized_labels_are_the_nearest_exact_ones_of_torchvision(size):
    maps = torch.randint(0, 12, (10, 48, 60), generator=draws(5))
    zoom = RandomZoom.draw(maps.shape, size, draws(2))
    for row, (top, left, tall, wide) in enumerate(zoom.boxes.tolist()):
        theirs = vision.resized_crop(
            maps[row : row + 1].to(torch.uint8), top, left, tall, wide, list(size), InterpolationMode.NEAREST_EXACT
        )
        assert torch.equal(zoom.maps(maps)[row], theirs[0].long())


def test_a_box_that_is_the_whole_image_changes_nothing():
    images = noise(3, 24, 24)
    zoom = RandomZoom(torch.tensor([[0, 0, 24, 24]] * 3), (24, 24))
    assert torch.equal(zoom.images(images), images)
    assert torch.equal(zoom._products(images), images)


THEIRS = {
    "brightness": vision.adjust_brightness,
    "contrast": vision.adjust_contrast,
    "saturation": vision.adjust_saturation,
    "hue": vision.adjust_hue,
}
FACTORS = {name: [0.0, 0.313, 0.957, 1.0, 1.617, 2.0] for name in THEIRS} | {"hue": [-0.5, -0.2, 0.0, 0.03, 0.31, 0.5]}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("picture", [noise, smooth])
def test_each_colour_change_is_torchvisions(name, picture):
    """On float images but for ties; on uint8 ones, where torchvision cuts fractions off (of greys too), within 1 or 2."""
    images = picture(6, 20, 30)
    images[5] = images[5, :1]  # grey, where hue is not defined
    ours = Jitter((name,), torch.tensor([FACTORS[name]])).images(images)
    for row, factor in enumerate(FACTORS[name]):
        exact = (THEIRS[name](images[row] / 255, factor) * 255).round().to(torch.uint8)
        assert levels_apart(ours[row], exact) <= 1
        assert float((ours[row] != exact).float().mean()) < 0.01
        assert levels_apart(ours[row], THEIRS[name](images[row], factor)) <= (2 if name == "saturation" else 1)


@pytest.mark.parametrize("order", itertools.permutations(THEIRS))
def test_any_order_of_changes_is_torchvisions_on_float_images(order):
    images = smooth(6, 20, 30)
    factors = torch.tensor([FACTORS[name] for name in order]).roll(1, 1)
    ours = Jitter(order, factors).images(images)
    for row in range(6):
        theirs = images[row] / 255
        for name, factor in zip(order, factors[:, row].tolist()):
            theirs = THEIRS[name](theirs, factor)
        assert levels_apart(ours[row], (theirs * 255).round()) <= 1


def test_factors_are_uniform_and_orders_vary():
    jitter = Jitter.draw(4000, draws(0), brightness=0.4, contrast=1.5, hue=0.1)
    for name, low, high in (("brightness", 0.6, 1.4), ("contrast", 0.0, 2.5), ("hue", -0.1, 0.1)):
        factors = jitter.factors[jitter.order.index(name)].numpy()
        assert kstest(factors, "uniform", (low, high - low)).pvalue > 1e-3
    assert "saturation" not in jitter.order
    generator = draws(1)
    assert len({Jitter.draw(2, generator, 0.1, 0.1, 0.1, 0.1).order for _ in range(300)}) == 24


def test_an_image_is_coloured_the_same_whatever_else_is_in_the_batch(monkeypatch):
    images = smooth(7, 16, 16)
    monkeypatch.setattr("snellen.train.augment.jitter.VALUES_AT_ONCE", 3 * images[0].numel())
    jitter = Jitter.draw(7, draws(0), 0.4, 0.4, 0.4, 0.1)
    alone = [Jitter(jitter.order, jitter.factors[:, [row]]).images(images[[row]]) for row in range(7)]
    assert levels_apart(jitter.images(images), torch.cat(alone)) <= 1


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(0, 5),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    flip=st.booleans(),
    padding=st.integers(0, 4),
    resized=st.sampled_from([None, (0.08, 1.0), (1.0, 1.0), (0.5, 0.6)]),
    jitter=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_any_batch_keeps_its_shape_its_dtype_and_itself(seed, count, height, width, flip, padding, resized, jitter):
    augment = Augment(flip, padding, resized, jitter)
    images = noise(count, height, width)
    maps = images[:, 0].long() % 5
    before, global_state = images.clone(), torch.get_rng_state()
    shown, moved = augment(images, draws(seed), maps)
    assert shown.shape == images.shape
    assert shown.dtype == torch.uint8
    assert moved.shape == maps.shape
    assert torch.equal(images, before)
    assert torch.equal(torch.get_rng_state(), global_state)
    assert torch.equal(augment(images, draws(seed)), shown)


def test_nothing_chosen_changes_nothing_and_draws_nothing():
    generator = draws(0)
    state = generator.get_state()
    images = noise(3, 8, 8)
    assert torch.equal(Augment(flip=False)(images, generator), images)
    assert torch.equal(generator.get_state(), state)


def test_flip_and_crop_draw_as_they_always_did():
    """Weights of earlier runs depend on this order: a coin per image, then tops, then lefts."""
    images = noise(16, 32, 32)
    old = draws(11)
    coin = torch.randint(2, (16, 1, 1, 1), generator=old).bool()
    top, left = torch.randint(5, (2, 16), generator=old)
    expected = torch.where(coin, images.flip(3), images)
    padded = torch.nn.functional.pad(expected, (2, 2, 2, 2))
    expected = torch.stack([padded[i, :, top[i] : top[i] + 32, left[i] : left[i] + 32] for i in range(16)])
    assert torch.equal(Augment(flip=True, padding=2)(images, draws(11)), expected)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"padding": -1}, "expected padding of at least 0, got -1"),
        ({"jitter": 1.5}, r"expected jitter in \[0, 1\], got 1.5"),
        ({"resized": (0.0, 1.0)}, "expected resized as .low, high. shares of the area"),
        ({"resized": (0.5,)}, "expected resized as .low, high. shares of the area"),
        ({"fill": "reflct"}, "unknown fill 'reflct'; did you mean 'reflect'"),
    ],
)
def test_an_augmentation_refuses_what_cannot_be_done(wrong, said):
    with pytest.raises(UserError, match=said):
        Augment(**wrong)


def test_wrong_calls_are_told():
    with pytest.raises(ValueError, match="expected padding below the image side to reflect, got 4 at 4x9"):
        random_crop(noise(1, 4, 9), 4, draws(), fill="reflect")
    with pytest.raises(ValueError, match="expected strengths of at least 0 and hue up to 0.5"):
        colour_jitter(noise(1, 4, 4), draws(), hue=0.6)
    with pytest.raises(ValueError, match="expected scale and ratio as .low, high. above 0"):
        random_resized_crop(noise(1, 4, 4), (4, 4), draws(), scale=(0.0, 1.0))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("augment", [*CHAINS, Augment(padding=3, resized=(0.2, 1.0), jitter=0.8)])
def test_a_gpu_shows_the_same_and_nothing_waits_for_it(augment):
    images, labels = smooth(16, 48, 40), torch.randint(0, 9, (16, 48, 40), generator=draws(1))
    there, maps_there = images.cuda(), labels.cuda()
    augment(there, draws(), maps_there)  # what is made once, is made before the watch
    torch.cuda.set_sync_debug_mode("error")
    try:
        shown, moved = augment(there, draws(5), maps_there)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    here, maps_here = augment(images, draws(5), labels)
    assert torch.equal(moved.cpu(), maps_here)
    # A level of the resized crop may become up to (1 + jitter)³ levels by jittering.
    allowed = math.ceil((1 + augment.jitter) ** 3) if augment.resized or augment.jitter else 0
    assert levels_apart(shown.cpu(), here) <= allowed
