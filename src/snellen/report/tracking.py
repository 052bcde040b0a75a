"""Findings in MLflow: every number with its interval as metrics, the report and findings.json as artifacts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import UserError
from snellen.extras import import_package
from snellen.report.results import AnyFinding, Results
from snellen.report.words import is_known

ARTIFACTS = ("report.html", "report.md", "findings.json", "settings.yaml")
MOST_TEXT = 500  # characters of a parameter that every store takes


def to_mlflow(folder: RunFolder) -> str:
    """Log a run wherever MLFLOW_TRACKING_URI points; the id of the MLflow run.

    Metrics are MODEL/FINDING/value, low and high; where several findings share a name their labels are in it.
    """
    mlflow: Any = import_package("mlflow", "--format mlflow")
    results = Results.of(folder)
    try:
        with mlflow.start_run(run_name=folder.path.name) as run:
            mlflow.set_tags({"snellen.version": results.header.snellen, "snellen.created": results.header.created})
            mlflow.log_params(_parameters(results))
            mlflow.log_metrics(dict(metrics_of(results)))
            for name in ARTIFACTS:
                if (folder.path / name).exists():
                    mlflow.log_artifact(str(folder.path / name), "snellen")
            return str(run.info.run_id)
    except Exception as error:  # its stores fail in ways of their own: no server, no driver, no right to write
        reason = " ".join(str(error).split("\n")[0].split())
        raise UserError(
            f"mlflow cannot log this run: {reason}; does MLFLOW_TRACKING_URI name a store it can use?"
        ) from None


def metrics_of(results: Results) -> Iterator[tuple[str, float]]:
    """Every known number of every finding of a model, by its name in MLflow."""
    for model in results.models:
        own = results.of_model(model)
        names = [finding.name for finding in own]
        used: Counter[str] = Counter()
        for finding in own:
            path = f"{_slug(model)}/{finding.name}"
            if names.count(finding.name) > 1:
                path += f"/{_slug(finding.label)}"
            used[path] += 1
            yield from _numbers(path if used[path] == 1 else f"{path} {used[path]}", finding)


def _numbers(path: str, finding: AnyFinding) -> Iterator[tuple[str, float]]:
    for name in ("value", "low", "high"):
        if is_known(number := getattr(finding, name)):
            yield f"{path}/{name}", number
    if finding.interference is not None and is_known(finding.interference.index):
        yield f"{path}/di", finding.interference.index


def _parameters(results: Results) -> dict[str, str]:
    data = {f"data.{on}": own.text[:MOST_TEXT] for on, own in results.data.items()}
    return {"models": ", ".join(results.models)[:MOST_TEXT], **data}


def _slug(text: str) -> str:
    """What a metric's name may hold: letters, digits, and some signs."""
    return re.sub(r"[^\w.\- ]", "", text.replace("%", " percent"), flags=re.ASCII).strip() or "unnamed"
