"""Cards: the numbers of findings.json in a model card, in Hugging Face's evaluation results, on a badge and in MLflow."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import snellen
from snellen.exam import Run
from snellen.report.cards import MOST_ROWS
from snellen.report.findings_table import finding_rows
from snellen.report.results import Results
from snellen.report.tracking import metrics_of
from snellen.report.words import in_unit, interval

from ..commands import exit_code

NAME = '<b>&"net"|`'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    models = {NAME: snellen.load_model("observer:shape"), "plain": "observer:texture"}
    out = tmp_path_factory.mktemp("cards") / "run"
    return snellen.audit(models, "phantom:test?size=16&n=60", "occlusion(areas=[0.1, 0.3])", out, quiet=True)


def test_a_card_has_every_known_number_with_its_interval_and_escapes_names(run: Run) -> None:
    text = run.report(format="card").read_text()
    assert text.startswith("## Robustness\n")
    assert "<b>" not in text
    rows = [row for rows in finding_rows(Results.of(run)).values() for row in rows]
    own = [found for row in rows for found in row.findings.values() if found.value is not None]
    assert 8 <= len(own) < 2 * MOST_ROWS
    for found in own:
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {found.label} |")]
        assert f"{in_unit(found.value, found.unit)} ({interval(found.low, found.high, found.unit)})" in line


def test_evaluation_results_are_what_the_hub_reads(run: Run) -> None:
    repocard = pytest.importorskip("huggingface_hub.repocard_data")
    index = yaml.safe_load(run.report(format="hf").read_text())["model-index"]
    findings = [found for found in run.stored_findings() if found.value is not None]
    for entry in index:
        name, results = repocard.model_index_to_eval_results([entry])
        own = [found for found in findings if found.model == entry["name"]]
        assert name in (NAME, "plain")
        assert [result.metric_value for result in results] == [found.value for found in own]
        assert [result.metric_type for result in results] == [found.name for found in own]
        assert [result.metric_args["low"] for result in results] == [found.low for found in own]
        assert {result.task_type for result in results} == {"image-classification"}
        assert {result.dataset_split for result in results} == {"test"}
        assert repocard.eval_results_to_model_index(name, results)


def test_a_badge_tells_the_accuracy_and_then_whether_the_gate_is_open(run: Run) -> None:
    def words() -> tuple[str, str]:
        root = ElementTree.fromstring(run.report(format="badge").read_text())
        texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        return str(texts[-1]), root.find("{http://www.w3.org/2000/svg}path").get("fill")  # type: ignore[union-attr,return-value]

    clean = next(found for found in run.stored_findings() if found.name == "accuracy" and found.model == NAME)
    assert words()[0] == f"accuracy {in_unit(clean.value, 'share')} ({interval(clean.low, clean.high, 'share')})"
    colours = set()
    for condition, expected in (
        ("accuracy >= 0", "gate open: 2 of 2 hold"),
        (f"accuracy[model={NAME}] > 0.9", "gate open: 0 of 1 hold"),
        ("accuracy > 0.9", "gate closed: 0 of 2 hold"),
    ):
        snellen.gate(run, require=condition)
        assert words()[0] == expected
        colours.add(words()[1])
    assert len(colours) == 3


def test_mlflow_gets_every_number_and_the_report(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow-skinny")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    assert exit_code(["report", str(run.path), "--format", "mlflow"]) == 0
    (logged,) = mlflow.MlflowClient().search_runs(["0"])
    assert logged.info.run_name == run.path.name
    assert logged.info.status == "FINISHED"
    assert logged.data.metrics == pytest.approx(dict(metrics_of(Results.of(run))))
    accuracy = next(found for found in run.stored_findings() if found.name == "accuracy" and found.model == "plain")
    for part in ("value", "low", "high"):
        assert logged.data.metrics[f"plain/accuracy/{part}"] == pytest.approx(getattr(accuracy, part))
    own = [found for found in run.stored_findings() if found.model == "plain" and found.value is not None]
    assert sum(name.startswith("plain/") and name.endswith("/value") for name in logged.data.metrics) == len(own)
    artifacts = {file.path for file in mlflow.MlflowClient().list_artifacts(logged.info.run_id, "snellen")}
    assert {"snellen/report.html", "snellen/findings.json"} <= artifacts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "pdf"], "'pdf'"),
        (["--format", "mlflow", "--out", "x"], "--format mlflow writes no file; leave --out away"),
    ],
)
def test_bad_formats_are_one_line(
    run: Run, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert exit_code(["report", str(run.path), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_unknown_format_is_named_in_python(run: Run) -> None:
    with pytest.raises(snellen.UserError, match="unknown format 'crad'; did you mean 'card'"):
        run.report(format="crad")
