"""Choices of fewer options than classes: which are offered, that they do not tell the answer, and what guessing gets right."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.errors import UserError
from snellen.models.chat.options import OptionOffer, alike_by_name, grouped, offer_of, read_confusions
from snellen.models.chat.question import Questions
from snellen.models.chat.reading import ChatReply, read_reply
from snellen.models.chat.vocabulary import vocabulary_of
from snellen.models.text_answers import STATES

from .chat_service import completion, image_in, serve_chat, words_in

NAMES = ["tabby cat", "tiger cat", "red fox", "grey fox", "fire truck", "tow truck"]
PAIRS = ((0, 1), (2, 3), (4, 5))
SAMPLES = [str(number) for number in range(3000)]
DATA = "phantom:test?size=16&n=240"


def questions(offer: OptionOffer | None, order: int = 0, none: bool = False) -> Questions:
    return Questions("choice", vocabulary_of(NAMES, {}), none, order, offer)


@pytest.mark.parametrize("count", [2, 4, 6])
def test_the_right_class_is_among_so_many_options_and_at_any_place(count: int) -> None:
    asked = [questions(OptionOffer(count, 6)).about(sample, int(sample) % 6) for sample in SAMPLES]
    places = Counter(question.offered.index(number % 6) for number, question in enumerate(asked))
    assert all(len(set(question.offered)) == count for question in asked)
    expected = len(SAMPLES) / count
    assert all(abs(places[place] - expected) < 4 * expected**0.5 for place in range(count))


def test_other_options_are_any_others_alike() -> None:
    others = Counter(
        number for sample in SAMPLES for number in questions(OptionOffer(3, 6)).about(sample, 2).offered if number != 2
    )
    assert set(others) == {0, 1, 3, 4, 5}
    assert all(abs(count - 1200) < 4 * 1200**0.5 for count in others.values())


def test_options_hang_on_the_sample_and_their_order_on_the_seed_of_orders_too() -> None:
    one, two = questions(OptionOffer(4, 6)), questions(OptionOffer(4, 6), order=1)
    assert one.about("a", 3) == one.about("a", 3)
    assert len({one.about(sample, 3).offered for sample in SAMPLES[:50]}) > 10
    pairs = [(one.about(sample, 3).offered, two.about(sample, 3).offered) for sample in SAMPLES[:50]]
    assert all(set(first) == set(second) for first, second in pairs)
    assert any(first != second for first, second in pairs)


def test_an_unknown_class_has_options_too_and_none_of_these_stands_last() -> None:
    question = questions(OptionOffer(4, 6), none=True).about("a", -1)
    assert len(question.offered) == 5
    assert question.offered[-1] == 6
    assert question.words.splitlines()[5] == "E. none of these"


def test_hard_options_are_those_of_alike_names() -> None:
    offer = offer_of(2, "names", NAMES, NAMES)
    assert offer.groups == PAIRS
    assert set(questions(offer).about("a", 4).offered) == {4, 5}
    assert set(questions(offer).about("a", -1).offered) in [set(pair) for pair in PAIRS]


def test_names_are_as_alike_as_the_triples_of_letters_that_they_share() -> None:
    alike = alike_by_name(["cat", "cats"])
    assert alike[0, 1] == pytest.approx(2 * 2 / (3 + 4))  # " ca" and "cat" of " ca cat at" and " ca cat ats ts"
    assert np.allclose(np.diag(alike), 1)


def test_options_of_a_group_do_not_tell_which_of_them_is_right() -> None:
    """The same are offered, in orders of the same law, whichever of a group is right."""
    offer = offer_of(2, "names", NAMES, NAMES)
    offered = {truth: Counter(questions(offer).about(sample, truth).offered for sample in SAMPLES) for truth in (0, 1)}
    assert offered[0] == offered[1]


def test_groups_are_the_best_there_are() -> None:
    """Against all ways of making two groups of three of six classes."""
    draws = np.random.default_rng(5)
    hits = 0
    for _ in range(20):
        likeness = np.triu(draws.random((6, 6)), 1)
        likeness += likeness.T

        def inside(groups: Any, likeness: np.ndarray = likeness) -> float:
            return sum(likeness[np.ix_(group, group)].sum() / 2 for group in groups)

        ways = [
            (first, tuple(set(range(6)) - set(first))) for first in itertools.combinations(range(6), 3) if 0 in first
        ]
        hits += inside(grouped(likeness, 3)) == pytest.approx(max(map(inside, ways)))
    assert hits >= 16  # exchanges of two classes may end before the best


@pytest.mark.parametrize(("classes", "count"), [(10, 4), (12, 4), (3, 2), (7, 6), (1000, 4)])
def test_groups_have_at_least_so_many_classes_each_once(classes: int, count: int) -> None:
    likeness = np.random.default_rng(0).random((classes, classes))
    groups = grouped(likeness + likeness.T, count)
    assert sorted(number for group in groups for number in group) == list(range(classes))
    assert min(map(len, groups)) >= count
    assert max(map(len, groups)) - min(map(len, groups)) <= 1


def test_confusions_of_a_table_make_groups(tmp_path: Path) -> None:
    file = tmp_path / "confusions.csv"
    rows = [("tabby cat", "red fox", 9), ("tabby cat", "tabby cat", 50), ("1", "3", 8), ("grey fox", "-1", 99)]
    rows += [("tow truck", "fire truck", 3), ("tabby cat", "tiger cat", 1)]
    file.write_text("label,answer,count\n" + "\n".join(",".join(map(str, row)) for row in rows))
    shares = read_confusions(file, NAMES)
    assert shares[0, 2] == shares[2, 0] == pytest.approx(9 / 60)
    assert shares[1, 3] == pytest.approx(1)
    assert offer_of(2, file, NAMES, NAMES).groups == ((0, 2), (1, 3), (4, 5))
    file.write_text("label,answer\n0,2\n0,2\n0,0\n")
    assert read_confusions(file, NAMES)[0, 2] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("label,count\n0,1\n", "has no column 'answer'"),
        ("label,answer\nzebra,0\n", "expected classes of the data as label, got 'zebra'"),
        ("label,answer,count\n0,1,-4\n", "count"),
    ],
)
def test_a_table_that_cannot_be_read_is_told(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "confusions.csv").write_text(content)
    with pytest.raises(UserError, match=message):
        read_confusions(tmp_path / "confusions.csv", NAMES)


def test_chance_is_one_of_the_options() -> None:
    assert OptionOffer(4, 12).chance(False) == 0.25
    assert OptionOffer(4, 12).chance(True) == 0.2
    assert OptionOffer(2, 5, ((0, 1), (2, 3, 4))).chance(False) == pytest.approx((2 / 2 + 3 / 3) / 5)


def test_a_name_that_was_not_offered_is_outside() -> None:
    question, vocabulary = questions(offer_of(2, "names", NAMES, NAMES)).about("a", 0), vocabulary_of(NAMES, {})
    assert read_reply(ChatReply("tiger cat"), question, vocabulary).number == 1
    assert read_reply(ChatReply("red fox"), question, vocabulary).number == len(NAMES)
    assert read_reply(ChatReply(question.marks[0]), question, vocabulary).number == question.offered[0]


def key(settings: str) -> str:
    names = ",".join(NAMES)
    text = f"chat:http://127.0.0.1:9/v1#model=m&classes={names}&protocol=choice{settings}"
    return snellen.load_model(text).card.fingerprint


def test_options_and_what_is_offered_stand_in_the_key(tmp_path: Path) -> None:
    table = tmp_path / "confusions.csv"
    keys = []
    for rows in ("0,2,5\n1,3,5\n4,5,5", "0,3,5\n1,2,5\n4,5,5", "0,3,6\n1,2,6\n4,5,6"):
        table.write_text(f"label,answer,count\n{rows}\n")
        keys.append(key(f"&options=2&distractors={table}"))
    assert keys[1] == keys[2]  # what is offered is the same
    keys += [key(settings) for settings in ("", "&options=2", "&options=3", "&options=2&distractors=names")]
    assert len(set(keys)) == 6


def guesser(body: bytes) -> Any:
    """Names an option by a hash of the picture and the question: one that looks at nothing."""
    marks = re.findall(r"^([A-Z])\. ", words_in(body), re.MULTILINE)
    number = int.from_bytes(hashlib.blake2b(body, digest_size=8).digest(), "big")
    return completion(marks[number % len(marks)])


@pytest.fixture(scope="module")
def guessing(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One that guesses among four options and among all, by the same endpoint, and the requests about the first."""
    with serve_chat(guesser) as server:
        texts = [
            f"{name}=chat:{server.url}#model=m&size=16&protocol=choice{more}"
            for name, more in (
                ("four", "&options=4"), ("hard", "&options=4&distractors=names"), ("other", "&options=4&order=1"), ("all", "")
            )
        ]  # fmt: skip
        audits = (
            "occlusion(areas=[0.3], fills=[black]), delivery([jpeg(50)]), "
            "shift(length=1, random=6, evaluations=6, population=2, restarts=1, images=10)"
        )
        run = snellen.audit(texts, DATA, audits, tmp_path_factory.mktemp("guess") / "run", quiet=True)
        return run, list(server.requests)


def found(run: Any, name: str, model: str) -> dict[str, Any]:
    return next(f for f in run.results()["findings"] if f["name"] == name and f["model"] == model)


def test_guessing_is_right_as_often_as_chance_says(guessing: Any) -> None:
    run, _ = guessing
    for model, chance in (("four", 0.25), ("hard", 0.25), ("other", 0.25), ("all", 1 / 12)):
        accuracy = found(run, "accuracy", model)
        assert accuracy["low"] <= chance <= accuracy["high"], model
        facts = found(run, "refused_replies", model)["facts"]
        assert facts.get("chance") == (pytest.approx(chance) if model != "all" else None)
    doubts = {entry["model"]: entry["text"] for entry in run.results()["warnings"] if entry["name"] == "chance_level"}
    assert "25.0% of guessing among its options" in doubts["four"]


def test_the_report_says_that_the_right_class_is_among_the_options(guessing: Any) -> None:
    run, _ = guessing
    page = (run.path / "report.html").read_text()
    assert "choice of 4, hard by names" in page
    assert any(
        "is always among the options, so guessing is right on 25.0%, not on 8.3%" in note
        for note in run.facts["notices"]
    )
    section = page[page.index("<h2>Replies</h2>") :]
    assert "25.0%" in section


def asked_about(data: Any, offer: OptionOffer | None, order: int = 0) -> set[str]:
    """The questions about samples of the data, whose class is known."""
    asking = Questions("choice", vocabulary_of(data.classes, {}), False, order, offer)
    pairs = zip(data.samples.keys.tolist(), data.samples.labels.tolist())
    return {asking.about(f"{key:016x}", label).words for key, label in pairs}


def test_a_sample_has_one_question_however_it_is_modified_in_conditions_and_searches(guessing: Any) -> None:
    _, requests = guessing
    data = snellen.load_data(DATA)
    some, hard = OptionOffer(4, 12), offer_of(4, "names", vocabulary_of(data.classes, {}).spoken, data.classes)
    expected = asked_about(data, some) | asked_about(data, hard) | asked_about(data, some, 1) | asked_about(data, None)
    assert {words_in(body) for _, _, body in requests} == expected


def test_a_sample_has_that_question_in_trials_too(tmp_path: Path) -> None:
    data = snellen.load_data("phantom:test?size=32&n=8")
    with serve_chat(guesser) as server:
        text = f"m=chat:{server.url}#model=m&size=32&protocol=choice&options=4"
        donors = "phantom:train?size=32&n=4"
        snellen.audit(text, data, "adversarial_backgrounds", tmp_path / "run", donors=donors, quiet=True, report=False)
        asked = Counter(words_in(body) for _, _, body in server.requests)
    assert set(asked) == asked_about(data, OptionOffer(4, 12))
    assert max(asked.values()) > 3


def test_an_order_of_options_changes_no_options(guessing: Any) -> None:
    run, _ = guessing
    pairs = {found["model"] for found in run.results()["findings"] if found["name"] == "order_sensitivity"}
    assert pairs == {"four, other"}


def test_a_model_that_is_told_no_class_is_refused_in_one_line() -> None:
    with serve_chat(guesser) as server:
        model = snellen.load_model(f"chat:{server.url}#model=m&classes=a,b,c&protocol=choice&options=2")
        with pytest.raises(
            UserError, match="chooses among 2 options around the right class, and which that is was not told"
        ):
            model(torch.zeros((1, 3, 8, 8), dtype=torch.uint8))
        assert not server.requests


def test_one_who_sees_is_right_by_every_choice(tmp_path: Path) -> None:
    data = snellen.load_data("phantom:test?size=16&n=48")
    labels = {np.ascontiguousarray(photo.image).tobytes(): data.classes[label] for photo, label in
              zip(data.read(range(48)), data.samples.labels)}  # type: ignore[union-attr]  # fmt: skip

    def sees(body: bytes) -> Any:
        marks = {name: mark for mark, name in re.findall(r"^([A-Z])\. (.*)$", words_in(body), re.MULTILINE)}
        name = labels.get(np.ascontiguousarray(image_in(body)).tobytes(), "")
        return completion(marks.get(name.replace("_", " "), "?"))

    with serve_chat(sees) as server:
        text = f"m=chat:{server.url}#model=m&protocol=choice&options=3"
        run = snellen.audit(text, "phantom:test?size=16&n=48", [], tmp_path / "run", quiet=True)
    rows = run.predictions()
    clean = rows[rows["distortion"] == "none()"]
    assert (clean["pred"] == clean["label"]).all()
    assert set(STATES).isdisjoint(clean["raw"].tolist())
