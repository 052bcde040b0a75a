"""Mixing with a partner: whose pixels they are, how many, and that nobody is their own partner."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen import distort
from snellen.distort import Donors, Mix, View, parse
from snellen.distort.mix import partners

KINDS = ("mixup", "cutmix", "fmix")


def view_of(count: int, pool: torch.Tensor, names: list[str] | None = None, seed: int = 0) -> View:
    names = [f"donor-{i}" for i in range(len(pool))] if names is None else names
    return View.of([f"image-{i}" for i in range(count)], seed, donors=Donors(pool, tuple(names), "pool"))


@settings(max_examples=25)
@given(
    st.sampled_from(KINDS),
    st.floats(0.05, 5),
    st.tuples(st.integers(3, 40), st.integers(3, 40)),
    st.integers(0, 99),
)
def test_the_image_itself_is_always_the_majority(kind: str, alpha: float, size: tuple[int, int], seed: int) -> None:
    """Own pixels 0, the partner's 200: what is there of 200 is the partner's share."""
    view = view_of(16, torch.full((2, 3, *size), 200, dtype=torch.uint8), seed=seed)
    out = Mix(kind, alpha)(torch.zeros(16, 3, *size, dtype=torch.uint8), view)  # type: ignore[arg-type]
    share = out.float().mean((1, 2, 3)) / 200
    assert float(share.max()) <= 0.5 + 1e-6
    if kind != "mixup":
        assert set(out.unique().tolist()) <= {0, 200}


@pytest.mark.parametrize("kind", KINDS)
def test_shares_follow_the_law(kind: str) -> None:
    """α = 1: the partner's share is uniform in 0 to ½, its mean ¼; boxes lose what leaves the image."""
    count = 2000
    view = view_of(count, torch.full((1, 3, 32, 32), 255, dtype=torch.uint8))
    out = Mix(kind)(torch.zeros(count, 3, 32, 32, dtype=torch.uint8), view)  # type: ignore[arg-type]
    share = out.float().mean((1, 2, 3)).numpy() / 255
    wanted = Mix(kind).share(view)  # type: ignore[arg-type]
    assert wanted.mean() == pytest.approx(0.25, abs=0.01)
    assert np.quantile(wanted, [0.1, 0.9]) == pytest.approx([0.05, 0.45], abs=0.02)
    if kind == "cutmix":
        assert (share <= wanted + 1e-6).all()
        assert share.max() > 0.35
    else:
        assert share == pytest.approx(wanted, abs=1 / 256)


def test_mixup_is_the_rounded_mean_of_both() -> None:
    random = np.random.default_rng(0)
    own, pool = (torch.from_numpy(random.integers(0, 256, (9, 3, 8, 8), dtype=np.uint8)) for _ in range(2))
    view = view_of(9, pool)
    out = Mix("mixup")(own, view)
    share, chosen = Mix("mixup").share(view), partners(view)
    exact = own.numpy() * (1 - share)[:, None, None, None] + pool.numpy()[chosen] * share[:, None, None, None]
    assert np.abs(out.numpy() - exact).max() <= 0.52


@pytest.mark.parametrize("kind", ["cutmix", "fmix"])
def test_pasted_pixels_are_the_partners_from_the_same_place(kind: str) -> None:
    random = np.random.default_rng(0)
    own = torch.from_numpy(random.integers(0, 128, (9, 3, 16, 16), dtype=np.uint8))
    pool = torch.from_numpy(random.integers(128, 256, (5, 3, 16, 16), dtype=np.uint8))
    view = view_of(9, pool)
    out = Mix(kind)(own, view)  # type: ignore[arg-type]
    chosen = partners(view)
    assert torch.equal(out, torch.where(out >= 128, pool[chosen], own))
    assert view.notes["donor"].tolist() == [f"donor-{i}" for i in chosen]


@given(st.integers(2, 30), st.integers(0, 50))
def test_nobody_is_their_own_partner_and_all_others_are_equally_likely(count: int, seed: int) -> None:
    pool = torch.zeros(count, 3, 2, 2, dtype=torch.uint8)
    view = view_of(count, pool, [f"image-{i}" for i in range(count)], seed)
    chosen = partners(view)
    assert (chosen != np.arange(count)).all()
    assert ((chosen >= 0) & (chosen < count)).all()
    assert "excluded" not in view.notes


def test_partners_are_uniform_over_the_others() -> None:
    count = 6
    ids = [f"image-{i}" for i in range(count)]
    seen = np.zeros((count, count))
    for seed in range(600):
        view = view_of(count, torch.zeros(count, 3, 2, 2, dtype=torch.uint8), ids, seed)
        seen[np.arange(count), partners(view)] += 1
    assert seen.diagonal().tolist() == [0] * count
    others = seen[~np.eye(count, dtype=bool)]
    assert ((others > 80) & (others < 160)).all()  # 120 each, deviation 10


def test_an_image_that_is_the_only_donor_is_excluded() -> None:
    view = view_of(2, torch.full((1, 3, 4, 4), 9, dtype=torch.uint8), ["image-0"])
    Mix("cutmix")(torch.zeros(2, 3, 4, 4, dtype=torch.uint8), view)
    assert view.notes["excluded"].tolist() == [True, False]


@pytest.mark.parametrize("kind", KINDS)
def test_neither_batch_nor_order_matter(kind: str) -> None:
    images = torch.arange(8 * 3 * 24 * 24).reshape(8, 3, 24, 24).to(torch.uint8)
    view = view_of(8, images.flip(0).contiguous())
    whole = parse(f"mix({kind})")(images, view)
    alone = torch.cat([parse(f"mix({kind})")(images[i : i + 1], view.rows(i, i + 1)) for i in range(8)])
    assert torch.equal(whole, alone)
    assert not torch.equal(whole, images)


def test_one_call_mixes_an_array_with_itself(photos: np.ndarray) -> None:
    mixed = distort.apply("mix(cutmix)", photos, donors=photos)
    assert mixed.shape == photos.shape
    changed = (mixed != photos).any(-1).mean((1, 2))
    assert 0 < changed.max() <= 0.5


def test_bad_values_are_told() -> None:
    with pytest.raises(Exception, match=r"mix: expected alpha in \[0, 1000\], got -1"):
        parse("mix(mixup, -1)")
    with pytest.raises(Exception, match="unknown kind of mix 'mixxup'; did you mean 'mixup'"):
        parse("mix(mixxup)")
    with pytest.raises(ValueError, match=r"expected donors of shape \[3, 4, 4\], got \[3, 5, 5\]"):
        Mix()(torch.zeros(1, 3, 4, 4, dtype=torch.uint8), view_of(1, torch.zeros(1, 3, 5, 5, dtype=torch.uint8)))
