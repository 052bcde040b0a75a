"""Each check on clean answers with one planted fault, and on answers without any."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from snellen.checks import CHECKS, CleanAnswers, ListedImage, copies, refusal
from snellen.checks.answers import below_stated, chance_level
from snellen.checks.classes import class_order, informative, relabel, unmapped, unrelated
from snellen.checks.doubt import clearly_better

ANIMALS = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay")


def answered(
    right: float = 0.9, samples: int = 1000, classes: tuple[str, ...] = ANIMALS, seed: int = 0
) -> CleanAnswers:
    """Right on about this share of the images; a wrong answer is any class at random."""
    random = np.random.default_rng(seed)
    labels = np.arange(samples) % len(classes)
    guesses = random.integers(0, len(classes), samples)
    pred = np.where(random.random(samples) < right, labels, guesses)
    return CleanAnswers("'net'", "net", pred, labels, np.full(samples, 0.9), classes)


def names(clean: CleanAnswers) -> list[str]:
    return [doubt.name for check in CHECKS if (doubt := check(clean))]


@pytest.mark.parametrize("right", [0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("samples", [100, 1000])
def test_honest_answers_raise_no_doubt(right: float, samples: int) -> None:
    assert names(answered(right, samples)) == []
    assert names(replace(answered(right, samples), stated=right + 0.02)) == []


def test_no_images_raise_no_doubt() -> None:
    assert names(answered(samples=0)) == []


def test_guessing_is_doubted_and_says_what_guessing_would_give() -> None:
    guesses = replace(answered(right=0), confidence=np.full(1000, 0.12))
    assert names(guesses) == ["chance_level"]
    doubt = chance_level(guesses)
    assert doubt is not None
    assert "not clearly above the 10.0% of guessing among 10 classes" in doubt.text
    assert "check weights" in doubt.advice


def test_one_constant_answer_is_guessing_however_sure_it_is() -> None:
    clean = answered()
    assert names(replace(clean, pred=np.full_like(clean.pred, 3))) == ["chance_level"]


def test_accuracy_is_compared_with_the_most_frequent_class_too() -> None:
    """24 of 36 pets are dogs: two thirds are right without looking, which is clearly above the half of guessing."""
    labels = np.repeat([0, 1], [120, 240])
    always = CleanAnswers("'net'", "net", np.ones(360, int), labels, np.full(360, 0.9), ("cat", "dog"))
    doubt = chance_level(always)
    assert doubt is not None
    assert "not clearly above the 66.7% of always answering 'dog'; it answers 'dog' to every image" in doubt.text
    assert chance_level(replace(always, pred=np.where(np.arange(360) < 60, 0, 1))) is None  # 83.3%


def test_far_below_the_stated_accuracy_is_doubted_a_little_below_is_not() -> None:
    clean = answered(0.7)
    assert below_stated(replace(clean, stated=0.78)) is None
    doubt = below_stated(replace(clean, stated=0.93))
    assert doubt is not None
    assert "its card states 93.0%" in doubt.text


def test_three_images_cannot_contradict_a_stated_accuracy() -> None:
    clean = answered(0.0, samples=3)
    assert below_stated(replace(clean, pred=np.array([0, 1, 3]), stated=0.9)) is None


@pytest.mark.parametrize(("share", "doubted"), [(0.1, False), (0.2, False), (0.3, True)])
def test_answers_outside_the_data_are_doubted_above_a_fifth(share: float, doubted: bool) -> None:
    clean = answered(1.0)
    outside = np.arange(1000) < 1000 * share
    doubt = unmapped(replace(clean, pred=np.where(outside, -1, clean.pred)))
    assert (doubt is not None) == doubted
    assert doubt is None or "30% of the answers" in doubt.text


def test_permuted_classes_are_recognised_with_an_example() -> None:
    clean = answered(0.9)
    turned = (np.arange(10) + 1) % 10
    doubt = class_order(replace(clean, pred=turned[clean.pred]))
    assert doubt is not None
    assert "renamed one to one they are right on 9" in doubt.text
    (called, truth), *_ = re.findall(r"what it calls '(\w+)' is mostly '(\w+)'", doubt.text)
    assert ANIMALS.index(called) == turned[ANIMALS.index(truth)]


def test_two_swapped_classes_among_ten_are_recognised() -> None:
    clean = answered(0.9)
    swapped = np.array([0, 1, 3, 2, 4, 5, 6, 7, 8, 9])
    doubt = class_order(replace(clean, pred=swapped[clean.pred]))
    assert doubt is not None
    assert "'cat' is mostly 'dog'" in doubt.text or "'dog' is mostly 'cat'" in doubt.text


@pytest.mark.parametrize("seed", range(20))
def test_a_renaming_cannot_be_fitted_to_chance(seed: int) -> None:
    """84 images of 1,000 classes: fitted to the same images, a renaming would be right on nearly all of them."""
    random = np.random.default_rng(seed)
    labels, pred = random.integers(0, 1000, (2, 84))
    clean = CleanAnswers("'net'", "net", pred, labels, np.full(84, 0.9), tuple(map(str, range(1000))))
    assert class_order(clean) is None
    assert relabel(pred, labels, 1000)[0].mean() < 0.1


def filmed(videos: int = 40, classes: int = 4, seed: int = 0, shares: Sequence[float] | None = None) -> CleanAnswers:
    """Frames of videos of uneven length; each video has one class and one answer, which have nothing to do with each other."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(videos), random.integers(1, 40, videos))
    labels, pred = (random.choice(classes, videos, p=shares)[group] for _ in range(2))
    return CleanAnswers("'net'", "net", pred, labels, np.full(len(group), 0.9), ANIMALS[:classes], groups=group)


@pytest.mark.parametrize("classes", [2, 4, 10])
def test_answers_that_depend_on_the_video_only_are_no_other_order_of_classes(classes: int) -> None:
    worlds = [filmed(classes=classes, seed=seed) for seed in range(100)]
    assert sum(class_order(world) is not None for world in worlds) <= 1
    if classes > 2:  # over images they would be
        assert sum(class_order(replace(world, groups=None)) is not None for world in worlds) > 20


def test_permuted_classes_of_videos_are_recognised() -> None:
    clean = filmed()
    doubt = class_order(replace(clean, pred=(clean.labels + 1) % 4))
    assert doubt is not None
    assert class_order(replace(clean, pred=(clean.labels + 1) % 4, groups=clean.groups % 9)) is None  # too few to tell


def test_one_long_video_is_one_witness() -> None:
    """Nine of ten frames are of one video, on which another reading is right; on the twenty others it is not."""
    groups = np.repeat(np.arange(21), [180] + [1] * 20)
    better = (groups == 0).astype(float)
    assert clearly_better(better, np.zeros(200))
    assert not clearly_better(better, np.zeros(200), groups)


def test_one_answer_to_nearly_all_images_is_no_other_order_of_classes() -> None:
    """Renamed to the most frequent class it would be right on 67% instead of 33%."""
    random = np.random.default_rng(0)
    labels = (random.random(300) < 0.67).astype(int)
    clean = CleanAnswers("'net'", "net", np.zeros(300, int), labels, np.full(300, 0.9), ("cat", "dog"))
    assert class_order(clean) is None
    assert class_order(replace(clean, pred=(random.random(300) < 0.3).astype(int))) is None
    assert class_order(replace(clean, pred=1 - labels)) is not None


def test_an_interval_of_frames_is_that_of_their_videos() -> None:
    """Right on 7 of 12 videos of 50 frames: above a half over 600 frames, not over 12 videos."""
    groups = np.repeat(np.arange(12), 50)
    labels = groups % 2
    clean = CleanAnswers(
        "'net'", "net", np.where(groups < 7, labels, 1 - labels), labels, np.full(600, 0.6), ("cat", "dog")
    )
    assert chance_level(clean) is None
    assert chance_level(replace(clean, groups=groups)) is not None
    assert below_stated(replace(clean, stated=0.8)) is not None
    assert below_stated(replace(clean, stated=0.8, groups=groups)) is None


@pytest.mark.parametrize(("confidence", "named"), [(0.52, "chance_level"), (0.9, "unrelated_labels")])
def test_of_two_classes_a_confidence_of_half_is_not_sure(confidence: float, named: str) -> None:
    clean = answered(0, 400, ("cat", "dog"))
    assert names(replace(clean, confidence=np.full(400, confidence))) == [named]


def test_one_answer_of_two_is_not_varied() -> None:
    clean = answered(0, 400, ("cat", "dog"))
    assert names(replace(clean, pred=np.zeros(400, int), confidence=np.full(400, 0.99))) == ["chance_level"]


def test_answers_that_depend_on_the_video_only_inform_of_no_label() -> None:
    worlds = [filmed(seed=seed) for seed in range(60)]
    assert sum(informative(world.pred, world.labels, world.groups) for world in worlds) <= 3
    assert all(informative(world.pred, world.labels) for world in worlds)
    assert informative(worlds[0].labels, worlds[0].labels, worlds[0].groups)


def test_shuffled_labels_are_told_from_an_untrained_model() -> None:
    clean = answered(0.95)
    shuffled = replace(clean, labels=np.random.default_rng(1).permutation(clean.labels))
    doubt = unrelated(shuffled)
    assert doubt is not None
    assert doubt.name == "unrelated_labels"
    assert "10 of 10 classes used" in doubt.text
    assert names(shuffled) == ["unrelated_labels"]


def test_information_is_seen_where_accuracy_sees_none() -> None:
    labels = np.arange(300) % 10
    assert informative((labels + 1) % 10, labels)
    assert not informative(np.random.default_rng(1).permutation(labels), labels)


def test_a_doubt_that_shuffled_labels_inform_is_rare() -> None:
    labels = np.arange(200) % 10
    flagged = [informative(np.random.default_rng(seed).permutation(labels), labels) for seed in range(60)]
    assert sum(flagged) <= 3  # 1% each: more than 3 of 60 happens once in 500


def images(name: str, count: int, label: str = "cat") -> list[ListedImage]:
    return [ListedImage(f"{name}-{i}", label, f"{name}{i:04d}") for i in range(count)]


def test_copies_between_training_and_test_are_counted_and_one_is_named() -> None:
    train, test = images("a", 100), images("b", 100)
    assert copies({"train": train, "test": test}) == []
    (doubt,) = copies({"train": train, "test": test[:95] + [replace(one, sample="x") for one in train[:5]]})
    assert doubt.name == "train_and_test"
    assert "5 of 100 test images" in doubt.text
    assert "'x', cat, and 'a-0', cat" in doubt.text


def test_the_same_image_under_two_labels_is_doubted_under_one_it_is_not() -> None:
    test = images("a", 50)
    assert copies({"test": test + test[:3]}) == []
    (doubt,) = copies({"test": [*test, ListedImage("again", "dog", "a0007")]})
    assert doubt.name == "two_labels"
    assert "'again', dog, and 'a-7', cat" in doubt.text


def test_a_refusal_names_the_first_doubt_and_counts_the_others() -> None:
    (doubt,) = copies({"test": [*images("a", 3), ListedImage("again", "dog", "a0001")]})
    assert refusal([doubt]).endswith("no model can be right on both")
    assert refusal([doubt, doubt]).endswith("(and 1 other warning)")
    assert refusal([doubt, doubt, doubt]).endswith("(and 2 other warnings)")


def test_copies_without_a_label_are_under_no_other_label() -> None:
    test = images("a", 50)
    assert copies({"test": [ListedImage("first", "", "a0007"), *test, ListedImage("again", "", "a0007")]}) == []
