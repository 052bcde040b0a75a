"""Shifts of hue and saturation against Python's own conversions, and the trial by hand."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
import torch

import snellen
from snellen.models import from_callable
from snellen.search.hue import HueShift, shift_hue


def by_colorsys(pixel: tuple[int, ...], hue: float, saturation: float) -> list[float]:
    """The shifted pixel in 0 … 255, before rounding."""
    h, s, v = colorsys.rgb_to_hsv(*(level / 255 for level in pixel))
    return [255 * level for level in colorsys.hsv_to_rgb((h + hue) % 1, min(max(s + saturation, 0), 1), v)]


def test_pixels_are_those_of_colorsys() -> None:
    random = np.random.default_rng(0)
    images = torch.from_numpy(random.integers(0, 256, (6, 3, 9, 7), dtype=np.uint8))
    images[0, :, 0] = torch.tensor([0, 128, 255], dtype=torch.uint8)[:, None]
    images[1, :, :2] = 77  # grey
    images[2, :, :2] = 0
    images[2, 0, 1] = 255
    hue, saturation = torch.tensor([0.0, 0.3, 0.99, 0.5, 1.0, 0.125]), torch.tensor([0.0, -0.4, 0.7, -1, 1, 0.01])
    shifted = shift_hue(images, hue, saturation)
    for row in range(6):
        for y in range(9):
            for x in range(7):
                expected = by_colorsys(tuple(images[row, :, y, x].tolist()), float(hue[row]), float(saturation[row]))
                assert shifted[row, :, y, x].tolist() == pytest.approx(expected, abs=0.502)
    assert torch.equal(shifted[0], images[0])


def test_a_trial_ends_at_its_first_error_and_says_how_far_it_came() -> None:
    """A model that knows an image by its reddest pixel: it stands any shift that leaves the image reddish."""

    def reddish(images: np.ndarray) -> np.ndarray:
        red = (images[..., 0] > images[..., 1]).mean((1, 2)) > 0.5
        return np.stack([red, ~red], 1).astype(np.float32)

    random = np.random.default_rng(1)
    grey = random.integers(0, 200, (30, 8, 8, 1), dtype=np.uint8).repeat(3, 3)
    red = grey.copy()
    red[..., 0] += 40
    arrays = {"images": np.concatenate([red, grey]), "labels": np.repeat([0, 1], 30)}
    data = snellen.data.from_arrays(arrays, "memory:reds", "1")
    run = snellen.audit(
        from_callable(reddish, version="1"),
        data,
        "shift(random=0,evaluations=10,images=20,references=true)",
        quiet=True,
        report=False,
    )
    rows = run.sql("select sample, fooled, tried from trials").sort_values("sample")
    assert rows["fooled"].sum() >= 30  # a reddish image soon has another hue
    assert (rows["tried"] <= HueShift().shifts).all()
    findings = run.findings().set_index("name")
    assert findings.loc["hue_accuracy", "value"] == pytest.approx(1 - rows["fooled"].mean())
    (hue,) = (finding for finding in run.results()["findings"] if finding["name"] == "hue_accuracy")
    assert hue["per_run"] == pytest.approx([1 - rows["fooled"].mean()])
    untouched = rows[~rows["fooled"].astype(bool)]
    assert (untouched["tried"] == HueShift().shifts).all()
