"""Covering by saliency: counts, ties, the coin, and maps that move with the pixels."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.distort import View, apply, parse, saliency_of
from snellen.distort.salient import Salient, as_bytes, ranks_of
from snellen.errors import UserError


def maps(count: int, height: int, width: int, levels: int = 256) -> torch.Tensor:
    draws = torch.Generator().manual_seed(count * height + width)
    step = 256 // levels
    return torch.randint(0, levels, (count, height, width), generator=draws).mul(step).to(torch.uint8)


def covered(text: str, saliency: torch.Tensor, seed: int = 0) -> np.ndarray:
    images = torch.zeros(len(saliency), 3, *saliency.shape[1:], dtype=torch.uint8)
    ids = [f"sample-{i}" for i in range(len(saliency))]
    return parse(text).cover(images, View.of(ids, seed, saliency=saliency)).numpy()


@pytest.mark.parametrize(
    "text", ["salient(0.3)", "shuffle(2) | salient(0.3)", "salient(0.2) | shuffle(2) | salient(0.3, most)"]
)
def test_an_order_made_before_changes_nothing(text: str) -> None:
    saliency = maps(6, 8, 8, levels=4)
    images = maps(6, 8, 8)[:, None].expand(-1, 3, -1, -1).contiguous()
    known = View.of([f"sample-{i}" for i in range(6)], saliency=saliency, mean=(9.0, 9.0, 9.0))
    ordered = replace(known, ranks=ranks_of(saliency))
    assert torch.equal(parse(text)(images, known), parse(text)(images, ordered))
    halves = [parse(text)(images[some], ordered.rows(some.start, some.stop)) for some in (slice(0, 2), slice(2, 6))]
    assert torch.equal(torch.cat(halves), parse(text)(images, known))


def test_a_map_of_six_pixels_is_covered_as_worked_out_by_hand() -> None:
    saliency = torch.tensor([[[10, 200, 30], [200, 30, 5]]], dtype=torch.uint8)
    # 0.4 of 6 pixels is 2.4: most covers 3, both 200 and the first 30; least covers 2, the 5 and the 10
    assert covered("salient(0.4, most)", saliency)[0].tolist() == [[False, True, True], [True, False, False]]
    assert covered("salient(0.4, least)", saliency)[0].tolist() == [[True, False, False], [False, False, True]]


@pytest.mark.parametrize("share", [0.1, 0.29, 0.3, 0.5, 0.57, 0.7, 0.9, 1.0])
@pytest.mark.parametrize(("height", "width"), [(32, 32), (10, 10), (7, 9)])
def test_counts_are_those_of_the_published_code(share: float, height: int, width: int) -> None:
    exact = Fraction(str(share)) * height * width
    saliency = maps(4, height, width)
    assert (covered(f"salient({share}, most)", saliency).sum((1, 2)) == math.ceil(exact)).all()
    assert (covered(f"salient({share}, least)", saliency).sum((1, 2)) == math.floor(exact)).all()


@settings(max_examples=60)
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from([1, 2, 3, 256]),
    st.floats(0, 1),
    st.sampled_from(["most", "least"]),
)
def test_pixels_are_those_of_a_stable_sort(height: int, width: int, levels: int, share: float, which: str) -> None:
    saliency = maps(3, height, width, levels)
    got = covered(str(Salient(share, which)), saliency).reshape(3, -1)
    for row, flat in zip(got, saliency.flatten(1).numpy()):
        order = np.argsort(-flat.astype(int), kind="stable")
        hidden = order[: row.sum()] if which == "most" else order[len(order) - row.sum() :]
        assert set(np.flatnonzero(row)) == set(hidden)


def test_the_coin_is_fair_and_falls_the_same_at_every_share() -> None:
    saliency = torch.zeros(4000, 1, 2, dtype=torch.uint8)
    saliency[:, 0, 0] = 9
    heads = covered("salient(0.5, coin)", saliency)[:, 0, 0]
    assert abs(heads.mean() - 0.5) < 4 * 0.5 / math.sqrt(4000)
    wide = maps(200, 5, 8)
    fell = [covered(f"salient({share}, coin)", wide) for share in (0.1, 0.3, 0.5)]
    for less, more in itertools.pairwise(fell):
        assert (less <= more).all()  # nested, as they are only if every image keeps its side
    other = covered("salient(0.5, coin)", saliency, seed=1)[:, 0, 0]
    assert 0.4 < (heads != other).mean() < 0.6


def test_most_and_least_share_an_image_between_them() -> None:
    saliency = maps(6, 8, 8)
    assert (covered("salient(0.25, most)", saliency) ^ covered("salient(0.75, least)", saliency)).all()


def test_a_map_moves_along_when_pixels_are_shuffled_before() -> None:
    images = torch.arange(64, dtype=torch.uint8).view(1, 1, 8, 8).expand(2, 3, 8, 8).contiguous()
    saliency = images[:, 0] * 3
    out = apply("shuffle(4) | salient(0.25, most, white)", images, saliency=saliency)
    assert sorted(out[0, 0].flatten().tolist()) == [
        *range(48),
        *[255] * 16,
    ]  # the 16 highest are hidden wherever they went


def test_apply_takes_maps_of_any_kind() -> None:
    images = np.random.default_rng(0).integers(1, 256, (3, 6, 6, 3), dtype=np.uint8)
    whole = maps(3, 6, 6)
    expected = apply("salient(0.5, most, black)", images, saliency=whole)
    assert (apply("salient(0.5, most, black)", images, saliency=whole.numpy()) == expected).all()
    assert (apply("salient(0.5, most, black)", images, saliency=whole.double() / 255 + 1e-4) == expected).all()
    assert as_bytes(torch.tensor([0.0, 0.5, 0.999, 1.0])).tolist() == [0, 127, 254, 255]
    with pytest.raises(ValueError, match="needs saliency .how much each pixel matters.*pass saliency=…"):
        apply("salient(0.5, most, black)", images)
    with pytest.raises(ValueError, match=r"expected saliency of \[3, 6, 6\], got \[3, 6, 5\]"):
        apply("salient(0.5, most, black)", images, saliency=whole[:, :, :5])


def test_which_map_a_chain_needs() -> None:
    assert saliency_of(parse("occlude(0.3) | shuffle(4)")) is None
    found = saliency_of(parse("salient(0.3, layer=-2) | salient(0.1, layer=-2)"))
    assert found is not None
    assert (found.method, found.layer) == ("gradcam", -2)
    with pytest.raises(UserError, match="maps of several layers"):
        saliency_of(parse("salient(0.3, layer=-2) | salient(0.1)"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("salient(1.2)", r"expected share in \[0, 1\]"),
        ("salient(0.3, mots)", "did you mean 'most'"),
        ("salient(0.3, layer=0.5)", "a whole number or a word or none"),
    ],
)
def test_wrong_arguments_are_named(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse(text)
