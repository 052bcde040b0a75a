"""The audit of concepts: planted units are counted, runs continue, and the page shows what excites them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.audits import Exam, parse_audits
from snellen.audits.concepts import ConceptFacts
from snellen.cli import main
from snellen.concepts.dissection import Dissection
from snellen.engine import Answers
from snellen.errors import UserError
from snellen.exam.run import Run

DATA = "phantom:test?size=32&n=60"
MODELS = {share: f"python:snellen.models.planted:concept_units@{share}" for share in ("0.5", "0.3")}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("concepts") / "run"
    models = {"half": MODELS["0.5"], "third": MODELS["0.3"]}
    return snellen.audit(models, DATA, "concepts(layer=units),calibration", out, quiet=True)


def named(run: Run, name: str) -> dict[str, dict[str, Any]]:
    return {one["model"]: one for one in run.results()["findings"] if one["name"] == name}


def test_planted_units_are_counted_for_every_model(run: Run) -> None:
    shares, unique = named(run, "detector_share"), named(run, "unique_concepts")
    assert {model: one["value"] for model, one in shares.items()} == {"half": 0.5, "third": 0.3}
    assert {model: one["value"] for model, one in unique.items()} == {"half": 10, "third": 6}
    facts = shares["half"]["facts"]
    assert facts["unique"] == facts["detectors"] == {"object": 0, "part": 0, "material": 6, "scene": 0, "colour": 4}
    assert (facts["layer"], facts["units"], facts["images"]) == ("units", 20, 60)
    assert {one["concept"] for one in facts["best"]} >= {"red", "orange", "yellow", "pink", "plain"}
    assert not [one for one in run.results()["findings"] if one["facts"].get("of") == "detector_share"]


def test_counts_of_several_runs_are_their_means(run: Run) -> None:
    """The two models as runs of one. Of 20 units 10 follow a concept in the first, 4 of them colours and 6 materials; 6 in the
    second, 4 colours and 2 materials."""
    keys = run.sql("select distinct model, cell from surveys join cells using (cell)").set_index("model")["cell"]
    tables = [run.store.survey(keys[model]) for model in ("half", "third")]
    exam, (audit,) = Exam(classes={"test": ()}, side=32), parse_audits("concepts(layer=units)")
    (cell,) = audit.surveys(exam)
    share, unique = audit.conclude(exam, Answers("both", ["0", "1"], {}, exam.classes, outcomes={cell: tables}))
    assert (share.value, share.per_run) == (pytest.approx(0.4), pytest.approx((0.5, 0.3)))
    assert (unique.value, unique.per_run) == (8, (10, 6))
    assert isinstance(share.facts, ConceptFacts)
    for counts in (share.facts.unique, share.facts.detectors):
        assert counts == {"object": 0, "part": 0, "material": 4, "scene": 0, "colour": 4}


def test_what_was_counted_is_a_table(run: Run) -> None:
    rows = run.sql("select unit, activation, images from surveys join cells using (cell) where model = 'half'")
    assert len(rows) == 20
    assert (rows["activation"] <= 0.011 * 60 * 32 * 32).all()


def test_the_page_shows_units_with_their_images(run: Run) -> None:
    page = (run.path / "report.html").read_text()
    assert "<h2>Concepts</h2>" in page
    assert page.count("an image that excites unit") >= 5 * 10
    assert "Different concepts by category" in page
    text = run.report(run.path / "again.md").read_text()
    assert "50.0% of the 20 units of units detect 10 different concepts (6 material and 4 colour)." in text


def test_a_second_audit_asks_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(Dissection, "run", refuse)
    before = run.results()["findings"]
    models = {"half": MODELS["0.5"], "third": MODELS["0.3"]}
    again = snellen.audit(models, DATA, "concepts(layer=units),calibration", run.path, quiet=True)
    assert again.results()["findings"] == before


def test_a_damaged_table_is_made_again(tmp_path: Path) -> None:
    audits = "concepts(layer=units, sources=[colours])"
    first = snellen.audit(MODELS["0.5"], "phantom:test?size=16&n=20", audits, tmp_path / "run", quiet=True)
    before = first.results()["findings"]
    (file,) = (tmp_path / "run" / "surveys").glob("*/*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    again = snellen.audit(MODELS["0.5"], "phantom:test?size=16&n=20", audits, tmp_path / "run", quiet=True)
    assert again.results()["findings"] == before


def test_a_model_without_layers_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="layers of a torch network, which 'texture' is not"):
        snellen.audit("observer:texture", DATA, "concepts", tmp_path / "run", quiet=True)
    with pytest.raises(UserError, match="unknown source of concepts 'colors'"):
        snellen.audit(MODELS["0.5"], DATA, "concepts(sources=[colors])", tmp_path / "run", quiet=True)
    with pytest.raises(UserError, match="unknown layer 'unitz'; did you mean 'units'"):
        snellen.audit(MODELS["0.5"], DATA, "concepts(layer=unitz)", tmp_path / "run", quiet=True)
    for text in ("concepts(threshold=2)", "concepts(quantile=1)", "concepts(grid=0)"):
        with pytest.raises(UserError, match="expected"):
            parse_audits(text)


def test_the_command_does_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "dissect",
        MODELS["0.5"],
        "--data",
        "phantom:test?size=16&n=20",
        "--layer",
        "units",
        "--concepts",
        "colours",
    ]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--out", str(tmp_path / "run"), "--json", "--quiet"])
    assert ended.value.code == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    (one,) = (one for one in findings if one["name"] == "unique_concepts")
    assert one["facts"]["unique"] == {"colour": one["value"]}
    assert one["value"] >= 4


def test_python_does_the_same_in_one_call() -> None:
    dissected = snellen.explain.dissect(MODELS["0.3"], DATA, "units")
    assert int(dissected.units.detectors.sum()) == 6
    assert dissected.units.unique["colour"] == 4
    assert dissected.iou.shape == (20, len(dissected.concepts))
    assert len(dissected.tops[0]) == 5
