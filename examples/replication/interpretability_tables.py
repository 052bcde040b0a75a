"""Tables 1, 2 and 3 of Won et al. 2023, the counts of its figure 5 and calibration errors, from runs over the same networks."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import stdev
from typing import Any

from snellen.exam.run import Run
from snellen.report.results import Results
from snellen.report.sections.interpretability import closing_sentence

Finding = Mapping[str, Any]
ALIGNMENT = {"energy_pg": "EnergyPG", "ehr": "EHR", "wsol_iou": "WSOL IoU"}
COLUMNS = (
    "audit",
    "name",
    "model",
    "method",
    "filter",
    "tile",
    "value",
    "low",
    "high",
    "standard_error",
    "n",
    "per_run",
    "plug_in",
)
CURVES = ("model", "name", "method", "panel", "share", "value", "standard_error")


def write_tables(runs: Sequence[Run], folder: Path, trained: str) -> str:
    """Write tables.md, findings.csv and curves.csv; `trained` is the table of accuracies that opens the first."""
    findings = [one for number, run in enumerate(runs) for one in _findings(run, number == 0)]
    text = f"{trained}\n{tables_of(findings)}\n{_closing(runs, findings)}\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tables.md").write_text(text)
    _write(folder / "findings.csv", COLUMNS, (row for one in findings for row in (_row(one), *_kinds(one))))
    _write(folder / "curves.csv", CURVES, (row for one in findings for row in _curves(one)))
    return text


def tables_of(findings: Sequence[Finding]) -> str:
    """The tables as Markdown, a row per model."""
    every = [one for one in findings if one["name"] in ALIGNMENT]
    chosen = [one for one in every if one["facts"].get("filter")]
    parts = [_section("Table 1, alignment (± standard error over images)", _alignment(every, chosen), _share)]
    if chosen:
        counts = ", ".join(f"{count} {name}" for name, count in chosen[0]["facts"]["filter"].items())
        columns = _alignment(chosen, [])
        parts.append(_section(f"Table 1 on the images that section 5.1 chooses ({counts})", columns, _share))
    for number, name in (("2", "deletion"), ("3", "insertion")):
        own = [one for one in findings if one["name"] == f"inter_model_{name}"]
        title = f"Table {number}, inter-model {name}, tiles of {own[0]['facts']['tile']} pixels"
        parts.append(
            _section(f"{title} (± standard error; in brackets that of a step, 0 to 1)", _by_method(own), _area)
        )
    shares = [one for one in findings if one["name"] == "detector_share"]
    facts = shares[0]["facts"]
    title = f"Figure 5, different concepts in {facts['layer']} ({facts['units']} units, {facts['images']} images)"
    parts.append(_section(title, dict.fromkeys([*facts["unique"], "all", "detectors"], shares), _count))
    errors = [one for one in findings if one["name"] == "calibration_error"]
    parts.append(_section("Expected calibration error (without what noise adds)", {"ECE": errors}, _interval))
    return "\n".join(parts)


def _alignment(findings: Sequence[Finding], without: Sequence[Finding]) -> dict[str, list[Finding]]:
    """The columns of table 1."""
    own = [one for one in findings if one not in without]
    return {
        f"{title}, {method}": some
        for name, title in ALIGNMENT.items()
        for method, some in _by_method([one for one in own if one["name"] == name]).items()
    }


def _by_method(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    columns: dict[str, list[Finding]] = {}
    for one in findings:
        columns.setdefault(one["facts"]["method"], []).append(one)
    return columns


def _findings(run: Run, first: bool) -> list[Finding]:
    """The findings of a run; the accuracies of the first run are those of all."""
    return [one for one in run.results()["findings"] if first or one["audit"] != "baseline"]


def _closing(runs: Sequence[Run], findings: Sequence[Finding]) -> str:
    content = {**runs[0].results(), "findings": list(findings)}
    return closing_sentence(Results(content, runs[0].facts, runs[0]))


def _section(title: str, columns: Mapping[str, Sequence[Finding]], cell: Any) -> str:
    """A heading and a table: a row per model, the cells by a function of the finding and the name of the column."""
    models = list(dict.fromkeys(one["model"] for some in columns.values() for one in some))
    lines = [f"**{title}**", "", "| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for model in models:
        cells = [cell(one, name) for name, some in columns.items() for one in some if one["model"] == model]
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _share(one: Finding, column: str) -> str:
    return f"{_known(one['value'], 3)} ± {_known(one['facts']['standard_error'], 3)}{_spread(one, 3)}"


def _area(one: Finding, column: str) -> str:
    error = one["facts"]["se_steps"]
    step = _known(None if error is None else error / 100, 4)
    return f"{_known(one['value'], 2)} ± {_known(one['facts']['se'], 2)} ({step}){_spread(one, 2)}"


def _interval(one: Finding, column: str) -> str:
    plug_in = _known(one["facts"].get("plug_in"), 3)
    ends = f"{_known(one['low'], 3)} to {_known(one['high'], 3)}"
    return f"{_known(one['value'], 3)} ({ends}; plug-in {plug_in}){_spread(one, 3)}"


def _known(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _count(one: Finding, column: str) -> str:
    unique, detectors = one["facts"]["unique"], one["facts"]["detectors"]
    return f"{({**unique, 'all': sum(unique.values()), 'detectors': sum(detectors.values())})[column]:g}"


def _spread(one: Finding, digits: int) -> str:
    """The deviation over runs, where there are several."""
    runs = [value for value in one["per_run"] or () if value is not None]
    return f"; runs {stdev(runs):.{digits}f}" if len(runs) > 1 else ""


def _row(one: Finding) -> list[Any]:
    facts = one["facts"] or {}
    error = facts.get("standard_error", facts.get("se"))
    runs = " ".join(f"{value:.6g}" for value in one["per_run"] or () if value is not None)
    own = {"filter": "on" if facts.get("filter") else "", "standard_error": error, "per_run": runs}
    return [own.get(name, one.get(name, facts.get(name))) for name in COLUMNS]


def _kinds(one: Finding) -> Iterator[list[Any]]:
    """How many different concepts there are of each category, the mean over runs, as rows of their own."""
    if one["name"] == "unique_concepts":
        for category, count in one["facts"]["unique"].items():
            row = {
                "audit": one["audit"],
                "name": f"{one['name']}.{category}",
                "model": one["model"],
                "value": count,
                "n": one["n"],
            }
            yield [row.get(name, "") for name in COLUMNS]


def _curves(one: Finding) -> Iterator[list[Any]]:
    """The panels of figure 4."""
    for panel, curve in (one["facts"] or {}).get("curves", {}).items():
        last = len(curve["value"]) - 1
        for step, (value, error) in enumerate(zip(curve["value"], curve["se"])):
            yield [one["model"], one["name"], one["facts"]["method"], panel, round(step / last, 4), value, error]


def _write(file: Path, columns: Sequence[str], rows: Iterator[list[Any]]) -> None:
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(columns)
        writer.writerows(rows)
