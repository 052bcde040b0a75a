"""The audit of calibration: the error is that of the stored answers, and the page has a reliability diagram."""

from __future__ import annotations

from pathlib import Path

import pytest

import snellen
from snellen.audits import parse_audits
from snellen.errors import UserError
from snellen.measure import calibration_error

DATA = "phantom:test?size=16&n=60"


def test_the_error_is_that_of_the_stored_answers(tmp_path: Path) -> None:
    models = {"sees": "observer:texture", "guesses": "observer:guess"}
    run = snellen.audit(models, DATA, "calibration", tmp_path / "run", quiet=True)
    answers = run.predictions().query("distortion == 'none()'")
    findings = {one["model"]: one for one in run.results()["findings"] if one["name"] == "calibration_error"}
    for model, own in answers.groupby("model"):
        expected = calibration_error(own["confidence"].clip(0, 1), own["score"])
        assert findings[model]["value"] == pytest.approx(expected.value, abs=1e-6)
        assert findings[model]["low"] <= findings[model]["value"] <= findings[model]["high"]
        assert sum(findings[model]["facts"]["share"]) == pytest.approx(1)
    page = (run.path / "report.html").read_text()
    assert "<h2>Calibration</h2>" in page
    assert "Reliability" in page
    assert "**Confidence**: Off by" in (run.path / "report.md").read_text()


def test_bins_are_checked() -> None:
    with pytest.raises(UserError, match="bins from 1 to 1000"):
        parse_audits("calibration(bins=0)")
