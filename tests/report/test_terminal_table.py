"""The table in the terminal says what the report says: the same marks, explained where they stand, and no class without one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from snellen.audits import BaselineAudit, InterferenceAudit, OcclusionAudit
from snellen.cli.printing import PrintChoice, print_run
from snellen.exam.run import Run
from snellen.report.glossary import SIGN_MEANINGS as MARKS
from snellen.report.results import Results
from snellen.report.verdict import at_chance, between, verdict_of

from .conftest import Answerer, Toy, falls_for, steady
from .stored import interference, stored


def sometimes(name: int, trigger: str, every: int) -> Answerer:
    """As `steady(0)`, but under the trigger one image in `every` is answered with one class."""

    def answer(distortion: str, labels: np.ndarray, classes: int) -> np.ndarray:
        hit = (np.arange(len(labels)) % every == 0) & (trigger in distortion)
        return np.where(hit, name, labels)

    return answer


def test_signs_and_classes_of_the_table_are_those_of_the_findings(
    toy_run: Callable[[Toy], Run], capsys: pytest.CaptureFixture[str]
) -> None:
    for answerers, samples in ((steady(0.1), 120), (falls_for(2, "black"), 120), (sometimes(1, "black", 7), 24)):
        run = toy_run(Toy({"mine": [answerers]}, samples=samples))
        print_run(run, PrintChoice(every=True))
        out = capsys.readouterr().out
        table, legend = out.split("\n\n")[0], out.split("\n\n")[-1]
        findings = [finding for finding in run.stored_findings() if finding.interference]
        assert "new errors go to" in table
        for finding in findings:
            trust = finding.interference
            assert trust is not None
            (line,) = [line for line in table.splitlines() if line.endswith(f"  {finding.label}")]
            start = table.splitlines()[0].index("new errors go to")
            shown = line[start : start + len("new errors go to")].strip()
            assert shown == (trust.dominant if trust.mark in ("flagged", "raised") else "")
            if trust.index is not None:
                assert f"{trust.index:.2f} {trust.sign}".strip() in line
        signs = {finding.interference.sign for finding in findings if finding.interference}
        assert [sign for sign in MARKS if f"{sign} " in legend] == [sign for sign in MARKS if sign in signs]


def test_every_sign_is_explained() -> None:
    from snellen.audits.stored_finding import SIGNS

    assert set(MARKS) == set(SIGNS.values()) - {""}


def test_a_class_is_named_only_where_errors_go_there_more_than_by_chance() -> None:
    unclear = interference(index=10.3, low=0.0, high=12.0, null95=11.0, published=10.0, state="unclear", dominant="ant")
    assert (unclear.sign, unclear.taken_for) == ("?", "")
    assert interference(index=10.3, flagged=True, dominant="ant").taken_for == "ant"


def test_verdict_and_table_state_one_share(toy_run: Callable[[Toy], Run]) -> None:
    """Squares of whole pixels cover a little more or less than was asked for; the label has what was asked for."""
    run = toy_run(Toy({"mine": [falls_for(2, "black")]}, audits=(BaselineAudit(), OcclusionAudit((0.3,), ("black",)))))
    content = run.results()
    for entry in content["findings"]:
        if "covered" in entry["facts"]:
            entry["facts"]["covered"] = 0.32
    results = Results(content, run.facts, run)
    verdict = verdict_of(results, "mine")
    said = " ".join([*verdict.sentences.values(), *verdict.flagged])
    assert "30%" in said
    assert "32%" not in said


def test_a_model_at_chance_is_not_called_better(toy_run: Callable[[Toy], Run]) -> None:
    audits = (BaselineAudit(), InterferenceAudit())
    run = toy_run(Toy({"mine": [steady(0.1)], "guess": [steady(0.75)]}, audits=audits))
    assert at_chance(Results.of(run)) == {"guess"}
    numbers = {"unit": "share", "better": "higher", "audit": "concepts", "name": "detector_share"}
    own = {
        "mine": stored(model="mine", value=0.1, low=0.05, high=0.15, topic="detectors", **numbers),
        "guess": stored(model="guess", value=0.5, low=0.45, high=0.55, topic="detectors", **numbers),
    }
    from snellen.report.table import row_of

    row = row_of(own, Results.of(run))
    assert between([row])[0] == "guess is clearly better on detectors."
    (sentence,) = between([row], {"guess"})
    assert "clearly better" not in sentence
    assert "not told from guessing" in sentence


def test_the_hardest_of_several_distortions_is_said_to_be_chosen(toy_run: Callable[[Toy], Run]) -> None:
    for grids, said in (((4,), ")."), ((2, 4), ", chosen as the lowest of 2 on these images).")):
        audits = (BaselineAudit(), InterferenceAudit(tuple(f"shuffle({grid})" for grid in grids)))
        run = toy_run(Toy({"mine": [falls_for(1, "grid=4")]}, audits=audits))
        sentence = verdict_of(Results.of(run), "mine").sentences["What breaks it"]
        assert sentence == f"Of the single distortions the hardest is: 4×4 patches shuffled (25.0%{said}"
