"""Photometric distortions against Pillow: the same bits, alone and in chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageEnhance, ImageOps

from snellen.distort import View, parse
from snellen.distort.photometric import PHOTOMETRIC

Operation = Callable[[Image.Image, float], Image.Image]


def shift_channel(channel: int) -> Operation:
    def operate(image: Image.Image, shift: float) -> Image.Image:
        pixels = np.asarray(image).astype(int)
        pixels[:, :, channel] += int(shift)
        return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))

    return operate


PILLOW: dict[str, Operation] = {
    "autocontrast": lambda image, level: ImageOps.autocontrast(image, cutoff=level),
    "brightness": lambda image, level: ImageEnhance.Brightness(image).enhance(level),
    "colour": lambda image, level: ImageEnhance.Color(image).enhance(level),
    "contrast": lambda image, level: ImageEnhance.Contrast(image).enhance(level),
    "sharpness": lambda image, level: ImageEnhance.Sharpness(image).enhance(level),
    "solarize": lambda image, level: ImageOps.solarize(image, int(level)),
    "grayscale": lambda image, level: ImageOps.grayscale(image).convert("RGB"),
    "red": shift_channel(0),
    "green": shift_channel(1),
    "blue": shift_channel(2),
    "posterize": lambda image, level: ImageOps.posterize(image, int(level)),
    "equalize": lambda image, level: ImageOps.equalize(image),
    "invert": lambda image, level: ImageOps.invert(image),
}
FACTORS = [*np.linspace(0.6, 1.4, 20), *np.linspace(0.8, 1.2, 20), 0, 1, 0.5, 2, 3.7]
SHIFTS = [*np.linspace(-120, 120, 30).astype(int), *np.linspace(-30, 30, 30).astype(int), 0, 255, -255]
LEVELS: dict[str, Sequence[float]] = {
    "autocontrast": [*np.linspace(0, 0.3, 20), 1, 5, 20, 49],
    **dict.fromkeys(("brightness", "colour", "contrast", "sharpness"), FACTORS),
    "solarize": [*np.linspace(0, 20, 20).astype(int), 128, 255, 256],
    **dict.fromkeys(("red", "green", "blue"), SHIFTS),
    "posterize": range(1, 9),
    **dict.fromkeys(("grayscale", "equalize", "invert"), (0,)),
}


def text_of(name: str, level: float) -> str:
    return (
        f"{name}()"
        if len(LEVELS[name]) == 1
        else f"{name}({float(level)!r})"
        if name != "posterize"
        else f"{name}({level})"
    )


def pictures() -> list[np.ndarray]:
    """Noise, narrow ranges, a flat colour, two values, a ramp, a few bright pixels, and a picture of three rows."""
    random = np.random.default_rng(0)
    rows, columns = np.mgrid[:32, :32]
    ramp = np.stack([rows * 8, columns * 8, rows + columns], 2)
    sparse = np.where(random.random((32, 32, 1)) < 0.004, 250, random.integers(90, 120, (32, 32, 3)))
    return [
        image.astype(np.uint8)
        for image in (
            random.integers(0, 256, (32, 32, 3)),
            random.integers(100, 140, (32, 32, 3)),
            random.normal(128, 30, (32, 32, 3)).clip(0, 255),
            np.full((32, 32, 3), (100, 150, 200)),
            255 * random.integers(0, 2, (32, 32, 1)).repeat(3, 2),
            ramp,
            sparse,
        )
    ]


def by_pillow(images: Sequence[np.ndarray], chain: Sequence[tuple[str, float]]) -> np.ndarray:
    outcome = []
    for image in images:
        picture = Image.fromarray(image)
        for name, level in chain:
            picture = PILLOW[name](picture, level)
        outcome.append(np.asarray(picture))
    return np.stack(outcome)


def by_snellen(images: Sequence[np.ndarray], text: str) -> np.ndarray:
    batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).contiguous()
    return parse(text)(batch, View.of([str(i) for i in range(len(images))])).permute(0, 2, 3, 1).numpy()


@pytest.mark.parametrize("name", PHOTOMETRIC)
def test_every_level_equals_pillow_to_the_bit(name: str) -> None:
    for level in LEVELS[name]:
        expected = by_pillow(pictures(), [(name, level)])
        assert np.array_equal(by_snellen(pictures(), text_of(name, level)), expected), level


@pytest.mark.parametrize("name", PHOTOMETRIC)
@pytest.mark.parametrize("shape", [(3, 40), (1, 7), (57, 2), (64, 48)])
def test_odd_shapes_equal_pillow_too(name: str, shape: tuple[int, int]) -> None:
    images = [np.random.default_rng(n).integers(0, 256 - 40 * n, (*shape, 3)).astype(np.uint8) for n in range(3)]
    for level in LEVELS[name][::7]:
        assert np.array_equal(by_snellen(images, text_of(name, level)), by_pillow(images, [(name, level)])), level


links = st.sampled_from(sorted(PHOTOMETRIC)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(LEVELS[name]))
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(links, min_size=2, max_size=6))
def test_a_fused_chain_equals_pillow_step_by_step(chain: list[tuple[str, float]]) -> None:
    text = " | ".join(text_of(*link) for link in chain)
    assert np.array_equal(by_snellen(pictures(), text), by_pillow(pictures(), chain)), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("brightness(1.4)", (140, 210, 255)),
        ("colour(0.6)", (116, 146, 176)),
        ("contrast(0.6)", (116, 146, 176)),
        ("sharpness(1.4)", (100, 150, 200)),
        ("solarize(150)", (100, 105, 55)),
        ("solarize(150.5)", (100, 105, 55)),  # a whole threshold, the one below
        ("red(-120)", (0, 150, 200)),
        ("red(-10.5)", (90, 150, 200)),  # whole levels, cut towards 0, not down
        ("green(10.5)", (100, 160, 200)),
        ("blue(-0.5)", (100, 150, 200)),
    ],
)
def test_a_flat_colour_by_hand(text: str, expected: tuple[int, int, int]) -> None:
    assert tuple(by_snellen([np.full((4, 4, 3), (100, 150, 200), np.uint8)], text)[0, 2, 2]) == expected


def test_a_law_gives_each_image_its_own_factor() -> None:
    images = [np.full((4, 4, 3), 100, np.uint8)] * 200
    values = by_snellen(images, "brightness(uniform(0.5, 1.5))")[:, 0, 0, 0]
    assert values.min() >= 50
    assert values.max() < 150
    assert len(set(values.tolist())) > 40
    for text in (
        "contrast(uniform(0.5, 1.5))",
        "colour(uniform(0, 2))",
        "sharpness(uniform(0, 2))",
        "red(uniform(-9, 9))",
    ):
        assert by_snellen(pictures(), text).shape == (7, 32, 32, 3)


@pytest.mark.parametrize("text", ["red({})", "solarize({})"])
def test_a_drawn_level_is_the_same_table_as_a_stated_one(text: str) -> None:
    """Near no whole number: what is drawn is cut as what is written."""
    low, high = (-10.75, -10.25) if text.startswith("red") else (150.25, 150.75)
    drawn = by_snellen(pictures(), text.format(f"uniform({low}, {high})"))
    assert np.array_equal(drawn, by_snellen(pictures(), text.format((low + high) / 2)))


def test_occlusion_between_photometric_stages_settles_the_pixels_first() -> None:
    fused = by_snellen(pictures(), "brightness(0.5) | occlude(0.2, white) | invert() | red(20)")
    single = by_snellen(pictures(), "brightness(0.5)")
    view = View.of([str(i) for i in range(7)])
    batch = torch.from_numpy(single).permute(0, 3, 1, 2).contiguous()
    covered = parse("occlude(0.2, white)")(batch, view.at_stage(1)).permute(0, 2, 3, 1).numpy()
    assert np.array_equal(fused, by_pillow(list(covered), [("invert", 0), ("red", 20)]))


@pytest.mark.parametrize(
    "text", ["colour(0.7) | brightness(0.6)", "brightness(0.6)", "colour(1) | invert()", "grayscale() | red(9)"]
)
def test_the_images_that_are_edited_stay_as_they_were(text: str) -> None:
    """Lookups overwrite pixels, but only such as the chain itself has made."""
    images = torch.randint(0, 256, (3, 3, 8, 8), dtype=torch.uint8)
    before = images.clone()
    edited = parse(text)(images, View.of(["a", "b", "c"]))
    assert not torch.equal(edited, before)
    assert torch.equal(images, before)
