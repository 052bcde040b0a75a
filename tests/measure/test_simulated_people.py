"""People who do not exist: the accuracy that was planted, independence of the order of questions, bad ones."""

from __future__ import annotations

from math import sqrt

import pytest

from snellen.measure import SimulatedPeople

CLASSES = ("cat", "dog", "bear", "bird")


def share_right(people: SimulatedPeople, size: int, images: int, level: int) -> float:
    right = [
        person.answer(f"image-{image}", CLASSES[image % 4], CLASSES, level) == CLASSES[image % 4]
        for person in people.people(size)
        for image in range(images)
    ]
    return sum(right) / len(right)


@pytest.mark.parametrize(("level", "planted"), [(0, 0.9), (1, 0.6)])
def test_the_mean_over_people_and_images_is_the_planted_accuracy(level: int, planted: float) -> None:
    laws = [SimulatedPeople({0: 0.9, 1: 0.6}, lapse=0, seed=seed) for seed in range(10)]
    found = sum(share_right(law, 30, 150, level) for law in laws) / 10
    # at 0.6 a unit moves the accuracy by 0.29: 300 people of ability 0.3, 1,500 images of difficulty 0.8, standard error 0.008
    assert abs(found - planted) < 0.03


def test_a_lapse_is_right_as_often_as_a_guess() -> None:
    everywhere = SimulatedPeople(0.9, lapse=1.0)
    assert abs(share_right(everywhere, 5, 800, 0) - 0.25) < 4 * sqrt(0.25 * 0.75 / 4000)


def test_answers_do_not_depend_on_the_order_of_questions() -> None:
    person = SimulatedPeople(seed=5).people(3)[1]
    images = [f"i{number}" for number in range(50)]
    forwards = {image: person.answer(image, "cat", CLASSES, 2) for image in images}
    again = SimulatedPeople(seed=5).people(3)[1]
    assert forwards == {image: again.answer(image, "cat", CLASSES, 2) for image in reversed(images)}
    other = SimulatedPeople(seed=6).people(3)[1]
    assert forwards != {image: other.answer(image, "cat", CLASSES, 2) for image in images}


def test_bad_people_guess_or_repeat_themselves() -> None:
    people = SimulatedPeople(seed=1).people(20, bad=2)
    assert sorted(person.behaviour for person in people) == ["constant", *["good"] * 18, "guess"]
    said = {
        person.behaviour: [person.answer(f"i{number}", "cat", CLASSES) for number in range(400)] for person in people
    }
    assert len(set(said["constant"])) == 1
    assert all(70 < said["guess"].count(name) < 130 for name in CLASSES)
    places = {
        tuple(person.number for person in SimulatedPeople(seed=seed).people(20, 2) if person.behaviour != "good")
        for seed in range(10)
    }
    assert len(places) > 5  # the seed chooses who is bad


def test_images_that_are_hard_for_one_are_hard_for_all() -> None:
    def agreement(difficulty: float) -> float:
        people = SimulatedPeople(0.7, ability=0, difficulty=difficulty, lapse=0, seed=2).people(2)
        answers = [[person.answer(f"i{n}", "cat", CLASSES) == "cat" for n in range(2000)] for person in people]
        return sum(a == b for a, b in zip(*answers)) / 2000

    assert abs(agreement(0) - (0.49 + 0.09)) < 0.04  # independent: both right or both wrong by chance
    assert agreement(2) > 0.7


def test_what_no_law_can_be_made_of_is_refused() -> None:
    with pytest.raises(ValueError, match="no accuracy of simulated people at level '7'; there is one for 0, 1, 2"):
        SimulatedPeople().people(1)[0].answer("i", "cat", CLASSES, 7)
    with pytest.raises(ValueError, match="expected accuracies between 0 and 1, got 1 at level 0"):
        SimulatedPeople({0: 1.0})
    with pytest.raises(ValueError, match="expected bad people from 0 to the 3 there are, got 4"):
        SimulatedPeople().people(3, 4)
    with pytest.raises(ValueError, match="expected choices that hold the label 'fox', got cat, dog, bear, bird"):
        SimulatedPeople().people(1)[0].answer("i", "fox", CLASSES)
    with pytest.raises(ValueError, match="expected difficulty as a standard deviation from 0, got -1"):
        SimulatedPeople(difficulty=-1)
    assert SimulatedPeople(0.9).people(1)[0].answer("i", "cat", ("cat",), "any level") == "cat"
