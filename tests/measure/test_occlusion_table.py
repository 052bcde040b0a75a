"""Accuracy by type and level: published bins, hand-worked cells, pairs, and what lies beyond clean accuracy."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from snellen.measure import (
    GATE_BINS,
    LATTICE_BINS,
    accuracy,
    accuracy_by_level,
    accuracy_by_share,
    bin_middles,
    bin_names,
    occlusion_level,
    occlusion_residual,
    paired_difference,
    pool_kinds,
)


def test_the_published_bins() -> None:
    shares = [0, 0.05, 0.1, 0.299, 0.3, 0.5, 0.7, 0.9, 0.91, 1, nan]
    assert occlusion_level(shares).tolist() == [0, -1, 1, 1, 2, 3, 4, 4, -1, -1, -1]
    assert occlusion_level([0, 0.25, 0.5, 0.75, 0.3], LATTICE_BINS).tolist() == [0, 1, 2, 3, -1]
    assert bin_names(GATE_BINS) == ("0%", "10–30%", "30–50%", "50–70%", "70–90%")
    assert bin_names(LATTICE_BINS) == ("0%", "25%", "50%", "75%")
    assert bin_middles(GATE_BINS) == pytest.approx((0, 0.2, 0.4, 0.6, 0.8))


def test_a_single_share_comes_before_a_bin_that_begins_there() -> None:
    assert occlusion_level([0, 0.2, 0.5, 0.8], ((0, 0), (0, 0.5), (0.5, 1))).tolist() == [0, 1, 2, 2]


@given(st.lists(st.floats(0, 1), max_size=20))
def test_every_share_is_in_the_bin_that_holds_it(shares: list[float]) -> None:
    for share, level in zip(shares, occlusion_level(shares).tolist()):
        holding = [place for place, (start, stop) in enumerate(GATE_BINS) if start - 1e-6 <= share <= stop + 1e-6]
        assert level in holding if holding else level == -1


def test_wrong_bins_and_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="shares from 0 to 1, got 30"):
        occlusion_level([30])
    with pytest.raises(ValueError, match="start ≤ stop"):
        occlusion_level([0.3], ((0.5, 0.3),))
    with pytest.raises(ValueError, match="do not overlap"):
        occlusion_level([0.3], ((0, 0.5), (0.3, 0.6)))


def test_fine_types_pool_into_three() -> None:
    kinds = ["box", "vertical", "horizontal", "cross-hatch", "oblique", "leaf"]
    assert pool_kinds(kinds).tolist() == ["solid", *["right-angle"] * 3, "oblique", "leaf"]
    assert pool_kinds(["boxes", "vgates", "hgates", "xgates", "rotgates"]).tolist() == [
        "solid",
        *["right-angle"] * 3,
        "oblique",
    ]


def test_cells_drops_and_slopes_by_hand() -> None:
    kind = ["none"] * 4 + ["box"] * 8
    level = [0] * 4 + [1] * 4 + [2] * 4
    correct = [1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0]
    table = accuracy_by_level(correct, kind, level)
    box = table["box"]
    assert list(table) == ["box"]
    assert [one.value for one in box.accuracy] == [1, 0.75, 0.25]
    assert [one.value for one in box.drops] == [0, 0.25, 0.75]
    assert [one.value for one in box.slopes] == pytest.approx([nan, -0.25, -0.5], nan_ok=True)
    assert box.slope.value == pytest.approx(-0.375)
    assert [one.n for one in box.drops] == [4, 4, 4]
    assert box.slope.n == 12
    assert box.accuracy[1] == accuracy([1, 1, 1, 0])
    assert box.slope.low < -0.375 < box.slope.high


def test_slopes_of_shares_are_per_whole_object() -> None:
    share = np.repeat([0, 0.2, 0.4, 0.6, 0.8], 10)
    correct = np.concatenate([np.arange(10) < hits for hits in (10, 9, 8, 7, 6)])
    gates = accuracy_by_share(correct, ["oblique"] * 50, share)["oblique"]
    assert gates.slope.value == pytest.approx(-0.5)
    assert [one.value for one in gates.slopes[1:]] == pytest.approx([-0.5] * 4)
    lattice = accuracy_by_share([1, 0, 1], ["a"] * 3, [0, 0.25, 0.1], LATTICE_BINS)["a"]
    assert [one.value for one in lattice.accuracy] == pytest.approx([1, 0, nan, nan], nan_ok=True)
    assert lattice.slope.value == pytest.approx(-4)
    assert isnan(lattice.drops[2].value)
    assert isnan(lattice.drops[2].low)


def test_clean_images_count_for_every_type_and_types_do_not_mix() -> None:
    table = accuracy_by_level([1, 0, 0, 1], ["none", "none", "box", "gate"], [0, 0, 1, 1])
    assert {name: [one.value for one in kind.accuracy] for name, kind in table.items()} == {
        "box": [0.5, 0],
        "gate": [0.5, 1],
    }
    assert list(accuracy_by_level([1, 0], ["none", "none"], [0, 0])) == ["none"]


def test_images_of_one_source_are_pairs_and_of_one_video_a_cluster() -> None:
    random = np.random.default_rng(0)
    clean = random.random(200) < 0.8
    hidden = np.where(random.random(200) < 0.9, clean, ~clean)
    kind, level = np.repeat(["none", "box"], 200), np.repeat([0, 1], 200)
    source = np.tile(np.arange(200), 2)
    paired = accuracy_by_level(np.concatenate([clean, hidden]), kind, level, source)["box"].drops[1]
    apart = accuracy_by_level(np.concatenate([clean, hidden]), kind, level)["box"].drops[1]
    expected = paired_difference(clean, hidden)
    assert (paired.value, paired.low, paired.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert apart.high - apart.low > 1.5 * (paired.high - paired.low)
    cells = accuracy_by_level(np.concatenate([clean, hidden]), kind, level, source // 50)["box"].accuracy
    assert cells[0] == accuracy(clean, np.arange(200) // 50)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["none", "a", "b"]), st.integers(-1, 2)), max_size=25))
def test_cells_are_the_accuracy_of_their_images(rows: list[tuple[bool, str, int]]) -> None:
    correct, kind, level = ([row[i] for row in rows] for i in range(3))
    table = accuracy_by_level(correct, kind, level, positions=(0, 1, 2), repeats=20)
    for name, one in table.items():
        for place, cell in enumerate(one.accuracy):
            own = [hit for hit, sort, at in rows if sort in (name, "none") and at == place]
            assert cell.n == len(own)
            assert cell.value == pytest.approx(np.mean(own) if own else nan, nan_ok=True)
        assert one.drops[0].value == pytest.approx(0 if one.accuracy[0].n else nan, nan_ok=True)


def test_several_runs_are_one_measurement() -> None:
    runs = [[1, 1, 0, 1], [1, 1, 0, 0]]
    box = accuracy_by_level(runs, ["none", "none", "box", "box"], [0, 0, 1, 1])["box"]
    assert [one.value for one in box.accuracy] == [1, 0.25]
    assert box.drops[1].n == 2


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="one kind and level per sample"):
        accuracy_by_level([1, 0], ["a"], [0, 1])
    with pytest.raises(ValueError, match="one group per sample"):
        accuracy_by_level([1, 0], ["a", "a"], [0, 1], [1])
    with pytest.raises(ValueError, match="a position for each level, got 1 for level 1"):
        accuracy_by_level([1, 0], ["a", "a"], [0, 1], positions=[0])


def test_a_model_above_the_line_of_the_others_stands_out() -> None:
    clean = np.array([0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.75])
    noise = np.array([1, -1, 1, -1, 1, -1, 1, 0]) * 0.003
    occluded = clean - 0.2 + noise
    occluded[-1] += 0.06
    result = occlusion_residual(clean, occluded)
    assert result.residual.argmax() == 7
    assert result.p[7] < 0.001
    assert (result.p[:7] > 0.05).all()
    assert result.residual.sum() == pytest.approx(0, abs=1e-12)


def test_t_is_the_deleted_residual_over_its_error() -> None:
    random = np.random.default_rng(1)
    clean = random.random(9)
    occluded = 0.7 * clean + 0.05 * random.normal(size=9)
    result = occlusion_residual(clean, occluded)
    for place in range(9):
        rest = np.arange(9) != place
        x, y = clean[rest], occluded[rest]
        fit = stats.linregress(x, y)
        spread = np.sqrt(np.square(y - fit.intercept - fit.slope * x).sum() / 6)
        error = spread * np.sqrt(1 + 1 / 8 + (clean[place] - x.mean()) ** 2 / np.square(x - x.mean()).sum())
        t = (occluded[place] - fit.intercept - fit.slope * clean[place]) / error
        assert result.t[place] == pytest.approx(t)
        assert result.p[place] == pytest.approx(2 * stats.t.sf(abs(t), 6))


def test_few_models_or_one_clean_accuracy_give_nan() -> None:
    few = occlusion_residual([0.5, 0.6, 0.7], [0.4, 0.5, 0.7])
    assert np.isnan(few.t).all()
    assert few.residual == pytest.approx([1 / 60, -1 / 30, 1 / 60])
    assert np.isnan(occlusion_residual([0.5] * 5, [0.1, 0.2, 0.3, 0.4, 0.5]).residual).all()
    missing = occlusion_residual([0.5, 0.6, 0.7, 0.8, nan], [0.4, 0.52, 0.7, 0.7, 0.3])
    assert isnan(missing.residual[4])
    assert isnan(missing.p[4])
    assert not np.isnan(missing.p[:4]).any()
    assert np.isnan(
        occlusion_residual([0.5, 0.6, 0.7, 0.8], [0.4, 0.5, 0.6, 0.7]).t
    ).all()  # an exact line has no error


def test_a_drop_is_as_unsure_as_the_smaller_of_its_two_levels() -> None:
    """Between 3 images that vary and 300 that do not it is unsure by the three, whichever of them are the unoccluded ones."""
    values = np.array([1, 0.5, 0.25, *[0.5] * 300])
    few_clean = accuracy_by_level(values, ["solid"] * 303, [0] * 3 + [1] * 300)["solid"].drops[1]
    few_covered = accuracy_by_level(values, ["solid"] * 303, [1] * 3 + [0] * 300)["solid"].drops[1]
    assert few_clean.value == pytest.approx(-few_covered.value)
    assert (few_clean.low, few_clean.high) == pytest.approx((-few_covered.high, -few_covered.low), abs=0.1)
    # The spread of the three is large: Student's interval of their mean reaches from −0.37 to 1.53.
    assert few_clean.high - few_clean.low > 1.2
