"""What a search chose on some images is reported on others, or marked as chosen."""

from __future__ import annotations

import numpy as np
import pytest

import snellen
from snellen.audits import Exam
from snellen.audits.unsearched import FEWEST, UnsearchedImages
from snellen.data import Dataset, Samples, from_arrays, limited
from snellen.hashing import checksum
from snellen.models import Model, from_callable
from snellen.report.results import Results
from snellen.report.sections.shift import shift_blocks, shift_sentence
from snellen.report.sections.shift_values import searches_of

IMAGES, SEARCHED = 120, 60


def noise(seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    images = random.integers(60, 190, (IMAGES, 8, 8, 3), np.uint8)
    return from_arrays({"images": images, "labels": np.arange(IMAGES) % 2}, f"memory:noise{seed}", str(seed))


def lucky() -> Model:
    """Guesses by a hash of the pixels: whichever tuple is worst on some images is not on others."""

    def answer(images: np.ndarray) -> np.ndarray:
        return np.eye(2)[[int(checksum(image.tobytes())[:8], 16) % 2 for image in images]]

    return from_callable(answer, size=8, name="lucky", version="1")


@pytest.fixture(scope="module", params=range(3))
def run(request: pytest.FixtureRequest) -> snellen.Run:
    data = noise(request.param)
    audits = f"shift(length=2, random=150, evaluations=100, images={SEARCHED})"
    return snellen.audit(lucky(), data, audits, quiet=True, report=False)


def test_the_worst_of_meaningless_edits_is_not_below_the_truth(run: snellen.Run) -> None:
    """The model guesses: its true accuracy is one half under every tuple, and far below on the images that were searched."""
    found = {finding.name: finding for finding in run.stored_findings() if finding.audit == "shift"}
    worst = found["worst_accuracy"]
    assert worst.facts.chosen is False
    assert (worst.n, worst.facts.unsearched) == (IMAGES - SEARCHED, IMAGES - SEARCHED)
    assert (worst.low or 0) <= 0.5 <= (worst.high or 0)
    lowest = min(found["searched_worst"].value or 1, found["random_worst"].value or 1)
    assert lowest < 0.38  # the curse: a value that no other images will show
    assert "on the images that were not searched" in worst.text


def test_effects_of_edits_are_of_images_that_were_not_searched(run: snellen.Run) -> None:
    effects = [finding for finding in run.stored_findings() if finding.name == "edit_effect"]
    assert effects
    assert {effect.n for effect in effects} == {IMAGES - SEARCHED}


def test_the_sentence_says_which_images_and_names_the_lowest_of_search_and_random(run: snellen.Run) -> None:
    results = Results.of(run)
    (search,) = searches_of(results)
    assert search.searched is not None
    assert search.random is not None
    assert search.lowest == min(search.searched.value or 1, search.random.value or 1)
    ((_, sentence),) = shift_sentence(results, "lucky")
    assert f"on images that were not searched (on those that were, {100 * search.lowest:.1f}%)" in sentence
    assert f"from {100 * (search.clean_beside or 0):.1f}%" in sentence
    assert "60 images that were not searched" in str(shift_blocks(results)[1])


def test_where_all_images_were_searched_the_value_is_marked_as_chosen() -> None:
    data = noise(0)
    run = snellen.audit(lucky(), data, "shift(length=2, random=20, evaluations=20, images=0)", quiet=True, report=False)
    (worst,) = [finding for finding in run.stored_findings() if finding.name == "worst_accuracy"]
    assert (worst.n, worst.facts.unsearched, worst.facts.chosen) == (IMAGES, 0, True)
    assert worst.label == "Accuracy under the worst edits, chosen on these images"
    assert "this value is chosen" in worst.text
    ((_, sentence),) = shift_sentence(Results.of(run), "lucky")
    assert "on the images on which it was chosen" in sentence


def test_images_that_were_not_searched_are_the_others_than_the_search_takes() -> None:
    data = noise(0)
    exam = Exam(classes={"test": "ab"}, side=8, samples={"test": data.samples})
    assert UnsearchedImages.of(exam, 50).ids == set(data.samples.ids) - set(limited(data, 50).samples.ids)
    assert len(UnsearchedImages.of(exam, 40, 2).ids) == IMAGES - 80
    assert UnsearchedImages.of(exam, IMAGES - FEWEST + 1).chosen
    assert not UnsearchedImages.of(exam, IMAGES - FEWEST).chosen


def test_an_image_of_a_video_that_was_searched_counts_as_searched() -> None:
    samples = noise(0).samples
    videos = Samples(samples.ids, samples.labels, {"group": np.arange(IMAGES) // 4})
    exam = Exam(classes={"test": "ab"}, side=8, samples={"test": videos})
    left = UnsearchedImages.of(exam, 10).ids
    searched = {samples.ids[row] for row in videos.hash_order[:10]}
    groups = {sample: place // 4 for place, sample in enumerate(samples.ids)}
    assert not {groups[sample] for sample in left} & {groups[sample] for sample in searched}
    assert len(left) >= IMAGES - 40
