"""Gates: where lines lie, how wide they are over object and background, and which are drawn again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from snellen.distort import Gates, View, parse
from snellen.distort.occluders.line_widths import line_widths
from snellen.errors import UserError


def view(count: int, seed: int = 0, masks: torch.Tensor | None = None) -> View:
    return View.of([f"image {i}" for i in range(count)], seed, masks=masks)


def discs(count: int, side: int = 96) -> torch.Tensor:
    """bool [count, side, side]: an object of about a fifth of the image, off the middle."""
    rows, columns = np.mgrid[:side, :side]
    disc = (rows - 0.45 * side) ** 2 + (columns - 0.55 * side) ** 2 < (0.25 * side) ** 2
    return torch.from_numpy(np.broadcast_to(disc, (count, side, side)).copy())


def covers(text: str, count: int = 40, side: int = 96, masks: torch.Tensor | None = None) -> tuple[np.ndarray, View]:
    known = view(count, masks=masks)
    distortion = parse(text)
    assert isinstance(distortion, Gates)
    return distortion.cover(torch.zeros(count, 3, side, side, dtype=torch.uint8), known).numpy(), known


@pytest.mark.parametrize("kind", ["vertical", "horizontal"])
def test_lines_repeat_at_the_spacing_and_begin_at_a_drawn_pixel(kind: str) -> None:
    """Spacing is the period: of 5 pixels 2 are covered, first in one of the 3 places that cut no line at the border."""
    across, _ = covers(f"gates({kind}, 2, 5, background=same)", 300, 20)
    if kind == "vertical":
        across = across.transpose(0, 2, 1)
    patterns = [np.tile(np.isin(np.arange(5), (first, first + 1)), 4) for first in range(3)]
    seen = np.zeros(3, int)
    for image in across:
        (number,) = [k for k, pattern in enumerate(patterns) if np.array_equal(image[:, 0], pattern)]
        np.testing.assert_array_equal(image, np.broadcast_to(patterns[number][:, None], image.shape))
        seen[number] += 1
    assert seen.min() > 70


def test_a_cross_hatch_is_horizontal_and_vertical_lines_of_equal_width() -> None:
    crossed, _ = covers("gates(cross_hatch, 3, 8, background=same)", 60, 24)
    rows, columns = crossed.all(2), crossed.all(1)
    assert (rows.sum(1) == 9).all()
    assert (columns.sum(1) == 9).all()
    np.testing.assert_array_equal(crossed, rows[:, :, None] | columns[:, None, :])
    first = rows.argmax(1), columns.argmax(1)
    assert (first[0] != first[1]).any()


def simulated(count: int, seed: int) -> np.ndarray:
    """[count, 3]: width, background width and spacing, drawn until accepted as the published loop does."""
    draws, rows = np.random.default_rng(seed), []
    while len(rows) < count:
        width, spacing = draws.integers(1, 20), draws.integers(1, 20)
        thin = int(width / 2) + draws.integers(-4, 4)
        if thin <= 1:
            thin += draws.integers(0, 4)
        if thin / spacing < 0.05:
            thin += draws.integers(1, max(int(spacing / 2), 2))
        if width < spacing and thin < spacing and thin / spacing < 0.5:
            rows.append((width, max(thin, 0), spacing))
    return np.array(rows)


def test_widths_and_spacings_are_those_of_the_published_loop() -> None:
    law = line_widths(None, None)
    drawn = simulated(40_000, 1)
    chances = np.diff(law.cumulative, prepend=0)
    counts = np.zeros(len(law.rows))
    place = {tuple(row): number for number, row in enumerate(law.rows.tolist())}
    for row in drawn.tolist():
        counts[place[tuple(row)]] += 1
    often = chances * len(drawn) >= 5
    expected = np.append(chances[often], chances[~often].sum()) * len(drawn)
    assert chisquare(np.append(counts[often], counts[~often].sum()), expected).pvalue > 0.01


def test_draws_follow_the_law_of_widths_and_one_may_be_fixed() -> None:
    places = Gates().place(view(20_000), 96, 96, 0)
    width, thin, spacing = places[:, 1], places[:, 2], places[:, 0]
    reference = simulated(20_000, 2)
    for own, other in zip((width, thin, spacing), reference.T):
        assert own.mean() == pytest.approx(other.mean(), rel=0.03)
    assert (width < spacing).all()
    assert (2 * thin < spacing).all()
    assert (width.min(), spacing.max()) == (1, 19)
    fixed = Gates(width=6).place(view(500), 96, 96, 0)
    assert set(fixed[:, 1]) == {6}
    assert set(fixed[:, 0]) == set(range(7, 20))
    assert set(Gates(width=30, spacing=40).place(view(500), 96, 96, 0)[:, 2]) == set(range(11, 19))


@pytest.mark.parametrize("kind", ["vertical", "horizontal", "cross_hatch", "oblique"])
def test_the_object_lies_under_wide_lines_and_the_background_under_thin_ones_elsewhere(kind: str) -> None:
    masks = discs(30)
    gate = Gates(kind)  # type: ignore[arg-type]
    thin, known = covers(f"gates({kind})", 30, 96, masks)
    places, _ = gate.settle(torch.zeros(30, 3, 96, 96, dtype=torch.uint8), view(30, masks=masks))
    swapped = places.copy()
    for start in (1, 6):
        swapped[:, [start, start + 2]] = places[:, [start + 1, start + 3]]
    over_object, over_rest = (
        Gates(kind, background="same").hide(rows, 96, 96, known).numpy()  # type: ignore[arg-type]
        for rows in (places, swapped)
    )
    np.testing.assert_array_equal(thin, np.where(masks.numpy(), over_object, over_rest))
    bare, _ = covers(f"gates({kind}, background=bare)", 30, 96, masks)
    assert not (bare & ~masks.numpy()).any()
    assert bare.any((1, 2)).sum() >= 29


def test_an_oblique_line_is_as_wide_as_it_says_at_any_angle() -> None:
    """Distance across the line, from the middle of the image, against floating point."""
    side = 64
    rows, columns = np.mgrid[:side, :side] - (side - 1) / 2
    for degrees in range(3, 360, 7):  # never straight, where lines end on pixels
        places = np.array([[11, 4, 0, 3, 0, degrees, 0, 0, 0, 0, 0]])
        cover = Gates("oblique", background="same").hide(places, side, side, view(1))[0].numpy()
        angle = np.radians(degrees)
        across = (columns * np.sin(angle) + rows * np.cos(angle)) % 11
        sure = np.abs(across[..., None] - [0, 3, 7, 11]).min(-1) > 0.02
        np.testing.assert_array_equal(cover[sure], ((across >= 3) & (across < 7))[sure])
        assert sure.mean() > 0.9
    straight = np.array([[11, 4, 0, 3, 0, 0, 0, 0, 0, 0, 0]])
    level = Gates("oblique", background="same").hide(straight, side, side, view(1))[0].numpy()
    assert (level == level[:, :1]).all()
    assert level[:, 0].tolist() == [(row - 32 - 3) % 11 < 4 for row in range(side)]


def test_half_of_the_oblique_gates_have_a_second_set_of_lines_at_another_angle() -> None:
    places = Gates("oblique").place(view(4000), 96, 96, 0)
    second = places[:, 6] > 0
    assert second.mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_array_equal(places[second, 6:8], places[second, 1:3])
    assert (places[~second, 6:8] == 0).all()
    assert set(places[:, 5]) == set(range(360))
    assert abs(np.corrcoef(places[:, 5], places[:, 10])[0, 1]) < 0.05


def shares(cover: np.ndarray, masks: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The hidden shares of object and background, counted image by image."""
    pairs = [(one[mask].mean(), one[~mask].mean()) for one, mask in zip(cover, masks.numpy())]
    of_object, background = np.array(pairs).T
    return of_object, background


@pytest.mark.parametrize("kind", ["vertical", "horizontal", "cross_hatch", "oblique"])
@pytest.mark.parametrize("law", ["paper", "code"])
def test_shown_gates_keep_the_limits_of_object_and_background(kind: str, law: str) -> None:
    masks = discs(150)
    cover, known = covers(f"gates({kind}, law={law}, least=0.05, most=0.95)", 150, 96, masks)
    of_object, background = shares(cover, masks)
    assert "excluded" not in known.notes
    assert of_object.min() >= 0.05
    assert of_object.max() <= 0.95
    if law == "paper":
        assert (background <= 2 * of_object + 1e-9).all()
    elif kind != "oblique":
        assert background.max() <= 0.6
    if (kind, law) == ("cross_hatch", "code"):
        assert (background > 2 * of_object).any()  # what the paper's rule would refuse


def test_levels_can_be_asked_for_directly() -> None:
    masks = discs(60)
    for low in (0.1, 0.3, 0.5, 0.7):
        cover, known = covers(f"gates(cross_hatch, least={low}, most={low + 0.2})", 60, 96, masks)
        counts = ~known.notes.get("excluded", np.zeros(60, bool))
        of_object, _ = shares(cover, masks)
        assert counts.mean() > 0.9
        assert ((of_object >= low - 1e-9) & (of_object <= low + 0.2 + 1e-9))[counts].all()


@pytest.mark.parametrize("background", ["thin", "bare", "same"])
def test_the_look_at_the_object_alone_tells_whether_its_share_is_allowed(background: str) -> None:
    """Oblique gates are refused by it before the rest is drawn: it must say what the whole cover says."""
    masks = discs(200)
    gates = Gates("oblique", background=background, least=0.4, most=0.7)  # type: ignore[arg-type]
    known = view(200, 5, masks)
    places = gates.place(known, 96, 96, 3)
    of_object, _ = shares(gates.hide(places, 96, 96, known).numpy(), masks)
    window = slice(18, 70), slice(28, 80)
    assert not masks.sum() - masks[:, window[0], window[1]].sum()
    pixels = masks.flatten(1).sum(1).numpy()
    np.testing.assert_array_equal(
        gates.hopeful(places, known, pixels, window), (of_object >= 0.4 - 1e-9) & (of_object <= 0.7 + 1e-9)
    )
    assert gates.hopeful(places, known, pixels, (slice(0, 96), slice(0, 96))).any()
    assert Gates("vertical", least=0.4).hopeful(places, known, pixels, window).all()


def test_an_image_without_object_is_left_out_but_not_where_no_mask_matters() -> None:
    masks = discs(3)
    masks[1] = False
    cover, known = covers("gates()", 3, 96, masks)
    assert known.notes["excluded"].tolist() == [False, True, False]
    assert not cover[1].any()
    _, known = covers("gates(background=same)", 3, 96, masks)
    assert "excluded" not in known.notes
    assert parse("gates(background=same)").needs == frozenset()
    assert parse("gates()").needs == {"masks"}
    assert parse("gates(background=bare)").needs == {"masks"}
    assert parse("gates(background=same, most=0.9)").needs == {"masks"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gates(diagonal)", "unknown kind of gates 'diagonal'"),
        ("gates(vertical, 0)", "gates: expected width of at least 1 pixel, got 0"),
        ("gates(vertical, 5, 5)", "gates: expected width below 5 for a spacing of 5, got 5"),
        ("gates(vertical, 19)", "gates: expected width below 19 where spacing is drawn from 2 to 19, got 19"),
        (
            "gates(vertical, spacing=1)",
            "gates: expected spacing of at least 2 pixels, from one line to the next, got 1",
        ),
        ("gates(vertical, 2, 20000)", "gates: expected spacing of at most 10,000, got 20000"),
        ("gates(vertical, 2.5)", "gates: expected width to be a whole number or none, got '2.5'"),
        ("gates(least=2)", "gates: expected 0 ≤ least ≤ most ≤ 1, got least=2 and most=1"),
    ],
)
def test_impossible_lines_are_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        parse(text)
    assert str(error.value).startswith(message)


def test_an_image_must_hold_a_period() -> None:
    parse("gates()").check_size(19, 19)
    with pytest.raises(
        ValueError, match="expected spacing of at most 16 for this image, got drawn up to 19; fix it, as in"
    ):
        parse("gates()").check_size(16, 32)
    with pytest.raises(ValueError, match="expected spacing of at most 16 for this image, got 20"):
        parse("gates(vertical, 2, 20)").check_size(32, 16)
