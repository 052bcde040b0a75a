"""The colours of models can be told apart by people who see no difference of red and green, on light and on dark pages."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import snellen.report.render as render
from snellen.report.charts import COLOURS

CSS = Path(render.__file__).with_name("report.css").read_text()
LIGHT, DARK, _ = re.split(r"@media \(prefers-color-scheme: dark\)|@media print", CSS)[:3]
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)  # Machado, Oliveira & Fernandes 2009, severity 1, of linear RGB
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ @ np.ones(3)
APART = 14.0  # distance in CIELAB; 2.3 is just noticeable side by side


def linear(colour: str) -> np.ndarray:
    share = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    ratio = XYZ @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def luminance(colour: str) -> float:
    return float((XYZ @ linear(colour))[1])


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def variables(rules: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", rules))


def test_the_measure_knows_red_and_green() -> None:
    seen = lab(linear("#b00000")), lab(linear("#5c7000"))
    blind = (lab(DEUTERANOPIA @ linear("#b00000")), lab(DEUTERANOPIA @ linear("#5c7000")))
    assert np.linalg.norm(seen[0] - seen[1]) > 60
    assert np.linalg.norm(blind[0] - blind[1]) < 20
    assert contrast("#000000", "#ffffff") == pytest.approx(21, abs=0.01)


@pytest.mark.parametrize("rules", [LIGHT, DARK], ids=["light", "dark"])
def test_models_are_told_apart_with_deuteranopia(rules: str) -> None:
    colours = variables(rules)
    models = [colours[f"c{place}"] for place in range(len(COLOURS))]
    for first, second in combinations(models, 2):
        for seen in (np.eye(3), DEUTERANOPIA):
            distance = np.linalg.norm(lab(seen @ linear(first)) - lab(seen @ linear(second)))
            assert distance > APART, (first, second, distance)
        assert contrast(first, colours["card"]) >= 3


@pytest.mark.parametrize("rules", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read_on_every_ground(rules: str) -> None:
    colours = variables(rules)
    for ground in ("page", "card"):
        for ink in ("ink", "soft", "accent", "warn", "good", "bad"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_charts_have_the_colours_of_the_light_page() -> None:
    colours = variables(LIGHT)
    assert [colours[f"c{place}"] for place in range(len(COLOURS))] == list(COLOURS)
