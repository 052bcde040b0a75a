"""The occlusion audit on models whose answers are known by construction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.models import Model, from_callable


@pytest.fixture
def halves(tmp_path: Path) -> str:
    """400 grey images of 20 × 20 pixels of two classes: level 60 or 120."""
    labels = np.arange(400) % 2
    images = np.broadcast_to((60 * (labels + 1))[:, None, None], (400, 20, 20)).astype(np.uint8)
    np.savez(tmp_path / "halves.npz", images=images, labels=labels, classes=["dark", "light"])
    return f"arrays:{tmp_path}/halves.npz"


def of(function: object) -> Model:
    return from_callable(function, size=20, name="model", version="1")  # type: ignore[arg-type]


def vote(first: np.ndarray) -> np.ndarray:
    return np.stack([first, 1 - first], 1).astype(float)


def test_a_model_that_needs_one_corner_loses_it_as_often_as_the_square_is_there(halves: str) -> None:
    """A square of side 16 has 5 × 5 places and covers the corner in one; white then looks light, so dark images fail."""
    model = of(lambda images: vote(images[:, 0, 0, 0] < 90))
    run = snellen.audit(model, halves, "occlusion(areas=[0.64], fills=[white, black])", quiet=True, report=False)
    found = run.findings().set_index(["name", "fill"])["value"]
    expected = 1 - 0.5 / 25
    assert found["occluded_accuracy", "white"] == pytest.approx(expected, abs=0.02)
    assert found["occluded_accuracy", "black"] == pytest.approx(expected, abs=0.02)
    covered = run.findings().query("name == 'occluded_accuracy'")["covered"]
    assert covered.tolist() == pytest.approx([0.64, 0.64])


def test_a_model_that_ignores_covered_pixels_has_a_flat_curve_and_no_fill_gap(halves: str) -> None:
    def by_median_of_own_levels(images: np.ndarray) -> np.ndarray:
        own = [((image == 60).sum(), (image == 120).sum()) for image in images[..., 0]]
        return vote(np.array([dark > light for dark, light in own]))

    run = snellen.audit(
        of(by_median_of_own_levels), halves, "occlusion(fills=[black, white])", quiet=True, report=False
    )
    found = run.findings().set_index(["name", "fill"])
    assert found.loc[("cut_occlusion", "black"), "value"] == 1
    assert found.loc[("fill_gap", "black"), "value"] == 0
    assert not run.findings()["di_flagged"].fillna(False).any()


def test_a_model_of_mean_brightness_is_fooled_by_the_fill_and_the_gap_shows_it(halves: str) -> None:
    """Mean brightness under 90 is dark. Half black halves the mean of light images to 60: all wrong. White: dark ones."""
    model = of(lambda images: vote(images.mean((1, 2, 3)) < 90))
    run = snellen.audit(model, halves, "occlusion(areas=[0.49], fills=[black, grey])", quiet=True, report=False)
    found = run.findings().set_index(["name", "fill"])
    assert found.loc[("occluded_accuracy", "black"), "value"] == 0.5
    # Grey 127 over 0.49 of 60 gives 92.8: dark images look light; light ones stay light.
    assert found.loc[("occluded_accuracy", "grey"), "value"] == 0.5
    assert found.loc[("occluded_accuracy", "black"), "di"] == pytest.approx(2)
    # Of two classes none can be shown to dominate: the gap between fills tells, the flag does not.
    assert set(found["di_dominant"].loc["occluded_accuracy"]) == {""}
    assert not found["di_flagged"].loc["occluded_accuracy"].any()


def test_of_three_classes_the_one_that_a_black_square_looks_like_is_named_and_flagged(tmp_path: Path) -> None:
    """Levels 60, 120, 180 told apart by the mean. 0.81 of black leaves at most 34: all images look dark, 2/3 wrongly."""
    labels = np.arange(300) % 3
    images = np.broadcast_to((60 * (labels + 1))[:, None, None], (300, 20, 20)).astype(np.uint8)
    np.savez(tmp_path / "thirds.npz", images=images, labels=labels, classes=["dark", "light", "glaring"])
    model = of(lambda images: np.eye(3)[np.digitize(images.mean((1, 2, 3)), [90, 150])])
    audits = "occlusion(areas=[0.81], fills=[black])"
    run = snellen.audit(model, f"arrays:{tmp_path}/thirds.npz", audits, quiet=True, report=False)
    found = run.findings().set_index("name").loc["occluded_accuracy"]
    assert found["value"] == pytest.approx(1 / 3)
    assert found["di"] == pytest.approx(3)
    assert found["di_dominant"] == "dark"
    assert found["di_flagged"]


def test_the_mean_curve_is_the_mean_of_its_points(halves: str) -> None:
    model = of(lambda images: vote(images[:, 5:15, 5:15, 0].mean((1, 2)) < 90))
    run = snellen.audit(model, halves, "occlusion(areas=[0.1, 0.5, 0.9])", quiet=True, report=False)
    found = run.findings()
    for fill in ("black", "noise"):
        points = found.query(f"name == 'occluded_accuracy' and fill == '{fill}'")["value"].mean()
        assert found.query(f"name == 'cut_occlusion' and fill == '{fill}'")["value"].item() == pytest.approx(points)
    gap = found.query("name == 'fill_gap'")
    means = found.query("name == 'cut_occlusion'")["value"].to_numpy()
    assert gap["value"].item() == pytest.approx(means[0] - means[1])
    assert gap["low"].item() <= gap["value"].item() <= gap["high"].item()
