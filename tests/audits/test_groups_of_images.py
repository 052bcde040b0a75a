"""Frames of one clip are drawn together: intervals are those of whole clips, computed again from the stored answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.exam.run import Run
from snellen.measure import calibration_error, paired_difference
from snellen.models import Model, from_callable

FRAMES = 8
DATA = f"phantom:test?size=16&n=160&frames={FRAMES}"
AUDITS = "occlusion([0.4], [black, white]), calibration"


def by_clip() -> Model:
    """Right on all frames of a clip or on none, and more or less sure of them together: it knows the images by heart, and
    covered ones by the first row that is left, which squares of 0.4 of the image leave in most of them."""
    data = snellen.load_data(DATA)
    rows: dict[bytes, int] = {}
    for number, photo in enumerate(data.read(range(len(data)))):
        for row in photo.image:  # type: ignore[union-attr]
            rows[row.tobytes()] = number

    def answer(images: np.ndarray) -> np.ndarray:
        sure = np.full((len(images), 12), 0.01)
        for place, image in enumerate(images):
            number = next((rows[row.tobytes()] for row in image if row.tobytes() in rows), 0)
            clip, bright = number // FRAMES, image.max() == 255  # a white square is seen as such in every third clip
            wrong = clip % 4 == 0 or (bright and clip % 3 == 0)
            sure[place, (data.samples.labels[number] + wrong) % 12] = 0.1 + clip % 5 / 5
        return sure / sure.sum(1, keepdims=True)

    return from_callable(answer, size=16, classes=data.classes, name="clips", version="1")


@pytest.fixture(scope="module")
def run() -> Run:
    return snellen.audit(by_clip(), DATA, AUDITS, quiet=True, report=False)


@pytest.fixture(scope="module")
def clips(run: Run) -> pd.Series:
    """The clip of each sample."""
    return run.sql('select sample, "group" from samples').set_index("sample")["group"]


def ends(one: dict) -> tuple[float, float, float]:
    return one["value"], one["low"], one["high"]


def test_the_gap_between_fills_is_that_of_clips(run: Run, clips: pd.Series) -> None:
    (gap,) = [one for one in run.results()["findings"] if one["name"] == "fill_gap"]
    right = run.predictions().pivot(index="sample", columns="distortion", values="score")
    black, white = (right[text] for text in gap["distortions"])
    again = paired_difference(black, white, clips[right.index])
    assert ends(gap) == pytest.approx((again.value, again.low, again.high))
    alone = paired_difference(black, white)
    assert gap["high"] - gap["low"] > 1.5 * (alone.high - alone.low)


def test_the_error_of_calibration_is_that_of_clips(run: Run, clips: pd.Series) -> None:
    (error,) = [one for one in run.results()["findings"] if one["name"] == "calibration_error"]
    told = run.predictions().query("distortion == 'none()'")
    again = calibration_error(told["confidence"], told["score"], 15, clips[told["sample"]])
    assert ends(error) == pytest.approx((again.value, again.low, again.high), abs=1e-6)
    alone = calibration_error(told["confidence"], told["score"], 15)
    assert error["high"] - error["low"] > 1.5 * (alone.high - alone.low)
