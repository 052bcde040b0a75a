"""Series of faithfulness: their truths are those of orders drawn by hand, and the audit measures them."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.calibrate import LADDERS, calibrate
from snellen.calibrate.truths import (
    noise_area,
    object_in_window,
    random_area,
    share_area,
    window_area,
)
from snellen.data.phantom import World
from snellen.errors import UserError
from snellen.models.observers import parse
from snellen.models.observers.support import support_of
from snellen.search.step_sampling import states_at, trapezoid

RANDOM = np.random.default_rng(0)
STATES = states_at(100, 1024)
WORLD = World("test", size=32, n=200)


def area_of_last(place: np.ndarray) -> np.ndarray:
    """The areas of curves that are 1 until the tile at a place of the order is hidden, then 0."""
    return np.array([trapezoid((one >= STATES).astype(float)) for one in np.atleast_1d(place)])


def test_the_truth_of_random_orders_is_that_of_shuffled_pixels() -> None:
    for pixels in (1, 2, 5):
        places = np.array([RANDOM.permutation(1024)[:pixels].max() for _ in range(4000)])
        error = 4 * places.std() / 1024 / 4000**0.5
        assert random_area(np.array([pixels]))[0] == pytest.approx(area_of_last(places).mean(), abs=error)


def test_the_upper_line_is_half_of_what_an_observer_of_one_pixel_sees() -> None:
    seen = (object_in_window(1) > 0).mean()
    assert window_area(1 / 32) == pytest.approx(100 * seen * (area_of_last(np.array([1023]))[0] - 0.5), abs=0.01)
    assert share_area(0) == noise_area(0.5) == noise_area(0) == window_area(1 / 32)
    assert share_area(1) == noise_area(1) == 0


@pytest.mark.parametrize("noise", [0.6, 0.8, 1.0])
def test_the_truth_of_noise_is_that_of_ranks_drawn_by_hand(noise: float) -> None:
    values = noise * RANDOM.random((3000, 1024))
    values[:, 0] += 1 - noise
    places = (values < values[:, :1]).sum(1)
    expected = (area_of_last(places).mean() - 0.5) / (area_of_last(np.array([1023]))[0] - 0.5)
    assert noise_area(noise) / window_area(1 / 32) == pytest.approx(expected, abs=0.05)


def test_a_misreport_answers_as_its_first_and_changes_its_map_on_a_share_of_the_images() -> None:
    images = WORLD.render(range(WORLD.n)).images
    own, all_noise, half = (
        support_of(parse(text))(images)  # type: ignore[misc]
        for text in ("texture", "misreport(texture)", "misreport(texture, share=0.5, noise=0.25)")
    )
    assert (parse("misreport(texture)").answer(images) == parse("texture").answer(images)).all()
    assert np.corrcoef(all_noise.ravel(), own.ravel())[0, 1] == pytest.approx(0, abs=0.01)
    assert all_noise.mean() == pytest.approx(0.5, abs=0.005)
    same = (half == own).all((1, 2))
    assert same.mean() == pytest.approx(0.5, abs=0.15)
    assert half[~same] == pytest.approx(0.75 * own[~same] + 0.25 * all_noise[~same])
    assert support_of(parse("misreport(oracle)")) is None
    with pytest.raises(UserError, match=r"expected noise in \[0, 1\], got 2"):
        parse("misreport(texture, noise=2)")


def test_the_true_map_is_the_upper_line_and_noise_the_zero_line(tmp_path) -> None:
    page = calibrate(tmp_path / "c", ("faithful_share",), images=40, quick=True, quiet=True)
    (series,) = page["ladders"]
    assert series["follows"]
    assert series["worst"] < LADDERS["faithful_share"].tolerance * (600 / 40) ** 0.5


@pytest.mark.slow
def test_every_series_holds_its_truth_within_the_stated_tolerance(tmp_path) -> None:
    tolerances = {name: series.tolerance for name, series in LADDERS.items() if series.tolerance is not None}
    assert set(tolerances) == {"faithful_share", "faithful_noise", "faithful_window"}
    page = calibrate(tmp_path / "c", tuple(tolerances), images=400, quick=True, quiet=True)
    for series in page["ladders"]:
        assert series["follows"], series["name"]
        assert series["worst"] < tolerances[series["name"]], series["name"]
