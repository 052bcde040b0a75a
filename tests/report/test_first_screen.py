"""The first screen: a verdict that its numbers carry, on one screen of 80 × 24, for models of every kind."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from math import hypot
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.exam.run import Run
from snellen.measure.edges import wilson
from snellen.report.first_screen import FirstScreen, first_screen
from snellen.report.losses import loss_of
from snellen.report.ranking import place_of
from snellen.report.render.terminal import HEIGHT, command_lines, lines_of, screen_lines
from snellen.report.results import Results
from snellen.report.table import row_of

from .conftest import Answerer, Toy, falls_for, steady
from .stored import stored

MakeRun = Callable[[Toy], Run]


def constant(name: int) -> Answerer:
    """Always the same class."""
    return lambda distortion, labels, classes: np.full(len(labels), name)


def screen_of(run: Run) -> FirstScreen:
    return first_screen(Results.of(run))


def lines(run: Run, width: int = 80) -> list[str]:
    return screen_lines(screen_of(run), Path("runs/toy"), width=width)


TOYS = {
    "one model that breaks": Toy({"mine": [falls_for(2, "black")]}),
    "several runs": Toy({"mine": [steady(0.1), steady(0.2), falls_for(2, "black")]}),
    "six models": Toy({f"checkpoint-number-{n}": [falls_for(n % 4, "black", 0.1 * n)] for n in range(6)}),
    "thirty models": Toy({f"checkpoint-number-{n}": [steady(0.02 * n)] for n in range(30)}, samples=40),
    "two classes": Toy({"mine": [falls_for(1, "black")]}, classes=("cat", "dog")),
    "few images": Toy({"mine": [falls_for(2, "black")]}, samples=6),
    "constant": Toy({"mine": [constant(1)]}),
    "at chance": Toy({"mine": [steady(0.75)]}),
    "nothing readable": Toy({"mine": [steady(0.1)]}, samples=5, unreadable=range(5)),
}


@pytest.mark.parametrize("name", TOYS)
def test_it_fits_a_screen_of_80_by_24_and_says_where_the_report_is(name: str, toy_run: MakeRun) -> None:
    shown = lines(toy_run(TOYS[name]))
    assert sum(lines_of(line, 80) for line in shown) <= HEIGHT - 1, "\n".join(shown)
    assert shown[-1] == "report: runs/toy/report.html"
    assert any("--all" in line for line in shown)
    assert all(
        len(line) <= 80 or " " not in line.strip().rstrip(" \\") for line in shown
    )  # a single word is not broken


def test_a_model_that_breaks_is_said_to_and_under_what(toy_run: MakeRun) -> None:
    (verdict,) = screen_of(toy_run(TOYS["one model that breaks"])).verdicts
    clean, breaks, trust = verdict.sentences
    assert verdict.standing == "breaks"
    assert clean.startswith("Right on 90.0% of 120 clean images (95% interval ")
    assert breaks.startswith("It clearly loses accuracy under 3 of ")
    assert "to 25.0% (chosen as the largest loss on these images)." in breaks
    assert trust == "3 of these losses may be artefacts (▲): the modification itself may be taken for 'eel'."
    top = next(key for key in verdict.findings if key.finding.name == "cut_occlusion")
    assert (top.change, top.sign, top.taken_for, top.out_of) == ("−65.0 points", "▲", "eel", 2)
    assert verdict.headline == "clearly loses under 3 of 6 modifications, most under black squares of all sizes ▲"


def test_one_that_nothing_breaks_is_not_said_to_and_a_bound_is_given(toy_run: MakeRun) -> None:
    (verdict,) = screen_of(toy_run(Toy({"mine": [steady(0.1)]}))).verdicts
    assert verdict.standing == "holds"
    _, holds = verdict.sentences
    most = max(loss.high for loss in verdict.losses)
    assert holds == (
        f"No clear loss of accuracy under any of {len(verdict.losses)} modifications; "
        f"losses of up to {100 * most:.1f} points are not ruled out."
    )
    assert not any(key.change not in ("", "not clear") for key in verdict.findings)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("constant", "not clearly above chance (25.0%), so its losses say little. It answers 'dog' to every image."),
        ("at chance", "not clearly above chance (25.0%), so its losses say little."),
    ],
)
def test_of_a_model_at_chance_no_loss_is_claimed(name: str, said: str, toy_run: MakeRun) -> None:
    (verdict,) = screen_of(toy_run(TOYS[name])).verdicts
    assert verdict.standing == "at chance"
    (sentence,) = verdict.sentences
    assert sentence.endswith(said)


def test_with_two_classes_it_is_said_that_artefacts_cannot_be_told(toy_run: MakeRun) -> None:
    (verdict,) = screen_of(toy_run(TOYS["two classes"])).verdicts
    assert verdict.standing == "breaks"
    assert verdict.sentences[-1].startswith("With two classes no dominant class can be shown")


def test_few_images_show_less_than_many(toy_run: MakeRun) -> None:
    (few,) = screen_of(toy_run(TOYS["few images"])).verdicts
    (many,) = screen_of(toy_run(TOYS["one model that breaks"])).verdicts
    assert few.standing == "holds"
    assert min(loss.high for loss in few.losses) > min(loss.high for loss in many.losses)


def test_nothing_is_said_where_no_image_could_be_scored(toy_run: MakeRun) -> None:
    (verdict,) = screen_of(toy_run(TOYS["nothing readable"])).verdicts
    assert verdict.standing == "not scored"
    assert verdict.sentences == ("No unmodified test image could be scored, so nothing can be said.",)


def test_the_bounds_of_one_loss_are_those_of_zou_and_donner_and_wider_for_many() -> None:
    (low, high), (least, most) = wilson(0.6, 100), wilson(0.9, 100)
    finding, clean = stored(value=0.6, low=low, high=high, n=100), stored(value=0.9, low=least, high=most, n=100)
    one, ten = loss_of(finding, clean), loss_of(finding, clean, 10)
    assert one.low == pytest.approx(0.3 - hypot(0.9 - least, high - 0.6))
    assert one.high == pytest.approx(0.3 + hypot(most - 0.9, 0.6 - low))
    assert (0.3 - ten.low) / (0.3 - one.low) == pytest.approx(
        2.80703 / 1.95996, abs=1e-4
    )  # normal quantiles of 99.75%, 97.5%
    assert one.is_clear
    assert not loss_of(stored(value=0.85, low=0.77, high=0.91), clean).is_clear


def test_models_share_places_where_they_are_not_clearly_different(toy_run: MakeRun) -> None:
    run = toy_run(Toy({"good": [steady(0.05)], "near": [steady(0.06)], "bad": [steady(0.5)]}))
    ranking = screen_of(run).ranking
    assert ranking is not None
    assert [(ranked.model, ranked.place) for ranked in ranking.models] == [
        ("good", "1–2"), ("near", "1–2"), ("bad", "3"),
    ]  # fmt: skip
    assert "after Holm's correction over" in ranking.rule
    assert all(finding.model == ranked.model for ranked in ranking.models for finding in ranked.findings if finding)


def test_without_a_number_a_model_has_the_last_place(toy_run: MakeRun) -> None:
    results = Results.of(toy_run(Toy({"mine": [steady(0.1)]})))
    findings = {"mine": stored(value=0.9, low=0.8, high=0.95, better="higher"), "none": stored(model="none")}
    assert place_of("none", row_of(findings, results)) == (2, 2)


def test_the_next_command_runs_and_shows_the_mistakes() -> None:
    models = {"mine": "observer:black(otherwise=texture)", "other": "observer:texture"}
    data = "phantom:test?size=16&n=60&texture_bias=1"
    run = snellen.audit(models, data, "occlusion([0.3], [black])", quiet=True, report=False)
    (step,) = [step for step in screen_of(run).next_steps if "mistakes" in step.reason]
    program, verb, folder, query = shlex.split(step.command)
    assert (program, verb, folder) == ("snellen", "sql", str(run.path))
    assert step.reason == "the most confident mistakes under black square of 30%"
    mistakes = run.sql(query)
    assert len(mistakes) == 9
    answers = run.predictions().query("model == 'mine' and distortion.str.startswith('occlude')").set_index("sample")
    assert (answers.loc[mistakes["sample"], "score"] == 0).all()


def test_a_command_in_lines_is_the_same_command_to_a_shell() -> None:
    query = (
        "select sample from answers where model = 'a  b' and distortion like 'occlude(area=0.3, fill=black%' limit 9"
    )
    command = f"""printf %s '{"my folder/" * 12}' "{query}\\"" end"""
    lines = command_lines(command, 60)
    assert len(lines) > 3
    assert all(line.endswith(" \\") for line in lines[:-1])
    once, wrapped = (
        subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout.split()
        for text in (command, "\n".join(lines))
    )
    assert once == wrapped


def test_of_a_model_at_chance_the_next_command_shows_what_it_answers() -> None:
    run = snellen.audit(
        "observer:guess", "phantom:test?size=16&n=60", "occlusion([0.3], [black])", quiet=True, report=False
    )
    step = screen_of(run).next_steps[0]
    assert step.reason == "what it answers to which class"
    counts = run.sql(shlex.split(step.command)[3])
    assert list(counts) == ["class", "pred", "images"]


def test_several_runs_and_columns_are_those_of_the_strongest_findings(toy_run: MakeRun) -> None:
    screen = screen_of(toy_run(TOYS["six models"]))
    assert screen.ranking is not None
    assert screen.ranking.columns[0] == "clean images"
    strongest = max((key for verdict in screen.verdicts for key in verdict.findings), key=lambda key: key.strength)
    assert strongest.finding.topic in screen.ranking.columns
    shown = "\n".join(lines(toy_run(TOYS["six models"])))
    assert all(f"…{verdict.model[-8:]}" in shown for verdict in screen.verdicts)
