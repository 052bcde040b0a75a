"""Every accuracy and every gap of a run, computed again from its stored predictions, is the finding's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.exam.run import Run
from snellen.models import Model, from_callable

TEST, TRAIN = "phantom:test?size=16&n=60", "phantom:train?size=16&n=80"
AUDITS = (
    "occlusion([0.2, 0.6], [black, noise], [occlude, tiles(4)], validate=true), interference([shuffle(2), fourier(0.5)]), "
    "shape, augmentation"
)


def reader(scale: int) -> Model:
    """Names a class by the mean colour: it answers at random, but differently under everything that is done to an image."""

    def answer(images: np.ndarray) -> np.ndarray:
        return np.eye(12)[(images.astype(int).sum((1, 2, 3)) // scale) % 12]

    return from_callable(answer, size=16, classes=snellen.load_data(TEST).classes, name=f"by {scale}", version="1")


@pytest.fixture(scope="module")
def run() -> Run:
    return snellen.audit({"odd": [reader(61), reader(7)]}, TEST, AUDITS, train=TRAIN, quiet=True, report=False)


@pytest.fixture(scope="module")
def right(run: Run) -> pd.Series:
    """The share of right answers by dataset, distortion and run, from the table of answers alone."""
    told = run.predictions()
    return (told["pred"] == told["label"]).groupby([told["on"], told["distortion"], told["run"]]).mean()


def test_accuracies_are_those_of_the_stored_answers(run: Run, right: pd.Series) -> None:
    found = [one for one in run.results()["findings"] if one["unit"] == "share" and one["value"] is not None]
    names = {one["name"] for one in found}
    assert {"accuracy", "train_accuracy", "noisy_accuracy", "cut_occlusion", "occluded_accuracy"} <= names
    assert {"distorted_accuracy", "shuffled_accuracy", "soft_shuffled_accuracy"} <= names
    for one in found:
        again = np.mean([right[one["on"], text] for text in one["distortions"]], axis=0)
        assert one["value"] == pytest.approx(again.mean()), one["text"]
        assert one["per_run"] == pytest.approx(again.tolist()), one["text"]


def test_affinity_is_that_of_the_stored_answers(run: Run, right: pd.Series) -> None:
    found = [one for one in run.results()["findings"] if one["name"] == "affinity"]
    assert len(found) == 3
    for one in found:
        (text,) = one["distortions"]
        assert one["value"] == pytest.approx((right["test", text] - right["test", "none()"]).mean())


def test_iocclusion_is_that_of_the_stored_answers(run: Run, right: pd.Series) -> None:
    found = [one for one in run.results()["findings"] if one["name"] == "iocclusion"]
    assert len(found) == 8
    for one in found:
        text = one["distortions"][0]
        covered = right["train", text] - right["test", text]
        gap = right["train", "none()"] - right["test", "none()"]
        assert (gap != 0).all()
        assert one["facts"]["numerator"] == pytest.approx(covered.abs().mean())
        assert one["facts"]["denominator"] == pytest.approx(gap.abs().mean())
        assert one["facts"]["signed"] == pytest.approx((covered / gap).mean())
        assert one["value"] == pytest.approx((covered / gap).abs().mean())
        means = [m for m in run.results()["findings"] if m["name"] == "mean_iocclusion" and text in m["distortions"]]
        shares = [x["value"] for x in found if x["distortions"][0] in means[0]["distortions"]]
        assert means[0]["value"] == pytest.approx(np.mean(shares))
