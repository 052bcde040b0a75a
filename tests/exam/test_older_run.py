"""A run folder of an earlier version resumes without a question, and says the same.

`older_runs.tar.gz` holds two runs that version 0.1.0.dev0 made before findings carried their labels: `distortions` (two
observers, five audits, trials) and `maps` (a network of formula weights, Grad-CAM maps), each with its working folder.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from snellen import load_run

from ..commands import exit_code

ARCHIVE = Path(__file__).with_name("older_runs.tar.gz")
ADDED = ("label", "topic")  # what findings carry since
ADDED_FACTS = ("interval_of", "recipe_low", "recipe_high", "corrected_over", "without_object")
UNCERTAIN = ("low", "high", "gap_low", "gap_high", "p", "p_corrected", "detectable", "clear")
DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(params=["distortions", "maps"])
def older(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of an older run; `run` in it is the run folder."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path / request.param)
    return tmp_path / request.param / "run"


@pytest.fixture
def nothing_may_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("local.run_local", "trials.run_trials", "maps.make_maps"):
        monkeypatch.setattr(f"snellen.engine.ask.{place}", lambda *_, **__: pytest.fail("something was asked again"))


def command_of(run: Path) -> list[str]:
    return json.loads((run / "run.json").read_text())["command"][1:]


def findings_of(run: Path) -> list[dict[str, Any]]:
    return json.loads((run / "findings.json").read_text())["findings"]


@pytest.mark.usefixtures("nothing_may_be_asked")
def test_it_resumes_without_a_question_and_finds_the_same(older):
    before = findings_of(older)
    (older / "findings.json").unlink()
    assert exit_code(command_of(older)) == 0
    assert [without_uncertainty(one) for one in findings_of(older)] == [without_uncertainty(one) for one in before]
    assert published_values(findings_of(older)) == published_values(before)
    assert all(one["label"] and one["topic"] for one in findings_of(older))


@pytest.mark.usefixtures("nothing_may_be_asked")
def test_its_settings_file_repeats_it(older):
    before = findings_of(older)
    (older / "findings.json").unlink()
    assert exit_code(["audit", "--config", str(older / "settings.yaml")]) == 0
    assert published_values(findings_of(older)) == published_values(before)


def test_its_report_holds_the_same_numbers(older):
    before, stored = (older / "report.md").read_text(), findings_of(older)
    assert exit_code(command_of(older)) == 0
    lost = numbers_in(before) - numbers_in((older / "report.md").read_text())
    assert set(lost) <= uncertain_numbers(stored) | covered_shares(stored)


def test_a_report_is_written_of_findings_that_have_no_labels(older):
    page = load_run(older).report(older / "again.md").read_text()
    lost = numbers_in((older / "report.md").read_text()) - numbers_in(page)
    assert set(lost) <= covered_shares(findings_of(older))


def without_uncertainty(one: dict[str, Any]) -> dict[str, Any]:
    """A finding but for what has been added since, and for how sure it is: intervals, tests and the DI are new."""
    kept = {name: value for name, value in one.items() if name not in (*ADDED, *UNCERTAIN, "interference", "text")}
    if one["name"] == "interference":
        return {name: value for name, value in kept.items() if name not in ("value", "facts")}
    facts = {name: value for name, value in one["facts"].items() if name not in (*UNCERTAIN, *ADDED_FACTS)}
    return kept | {"facts": facts}


def published_values(findings: list[dict[str, Any]]) -> list[float]:
    """The value of each finding, of a DI the point estimate of the paper, which it was in older runs."""
    return [one["facts"].get("published_index", one["value"]) for one in findings]


def covered_shares(findings: list[dict[str, Any]]) -> set[str]:
    """Shares that squares cover, in percent: sentences name the share that was asked for now, as tables always did."""
    shares = (one["facts"].get("covered") for one in findings)
    return {f"{100 * share:.0f}" for share in shares if isinstance(share, float)}


def uncertain_numbers(findings: list[dict[str, Any]]) -> set[str]:
    """Every number that an older report may state of how sure a finding is, or of a DI, as it is or in percent."""

    def leaves(value: Any) -> list[float]:
        if isinstance(value, dict | list):
            return [leaf for each in (value.values() if isinstance(value, dict) else value) for leaf in leaves(each)]
        return [value] if isinstance(value, int | float) else []

    values = leaves([[one["low"], one["high"], one["interference"]] for one in findings])
    values += leaves([[one["facts"].get(name) for name in UNCERTAIN] for one in findings])
    values += leaves([[one["facts"], one["value"]] for one in findings if one["name"] == "interference"])
    return {f"{scale * value:.{digits}f}" for value in values for scale in (1, 100) for digits in (0, 1, 2, 3)}


def numbers_in(page: str) -> Counter[str]:
    """Every number that a report states, but for the day it was written and the footer's versions."""
    text = DAY.sub("", page.partition("## Make it again")[0]).replace("−", "-")
    return Counter(NUMBER.findall(text))


def test_it_is_checked_and_its_baseline_is_itself(older):
    """Runs of before there was a gate: conditions hold or fail as on any, and the outcomes stand in findings.json."""
    name = findings_of(older)[0]["name"]
    before = findings_of(older)
    words = ["check", str(older), "--baseline", str(older), "--require", f"point: {name} >= 0"]
    assert exit_code([*words, "--require", f"no_worse({name}, 0.5)", "--write-baseline", "base.json"]) == 0
    content = json.loads((older / "findings.json").read_text())
    assert content["findings"] == before
    assert {outcome["state"] for outcome in content["gate"]["outcomes"]} == {"holds"}
    assert exit_code(["check", str(older), "--baseline", "base.json", "--require", f"no_worse({name}, 0.5)"]) == 0
    assert exit_code(["report", str(older)]) == 0
    assert "What was required" in (older / "report.html").read_text()
