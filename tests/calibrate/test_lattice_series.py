"""Series of lattices: voters of patches lose their votes below their patch, as counted in the masks."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.calibrate import LADDERS, calibrate
from snellen.calibrate.truths import FREE, object_masks, voters_truth, voting_share
from snellen.distort import Lattice, View
from snellen.lazy_torch import torch
from snellen.models import observers


def test_the_series_follow_and_hold_their_truth(tmp_path) -> None:
    assert {f"lattice_voters_{share:.0%}".rstrip("%") for share in FREE} <= LADDERS.keys()
    page = calibrate(tmp_path / "c", ("lattice_voters_50", "lattice_voters_75"), images=200, quick=True, quiet=True)
    for ladder in page["ladders"]:
        assert ladder["follows"], ladder["name"]
        assert ladder["worst"] < 0.1, ladder["name"]
        assert [point["x"] for point in ladder["points"]] == [1, 4, 8]


def test_below_its_patch_a_voter_has_no_vote_and_from_there_on_it_has() -> None:
    for share in FREE:
        for patch in (2, 4, 8):
            assert all(voting_share(patch, share, px) == 0 for px in (1, 2, 4) if px < patch)
            assert all(voting_share(patch, share, px) > 0.2 for px in (2, 4, 8) if px >= patch)
    assert voters_truth(0.5, 1) == pytest.approx(1 / 12)


@pytest.mark.parametrize("share", FREE)
def test_the_squares_counted_are_those_of_the_distortion(share: float) -> None:
    blank = torch.zeros((1, 3, 32, 32), dtype=torch.uint8)
    for px in (1, 2, 4, 8, 16):
        cover = Lattice(share, px).cover(blank, View.of(["a"]))[0].numpy()
        free = np.kron(np.tile(np.array(FREE[share]), (16 // px, 16 // px)), np.ones((px, px))).astype(bool)
        assert np.array_equal(free, ~cover)


def test_the_share_that_votes_is_that_of_right_answers_of_the_observer() -> None:
    """Two ways to the same number: masks here, marks in pixels there. Those without a vote guess, one in twelve right."""
    import snellen

    data = snellen.load_data("phantom:test?size=32&n=600&object_size=0.9&texture_bias=1")
    images = torch.from_numpy(data.read_together(range(600)).images).permute(0, 3, 1, 2).contiguous()
    shown = Lattice(0.5, 8)(images, View.of(data.samples.ids))
    support = observers.patches(8).support(shown).numpy().astype(bool)
    assert voting_share(8, 0.5, 8) == pytest.approx(support.any((1, 2)).mean())
    assert object_masks(object_size=0.9, texture_bias=1).shape == (600, 32, 32)
    right = observers.patches(8)(shown).argmax(1).numpy() == data.samples.labels
    assert right[support.any((1, 2))].all()
    assert right[~support.any((1, 2))].mean() < 0.2
