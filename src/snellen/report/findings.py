"""findings.json and findings.csv: the machine-readable half of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from snellen.atomic import encode_json, write_atomic
from snellen.audits import read_findings
from snellen.audits.finding import Finding
from snellen.audits.stored_finding import StoredFinding
from snellen.checks.doubt import Doubt
from snellen.engine.keep.failures import Failure, stored_failures, unreadable
from snellen.engine.keep.gate_record import GateRecord
from snellen.engine.keep.run_folder import RunFolder
from snellen.files import decode_json
from snellen.files.spreadsheet import to_csv
from snellen.hashing import checksum
from snellen.report.exclusions import excluded_notices

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = Path(__file__).with_name("findings.schema.json")
FINDING_COLUMNS = ("audit", "name", "model", "value", "low", "high", "n", "unit", "better", "on", "seed", "distortion")
TRUST = ("index", "low", "high", "std", "worst_case", "null95", "noise", "dominant", "flagged", "state", "published")


def write_findings(run: RunFolder, findings: Sequence[Finding], doubts: Sequence[Doubt] = ()) -> dict[str, Any]:
    """Write both files and give the content of findings.json."""
    facts = run.facts
    excluded = excluded_notices(run, findings)
    content = {
        "schema": "snellen/findings/1",
        "snellen": facts["snellen"],
        "created": facts["updated"],
        "data": facts["data"],
        "models": facts["asked"],
        "notices": facts["notices"] + unreadable_notices(run) + failure_notices(run) + map_notices(run) + excluded,
        "warnings": [doubt.to_json() for doubt in doubts],
        "findings": [finding.to_json() for finding in findings],
    }
    encoded = _write_content(run, content)
    stored = read_findings(decode_json(encoded, dict[str, Any], run.path / "findings.json"))
    write_atomic(run.path / "findings.csv", to_csv(findings_frame(stored)).encode())
    return content


def write_gate(run: RunFolder, record: GateRecord) -> None:
    """Write what a gate required, and what came of it, into findings.json."""
    _write_content(run, {**run.results(), "gate": to_builtins(record)})


def _write_content(run: RunFolder, content: Mapping[str, Any]) -> bytes:
    """Write findings.json, with its checksum in run.json."""
    facts, encoded = run.facts, encode_json(content)
    write_atomic(run.path / "findings.json", encoded)
    run.store.write_facts({**facts, "checksums": {**facts.get("checksums", {}), "findings.json": checksum(encoded)}})
    return encoded


def findings_frame(findings: Sequence[StoredFinding[Any]]) -> pd.DataFrame:
    """One row per finding; the interference in columns `di`, `di_low`, …; facts of one value in columns of their own.

    >>> from snellen.report import findings_frame
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> frame = findings_frame(run.stored_findings())
    >>> "value" in frame.columns
    True
    """
    import pandas as pd

    rows = []
    for finding in findings:
        row = {name: getattr(finding, name) for name in FINDING_COLUMNS if name != "distortion"}
        row["distortion"] = " ; ".join(finding.distortions)
        trust = finding.interference
        row |= {"di" if name == "index" else f"di_{name}": getattr(trust, name, None) for name in TRUST}
        row |= {
            name: value for name, value in finding.plain_facts.items() if not isinstance(value, list | tuple | dict)
        }
        row["text"] = finding.text
        row["flag"] = trust.text if trust else ""
        rows.append(row)
    table = pd.DataFrame(rows)
    for name in ("label", "topic"):  # last, so that the columns before keep their places
        table[name] = [getattr(finding, name) for finding in findings]
    return table


def unreadable_notices(run: RunFolder) -> list[str]:
    """A notice for each dataset with images that could not be decoded; they are listed, never silently dropped."""
    notices = []
    for on, data in run.facts["data"].items():
        if bad := unreadable(run.store, on):
            few = "; ".join(f"{sample}: {error}" for sample, error in bad[:5])
            notices.append(f"{len(bad)} of {data['samples']} {on} images could not be shown and count nowhere ({few})")
    return notices


def failure_notices(run: RunFolder) -> list[str]:
    """A notice for each model that failed on some images, with the first few."""
    failures = stored_failures(run.store)
    if not failures:
        return []
    rows = {row["cell"]: row for row in run.store.cells()}
    by_model: dict[str, list[Failure]] = {}
    for failure in failures:
        if failure.cell in rows:  # else it is of an earlier command, and comes back with it
            by_model.setdefault(rows[failure.cell]["model"], []).append(failure)
    notices = []
    for model, failed in by_model.items():
        few = "; ".join(
            f"{failure.sample} under {rows[failure.cell]['distortion']}: {failure.error}" for failure in failed[:5]
        )
        images = len({failure.sample for failure in failed})
        notices.append(f"model '{model}' failed on {images} images; its {len(failed)} answers are missing ({few})")
    return notices


def map_notices(run: RunFolder) -> list[str]:
    """A notice for each set of maps of which some are missing, because a model failed on the images."""
    names = {card["fingerprint"]: name for name, runs in run.facts["models"].items() for card in runs.values()}
    missing: dict[str, list[Failure]] = {}
    for failure in stored_failures(run.store, "maps"):
        missing.setdefault(failure.cell, []).append(failure)
    notices = []
    for key, failed in missing.items():
        source = run.store.map_facts(key)
        few = "; ".join(f"{failure.sample}: {failure.error}" for failure in failed[:5])
        name = names.get(source.get("model_fingerprint", ""), "?")
        notices.append(f"{source.get('method', 'a map')} of model '{name}' failed on {len(failed)} images ({few})")
    return notices
