"""Replies of chat models: planted refusals, and planted sensitivity to the order of options, are measured as planted."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.report import page_of
from snellen.report.blocks import Chapter, Chart
from snellen.report.words import percent

from ..models.chat_service import completion, image_in, serve_chat
from ..report.reading import every

DATA = "phantom:test?size=16&n=240"
CLEAN, OCCLUDED = 0.05, 0.5  # planted: how often a reply is a refusal


def coin(image: np.ndarray) -> float:
    """A number in 0…1 that hangs on the pixels."""
    return int.from_bytes(hashlib.blake2b(image.tobytes(), digest_size=8).digest(), "big") / 2**64


def refusing(body: bytes) -> Any:
    """Refuses more often where a large part of the image is black; else it says that it sees a disc, or an arrow."""
    image = image_in(body)
    occluded = (image.max(2) == 0).mean() > 0.2
    if coin(image) < (OCCLUDED if occluded else CLEAN):
        return completion("I'm sorry, I cannot identify this.")
    return completion("disc" if image[0, 0, 0] % 2 else "arrow")


def findings(run: Any, name: str) -> dict[str, dict[str, Any]]:
    return {
        found["distortions"][0].partition("(")[0]: found for found in run.results()["findings"] if found["name"] == name
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model that refuses under black squares, beside a network that replies in no words."""
    with serve_chat(refusing) as server:
        return snellen.audit(
            [f"vlm=chat:{server.url}#model=m&retries=0", "observer:shape"],
            DATA,
            "occlusion(areas=[0.4], fills=[black]), interference([shuffle(2)])",
            tmp_path_factory.mktemp("replies") / "run",
            quiet=True,
        )


def test_refusals_rise_under_occlusion_as_planted_and_nowhere_else(run: Any) -> None:
    refused = findings(run, "refused_replies")
    assert set(refused) == {"none", "noise", "occlude", "shuffle"}
    for condition, planted in {"none": CLEAN, "noise": CLEAN, "occlude": OCCLUDED, "shuffle": CLEAN}.items():
        found = refused[condition]
        assert found["low"] <= planted <= found["high"], condition
        assert (found["model"], found["facts"]["state"], found["facts"]["protocol"]) == ("vlm", "(refused)", "closed")
        if condition != "none":
            assert found["facts"]["rise_low"] <= planted - CLEAN <= found["facts"]["rise_high"], condition
            assert (found["facts"]["p_corrected"] < 0.05) == (condition == "occlude")
    assert refused["none"]["facts"]["rise"] is None
    words = "3 tests (replies that name no class, by state and condition)"  # states that never occur are no tests
    assert refused["occlude"]["facts"]["corrected_over"] == words


def test_other_states_are_not_there(run: Any) -> None:
    for name in ("outside_replies", "empty_replies", "cut_replies"):
        assert [found["value"] for found in findings(run, name).values()] == [0] * 4


def test_none_of_these_is_the_class_that_takes_the_new_errors(run: Any) -> None:
    watched = findings(run, "outside_interference")
    facts = watched["occlude"]["facts"]
    assert (facts["dominant"], facts["outside"]) == ("none of these", True)
    assert watched["occlude"]["low"] > 1
    assert facts["outside_rise"] > 0.3
    assert watched["shuffle"]["facts"]["outside_rise"] == pytest.approx(0, abs=0.06)


def test_the_audit_is_there_for_chat_models_alone_and_says_why(run: Any, tmp_path: Path) -> None:
    content = run.results()
    assert {found["model"] for found in content["findings"] if found["audit"] == "replies"} == {"vlm"}
    without = snellen.audit("observer:shape", DATA, [], tmp_path / "run", quiet=True, limit=40)
    assert not [found for found in without.results()["findings"] if found["audit"] == "replies"]


def test_the_report_has_the_replies_by_condition(run: Any) -> None:
    page = (run.path / "report.html").read_text()
    section = page[page.index("<h2>Replies</h2>") :]
    assert "(refused)" in section
    assert "closed" in section


def test_the_chapter_draws_each_state_that_occurred_and_its_headline_says_where_it_is_most(run: Any) -> None:
    (chapter,) = (chapter for chapter in every(Chapter, page_of(run)) if chapter.anchor == "replies")
    (chart,) = every(Chart, chapter)  # of the refusals alone
    assert chart.title == "Replies (refused)"
    refused = findings(run, "refused_replies")
    shown = {row["question"]: (row["model"], row["value"]) for row in chart.spec["data"]["values"]}
    assert shown["unmodified"] == ("vlm", refused["none"]["value"])
    assert shown["black square of 40%"] == ("vlm", refused["occlude"]["value"])
    assert len(shown) == len(refused)
    headline = "".join(getattr(part, "text", part) for part in chapter.headline)
    value = percent(refused["occlude"]["value"])
    assert headline.startswith(f"Most replies that name no class: vlm {value} [")
    assert headline.endswith("(refused): black square of 40%")


def test_a_model_that_always_names_the_first_option_is_as_sensitive_to_their_order_as_there_are_options(
    tmp_path: Path,
) -> None:
    """The first of 12 options is another one under another order in 11 of 12 images."""
    with serve_chat(lambda body: completion("A")) as server:
        models = [f"{name}=chat:{server.url}#model=m&protocol={text}" for name, text in
                  (("a", "choice"), ("b", "choice&order=1"), ("c", "closed"))]  # fmt: skip
        run = snellen.audit(models, DATA, [], tmp_path / "run", quiet=True)
    (found,) = (found for found in run.results()["findings"] if found["name"] == "order_sensitivity")
    assert found["low"] <= 11 / 12 <= found["high"]
    assert (found["facts"]["first"], found["facts"]["second"]) == ("a", "b")


def test_what_is_offered_stays_in_its_order_when_a_picture_is_modified(tmp_path: Path) -> None:
    """One that always names the first option answers the same about a sample, however it is delivered."""
    with serve_chat(lambda body: completion("A")) as server:
        text = f"m=chat:{server.url}#model=m&protocol=choice"
        run = snellen.audit(text, DATA, "delivery([jpeg(30)])", tmp_path / "run", quiet=True, limit=60)
    (changed,) = findings(run, "answers_changed").values()
    assert changed["value"] == 0
