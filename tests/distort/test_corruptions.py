"""The common corruptions beside the usual package, which is given the same draws, and by hand where it has none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.stats import poisson

from snellen.distort import View, parse
from snellen.distort.corruptions import COMMON, CORRUPTIONS, EXTRA, Corruption
from snellen.distort.corruptions.blurs import disc, shuffled_places
from snellen.distort.corruptions.constants import CIFAR, CONSTANTS, IMAGENET
from snellen.distort.corruptions.frost import textures

HEIGHT, WIDTH = 72, 64
SEVERITIES = range(1, 6)
FIXED = [
    "defocus_blur",
    "gaussian_blur",
    "zoom_blur",
    "brightness",
    "contrast",
    "pixelate",
    "jpeg_compression",
    "saturate",
]


def photo() -> torch.Tensor:
    """One image of smooth colours with edges, a grey part and a black one."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    planes = [128 + 120 * np.sin(rows / (7 + k) + columns / (11 - 2 * k) + k) for k in range(3)]
    pixels = np.stack(planes).astype(np.uint8)
    pixels[:, 20:40, 30:50] = (rows[20:40, 30:50] * 3).astype(np.uint8)
    pixels[:, 50:60, 10:20] = 0
    return torch.from_numpy(pixels)[None]


def view() -> View:
    return View.of(["a"], seed=5)


def normal(name: str, *shape: int) -> np.ndarray:
    return view().draw.normal(name, shape)[0].numpy() / 4096


def bipolar(name: str, *shape: int) -> np.ndarray:
    """Uniform in −1 … 1, as fields are drawn."""
    drawn = view().draw.bytes(name, (*shape, 2)).view(torch.int16)[0, ..., 0]
    return (drawn.numpy() + 0.5) / 2**15


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The usual package, without chance: a test that does not say what is drawn must not draw.

    Its numba looks for a package `coverage`; other tests have put benchmarks/, which has a file of that name, onto the path.
    """
    if "coverage" not in sys.modules:
        monkeypatch.setitem(sys.modules, "coverage", None)
    module = pytest.importorskip("imagecorruptions.corruptions", reason="imagecorruptions-imaug is not installed")

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("drawn")

    for name in ("normal", "uniform", "poisson", "randint"):
        monkeypatch.setattr(np.random, name, refuse)
    return module


def alike(package: Any, kind: str, severity: int, most: float = 0.002) -> None:
    """Ours and the package's pixels differ by rounding alone: by a level at most, but for a share of `most`."""
    picture = Image.fromarray(photo()[0].permute(1, 2, 0).numpy())
    theirs = np.uint8(getattr(package, kind)(picture, severity)).astype(int)
    ours = Corruption(kind, severity)(photo(), view())[0].permute(1, 2, 0).numpy().astype(int)  # type: ignore[arg-type]
    assert not np.array_equal(ours, np.asarray(picture))
    assert np.mean(np.abs(ours - theirs) > 1) <= most


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("kind", FIXED)
def test_what_draws_nothing_is_that_of_the_package(package: Any, kind: str, severity: int) -> None:
    alike(package, kind, severity)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("kind", ["gaussian_noise", "speckle_noise"])
def test_noise(package: Any, monkeypatch: pytest.MonkeyPatch, kind: str, severity: int) -> None:
    draws = normal("noise", 3, HEIGHT, WIDTH).transpose(1, 2, 0)
    monkeypatch.setattr(np.random, "normal", lambda size, scale: draws * scale)
    alike(package, kind, severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_shot_noise_counts_as_a_poisson_law(package: Any, monkeypatch: pytest.MonkeyPatch, severity: int) -> None:
    drawn = view().draw.bytes("noise", (3, HEIGHT, WIDTH, 2)).view(torch.int16)[0, ..., 0].numpy().astype(int) % 2**14
    words = drawn.transpose(1, 2, 0)
    monkeypatch.setattr(np.random, "poisson", lambda rate: poisson.ppf((words + 0.5) / 2**14, rate).clip(0))
    alike(package, "shot_noise", severity, most=0.005)  # where a draw lies on the edge between two counts


@pytest.mark.parametrize("severity", SEVERITIES)
def test_impulse_noise_turns_its_share_black_or_white_by_a_coin(severity: int) -> None:
    grey = torch.full((1, 3, 200, 200), 100, dtype=torch.uint8)
    out = Corruption("impulse_noise", severity)(grey, view()).flatten()
    share = IMAGENET["impulse_noise"][severity - 1]
    assert set(out.unique().tolist()) == {0, 100, 255}
    for value in (0, 255):
        assert (out == value).float().mean().item() == pytest.approx(share / 2, abs=4 * (share / 2 / len(out)) ** 0.5)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_motion_blur(package: Any, monkeypatch: pytest.MonkeyPatch, severity: int) -> None:
    turn = float(view().draw.uniform("angle")[0])
    monkeypatch.setattr(np.random, "uniform", lambda low, high: low + (high - low) * turn)
    alike(package, "motion_blur", severity)


def swaps(reach: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = view().draw.bytes(f"swaps {number}", (HEIGHT * WIDTH, 2))[0].numpy().astype(int)
    steps = (drawn * 2 * reach // 256 - reach).reshape(HEIGHT, WIDTH, 2)
    return steps[..., 0], steps[..., 1]


def one_after_the_other(image: np.ndarray, reach: int, rounds: int) -> np.ndarray:
    """The published loop, which swaps pixels in turn from the lower right on."""
    for number in range(rounds):
        down, across = swaps(reach, number)
        for row in range(HEIGHT - reach, reach, -1):
            for column in range(WIDTH - reach, reach, -1):
                other = row + down[row, column], column + across[row, column]
                image[row, column], image[other] = image[other].copy(), image[row, column].copy()
    return image


@pytest.mark.parametrize("severity", SEVERITIES)
def test_glass_blur_swaps_as_the_published_loop_does(
    package: Any, monkeypatch: pytest.MonkeyPatch, severity: int
) -> None:
    def shuffle(height: int, width: int, image: np.ndarray, settings: tuple[float, int, int], seed: int) -> np.ndarray:
        return one_after_the_other(image, settings[1], settings[2])

    monkeypatch.setattr(package, "_shuffle_pixels_njit_glass_blur", shuffle)
    alike(package, "glass_blur", severity, most=0.01)  # a level before the swaps may be one or two after them


def test_swaps_of_images_too_small_for_any_leave_every_pixel() -> None:
    nothing = shuffled_places(3, 3, 2, [np.zeros((2, 9), np.int64)])
    assert nothing.tolist() == [list(range(9))] * 2


@pytest.mark.parametrize("severity", SEVERITIES)
def test_snow(package: Any, monkeypatch: pytest.MonkeyPatch, severity: int) -> None:
    turn = float(view().draw.uniform("angle")[0])
    monkeypatch.setattr(np.random, "normal", lambda size, loc, scale: loc + scale * normal("flakes", HEIGHT, WIDTH))
    monkeypatch.setattr(np.random, "uniform", lambda low, high: low + (high - low) * turn)
    alike(package, "snow", severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_fog(package: Any, monkeypatch: pytest.MonkeyPatch, severity: int) -> None:
    def fields() -> Iterator[np.ndarray]:
        for number in (2**power for power in range(7)):
            for part in ("middle", "top", "left"):
                yield bipolar(f"cloud {part} {number}", number, number)

    parts = fields()
    monkeypatch.setattr(np.random, "uniform", lambda low, high, shape: high * next(parts))
    alike(package, "fog", severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_frost_is_mixed_as_published_with_a_texture_of_ours(
    package: Any, monkeypatch: pytest.MonkeyPatch, severity: int
) -> None:
    draw = view().draw
    number = int(draw.integer("texture", 6)[0])
    top, left = (int(draw.integer(name, 512 - side + 1)[0]) for name, side in (("top", HEIGHT), ("left", WIDTH)))
    ice = textures(512)[number].permute(1, 2, 0).numpy()[..., ::-1]
    drawn = iter([0, top, left])
    monkeypatch.setattr(np.random, "randint", lambda *_: next(drawn))
    monkeypatch.setattr(package.cv2, "imread", lambda _: ice)
    monkeypatch.setattr(package.cv2, "resize", lambda texture, **_: texture)
    alike(package, "frost", severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_spatter(package: Any, monkeypatch: pytest.MonkeyPatch, severity: int) -> None:
    monkeypatch.setattr(np.random, "normal", lambda size, loc, scale: loc + scale * normal("drops", HEIGHT, WIDTH))
    alike(package, "spatter", severity, most=0.01)  # a pixel on the edge of a drop may lie on its other side


@pytest.mark.parametrize("severity", SEVERITIES)
def test_elastic_transform(package: Any, monkeypatch: pytest.MonkeyPatch, severity: int) -> None:
    parts = iter(["across", "down"])
    monkeypatch.setattr(np.random, "uniform", lambda low, high, size: high * bipolar(next(parts), HEIGHT, WIDTH))
    alike(package, "elastic_transform", severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_elastic_transform_of_small_images_moves_a_triangle_and_then_every_pixel(severity: int) -> None:
    cv2 = pytest.importorskip("cv2")
    amount, sigma, corner = (HEIGHT * share for share in CIFAR["elastic_transform"][severity - 1])
    middle, reach = np.float32([WIDTH // 2, HEIGHT // 2]), WIDTH // 3
    before = np.float32([middle + reach, [middle[0] + reach, middle[1] - reach], middle - reach])
    moved = before + np.float32(corner * (2 * view().draw.uniforms("corners", 6).reshape(3, 2) - 1))
    picture = photo()[0].permute(1, 2, 0).numpy().astype(np.float64)
    lines = np.linalg.inv(np.vstack([cv2.getAffineTransform(before, moved), [0, 0, 1]]))
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    x, y = (lines[k, 0] * columns + lines[k, 1] * rows + lines[k, 2] for k in (0, 1))
    warped = np.stack([map_coordinates(plane, [y, x], order=1, mode="mirror") for plane in picture.transpose(2, 0, 1)])
    fields = [
        amount * (gaussian_filter(drawn, sigma, mode="reflect", truncate=3) if sigma else drawn)
        for drawn in (bipolar(name, HEIGHT, WIDTH) for name in ("down", "across"))
    ]
    places = [rows + fields[0], columns + fields[1]]
    expected = np.stack([map_coordinates(np.floor(plane), places, order=1, mode="reflect") for plane in warped])
    ours = Corruption("elastic_transform", severity, "cifar")(photo(), view())[0].numpy()
    assert np.mean(np.abs(ours - np.floor(expected)) > 1) <= 0.005


@pytest.mark.parametrize("radius", [(3, 0.1), (8, 0.5), (10, 0.5)])
def test_a_disc_is_as_bright_as_its_pixels_and_the_widest_a_little_brighter_as_published(
    radius: tuple[int, float],
) -> None:
    total = disc(*radius).sum() / 2**15
    assert total == 1 if radius[0] == 3 else 1 <= total < 1.02


def test_every_kind_has_five_published_severities_of_either_constants() -> None:
    assert set(CORRUPTIONS) == {*COMMON, *EXTRA}
    assert (len(COMMON), len(EXTRA)) == (15, 4)
    for constants in CONSTANTS.values():
        assert set(constants) == set(CORRUPTIONS)
        assert {len(values) for values in constants.values()} == {5}


@pytest.mark.parametrize(
    ("kind", "same"),
    [
        ("jpeg_compression", "jpeg(58)"),
        ("gaussian_noise", None),
    ],
)
def test_constants_of_small_images_are_milder(kind: str, same: str | None) -> None:
    small = Corruption(kind, 3, "cifar")(photo(), view()).int()  # type: ignore[arg-type]
    large = Corruption(kind, 3)(photo(), view()).int()  # type: ignore[arg-type]
    assert (small - photo()).abs().sum() < (large - photo()).abs().sum()
    if same:
        assert torch.equal(small, parse(same)(photo(), view()).int())


@pytest.mark.parametrize("kind", CORRUPTIONS)
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (32, 32), (33, 40)])
def test_images_of_any_size_are_taken_and_keep_it(kind: Any, size: tuple[int, int]) -> None:
    images = photo()[..., : size[0], : size[1]]
    for severity, constants in ((5, "imagenet"), (5, "cifar")):
        out = Corruption(kind, severity, constants)(images, view())  # type: ignore[arg-type]
        assert (out.shape, out.dtype) == (images.shape, torch.uint8)


@pytest.mark.parametrize("kind", ["motion_blur", "defocus_blur", "glass_blur", "gaussian_blur"])
def test_a_blur_of_a_grey_image_is_that_image_at_any_size(kind: Any) -> None:
    """The usual package darkens small images, where a streak reaches beyond the border."""
    grey = torch.full((2, 3, 24, 24), 77, dtype=torch.uint8)
    pair = View.of(["a", "b"])
    assert all(torch.equal(Corruption(kind, severity)(grey, pair), grey) for severity in (1, 4))


def test_a_severity_or_kind_that_is_not_is_refused() -> None:
    for text, words in (("corruption(fog, 6)", "severity from 1 to 5"), ("corruption(rain)", "fog")):
        with pytest.raises(Exception, match=words):
            parse(text)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("jpeg_compression", "JPEG compression, severity 2"), ("gaussian_noise", "Gaussian noise, severity 2")],
)
def test_words(kind: Any, words: str) -> None:
    assert Corruption(kind, 2).words() == words
    assert Corruption(kind, 2, "cifar").words() == f"{words} (constants for 32 px)"
