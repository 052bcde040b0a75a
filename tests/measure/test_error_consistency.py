"""Error consistency: by hand, against scikit-learn, a planted copier, its bounds, the real answers of Geirhos et al. 2019."""

from __future__ import annotations

from math import isnan, nan, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from snellen.measure import SimulatedPeople, error_consistencies, error_consistency

ANSWERS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=60)


def test_ten_images_by_hand() -> None:
    # Right on 8 and on 6 of 10, on 6 of them both: both wrong on 2, so 8 alike; by chance 0.8 · 0.6 + 0.2 · 0.4 = 0.56.
    first, second = [1] * 8 + [0] * 2, [1] * 6 + [0] * 4
    found = error_consistency(first, second)
    assert (found.observed, found.expected) == pytest.approx((0.8, 0.56))
    assert found.value == pytest.approx((0.8 - 0.56) / (1 - 0.56))
    assert (found.first, found.second, found.n, found.pairs) == (0.8, 0.6, 10, 1)
    # 8 and 6 of 10 cannot be alike on more than 8, nor on fewer than 4
    assert found.highest == pytest.approx(found.value)
    assert found.lowest == pytest.approx((0.4 - 0.56) / (1 - 0.56))
    assert found.low <= found.value <= found.high


@given(ANSWERS)
def test_it_is_cohens_kappa_within_its_bounds(answers: list[tuple[int, int]]) -> None:
    first, second = np.array(answers, float).T
    assume(0 < first.mean() < 1 and 0 < second.mean() < 1)
    found = error_consistency(first, second, repeats=0)
    assert found.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert found.lowest - 1e-12 <= found.value <= found.highest + 1e-12


def test_several_answerers_give_the_mean_over_pairs_on_shared_images() -> None:
    random = np.random.default_rng(0)
    people, models = ((random.random((size, 300)) < 0.7).astype(float) for size in (4, 3))
    people[random.random(people.shape) < 0.4] = nan
    models[0, ::7] = nan

    def kappa(first: np.ndarray, second: np.ndarray) -> float:
        both = ~np.isnan(first) & ~np.isnan(second)
        return float(cohen_kappa_score(first[both], second[both]))

    among = [kappa(people[one], people[other]) for one in range(4) for other in range(one)]
    assert error_consistency(people, repeats=0).value == pytest.approx(np.mean(among))
    across = [kappa(person, model) for person in people for model in models]
    found = error_consistency(people, models, repeats=0)
    assert found.value == pytest.approx(np.mean(across))
    assert (found.pairs, found.n) == (12, 300 - int(np.isnan(people).all(0).sum()))


@pytest.mark.parametrize("copied", [0.0, 0.3, 0.7, 1.0])
def test_who_copies_a_share_of_another_ones_errors_has_that_kappa(copied: float) -> None:
    # Where accuracies are equal, kappa is the correlation of right and wrong: the share that is copied.
    random = np.random.default_rng(3)
    first, own = (random.random((2, 40_000)) < 0.7).astype(float)
    second = np.where(random.random(40_000) < copied, first, own)
    found = error_consistency(first, second, repeats=50)
    assert found.value == pytest.approx(copied, abs=0.02)
    assert found.low <= copied <= found.high


def test_chance_gives_nothing_whatever_the_accuracies() -> None:
    random = np.random.default_rng(5)
    for accuracies in ((0.9, 0.9), (0.95, 0.3), (0.5, 0.6)):
        kappas = [
            error_consistency(*(random.random(400) < accuracy for accuracy in accuracies), repeats=0).value
            for _ in range(200)
        ]
        assert abs(np.mean(kappas)) < 4 * np.std(kappas) / sqrt(200)


def test_no_data_is_nan_and_says_why() -> None:
    for found, reason in (
        (error_consistency([1, 0, nan], [nan, nan, 1]), "no image was answered by both"),
        (error_consistency([], []), "no image was answered by both"),
        (error_consistency([1, 0, 1]), "there is one answerer only"),
        (error_consistency([1, 1, 1], [1, 0, 1]), "one of them is right on every image that both answered, or on none"),
        (error_consistency([1, 0, 1], [0, 0, 0]), "one of them is right on every image that both answered, or on none"),
    ):
        assert isnan(found.value)
        assert isnan(found.low)
        assert found.reason.startswith(reason)
        assert found.pairs == 0
    # of three people one is always right: the pair of the others counts
    some = error_consistency([[1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 0, 1]])
    assert (some.pairs, some.pairs_left_out, some.reason) == (1, 2, "")
    assert some.value == pytest.approx(0.0)


def test_equal_answers_are_not_sure_to_be_equal_elsewhere() -> None:
    found = error_consistency([1, 0] * 5, [1, 0] * 5)
    assert (found.value, found.high) == (1.0, 1.0)
    # up to 1 − 0.025^(1/10) = 31% of images may differ and none of ten be seen; half are alike by chance
    assert found.low == pytest.approx(1 - (1 - 0.025**0.1) / 0.5)
    assert isnan(error_consistency([1, 0], [1, 0], groups=["a", "a"]).low)


def test_images_of_a_group_are_drawn_together() -> None:
    random = np.random.default_rng(1)
    first, second = np.repeat((random.random((2, 40)) < 0.6).astype(float), 10, 1)
    alone = error_consistency(first, second)
    grouped = error_consistency(first, second, np.repeat(np.arange(40), 10))
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 2.5 * (alone.high - alone.low)  # √10 = 3.2 times


def test_people_who_differ_widen_the_interval_and_runs_of_a_model_do_not() -> None:
    random = np.random.default_rng(2)
    model = random.random(3000) < 0.6
    copied = np.linspace(0, 0.9, 8)[:, None]
    crowd = np.where(random.random((8, 3000)) < copied, model, random.random((8, 3000)) < 0.6)
    people, runs = (error_consistency(crowd, model, people=each) for each in (True, False))
    assert people.value == runs.value
    assert people.high - people.low > 3 * (runs.high - runs.low)
    # 8 people with kappas of 0 to 0.9: Student's interval of their mean
    spread = np.std([error_consistency(person, model, repeats=0).value for person in crowd], ddof=1)
    assert people.high - people.low == pytest.approx(2 * 2.36 * spread / sqrt(8), rel=0.15)


def test_an_interval_holds_the_truth() -> None:
    """A sample of benchmarks/coverage_cases/error_consistency.py."""
    copied, hits = 0.4, 0
    random = np.random.default_rng(8)
    for _ in range(100):
        first, own = random.random((2, 150)) < 0.7
        found = error_consistency(first, np.where(random.random(150) < copied, first, own), repeats=200)
        hits += found.low <= copied <= found.high
    assert hits >= 88  # 93 of 100, less two standard errors


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected answers that are right \(1\) or wrong \(0\), or nan, got 2"):
        error_consistency([1, 2], [0, 1])
    with pytest.raises(ValueError, match="expected answers to the same images, got 2 and 3"):
        error_consistency([1, 0], [0, 1, 1])
    with pytest.raises(ValueError, match=r"expected one group per image, got \(1,\) for 2 images"):
        error_consistency([1, 0], [0, 1], ["a"])


def test_a_table_of_answers_gives_every_pair() -> None:
    law = SimulatedPeople(0.7, seed=4)
    rows = [
        (f"p{person.number}", f"i{image}", "cat", person.answer(f"i{image}", "cat", ("cat", "dog")))
        for person in law.people(3)
        for image in range(200)
    ]
    columns = dict(zip(("observer", "sample", "label", "answer"), zip(*rows)))
    own = {f"i{image}": float(image % 3 > 0) for image in range(200)}
    twin = {f"i{image}": [float(image % 3 > 0), float(image % 2)] for image in range(200)}
    found = error_consistencies(columns, {"own": own, "runs": twin}, repeats=0)
    assert list(found) == [("people", "people"), ("people", "own"), ("people", "runs"), ("own", "runs")]
    crowd = np.array([[row[3] == "cat" for row in rows if row[0] == f"p{number}"] for number in range(3)], float)
    assert found["people", "people"] == error_consistency(crowd, repeats=0)
    assert found["people", "runs"] == error_consistency(crowd, np.array(list(twin.values())).T, repeats=0)
    assert found["people", "people"].value > 0.08  # simulated images are easy or hard for all
    with pytest.raises(ValueError, match="expected an answer of own to every image that people saw, got none to 199"):
        error_consistencies(columns, {"own": {"i0": 1.0}})


def test_the_real_answers_give_the_published_consistency(shared: Path) -> None:
    """10 people and 16 networks on 1,280 cue conflicts (Geirhos et al. 2019), right where they name the shape.

    Brain-Score's benchmark `Geirhos2021cueconflict` has these very answers of people and states 0.33105 between them, and 0.068
    for a ResNet-50 of its own, of accuracy 0.182. The ResNet-50 here has an accuracy of 0.175.
    """
    table = pd.read_csv(shared / "cue_conflict" / "responses.csv.gz")
    table["right"] = (table["response"] == table["image"].str.extract(r"^([a-z]+)")[0]).astype(float)
    table["who"] = table["experiment"] + "/" + table["observer"]
    right = table.pivot(index="who", columns="image", values="right")
    people = right[right.index.str.contains("subject")].to_numpy()
    networks = right[~right.index.str.contains("subject")]
    assert (people.shape, networks.shape) == ((10, 1280), (16, 1280))
    between = error_consistency(people, repeats=0)
    across = {
        name: error_consistency(people, row, repeats=0).value for name, row in zip(networks.index, networks.to_numpy())
    }
    among = error_consistency(networks.to_numpy(), repeats=0)
    assert between.value == pytest.approx(0.33105, abs=1e-5)
    assert across["trained_cnns/resnet50"] == pytest.approx(0.068, abs=0.002)
    assert np.mean(list(across.values())) == pytest.approx(0.099, abs=0.001)
    assert among.value == pytest.approx(0.407, abs=0.001)
    assert (between.n, between.pairs, among.pairs) == (1280, 45, 120)
