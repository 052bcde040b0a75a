"""Models under several judges, exchanged image by image: whether they differ more than equal ones would."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.measure import equal_models_p, friedman


def answers(seed: int, skill: np.ndarray, habit: float, images: int = 60, judges: int = 4) -> tuple[np.ndarray, ...]:
    """Scores [models, judges · images], the judge and the image of each; a `habit` keeps answers to one image together."""
    random = np.random.default_rng(seed)
    own = np.sqrt(habit) * random.normal(size=(len(skill), 1, images))
    noise = np.sqrt(1 - habit) * random.normal(size=(len(skill), judges, images))
    right = (skill[:, None, None] > own + noise).astype(float)
    judge, image = np.divmod(np.arange(judges * images), images)
    return right.reshape(len(skill), -1), judge, image


def test_judges_agree_on_equal_models_by_habit_and_only_friedman_takes_it_for_an_order() -> None:
    by_friedman, by_images = [], []
    for seed in range(100):
        right, judge, image = answers(seed, np.zeros(5), habit=0.8)
        by_judge = np.stack([right[:, judge == number].mean(1) for number in range(4)], axis=1)
        by_friedman.append(friedman(by_judge).p)
        by_images.append(equal_models_p(right, judge, image, repeats=199))
    assert np.mean(np.array(by_friedman) < 0.05) > 0.3
    assert np.mean(np.array(by_images) < 0.05) < 0.12  # 5 expected of 100, 12 with a chance of 0.4%


def test_models_of_differing_skill_are_told_from_equal_ones() -> None:
    right, judge, image = answers(0, np.linspace(-1, 1, 5), habit=0.5)
    assert equal_models_p(right, judge, image, repeats=199) == pytest.approx(1 / 200)


def test_two_images_by_hand() -> None:
    """Two models, of which the first is right everywhere: of four exchanges two differ as far."""
    right = np.array([[1, 1, 1, 1], [0, 0, 0, 0]], float)
    p = equal_models_p(right, [0, 1, 0, 1], [0, 0, 1, 1], repeats=3999)
    assert p == pytest.approx(0.5, abs=0.05)


def test_too_little_gives_nan_and_models_that_answer_alike_p_1() -> None:
    same = np.ones((3, 8))
    assert equal_models_p(same, [0, 1] * 4, np.arange(8), repeats=19) == 1
    assert np.isnan(equal_models_p(same[:1], [0, 1] * 4, np.arange(8)))
    assert np.isnan(equal_models_p(same, [0, 1] * 4, np.zeros(8)))


def test_many_images_are_exchanged_in_groups_with_the_same_answer() -> None:
    right, judge, image = answers(1, np.array([0.0, 0.15]), habit=0.2, images=2500, judges=2)
    assert equal_models_p(right, judge, image, repeats=199) < 0.05
