"""Invariants of contract 2, for every distortion in the table: a new one is tested by being listed."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch

from snellen.data.keys import sample_keys
from snellen.data.occluders import from_images
from snellen.distort import DISTORTIONS, Covering, Donors, View, parse, show
from snellen.distort.background import VariantKind
from snellen.distort.corruptions import CORRUPTIONS
from snellen.distort.fills import PAINTS

GOLDEN = Path(__file__).with_name("golden.json")
FILLS = [f"occlude(0.4, {fill})" for fill in PAINTS]
VARIANTS = [
    "occlude(uniform(0.7, 1), black, inside=false)",
    "occlude(0.5, law=published)",
    "tiles(3, beta(2, 1), noise)",
    "fourier(0.3, spectrum=isotropic)",
    "fourier(uniform(0.2, 0.6), white)",
    "salient(uniform(0.2, 0.6), coin, black, layer=-2)",
    "salient(0.5, most, noise)",
    "salient(0.5, least, white)",
    "salient(uniform(0.2, 0.6), most, white)",
    "shuffle(4) | salient(0.5, layer=stage3)",
    "shuffle(5)",
    "soft_shuffle(5, 1)",
    "soft_shuffle(4) | salient(0.5, layer=stage3)",
    "noise(uniform(0, 0.1))",
    "mix(cutmix, 0.5)",
    *(f"background({kind})" for kind in get_args(VariantKind)),
    "background(mixed_rand, own=false, foreground=box)",
    "background(mixed_rand) | shuffle(4) | noise(0.05)",
    "cutouts(uniform(0.1, 0.5))",
    "shuffle(4) | cutouts(0.2) | noise(0.05)",
    "occlude(0.2) | shuffle(4) | noise(0.05)",
    "rotate(90)",
    "rotate(uniform(-30, 30))",
    "shift(-0.25, 0.125)",
    "shift(uniform(-0.2, 0.2), uniform(-0.2, 0.2))",
    "shear(-10, 20)",
    "shear(uniform(-20, 20), 5)",
    "zoom(0.5)",
    "zoom(uniform(0.8, 1.25))",
    "blur(uniform(0, 2))",
    "jpeg(uniform(20, 90))",
    "rotate(20) | background(only_fg)",
    "shift(0.25) | background(only_bg_b)",
    "zoom(1.5) | salient(0.5)",
    "occlude(0.2) | rotate(20)",
    *(f"box({law})" for law in ("diffuse", "diffuse_code")),
    "box(synthetic, stripes, 0.05, 0.95)",
    *(f"gates({kind})" for kind in ("horizontal", "cross_hatch", "oblique")),
    "gates(vertical, 2, 5, noise, law=code, least=0.05, most=0.95)",
    "gates(oblique, law=code, least=0.3, most=0.5)",
    "gates(cross_hatch, 1, 6, black, same)",
    "gates(oblique, background=bare)",
    *(f"lattice({share}, {px})" for share in (0.25, 0.5, 0.75) for px in (1, 2, 8)),
    "lattice(0.25, 4, noise)",
    "cutout_object(uniform(0.1, 0.5), stretch=false)",
    "cutout_object(0.25, least=0.05, most=0.95)",
    "rotate(20) | gates(oblique, least=0.1, most=0.9)",
    "box() | lattice(0.25, 2) | noise(0.05)",
    *(f"corruption({kind}, {severity})" for kind in CORRUPTIONS for severity in (2, 5)),
    *(f"corruption({kind}, 3, cifar)" for kind in CORRUPTIONS),
]
TEXTS = [f"{name}()" for name in DISTORTIONS] + FILLS + VARIANTS


def images(count: int = 8, height: int = 32, width: int = 32) -> torch.Tensor:
    number = torch.arange(count * 3 * height * width).reshape(count, 3, height, width)
    return ((number * 2654435761) % 251).to(torch.uint8)


def cutouts() -> list[np.ndarray]:
    """A disc, a wide frame with a hole and a tall triangle, RGBA."""
    rows, columns = np.mgrid[:24, :24]
    masks = [
        (2 * rows - 23) ** 2 + (2 * columns - 23) ** 2 < 500,
        (rows < 12) & ~((rows > 3) & (rows < 8) & (columns > 6)),
        (columns <= rows // 2),
    ]
    colours = [(9 * rows + 40 * number, 9 * columns, rows * columns % 256) for number in range(3)]
    return [np.stack([*colour, 255 * mask], 2).astype(np.uint8) for colour, mask in zip(colours, masks)]


def view(count: int = 8, height: int = 32, width: int = 32, seed: int = 3, order: list[int] | None = None) -> View:
    rows = list(range(count)) if order is None else order
    masks = torch.zeros(count, height, width, dtype=torch.bool)
    masks[:, height // 4 : height // 2, width // 4 : width // 2] = True
    pool = images(5, height, width).flip(3)
    lent = [np.array([[n, 3.0, width - 4 - n, height - 3 * n - 1]]) for n in range(5)]
    return View(
        keys=sample_keys([f"sample-{i}" for i in rows]),
        seed=seed,
        labels=np.array(rows) % 3,
        masks=masks[rows],
        boxes=[np.array([[width / 4, height / 4, width / 2, height / 2]])] * len(rows),
        mean=(124.0, 116.0, 104.0),
        donors=Donors(pool, tuple("abcde"), "pool", np.array([0, 1, 2, 0, 1]), lent, order=3),
        saliency=images(count, height, width)[rows, 1] // 40 * 40,
        occluders=from_images(cutouts()),
    )


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("height", "width"), [(32, 32), (19, 26)])
def test_shape_and_type_stay(text: str, height: int, width: int) -> None:
    out = parse(text)(images(8, height, width), view(8, height, width))
    assert out.dtype == torch.uint8
    assert out.shape == (8, 3, height, width)


@pytest.mark.parametrize("text", TEXTS)
def test_the_input_is_not_written_to(text: str) -> None:
    before = images()
    parse(text)(before, view())
    assert torch.equal(before, images())


@pytest.mark.parametrize("text", TEXTS)
def test_same_seed_same_pixels_and_another_seed_other_draws_where_it_draws(text: str) -> None:
    distortion = parse(text)
    first, again = distortion(images(), view()), distortion(images(), view())
    assert torch.equal(first, again)
    assert torch.equal(first, distortion(images(), view(seed=4))) is not distortion.draws


@pytest.mark.parametrize("text", TEXTS)
def test_neither_batch_nor_order_matter(text: str) -> None:
    distortion = parse(text)
    whole = distortion(images(), view())
    alone = torch.cat([distortion(images()[i : i + 1], view().rows(i, i + 1)) for i in range(8)])
    order = [5, 2, 7, 0, 1, 3, 6, 4]
    mixed = distortion(images()[order], view(order=order))
    assert torch.equal(whole, alone)
    assert torch.equal(whole[order], mixed)


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_form_parses_back_and_is_stable(text: str) -> None:
    distortion = parse(text)
    assert parse(str(distortion)) == distortion
    assert str(parse(str(distortion))) == str(distortion)


@pytest.mark.parametrize("name", DISTORTIONS)
def test_zero_strength_changes_nothing(name: str) -> None:
    kind = DISTORTIONS[name]
    if kind.identity is None:
        pytest.skip("has no zero strength")
    assert torch.equal(kind(**kind.identity)(images(), view()), images())


@pytest.mark.parametrize("name", DISTORTIONS)
def test_every_distortion_has_words_of_its_own(name: str) -> None:
    distortion = DISTORTIONS[name]()
    assert distortion.words() != str(distortion)


@pytest.mark.parametrize("text", TEXTS)
def test_only_covered_pixels_change_and_covers_are_the_same_in_a_chain(text: str) -> None:
    distortion = parse(text)
    if not isinstance(distortion, Covering):
        pytest.skip("covers nothing")
    cover = distortion.cover(images(), view())
    out, shown = show(distortion, images(), view())
    assert cover.shape == (8, 32, 32)
    assert torch.equal(cover, shown)
    assert torch.equal(out, distortion(images(), view()))
    bare = ~cover[:, None].expand_as(out)
    assert torch.equal(out[bare], images()[bare])


@pytest.mark.parametrize("text", TEXTS)
def test_needs_are_facts_a_view_knows(text: str) -> None:
    assert parse(text).needs <= {"labels", "masks", "boxes", "mean", "donors", "saliency", "occluders"}


def golden_of(text: str) -> dict[str, str]:
    """The version and, for whole-number distortions a hash of the pixels, for floating ones the covers, or means of blocks."""
    distortion = parse(text)
    pixels, cover = show(distortion, images(), view())
    if distortion.floating and cover is not None:
        fingerprint = np.packbits(cover.numpy()).tobytes().hex()
    elif distortion.floating:
        means = torch.nn.functional.avg_pool2d(pixels.float(), 8).round().byte()
        fingerprint = "means " + means.numpy().tobytes().hex()
    else:
        fingerprint = hashlib.sha256(pixels.numpy().tobytes()).hexdigest()
    return {"version": str(distortion.version), "pixels": fingerprint}


@pytest.mark.parametrize("text", TEXTS)
def test_pixels_are_those_of_this_version(text: str) -> None:
    """Fails when pixels change: bump the version of the distortion, then run this file as a script."""
    golden = json.loads(GOLDEN.read_text())
    key = str(parse(text))
    assert key in golden, f"no golden pixels for {key}: run `python {Path(__file__).name}`"
    now, before = golden_of(text), golden[key]
    assert now["version"] == before["version"]
    if len(now["pixels"]) == 64:
        assert now["pixels"] == before["pixels"]
    elif now["pixels"].startswith("means "):
        means = [np.frombuffer(bytes.fromhex(one["pixels"].split()[1]), np.uint8).astype(int) for one in (now, before)]
        assert np.abs(means[0] - means[1]).max() <= 1  # rare pixels may differ between machines
    else:
        bits = [np.unpackbits(np.frombuffer(bytes.fromhex(one["pixels"]), np.uint8)) for one in (now, before)]
        assert np.mean(bits[0] != bits[1]) < 0.001


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({str(parse(text)): golden_of(text) for text in TEXTS}, indent=1) + "\n")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [(1, 1), (1, 2), (5, 1), (32, 32)])
def test_how_images_lie_in_memory_changes_no_pixel(text: str, size: tuple[int, int]) -> None:
    """With channels last the strides of an image of one pixel are such as libraries refuse; a size may be refused in words."""
    rows = images(4, *size)
    channels_last = rows.clone(memory_format=torch.channels_last)
    try:
        expected = show(parse(text), rows, view(4, *size))[0]
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            show(parse(text), channels_last, view(4, *size))
        return
    assert torch.equal(show(parse(text), channels_last, view(4, *size))[0], expected)
