"""Accuracy of people: Tukey's rule and equations 1 and 2 by hand, a planted study, what cannot be compared."""

from __future__ import annotations

from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.measure import accuracy, human_accuracy, top_respondents, tukey_outliers, without_observers

NUMBERS = st.lists(st.integers(-100, 100).map(float), min_size=1, max_size=20)


def study(rates: list[float], images: int, each: int, seed: int = 0) -> dict[str, Any]:
    """Answers of observers with these rates of right answers to `each` random images; levels 0, 1, 2 are ever harder."""
    random = np.random.default_rng(seed)
    rows = [(who, image) for who in range(len(rates)) for image in random.permutation(images)[:each].tolist()]
    observer, sample = (np.array(one) for one in zip(*rows))
    level = sample % 3
    right = random.random(len(rows)) < np.array(rates)[observer] - 0.1 * level
    return {
        "observer": [f"p{one}" for one in observer],
        "sample": [f"i{one}" for one in sample],
        "label": ["cat"] * len(rows),
        "answer": np.where(right, "cat", "dog"),
        "level": level,
    }


def by_hand() -> dict[str, list[Any]]:
    """a, b and c see x and y; only a and b see z. Right: a all, b x only, c x and y."""
    rows = [
        *(("a", "x", 1), ("a", "y", 1), ("a", "z", 1)),
        *(("b", "x", 1), ("b", "y", 0), ("b", "z", 0)),
        *(("c", "x", 1), ("c", "y", 1)),
    ]
    return {
        "observer": [row[0] for row in rows],
        "sample": [row[1] for row in rows],
        "label": ["cat"] * len(rows),
        "answer": ["cat" if row[2] else "dog" for row in rows],
        "level": [{"x": 0, "y": 1, "z": 1}[row[1]] for row in rows],
    }


def test_tukeys_rule_by_hand() -> None:
    # Quartiles of 1, 2, 3, 4, 5: 2 and 4, so the fences are −1 and 7.
    values = [1, 2, 3, 4, 5]
    assert not tukey_outliers(values).any()
    # Of −9, 2, 3, 4, 5, 6, 20: quartiles 2.5 and 5.5, fences −2 and 10.
    values = [-9, 2, 3, 4, 5, 6, 20]
    assert tukey_outliers(values).tolist() == [True, *[False] * 5, True]
    assert tukey_outliers(values, "low").tolist() == [True, *[False] * 6]
    assert tukey_outliers(values, "high").tolist() == [*[False] * 6, True]
    # A value on the fence stays: of 0, 4, 4, 6, 6, 9 the quartiles are 4 and 6, the fences 1 and 9.
    assert tukey_outliers([0, 4, 4, 6, 6, 9]).tolist() == [True, *[False] * 5]


@given(NUMBERS, st.integers(1, 5), st.integers(-50, 50))
def test_tukeys_rule_follows_scale_shift_and_sign(values: list[float], scale: int, shift: int) -> None:
    numbers = np.array(values)
    mask = tukey_outliers(numbers)
    assert mask.sum() <= len(mask) / 2
    np.testing.assert_array_equal(tukey_outliers(scale * numbers + shift), mask)
    np.testing.assert_array_equal(tukey_outliers(-numbers, "low"), tukey_outliers(numbers, "high"))
    np.testing.assert_array_equal(tukey_outliers([*values, nan])[:-1], mask)


def test_tukeys_rule_without_values_or_with_a_wrong_side() -> None:
    assert tukey_outliers([]).tolist() == []
    assert tukey_outliers([nan]).tolist() == [False]
    with pytest.raises(ValueError, match="side both, low or high, got 'upper'"):
        tukey_outliers([1], "upper")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="values"):
        tukey_outliers([[1]])


def test_equations_1_and_2_by_hand() -> None:
    people = human_accuracy(by_hand())
    assert people.q == pytest.approx({"x": 1, "y": 2 / 3, "z": 1 / 2})
    assert people.value == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert people.by_level[0].value == 1
    assert people.by_level[1].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    expected = {"a": 1 - 13 / 18, "b": 1 / 3 - 13 / 18, "c": 1 - 5 / 6}
    assert people.normalised == pytest.approx(expected)
    assert people.outliers == ()
    assert people.observers == ("a", "b", "c")


def test_a_frame_of_pandas_and_a_structured_array_give_the_same() -> None:
    columns = by_hand()
    frame = pd.DataFrame(columns)
    types = [(name, "U9" if name != "level" else "i8") for name in columns]
    records = np.array([tuple(row) for row in frame.itertuples(index=False)], dtype=types)
    expected = repr(human_accuracy(columns))
    assert repr(human_accuracy(frame)) == repr(human_accuracy(records)) == expected
    assert without_observers(records, ["a"]) == without_observers(frame, ["a"]) == without_observers(columns, ["a"])


def test_the_two_poor_observers_of_twenty_are_removed_and_q_is_computed_again() -> None:
    """The published design: 20 people, 200 of 552 images each, two far worse than the rest."""
    responses = study([0.9] * 18 + [0.5, 0.45], 552, 200, seed=1)
    people = human_accuracy(responses, repeats=200)
    assert people.outliers == ("p18", "p19")
    assert len(people.observers) == 18
    again = human_accuracy(without_observers(responses, people.outliers), remove_outliers=False, repeats=200)
    assert (again.q, again.value, again.by_level) == (people.q, people.value, people.by_level)
    assert people.value > human_accuracy(responses, remove_outliers=False, repeats=0).value + 0.02
    assert people.by_level[0].value > people.by_level[1].value > people.by_level[2].value
    assert people.low < 0.8 < people.high


def test_a_good_outlier_is_not_removed() -> None:
    people = human_accuracy(study([0.5] * 11 + [1.1], 60, 60), repeats=0)
    assert tukey_outliers(list(people.normalised.values()), "high")[-1]
    assert "p11" not in people.outliers


def test_one_rating_per_image_refuses_normalised_accuracy() -> None:
    alone = {
        "observer": ["a", "a", "b"],
        "sample": ["x", "y", "z"],
        "label": [1, 1, 1],
        "answer": [1, 0, 1],
        "level": [0, 0, 0],
    }
    with pytest.raises(ValueError, match="each image was rated by one person only; pass remove_outliers=False"):
        human_accuracy(alone)
    with pytest.raises(ValueError, match="rated by one person only"):
        top_respondents(alone, {})
    people = human_accuracy(alone, remove_outliers=False)
    assert people.value == pytest.approx(2 / 3)
    assert people.outliers == ()
    assert all(isnan(one) for one in people.normalised.values())


def test_an_image_that_one_person_saw_twice_is_shared_with_nobody() -> None:
    twice = {
        "observer": ["a", "a", "b"],
        "sample": ["x", "x", "y"],
        "label": [1] * 3,
        "answer": [1, 0, 1],
        "level": [0] * 3,
    }
    with pytest.raises(ValueError, match="each image was rated by one person only"):
        human_accuracy(twice)
    people = human_accuracy(twice, remove_outliers=False)
    assert isnan(people.normalised["a"])
    assert people.q == {"x": 0.5, "y": 1}


def test_one_who_shares_no_image_is_neither_compared_nor_removed() -> None:
    columns = by_hand()
    for name, value in (("observer", "d"), ("sample", "w"), ("label", "cat"), ("answer", "dog"), ("level", 2)):
        columns[name].append(value)
    people = human_accuracy(columns)
    assert isnan(people.normalised["d"])
    assert people.outliers == ()
    assert people.q["w"] == 0


def test_the_interval_covers_people_and_images() -> None:
    # People and images both vary; a bootstrap over answers alone would be far too narrow. Binomial sd of the coverage 2.2 %.
    inside = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        rate = np.clip(0.7 + 0.15 * random.normal(size=(12, 1)) + 0.15 * random.normal(size=40), 0, 1)
        right = random.random((12, 40)) < rate
        rows = {
            "observer": np.repeat(np.arange(12), 40),
            "sample": np.tile(np.arange(40), 12),
            "label": np.ones(480, int),
            "answer": right.ravel().astype(int),
            "level": np.zeros(480, int),
        }
        people = human_accuracy(rows, remove_outliers=False, repeats=200)
        inside += people.low <= 0.69 <= people.high  # the mean of the cut rates
        assert people.high - people.low > accuracy(right.ravel()).high - accuracy(right.ravel()).low
    assert inside >= 88


def test_ten_people_on_cue_conflicts_by_pandas(shared: Path) -> None:
    """The answers of Geirhos et al. 2019: every person saw every image, so q is a plain mean; one person is an outlier."""
    table = pd.read_csv(shared / "cue_conflict" / "responses.csv.gz").rename(
        columns={"image": "sample", "response": "answer"}
    )
    table = table[table["observer"].str.startswith("subject")]
    table = table.assign(label=table["sample"].str.extract("^([a-z]+)")[0], level=0)
    people = human_accuracy(table, repeats=50)
    right = (table["answer"] == table["label"]).groupby(table["observer"]).mean()
    apart = right - right.mean()
    assert people.normalised == pytest.approx(apart.to_dict())
    lower, upper = np.quantile(apart, (0.25, 0.75))
    assert people.outliers == tuple(apart.index[apart < lower - 1.5 * (upper - lower)]) == ("subject-04",)
    assert people.value == pytest.approx(right.drop("subject-04").mean())
    assert people.n == 1280


def test_top_respondents_are_the_better_half_and_models_see_their_images_only() -> None:
    responses = study([0.95] * 9 + [0.75] * 9 + [0.3, 0.3], 300, 100, seed=2)
    model = {f"i{one}": float(one % 2) for one in range(300)}
    top = top_respondents(responses, {"odd": model}, repeats=50)
    assert set(top.observers) == {f"p{one}" for one in range(9)}
    assert top.people.observers
    assert set(top.people.observers) == set(top.observers)
    seen = {sample for who, sample in zip(responses["observer"], responses["sample"]) if who in top.observers}
    assert top.models["odd"][None] == accuracy([model[one] for one in sorted(seen)])
    second = accuracy([model[one] for one in sorted(seen) if int(one[1:]) % 3 == 1])
    assert top.models["odd"][1] == second
    assert len(top_respondents(responses, {}, k=3, repeats=0).observers) == 3


def test_top_respondents_are_chosen_by_their_accuracy_among_those_who_stay() -> None:
    """Beside the outlier o, who sees x only, s looks better than t; without him t is further above her own images."""
    right = {
        ("s", "x"): 9,
        ("s2", "x"): 8,
        ("s3", "x"): 8,
        ("o", "x"): 0,
        ("t", "y"): 10,
        ("t2", "y"): 8,
        ("t3", "y"): 8,
    }
    rows = [(who, f"{on}{one}", one < count) for (who, on), count in right.items() for one in range(10)]
    observer, sample, answer = zip(*rows)
    responses = {"observer": observer, "sample": sample, "label": [True] * 70, "answer": answer, "level": [0] * 70}
    everyone = human_accuracy(responses, repeats=0)
    assert everyone.outliers == ("o",)
    # s: 0.9 less (0.9 + 0.8 + 0.8 + 0) / 4, t: 1 less (1 + 0.8 + 0.8) / 3
    assert everyone.normalised["s"] == pytest.approx(0.275)
    assert everyone.normalised["t"] == pytest.approx(2 / 15)
    top = top_respondents(responses, {}, k=1, repeats=0)
    assert top.observers == ("t",)
    assert top.people.normalised["s"] == pytest.approx(1 / 15)  # 0.9 less (0.9 + 0.8 + 0.8) / 3
    assert "o" not in top.people.normalised


def test_what_top_respondents_refuse() -> None:
    with pytest.raises(ValueError, match="k from 1 to the 3 observers"):
        top_respondents(by_hand(), {}, k=4)
    with pytest.raises(ValueError, match="answer of net to every image that people saw, got none to 1, 'z' first"):
        top_respondents(by_hand(), {"net": {"x": 1, "y": 0}}, k=3)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("level", None, "expected a column 'level', got observer, sample, label, answer"),
        ("level", [0, 1, 1, 0, 1, 1, 0, 2], "expected one level per sample, got '1' and '2' for 'y'"),
        ("label", ["cat"] * 7 + ["dog"], "expected one label per sample"),
        ("answer", ["cat"] * 7, "columns of one length"),
        ("observer", ["a"] * 7 + [None], "a value of 'observer' in every row"),
        ("level", [0, 1, 1, 0, 1, 1, 0, nan], "a value of 'level' in every row"),
    ],
)
def test_bad_responses_are_refused(name: str, values: list[Any] | None, message: str) -> None:
    columns = by_hand()
    columns.pop(name)
    with pytest.raises(ValueError, match=message):
        human_accuracy(columns if values is None else {**columns, name: values})


def test_a_missing_answer_is_wrong_and_no_responses_give_nan() -> None:
    columns = by_hand()
    columns["answer"][0] = None
    assert human_accuracy(columns).q["x"] == pytest.approx(2 / 3)
    numbers = {**columns, "label": [1] * 8, "answer": [1, "", None, 1, 1, 1, 1, 1]}
    assert human_accuracy(numbers).q == pytest.approx({"x": 1, "y": 2 / 3, "z": 1 / 2})
    nothing = human_accuracy({name: [] for name in columns})
    assert isnan(nothing.value)
    assert nothing.n == 0
    assert nothing.q == {}
