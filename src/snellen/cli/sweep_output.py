"""What the sweep commands do and print, apart from parsing flags."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict

from snellen.cli.printing import print_table
from snellen.cli.settings_file import write_config
from snellen.report.pages.sweep import heat_map_of
from snellen.report.words import interval, percent
from snellen.sweep.points import Plan
from snellen.sweep.result import Sweep, planned, swept


def run_sweep(plan: Plan, command: Sequence[str], *, dry_run: bool, as_json: bool, quiet: bool) -> None:
    """Carry a sweep out, or say what it would do."""
    if dry_run:
        _print_plan(plan, as_json)
        return
    found = swept(plan, shlex.join(command), quiet)
    settings = {"kind": plan.kind, "runs": plan.runs, "limit": plan.limit, "rule": plan.rule, **asdict(plan.recipe)}
    write_config(plan.out / "settings.yaml", settings)
    if as_json:
        print(json.dumps(found.page, indent=1, ensure_ascii=False))
    elif not quiet:
        print_sweep(found)


def print_sweep(found: Sweep) -> None:
    """The heat map as text, and where the page is."""
    heat_map = heat_map_of(found.page)
    first = "model" if found.page["kind"] == "methods" else "trained on"
    rows = [
        (name, *(f"{percent(cell['value'])} [{interval(cell['low'], cell['high'], 'share')}]" for cell in cells))
        for name, cells in heat_map.points.items()
    ]
    print_table([(first, *heat_map.head), *rows])
    print(f"\npage: {found.folder / 'sweep.html'}")


def _print_plan(plan: Plan, as_json: bool) -> None:
    todo = asdict(planned(plan))
    told = {
        "kind": plan.kind,
        "out": str(plan.out),
        "points": {point.name: point.shown for point in plan.points},
        "tests": {name: f"{held.text} ({len(held):,} images)" for name, held in plan.tests.items()},
        "runs": plan.runs,
        **todo,
    }
    if as_json:
        print(json.dumps(told, indent=1, ensure_ascii=False))
        return
    for name, value in told.items():
        if isinstance(value, dict):
            print(f"{name}:", *(f"\n  {key}: {text}" for key, text in value.items()), sep="")
        else:
            print(f"{name}: {value}")
