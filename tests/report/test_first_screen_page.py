"""The first screen as it is shown: every number is a finding's, pictures are of one image, and marks name the class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from snellen.audits import BaselineAudit, InterferenceAudit, OcclusionAudit, parse_audits
from snellen.exam.run import Run
from snellen.report import page_of
from snellen.report.blocks import Bar, CardBlock, Chapter, Page, Shot, Span, Strip, Table, TableCell
from snellen.report.conditions import conditions_of
from snellen.report.examples import example_blocks
from snellen.report.pages.origin import audit_command
from snellen.report.pictured import Pictured
from snellen.report.results import Results
from snellen.report.telling import UnmodifiedAnswers, confident_mistakes, only_right, samples_by_level
from snellen.report.words import in_unit, interval

from .conftest import Toy, steady
from .reading import every, rows, under


def first_screen(page: Page) -> list[Any]:
    """The blocks above the chapters."""
    return [block for block in page.blocks if not isinstance(block, Chapter)]


def numbers(run: Run) -> set[tuple[str, str]]:
    """The values of a run's findings with their intervals, as a page writes them."""
    findings = run.results()["findings"]
    return {
        (in_unit(finding["value"], finding["unit"]), interval(finding["low"], finding["high"], finding["unit"]))
        for finding in findings
    }


def test_every_number_and_bar_of_the_first_screen_is_a_finding(fooled: Run) -> None:
    page = page_of(fooled)
    stored = {(entry["value"], entry["low"], entry["high"]) for entry in fooled.results()["findings"]}
    bars = every(Bar, first_screen(page))
    assert len(bars) > 10
    for bar in bars:
        assert (bar.value, bar.low, bar.high) in stored
    amounts = [(shot.text, shot.interval) for shot in every(Shot, page)]
    amounts += [(cell.text, cell.interval) for cell in every(TableCell, first_screen(page)) if cell.interval]
    assert set(amounts) <= numbers(fooled)


def test_the_ranked_table_names_the_class_that_a_modification_is_taken_for(fooled: Run) -> None:
    ranked = every(Table, page_of(fooled))[0]
    badges = {
        row.head.text.partition(". ")[2]: [cell.badge.text for cell in row.cells if cell.badge] for row in rows(ranked)
    }
    assert badges["wise"] == []
    assert set(badges["naive"]) == {"▲ taken for eel"}


def test_every_number_of_a_chapter_with_an_interval_is_a_finding(fooled: Run) -> None:
    allowed = {(text, ends) for text, ends in numbers(fooled)}
    cells = [cell for chapter in every(Chapter, page_of(fooled)) for cell in every(TableCell, chapter) if cell.interval]
    assert len(cells) > 40
    assert {(cell.text, cell.interval) for cell in cells} <= allowed


def test_headlines_tell_findings(fooled: Run) -> None:
    values = {text for text, _ in numbers(fooled)}
    chapters = {chapter.title: chapter for chapter in every(Chapter, page_of(fooled))}
    for title in (
        "Clean images and the noise yardstick",
        "Occlusion (CutOcclusion and iOcclusion)",
        "Data interference (DI)",
    ):
        said = [part.text for part in chapters[title].headline if isinstance(part, Span) and part.style == "bold"]
        assert len(said) == 2  # two models
        assert set(said) <= values


def test_a_strip_shows_one_image_and_names_the_class_that_squares_are_taken_for(fooled: Run) -> None:
    strips = dict(zip(("naive", "wise"), every(Strip, page_of(fooled))))
    cards = [card.title for card in every(CardBlock, page_of(fooled)) if every(Strip, card)]
    strips = dict(zip(cards, every(Strip, page_of(fooled))))
    naive, wise = strips["naive"].shots, strips["wise"].shots
    assert naive[0].words == wise[0].words == "unmodified"
    black = [shot for shot in naive if shot.words.startswith("black")]
    assert black
    assert all(shot.flagged and shot.mark[1] == Span("eel", "bold") for shot in black)
    assert not any(shot.flagged for shot in wise)
    shown = {shot.picture.alt.partition(":")[0] for shot in naive}
    assert len(shown) == 1  # the class of the one image
    assert all(shot.picture.source for shot in naive)
    assert all(answer.text == "eel" for shot in black for answer in shot.picture.answers)


def test_a_condition_is_the_mildest_that_takes_half_of_the_clean_accuracy(toy_run: Callable[[Toy], Run]) -> None:
    def fading(distortion: str, labels: np.ndarray, classes: int) -> np.ndarray:
        wrong = next(
            (share for area, share in ((0.9, 0.9), (0.5, 0.7), (0.1, 0.2)) if f"area={area}" in distortion), 0.0
        )
        return steady(wrong)(distortion, labels, classes)

    run = toy_run(
        Toy({"m": [fading]}, audits=(BaselineAudit(), OcclusionAudit(areas=(0.1, 0.5, 0.9), fills=("grey",))))
    )
    (condition,) = conditions_of(Results.of(run), "m")
    assert "area=0.5" in condition.distortion
    assert condition.value == pytest.approx(0.3)
    assert condition.clean == 1.0


def test_models_are_ranked_first_and_those_behind_three_are_folded_away(toy_run: Callable[[Toy], Run]) -> None:
    models = {f"m{number}": [steady(0.5 - number / 10)] for number in range(5)}
    page = page_of(toy_run(Toy(models, audits=(BaselineAudit(), InterferenceAudit()))))
    assert page.title == "Eye exam of 5 models"
    (interference,) = [chapter for chapter in every(Chapter, page) if chapter.anchor == "interference"]
    named = [part.text.strip() for part in interference.headline if isinstance(part, Span) and part.hue]
    assert len(named) == 2  # the lowest and the highest
    table = every(Table, page)[0]
    assert [row.head.text.partition(". ")[2] for row in rows(table)] == ["m4", "m3", "m2", "m1", "m0"]
    cards = [block.title for block in page.blocks if isinstance(block, CardBlock)]
    assert cards == ["m4", "m3", "m2"]


def test_what_was_not_measured_is_said_once_at_the_end_of_its_chapter(calm: Run) -> None:
    (chapter,) = [one for one in every(Chapter, page_of(calm)) if one.anchor == "occlusion"]
    reasons = "".join(str(item) for item in chapter.blocks[-1].items)
    assert "iOcclusion needs the training images too" in reasons
    assert "iOcclusion needs" not in str(chapter.blocks[:-1])


def test_the_command_of_a_chapter_asks_its_audit_alone(toy_run: Callable[[Toy], Run]) -> None:
    run = toy_run(
        Toy(
            {"m": [steady(0)]},
            command=("snellen", "audit", "zoo:toy", "--data", "x", "--audits=all", "--out", "r", "--fresh"),
        )
    )
    facts = Results.of(run).facts
    facts.audits = ["baseline()", "occlusion(areas=[0.5])", "Mine()"]
    assert audit_command(facts, "occlusion") == "snellen audit zoo:toy --data x --audits 'occlusion(areas=[0.5])'"
    assert audit_command(facts, "baseline") == audit_command(facts, "Mine") == ""
    facts.audits = [str(audit) for audit in parse_audits("occlusion")]
    assert audit_command(facts, "occlusion") == "snellen audit zoo:toy --data x --audits occlusion"
    facts.command = []
    assert "audits='occlusion'" in audit_command(facts, "occlusion")


# Telling images


def clean(right: list[int], confidence: list[float], labels: list[int] | None = None) -> UnmodifiedAnswers:
    flags = np.array(right, bool)
    ids = np.array([f"i{place}" for place in range(len(right))], object)
    return UnmodifiedAnswers(ids, np.array(labels or range(len(right))), flags, ~flags, np.array(confidence))


def test_mistakes_come_the_surest_first_and_two_of_a_class_before_others() -> None:
    answers = clean([0, 1, 0, 0, 0], [0.5, 0.99, 0.9, 0.8, 0.7], [0, 0, 1, 1, 1])
    assert confident_mistakes(answers) == ["i2", "i3", "i0", "i4"]  # the third of class 1 comes last
    assert confident_mistakes(clean([1, 1], [0.5, 0.5])) == []


def test_only_the_best_gets_what_every_other_misses() -> None:
    best = clean([1, 1, 1, 0], [0.6, 0.9, 0.8, 0.9])
    assert only_right(best, [clean([0, 0, 1, 0], [1] * 4), clean([0, 0, 0, 1], [1] * 4)]) == ["i1", "i0"]


def test_levels_share_their_classes_and_one_level_is_no_gallery() -> None:
    ids, labels = [f"i{place}" for place in range(6)], np.array([0, 1, 2, 2, 1, 9])
    assert samples_by_level(ids, labels, np.array([0, 0, 0, 1, 1, -1])) == {0: ["i1", "i2", "i0"], 1: ["i4", "i3"]}
    assert samples_by_level(ids, labels, np.zeros(6)) == {}


def test_runs_without_confidence_have_galleries_of_the_rest(fooled: Run) -> None:
    blocks = example_blocks(Pictured(Results.of(fooled)))
    assert "What was said when it was wrong" in str(blocks)
    assert "confident" not in str(blocks)


def test_what_the_model_said_under_a_condition_is_wrong_there(fooled: Run) -> None:
    gallery = under(page_of(fooled), "What was said when it was wrong")[1]
    for row in rows(gallery):
        for picture in row.cells:
            truth, answer = picture.answers
            assert truth.text.removeprefix("is ") != answer.text
            assert answer.right is False
