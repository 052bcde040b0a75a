"""What the audit command does and prints, apart from parsing flags."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.cli.settings_file import merged, write_config
from snellen.errors import UserError, unknown
from snellen.exam.conditions import Condition, parse_condition
from snellen.exam.run import Run

if TYPE_CHECKING:
    from snellen.doctor import Health
    from snellen.exam.side_by_side import Beside
    from snellen.explain import Explanation


@dataclass(frozen=True)
class AuditCommand:
    """The resolved settings of one `snellen audit`: flags over the settings file."""

    settings: Mapping[str, Any]
    models: Sequence[str]
    data: str
    out: Path
    conditions: Sequence[Condition]

    @classmethod
    def of(cls, flags: Mapping[str, Any], config: Path | None) -> AuditCommand:
        settings = merged(flags, config)
        models = settings["models"] or []
        models = [models] if isinstance(models, str) else list(models)
        if not models:
            raise UserError("no model given; for example: snellen audit timm:resnet18.a1_in1k --data folder:photos")
        if not settings["data"]:
            raise UserError("no data given; for example: --data folder:photos (see `snellen list data`)")
        require = settings["require"] or []
        conditions = [parse_condition(text) for text in ([require] if isinstance(require, str) else require)]
        out = Path(settings["out"]) if settings["out"] else default_folder(models, str(settings["data"]))
        return cls({**settings, "models": models, "out": out}, models, str(settings["data"]), out, conditions)

    @property
    def passed_on(self) -> dict[str, Any]:
        """The settings that `prepare` takes."""
        names = ("train", "donors", "occluders", "labels", "keep", "limit", "device")
        held = {name: self.settings[name] for name in names}
        return {**held, "seed": int(self.settings["seed"] or 0), "batch_size": _batch(self.settings["batch_size"])}


def run_audit(command: AuditCommand, *, dry_run: bool, fresh: bool, as_json: bool, quiet: bool) -> int:
    """Carry an audit out (or print its plan); the exit code."""
    from snellen.exam.carry_out import audit
    from snellen.exam.prepare import prepare

    if command.settings["offline"]:
        os.environ["HF_HUB_OFFLINE"] = "1"
    audits = command.settings["audits"]
    _check_names(command)
    if dry_run:
        prepared = prepare(command.models, command.data, audits, command.out, fresh=fresh, **command.passed_on)
        print_plan(prepared, as_json)
        return 0
    run = audit(
        command.models,
        command.data,
        audits,
        command.out,
        command.settings["engine"] or "local",
        quiet=quiet,
        strict=bool(command.settings["strict"]),
        command=["snellen", *sys.argv[1:]],
        fresh=fresh,
        **command.passed_on,
        **{name: command.settings[name] for name in ("address", "actors", "cpus_per_actor", "shard_timeout")},
    )
    write_config(run.path / "settings.yaml", command.settings)
    findings = run.results()["findings"]
    failed = [text for condition in command.conditions for text in condition.failures(findings)]
    print_run(run, as_json=as_json, quiet=quiet)
    for text in failed:
        print(f"failed: {text}", file=sys.stderr)
    return 1 if failed else 0


def _check_names(command: AuditCommand) -> None:
    """Refuse a condition on a finding that none of the audits makes; those that do not list theirs may make any."""
    from snellen.audits import Audit, Baseline, default_audits, parse_audits

    def makes(audits: Sequence[Audit]) -> set[str] | None:
        """The names of their findings; None where one of them does not list its own."""
        listed = [one.names for one in audits]
        compared = {name for one in audits for name in one.compared}
        return None if None in listed else {"difference", *compared, *(name for some in listed for name in some or ())}

    if not command.conditions:
        return
    audits = command.settings["audits"]
    names = makes([Baseline(), *parse_audits(audits)])
    if names is None or all(one.name in names for one in command.conditions):
        return
    if audits is None:  # the data decide on further audits
        from snellen.data import load_data

        names |= makes([one for one, _ in default_audits(load_data(command.data))]) or set()
    for condition in command.conditions:
        if condition.name not in names:
            raise unknown("finding in --require", condition.name, names)


def print_run(run: Run, *, as_json: bool, quiet: bool) -> None:
    """The findings as a table (or JSON) and where the report is."""
    results = run.results()
    if as_json:
        print(json.dumps(results, indent=1, ensure_ascii=False))
    elif not quiet:
        print_table([("finding", "value", "95% interval", "DI", "looks like", ""), *_rows(results["findings"])])
        for text in dict.fromkeys(one["text"] for one in results["findings"] if one["value"] is None):
            print(f"– {text}")
        if any(one["audit"] == "between" for one in results["findings"]):
            print("\n* clear: paired on the same images, p < 0.05 after Holm's correction", end="")
        print(
            f"\n▲ the distortion itself is taken for a class: comparative, not absolute\nreport: {run.path / 'report.html'}"
        )


def print_plan(prepared: Any, as_json: bool) -> None:
    """What an audit would do: cells, maps, forward passes and an estimate of the time."""
    from snellen.engine.ask.timing import estimated_seconds

    plan = prepared.plan()
    missing = {one.key for part in plan.passes for one in part.asked}
    seconds = estimated_seconds(prepared, plan)
    told = {
        "out": str(prepared.folder),
        "models": {s.name: [r.run for r in prepared.subjects if r.name == s.name] for s in prepared.subjects},
        "data": {on: f"{held.text} ({len(held):,} images)" for on, held in prepared.data.items()},
        "audits": [_with_reason(str(one), prepared.reasons) for one in prepared.audits],
        "distortions": list(dict.fromkeys(str(one.cell.distortion) for one in plan.asked)),
        "cells": len({one.key for one in plan.asked}),
        "cells_left": len(missing),
        "maps": len(plan.every_map),
        "maps_left": len(frozenset().union(*(part.drawn for part in plan.passes))),
        "forward_passes": plan.forward_passes,
        **_trials_told(prepared, plan),
        "estimated_seconds": round(seconds, 1),
        "notices": list(prepared.notices),
    }
    if as_json:
        print(json.dumps(told, indent=1, ensure_ascii=False))
        return
    for name, value in told.items():
        if isinstance(value, list):
            print(f"{name}:", *(f"\n  {item}" for item in value), sep="")
        elif isinstance(value, dict):
            print(
                f"{name}:",
                *(f"\n  {k}: {', '.join(v) if isinstance(v, list) else v}" for k, v in value.items()),
                sep="",
            )
        else:
            print(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")


def _trials_told(prepared: Any, plan: Any) -> dict[str, Any]:
    """The trials of a plan and how many images those that are left may ask; nothing where there are none."""
    if not plan.trials:
        return {}
    donors = 0 if prepared.donors is None else len(prepared.donors)
    most = sum(one.cell.distortion.most(len(plan.data[one.cell.on]), donors) for one in plan.open_trials)
    return {
        "trials": list(dict.fromkeys(str(one.cell.distortion) for one in plan.trials)),
        "trial_passes_at_most": most,
    }


def print_health(health: Health, *, as_json: bool) -> int:
    """What the doctor found, section by section, and the verdict; the exit code."""
    if as_json:
        print(json.dumps(health.to_json(), indent=1, ensure_ascii=False))
        return 0 if health.ready else 1
    for name, held in health.sections.items():
        print(name.replace("_", "-"))
        wide = max((len(key) for key in held), default=0)
        for key, value in held.items():
            print(f"  {key.ljust(wide)}  {value}")
    for problem in health.problems:
        print(f"wrong: {problem.text} — {problem.advice}")
    print("ready" if health.ready else "not ready")
    return 0 if health.ready else 1


def print_calibration(page: Mapping[str, Any], out: Path, *, as_json: bool, quiet: bool) -> None:
    """The ladders as a table (or JSON) and where the page is."""
    from snellen.calibrate import rows_of

    if as_json:
        print(json.dumps(page, indent=1, ensure_ascii=False))
    elif not quiet:
        head = ("ladder", "finding", "rank", "slope", "of the truth", "furthest; hold it", "")
        print_table([head, *((row[0], *row[2:]) for row in rows_of(page))])
        print(f"page: {out / 'calibration.html'}")


def print_explained(told: Sequence[Explanation], *, as_json: bool) -> None:
    """Where each picture is, what was said of the image and how surely."""
    if as_json:
        rows = [{name: str(v) if isinstance(v, Path) else v for name, v in asdict(one).items()} for one in told]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for one in told:
        print(f"{one.picture}: {one.said} ({one.confidence:.0%})")


def print_beside(beside: Beside, *, as_json: bool) -> None:
    """How much of each model's maps lies inside the masks, and where the page is."""
    findings = [one.to_json() for one in beside.findings]
    if as_json:
        print(json.dumps({"page": str(beside.page), "findings": findings}, indent=1, ensure_ascii=False))
        return
    rows = []
    for one in findings:
        value, low, high = ("–" if one[key] is None else f"{one[key]:.3f}" for key in ("value", "low", "high"))
        rows.append((one["model"], one["name"], value, f"{low} … {high}", str(one["n"])))
    print_table([("model", "finding", "value", "95 % interval", "images"), *rows])
    print(f"\npage: {beside.page}")


def print_pairs(pairs: Sequence[tuple[str, str]], as_json: bool) -> None:
    """Name and meaning, side by side."""
    if as_json:
        print(json.dumps([{"text": text, "meaning": meaning} for text, meaning in pairs], indent=1, ensure_ascii=False))
        return
    wide = max(len(text) for text, _ in pairs)
    for text, meaning in pairs:
        print(f"{text}\n    {meaning}" if wide > 48 else f"{text.ljust(wide)}  {meaning}")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows in aligned columns; the first is the head."""
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("  ".join(text.ljust(width) for text, width in zip(row, wide)).rstrip())
        if number == 0:
            print("  ".join("─" * width for width in wide))


def default_folder(models: Sequence[str], data: str) -> Path:
    """runs/MODELS-on-DATA, the same for the same command."""
    names = [
        re.split(r"=", text)[0] if re.match(r"[\w.+-]+=", text) else re.split(r"[:/@]", text)[-1] for text in models
    ]
    slug = "+".join(Path(name).stem if name.endswith((".safetensors", ".csv")) else name for name in names[:3])
    where = re.sub(r"[^\w.-]+", "-", data.partition(":")[2] or data).strip("-.")
    return Path("runs") / (re.sub(r"[^\w.+-]+", "-", slug).strip("-.")[:60] + "-on-" + where[-40:])


def _rows(findings: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of the table in the terminal: each model's name (or that of a pair), and its findings below."""
    by_model: dict[str, list[tuple[str, ...]]] = {}
    for one in findings:
        by_model.setdefault(one["model"], []).append(_row(one))
    return [row for model, rows in by_model.items() for row in ((model, *[""] * (len(rows[0]) - 1)), *rows)]


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    """A finding by the name that --require takes, its numbers and its label, which runs made before do not have."""
    p, trust = one["facts"].get("p_corrected"), one["interference"]
    value, low, high = ("–" if one[k] is None else f"{one[k]:.3f}" for k in ("value", "low", "high"))
    di = "" if trust is None or trust["index"] is None else f"{trust['index']:.2f}{' ▲' if trust['flagged'] else ''}"
    return (
        f"  {one['name']}{' *' if p is not None and p < 0.05 else ''}",
        value,
        f"{low} … {high}",
        di,
        trust["dominant"] if trust else "",
        one.get("label", ""),
    )


def _with_reason(audit: str, reasons: Mapping[str, str]) -> str:
    return f"{audit} ({reasons[audit]})" if audit in reasons else audit


def _batch(value: Any) -> int | None:
    if value in (None, "auto"):
        return None
    try:
        return int(value)
    except ValueError:
        raise UserError(f"expected --batch-size auto or a whole number, got '{value}'") from None
