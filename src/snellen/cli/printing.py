"""What an audit found, printed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from snellen.exam.run import Run


def print_run(run: Run, *, as_json: bool, quiet: bool) -> None:
    """The findings as a table (or JSON) and where the report is."""
    results = run.results()
    if as_json:
        print(json.dumps(results, indent=1, ensure_ascii=False))
    elif not quiet:
        rows = [_row(one) for one in results["findings"]]
        print_table([("model", "finding", "value", "95% interval", "DI", "looks like"), *rows])
        for text in dict.fromkeys(one["text"] for one in results["findings"] if one["value"] is None):
            print(f"– {text}")
        if any(one["audit"] == "between" for one in results["findings"]):
            print("\n* clear: paired on the same images, p < 0.05 after Holm's correction", end="")
        print(
            f"\n▲ the distortion itself is taken for a class: comparative, not absolute\nreport: {run.path / 'report.html'}"
        )


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows in aligned columns; the first is the head."""
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("  ".join(text.ljust(width) for text, width in zip(row, wide)).rstrip())
        if number == 0:
            print("  ".join("─" * width for width in wide))


_BY_DISTORTION = {"interference", "distorted_accuracy", "affinity", "direction"}  # of which a run may hold several


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    facts = [str(one["facts"][name]) for name in ("of", "masking", "fill", "other", "area") if name in one["facts"]]
    if _BY_DISTORTION & {one["name"], one["facts"].get("of")}:
        facts.append(_short(one["distortions"][0]))
    p = one["facts"].get("p_corrected")
    if p is not None and p < 0.05:
        facts.append("*")
    trust = one["interference"]
    value, low, high = ("–" if one[k] is None else f"{one[k]:.3f}" for k in ("value", "low", "high"))
    di = "" if trust is None or trust["index"] is None else f"{trust['index']:.2f}{' ▲' if trust['flagged'] else ''}"
    return (
        one["model"],
        " ".join([one["name"], *(f"{fact}" for fact in facts)]),
        value,
        f"{low} … {high}",
        di,
        trust["dominant"] if trust else "",
    )


def _short(distortion: str) -> str:
    """A distortion's text without the names of its arguments."""
    return re.sub(r"\w+=", "", distortion)
