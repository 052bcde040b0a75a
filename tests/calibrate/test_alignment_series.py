"""Series of alignment: what is planted in observers is what the audit measures of them."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.calibrate import calibrate
from snellen.calibrate.truths import glance_energy, glance_heat
from snellen.measure import effective_heat_ratio


def test_every_series_follows_and_holds_its_truth(tmp_path) -> None:
    names = ("looking_energy", "looking_heat", "looking_border", "glance_energy", "glance_heat")
    page = calibrate(tmp_path / "c", names, images=100, quick=True, quiet=True)
    for ladder in page["ladders"]:
        assert ladder["follows"], ladder["name"]
        assert ladder["worst"] < 0.1, ladder["name"]
    by_name = {series["name"]: series for series in page["ladders"]}
    for name, ends in {"looking_energy": (0, 1), "looking_heat": (0, 1), "looking_border": (1, 0)}.items():
        points = by_name[name]["points"]
        assert (points[0]["value"], points[-1]["value"]) == ends


def test_the_truths_of_glances_are_those_of_maps_made_by_hand() -> None:
    from snellen.data.phantom import World

    masks = World("test", size=32, n=600, object_size=0.5).truth(range(600)).visible
    by_hand = effective_heat_ratio(np.where(masks, 1, 0.5), masks)
    assert glance_heat(0.5) == pytest.approx(by_hand.mean())
    assert glance_energy(0) == 1
    even = World("test", size=32, n=600).truth(range(600)).visible.mean()
    assert glance_energy(1) == pytest.approx(even)
