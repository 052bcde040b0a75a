"""Classes of a model and of data, matched by hand-made cases: what is sure, what is ambiguous and not taken, what is left."""

from __future__ import annotations

import pytest

from snellen.models.class_match import ClassMatch
from snellen.models.class_proposal import propose_classes

IMAGENET_PART = ["tench, Tinca tinca, n01440764", "crane, n02012849", "crane, n03126707", "harmonica, harp", "harp"]


def matches(
    known: list[str] | None, wanted: list[str] | dict[str, int], outputs: int = 0, **more: object
) -> dict[str, ClassMatch]:
    counts = wanted if isinstance(wanted, dict) else dict.fromkeys(wanted, 2)
    proposed, _, _ = propose_classes(known, outputs or len(known or ()), counts, **more)  # type: ignore[arg-type]
    return {match.name: match for match in proposed}


def taken(found: dict[str, ClassMatch]) -> dict[str, tuple]:
    return {name: (match.outputs, match.how, match.sure) for name, match in found.items()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("golden retriever", ((0,), "name", "sure")),
        ("Golden_Retriever", ((0,), "name", "sure")),
        ("golden-retrievers", ((0,), "spelling", "likely")),
        ("GoldenRetriever", ((0,), "spelling", "likely")),
        ("001.golden_retriever", ((0,), "spelling", "likely")),
        ("puppies", ((2,), "spelling", "likely")),
        ("pup", ((2,), "synonym", "likely")),
        ("glass", ((3,), "name", "sure")),
        ("glasses", ((3,), "spelling", "likely")),
        ("gold", ((), "", "none")),
    ],
)
def test_case_underscores_plurals_and_numbers_in_front(name: str, expected: tuple) -> None:
    assert taken(matches(["golden retriever", "cat", "puppy, pup", "glass"], [name]))[name] == expected


def test_a_wordnet_id_matches_whatever_stands_beside_it() -> None:
    found = taken(matches(IMAGENET_PART, ["n01440764", "n03126707-lifting"]))
    assert found == {"n01440764": ((0,), "id", "sure"), "n03126707-lifting": ((2,), "id", "sure")}


def test_a_wordnet_id_matches_a_model_that_has_words_only() -> None:
    assert taken(matches(["goldfish", "tench"], ["n01440764", "n01443537"])) == {
        "n01440764": ((1,), "synonym", "likely"),
        "n01443537": ((0,), "synonym", "likely"),
    }


def test_a_name_never_stands_for_another_wordnet_id() -> None:
    """The bird's id is not among the outputs; the machine of the same name is another class."""
    found = matches(["crane, n03126707", "tench, n01440764"], ["n02012849"])["n02012849"]
    assert (found.outputs, found.sure) == ((), "none")


def test_the_bird_and_the_machine_are_both_named_and_neither_is_taken() -> None:
    found = matches(IMAGENET_PART, ["crane"])["crane"]
    assert (found.outputs, found.candidates, found.sure) == ((), (1, 2), "ambiguous")


def test_of_two_cranes_that_is_left_whose_other_has_an_id() -> None:
    found = matches(IMAGENET_PART, ["crane", "n02012849"])
    assert (found["n02012849"].outputs, found["n02012849"].sure) == ((1,), "sure")
    assert (found["crane"].outputs, found["crane"].sure, found["crane"].note) == (
        (2,),
        "likely",
        "1 taken by other classes",
    )


def test_maillot_is_ambiguous_and_tank_suit_is_not() -> None:
    found = matches(["maillot", "maillot, tank suit"], ["maillot", "tank suit"])
    assert (found["tank suit"].outputs, found["tank suit"].how) == ((1,), "synonym")
    assert (found["maillot"].outputs, found["maillot"].note) == ((0,), "1 taken by other classes")
    alone = matches(["maillot", "maillot, tank suit"], ["maillot"])["maillot"]
    assert (alone.outputs, alone.candidates, alone.sure) == ((), (0, 1), "ambiguous")


def test_a_main_name_goes_before_another_outputs_synonym_with_a_remark() -> None:
    found = matches(IMAGENET_PART, ["harp"])["harp"]
    assert (found.outputs, found.sure, found.note) == ((4,), "likely", "also a name of output 3")


def test_the_dog_and_the_jacket_are_told_apart_by_their_capital() -> None:
    found = matches(["Cardigan", "cardigan", "tench"], ["cardigan", "Cardigan"])
    assert [found["cardigan"].outputs, found["Cardigan"].outputs] == [(1,), (0,)]


def test_the_better_match_has_the_output() -> None:
    found = matches(["cat", "dog"], ["Cat", "cats"])
    assert found["Cat"].outputs == (0,)
    assert (found["cats"].outputs, found["cats"].candidates, found["cats"].note) == ((), (0,), "'Cat' has it")


def test_two_classes_with_equal_claims_get_nothing() -> None:
    found = matches(["cat, feline", "dog"], ["kitty_cat, feline", "feline"])
    assert [match.outputs for match in found.values()] == [(), ()]
    assert {match.sure for match in found.values()} == {"ambiguous"}


def test_a_like_name_is_named_and_not_taken() -> None:
    found = matches(["golden retriever", "curly-coated retriever", "cat"], ["retriever", "golden retreiver"])
    assert (found["retriever"].outputs, found["retriever"].candidates) == ((), (0, 1))
    assert (found["golden retreiver"].outputs, found["golden retreiver"].candidates[0]) == ((), 0)


def test_none_matches() -> None:
    proposed, _, remarks = propose_classes(["cat", "dog"], 2, {"x": 1, "y": 1})
    assert all(not match.outputs and match.sure == "none" for match in proposed)
    assert remarks == [
        "the model has as many classes under other names; audits without a label map take them by position"
    ]


@pytest.mark.parametrize(
    ("wanted", "outputs", "remark"),
    [
        ({"0": 2, "1": 2}, [(0,), (1,)], "the data's numbers were counted from 0"),
        ({"1": 2, "2": 2}, [(0,), (1,)], "from 1, since the highest is the number of outputs"),
        ({"0": 0, "1": 2, "2": 2}, [(), (0,), (1,)], "from 1, since the highest is the number of outputs"),
        ({"1": 2}, [(1,)], "the lowest is 1, so they might count from 1: --look shows which"),
        ({"0": 2, "7": 2}, [(0,), ()], "the data's numbers were counted from 0"),
    ],
)
def test_two_numbered_classes(wanted: dict[str, int], outputs: list[tuple], remark: str) -> None:
    proposed, _, remarks = propose_classes(["cat", "dog"], 2, wanted)
    assert [match.outputs for match in proposed] == outputs
    assert remark in remarks[0]


def test_numbered_folders_are_numbers_however_they_are_sorted() -> None:
    known = [f"class {i}" for i in range(12)]
    wanted = sorted(map(str, range(12)))  # '0', '1', '10', '11', '2', …
    assert [match.outputs[0] for match in matches(known, wanted).values()] == [int(name) for name in wanted]


def test_a_model_without_names_is_matched_by_position_with_a_remark() -> None:
    proposed, _, remarks = propose_classes(None, 2, {"ant": 1, "bee": 1})
    assert [(match.outputs, match.how, match.sure) for match in proposed] == [
        ((0,), "position", "likely"),
        ((1,), "position", "likely"),
    ]
    assert remarks == ["the model names no classes; they were matched by position: --look shows whether that is right"]


def test_stated_names_and_numbers_are_all_parts_of_a_class() -> None:
    known = ["analog clock", "digital clock", "crane", "crane"]
    found = matches(
        known, ["alarm_clock", "lift"], stated={"Alarm clock": ["analog clock", "1"], "lift": ["crane", "elevator"]}
    )
    assert (found["alarm_clock"].outputs, found["alarm_clock"].sure) == ((0, 1), "sure")
    folder = matches(["French press"], ["coffee_french_press"], stated={"Coffee/French press": ["0"]})
    assert folder["coffee_french_press"].outputs == (0,)
    assert (found["lift"].outputs, found["lift"].candidates, found["lift"].sure) == ((), (2, 3), "ambiguous")
    assert found["lift"].note == "the model has no single class 'crane'"


def test_geirhos_categories_are_groups_by_their_mean() -> None:
    proposed, rule, _ = propose_classes(
        ["airliner, n02690373", "warplane, n04552348", "tench"], 3, {"airplane": 4, "bear": 1}
    )
    assert rule == "mean"
    assert [(match.outputs, match.how) for match in proposed] == [((0,), "group"), ((), "")]
