"""The verdict says what the findings say: no less, and no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from snellen.audits.model_differences import DifferenceFacts
from snellen.audits.stored_finding import StoredFinding, apart
from snellen.exam.run import Run
from snellen.report import page_of
from snellen.report.blocks import Bullets, Details, Table
from snellen.report.results import Results
from snellen.report.table import FindingRow
from snellen.report.verdict import Verdict, between, verdict_of
from snellen.report.words import index, percent

from .conftest import Toy, falls_for, steady
from .reading import Reader, every, rows, under
from .stored import interference, stored


def said_of(run: Run, model: str) -> Verdict:
    return verdict_of(Results.of(run), model)


def said_between(run: Run) -> list[str]:
    (folded,) = [one for one in every(Details, page_of(run)) if one.summary.startswith("Between the models")]
    return ["".join(item) for item in every(Bullets, folded)[0].items]


def test_a_distortion_taken_for_a_class_is_named_with_the_class(fooled: Run):
    said = said_of(fooled, "naive")
    (told,) = said.flagged
    assert told.startswith("'eel' under black squares over 10, 30, 50, 70 and 90% of the image (DI")
    assert "black Fourier mask of 50" in told
    assert "may be taken for that class" in said.trust


def test_every_flagged_class_and_its_strongest_index_is_in_the_verdict(fooled: Run):
    for model in ("naive", "wise"):
        own = [one["interference"] for one in fooled.results()["findings"] if one["model"] == model]
        flagged = [held for held in own if held and held["flagged"]]
        told = " ".join(said_of(fooled, model).flagged)
        assert bool(told) == bool(flagged)
        for held in flagged:
            assert f"'{held['dominant']}'" in told
        if flagged:
            assert index(max(held["index"] for held in flagged)) in told


def test_a_run_without_flags_claims_no_artefact(calm: Run):
    assert not any(one["interference"] and one["interference"]["flagged"] for one in calm.results()["findings"])
    said = said_of(calm, "calm")
    assert said.flagged == []
    assert said.trust.startswith("No distortion stands out")
    for text in ((calm.path / "report.md").read_text().split("## Findings")[0], str(said)):
        assert "artefact" not in text
        assert "may be taken for" not in text


def test_one_run_says_that_there_is_no_spread_and_three_give_theirs(calm: Run, fooled: Run):
    assert "one run: no spread over runs" in said_of(calm, "calm").sentences["Unmodified images"]
    assert "3 runs, from 80.0% to 90.0%" in said_of(fooled, "wise").sentences["Unmodified images"]


def test_the_clean_sentence_gives_the_finding(fooled: Run):
    one = next(one for one in fooled.results()["findings"] if one["name"] == "accuracy" and one["model"] == "wise")
    said = said_of(fooled, "wise").sentences["Unmodified images"]
    assert percent(one["value"]) in said
    assert f"{100 * one['low']:.1f}–{100 * one['high']:.1f}%" in said


def test_the_size_that_halves_accuracy_is_named_by_fill(fooled: Run):
    naive = said_of(fooled, "naive").sentences["What breaks it"]
    assert "falls below half of its clean accuracy once the square covers 10% (black)." in naive
    assert "keeps at least half of it under noise squares" in naive
    assert "black is worse" in naive
    assert "is worse" not in said_of(fooled, "wise").sentences["What breaks it"]


def test_a_lead_is_doubted_where_the_loser_alone_is_hit(fooled: Run):
    between = said_between(fooled)
    assert any(one.startswith("wise is clearly better") and "black squares" in one for one in between)
    (doubt,) = [one for one in between if "could be an artefact" in one]
    assert doubt.startswith("That wise leads naive on black squares of all sizes")
    assert "'eel'" in doubt


def test_a_lead_that_no_distortion_explains_is_not_doubted(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"good": [steady(0.05)], "poor": [steady(0.5)]}))
    between = said_between(run)
    assert "good is clearly better" in between[0]
    assert not any("artefact" in one for one in between)


def test_a_lead_is_not_doubted_where_the_winner_is_the_one_hit(toy_run: Callable[[Toy], Run]):
    hit = falls_for(0, "shuffle", 0.0)
    run = toy_run(Toy({"hit": [hit], "blind": [steady(0.9)]}))
    between = said_between(run)
    assert said_of(run, "hit").flagged
    assert not any("artefact" in one for one in between)


@pytest.mark.parametrize(
    ("loser", "winner", "doubted"),
    [
        (("flagged", 5, 6), ("", 0, 1), True),
        (("flagged", 5, 6), ("flagged", 1, 2), True),
        (("flagged", 5, 6), ("flagged", 4, 5.5), False),  # alike, as far as can be told
        (("flagged", 5, 6), ("", 4, 5.5), False),  # marked for one alone, yet not told apart
        (("flagged", 1, 2), ("raised", 5, 6), False),  # the winner is hit harder
        (("raised", 5, 6), ("", 0, 1), False),  # not flagged: no claim
    ],
)
def test_a_lead_is_doubted_only_where_a_flagged_distortion_hits_the_loser_harder(loser, winner, doubted: bool):
    def finding(low: float, trust: tuple[str, float, float]) -> StoredFinding:
        chance = {"flagged": trust[1] - 1, "raised": trust[1] - 1, "": trust[1] + 1}[trust[0]]
        di = {"flagged": trust[0] == "flagged", "low": trust[1], "high": trust[2], "null95": chance, "dominant": "eel"}
        di |= {"index": sum(trust[1:]) / 2, "distortion": "none()"}
        return stored(better="higher", interference=interference(**di), value=low + 0.05, low=low, high=low + 0.1)

    findings = {"worse": finding(0.2, loser), "better": finding(0.6, winner)}
    pair = DifferenceFacts(
        of="share", first="worse", second="better", p=0.001, p_corrected=0.001, detectable=0.05, values={}
    )
    told = between([FindingRow("", "squares", "", findings, {}, (pair,))])
    assert told[0] == "better is clearly better on squares."
    assert any("could be an artefact" in one for one in told) == doubted


def test_models_that_answer_alike_have_no_leader(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"one": [steady(0.2)], "two": [steady(0.2)]}))
    assert [one for one in said_between(run) if "clearly better" in one] == []
    assert "that does not show equality" in said_between(run)[0]
    (table,) = every(Table, under(page_of(run), "All findings"))
    assert not any(cell.bold for row in rows(table) for cell in row.cells)


def test_guessing_is_called_chance(toy_run: Callable[[Toy], Run]):
    run = toy_run(Toy({"guess": [falls_for(1, "")]}))
    assert "not clearly above chance (25.0%)" in said_of(run, "guess").sentences["Unmodified images"]


def test_a_noise_yardstick_that_looks_like_a_class_is_called_lenient(toy_run: Callable[[Toy], Run]):
    def answer(distortion, labels, classes):
        name = {"noise(": 1, "shuffle": 3}
        hit = next((value for key, value in name.items() if distortion.startswith(key)), None)
        return steady(0.1)(distortion, labels, classes) if hit is None else labels * 0 + hit

    said = said_of(toy_run(Toy({"noisy": [answer]})), "noisy")
    assert "Mild noise itself pushes errors towards 'dog'" in said.yardstick
    assert "'fox' under 4×4 patches shuffled" in said.yardstick + " ".join(said.flagged)


def test_di_is_called_comparative(calm: Run):
    text = Reader((calm.path / "report.html").read_text()).text
    assert "Compare it between models; it is not a score." in text


@pytest.mark.parametrize(
    ("flagged", "low", "null95", "mark"),
    [(True, 1, 0.1, "flagged"), (False, 0.2, 0.1, "raised"), (False, 0.05, 0.1, ""), (False, None, None, "")],
)
def test_marks_of_runs_made_before_there_were_three_states(flagged: bool, low: float, null95: float, mark: str):
    assert interference(flagged=flagged, low=low, null95=null95).mark == mark


def test_intervals_that_touch_are_not_apart():
    assert not apart(Ends(0.1, 0.2), Ends(0.2, 0.3))
    assert apart(Ends(0.31, 0.4), Ends(0.2, 0.3))
    assert not apart(Ends(None, None), Ends(0.2, 0.3))


@dataclass
class Ends:
    low: float | None
    high: float | None
