"""The gate on real runs: what it compares, what it refuses, what it writes, and its exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from junitparser import Failure, JUnitXml, Skipped

import snellen
from snellen import load_model
from snellen.check import gate, read_baseline
from snellen.check.gatekeeper import gate_of
from snellen.check.run_side import RunSide
from snellen.check.side import questions_of
from snellen.errors import UserError
from snellen.report.findings import SCHEMA

from ..commands import exit_code

DATA = "phantom:test?size=16&n=60"
AUDITS = "occlusion(areas=[0.1, 0.3], fills=[black])"


def audited(folder: Path, model: str, data: str = DATA, audits: str = AUDITS, report: bool = False) -> Path:
    snellen.audit(model, data, audits, folder, quiet=True, report=report)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two versions of a model: `new` sees shapes, `old` textures; `other` saw other images."""
    at = tmp_path_factory.mktemp("gate")
    return {
        "new": audited(at / "new", "net=observer:shape"),
        "old": audited(at / "old", "net=observer:texture"),
        "other": audited(at / "other", "net=observer:shape", "phantom:test?size=16&n=60&background_bias=0.9"),
        "fewer": audited(at / "fewer", "net=observer:shape", "phantom:test?size=16&n=50"),
    }


@pytest.fixture(scope="module")
def baseline(runs: dict[str, Path]) -> Path:
    gate(runs["old"], write_baseline=runs["old"].parent / "old.json", report=False)
    return runs["old"].parent / "old.json"


def test_a_model_is_compared_with_its_baseline_on_the_same_images(runs: dict[str, Path]) -> None:
    record = gate(runs["new"], runs["old"], report=False)
    (outcome,) = record.outcomes
    accuracies = [
        snellen.load_run(runs[name]).findings().query("name == 'accuracy'").value.item() for name in ("new", "old")
    ]
    assert outcome.condition == "no_worse(accuracy)"
    assert outcome.value == pytest.approx(accuracies[0] - accuracies[1])
    assert (outcome.state, outcome.paired, outcome.n, outcome.unit) == ("holds", True, 60, "difference")
    assert record.baseline is not None
    assert record.baseline.shared == {"test": 60}
    worse = gate(runs["old"], runs["new"], report=False)
    assert worse.outcomes[0].state == "fails"
    assert not worse.passed


def test_a_mean_over_several_questions_is_paired_too_unless_it_is_asked_not_to(
    runs: dict[str, Path],
) -> None:
    record = gate(runs["new"], runs["old"], "change(cut_occlusion) > -1", report=False)
    assert record.outcomes[0].paired is True
    unpaired = gate(runs["new"], runs["old"], "change(cut_occlusion) > -1", unpaired=True, report=False)
    assert unpaired.outcomes[0].paired is False
    assert unpaired.outcomes[0].value == pytest.approx(record.outcomes[0].value)
    assert unpaired.notices == ["compared by intervals alone, whether or not the images are the same"]
    assert "by the two intervals" in unpaired.outcomes[0].text


def test_a_baseline_file_says_what_its_run_says(runs: dict[str, Path], baseline: Path) -> None:
    conditions = ["no_worse(accuracy)", "change(occluded_accuracy) >= -0.05", "change(cut_occlusion) >= 0"]
    by_run = gate(runs["new"], runs["old"], conditions, report=False)
    by_file = gate(runs["new"], baseline, conditions, report=False)
    assert by_file.outcomes == by_run.outcomes
    assert by_file.baseline is not None
    assert by_file.baseline.shared == {"test": 60}


def test_a_baseline_file_holds_every_answer_and_little_else(runs: dict[str, Path], baseline: Path) -> None:
    side, stored = RunSide(snellen.load_run(runs["old"])), read_baseline(baseline)
    questions = {question for finding in side.findings for question in questions_of(finding)}
    assert len(questions) == 4  # clean, mild noise and two squares
    for question in questions:
        np.testing.assert_array_equal(stored.answers(question), side.answers(question))
    assert (stored.listing("test").keys == side.listing("test").keys).all()  # type: ignore[union-attr]
    content = json.loads(baseline.read_text())
    assert len(content["data"]["test"]["keys"]) == 60 * 8 / 3 * 4  # base64: 4 characters for 3 bytes
    assert all(len(answers["runs"][0]) <= 12 for answers in content["answers"])


def test_other_images_are_refused_and_a_part_of_them_is_said(runs: dict[str, Path]) -> None:
    with pytest.raises(UserError) as raised:
        gate(runs["other"], runs["old"], report=False)
    assert "of the test images of" in str(raised.value)
    assert "have another class or other pixels" in str(raised.value)
    assert "unpaired" in str(raised.value)
    record = gate(runs["fewer"], runs["old"], report=False)
    assert record.outcomes[0].n == 50
    assert record.notices == [
        "compared on the 50 test images that both have: 0 are only in the run, 10 only in the baseline"
    ]
    assert gate(runs["other"], runs["old"], unpaired=True, report=False).outcomes[0].paired is False


def test_what_the_baseline_does_not_have_is_undecided_and_another_model_refused(
    tmp_path: Path, runs: dict[str, Path]
) -> None:
    more = audited(tmp_path / "more", "net=observer:shape", audits="occlusion(areas=[0.5], fills=[black])")
    (outcome,) = gate(more, runs["old"], "no_worse(occluded_accuracy)", report=False).outcomes
    assert outcome.state == "undecided"
    assert outcome.text.endswith("there is no such finding in the baseline")
    snellen.audit(
        {"a": "observer:shape", "b": "observer:texture"}, DATA, AUDITS, tmp_path / "two", quiet=True, report=False
    )
    with pytest.raises(UserError, match="unknown model in the baseline .* 'a'"):
        gate(tmp_path / "two", runs["old"], report=False)
    renamed = audited(tmp_path / "renamed", "v2=observer:shape")
    assert gate(renamed, runs["old"], report=False).outcomes[0].state == "holds"


def test_a_damaged_baseline_is_refused_in_one_line(tmp_path: Path, runs: dict[str, Path], baseline: Path) -> None:
    text = baseline.read_text()
    for damage, message in (
        (text.replace('"created": "', '"created": "x', 1), "does not fit its own checksum"),
        (text[:-40], "cannot be read as JSON"),
        ("{}", "schema"),
    ):
        (tmp_path / "damaged.json").write_text(damage)
        with pytest.raises(UserError) as raised:
            gate(runs["new"], tmp_path / "damaged.json", report=False)
        assert message in str(raised.value)
        assert str(tmp_path / "damaged.json") in str(raised.value)


def test_a_run_that_lists_its_samples_twice_is_refused_in_one_line(tmp_path: Path, runs: dict[str, Path]) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(runs["new"], copy)
    (listing,) = (copy / "samples" / "test").iterdir()
    shutil.copy(listing, listing.with_name("beside.parquet"))
    with pytest.raises(UserError, match="its test samples are listed twice; nothing is concluded from a part"):
        gate(copy, runs["old"], report=False)


def test_outcomes_stand_in_findings_json_and_in_the_report(tmp_path: Path) -> None:
    run = audited(tmp_path / "run", "net=observer:shape", report=True)
    before = snellen.load_run(run).results()
    assert gate_of(snellen.load_run(run)) is None
    record = gate(run, run, ["accuracy > 0.9", "occluded_accuracy <= 0.05", "no_worse(accuracy)"])
    results = snellen.load_run(run).results()
    jsonschema.validate(results, json.loads(SCHEMA.read_text()))
    assert {name: value for name, value in results.items() if name != "gate"} == before
    assert gate_of(snellen.load_run(run)) == record
    for name in ("report.html", "report.md"):
        page = (run / name).read_text()
        assert "What was required" in page
        assert "of 4 conditions" in page


def test_junit_is_what_junitparser_reads(tmp_path: Path, runs: dict[str, Path]) -> None:
    conditions = ["accuracy > 0.8", "occluded_accuracy >= 0.6", "accuracy <= 0.5"]
    for undecided, kind in (("warn", Skipped), ("fail", Failure), ("pass", None)):
        record = gate(runs["new"], require=conditions, undecided=undecided, junit=tmp_path / "gate.xml", report=False)
        states = [outcome.state for outcome in record.outcomes]
        assert {"holds", "fails", "undecided"} <= set(states)
        (suite,) = JUnitXml.fromfile(str(tmp_path / "gate.xml"))
        cases = list(suite)
        assert suite.tests == len(cases) == len(states)
        assert suite.failures == len(record.failures)
        for case, outcome in zip(cases, record.outcomes):
            assert case.name.startswith(outcome.condition)
            expected = {"fails": Failure, "undecided": kind, "holds": None}[outcome.state]
            assert [type(result) for result in case.result] == ([expected] if expected else [])
            if expected:
                assert outcome.text in case.result[0].message


def test_names_of_models_cannot_break_the_files(tmp_path: Path) -> None:
    snellen.audit({'<a & "b"> | c': load_model("observer:shape")}, DATA, AUDITS, tmp_path / "run", quiet=True)
    gate(tmp_path / "run", require="accuracy > 0.9", junit=tmp_path / "g.xml", markdown=tmp_path / "g.md")
    (suite,) = JUnitXml.fromfile(str(tmp_path / "g.xml"))
    assert next(iter(suite)).classname == 'snellen.<a & "b"> | c'
    assert "<a" not in (tmp_path / "g.md").read_text()


def test_a_page_of_outcomes_says_what_di_is_where_a_condition_names_it(tmp_path: Path, runs: dict[str, Path]) -> None:
    for condition, said in (("di.state != above", True), ("accuracy > 0.1", False)):
        gate(runs["new"], require=condition, markdown=tmp_path / "gate.md", report=False)
        assert ("DI is data interference: whether" in (tmp_path / "gate.md").read_text()) == said


def test_exit_codes(tmp_path: Path, runs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    new, old = str(runs["new"]), str(runs["old"])
    assert exit_code(["check", new, "--require", "accuracy > 0.8", "--no-report"]) == 0
    assert capsys.readouterr().out.endswith("gate open: 1 held, 0 undecided, 0 failed\n")
    assert exit_code(["check", new, "--require", "accuracy < 0.5", "--no-report"]) == 1
    assert "fails: accuracy < 0.5: net has accuracy 0.95" in capsys.readouterr().out
    unsure = ("check", new, "--baseline", new, "--require", "change(accuracy) >= -0.001", "--no-report")
    assert exit_code([*unsure]) == 0
    assert "undecided: change(accuracy)" in capsys.readouterr().out
    assert exit_code([*unsure, "--undecided", "pass"]) == 0
    assert exit_code([*unsure, "--undecided", "fail", "--quiet"]) == 1
    assert capsys.readouterr().err.startswith("undecided: change(accuracy)")
    assert exit_code(["check", old, "--baseline", new, "--quiet", "--no-report"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("failed: no_worse(accuracy): net has accuracy")
    assert exit_code(["check", new, "--require", "accuracy > 0.8", "--json", "--no-report"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to check; add --require 'accuracy > 0.9', --baseline RUN or --write-baseline FILE"),
        (("--require", "no_worse(accuracy)"), "compares with a baseline; add --baseline RUN or FILE"),
        (("--baseline", "nowhere"), "'nowhere' is not a run folder"),
        (("--require", "accuracy > 0", "--margin", "-1"), "expected --margin"),
        (("--require", "accuracy > 0", "--undecided", "maybe"), "'maybe'"),
    ],
)
def test_bad_input_is_one_line(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert exit_code(["check", str(runs["new"]), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_audit_requires_by_the_same_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ("audit", "net=observer:shape", "--data", DATA, "--audits", AUDITS, "--out", str(tmp_path / "run"))
    unsure = ("--require", "accuracy >= 0.9")  # 57 of 60: 0.86 to 0.98
    assert exit_code([*base, *unsure]) == 0
    assert (
        "warning: undecided: accuracy >= 0.9: net has accuracy 0.95, 95% interval 0.863 to 0.9829; about"
        in capsys.readouterr().err
    )
    record = gate_of(snellen.load_run(tmp_path / "run"))
    assert record is not None
    assert (record.require, record.having("undecided")) == (["accuracy >= 0.9"], record.outcomes)
    assert exit_code([*base, *unsure, "--undecided", "fail"]) == 1
    assert exit_code([*base, "--require", "point: accuracy >= 0.9", "--undecided", "fail"]) == 0
    assert exit_code([*base, "--require", "no_worse(accuracy)"]) == 2
    assert "use `snellen check RUN --baseline BASELINE`" in capsys.readouterr().err
    with pytest.raises(snellen.RequirementFailed) as raised:
        snellen.audit(
            "net=observer:shape", DATA, AUDITS, tmp_path / "run", quiet=True, require="accuracy < 0.5", undecided="pass"
        )
    assert raised.value.failures[0].startswith("accuracy < 0.5: net has accuracy 0.95")
    assert "What was required" in (tmp_path / "run" / "report.html").read_text()
