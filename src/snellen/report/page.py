"""The page: all that a report shows, as one dictionary of plain values. HTML, Markdown and JSON only render it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.audits import AUDITS, Baseline, parse_audits
from snellen.engine.keep.failures import unreadable
from snellen.exam.run import Run
from snellen.report.adversarial import adversarial_page
from snellen.report.background import background_page
from snellen.report.background_gallery import background_gallery
from snellen.report.comparison import comparison_of
from snellen.report.gallery import gallery_of
from snellen.report.interference import interference_page, noise_rise
from snellen.report.iocclusion import ratios_of
from snellen.report.table import numbers_behind, table_of, trust_of
from snellen.report.verdict import verdict_of
from snellen.report.words import VARIANTS, covering, in_words, known

MOST_CLASSES = 20  # up to which every class has its bar
TOP_CLASSES = 15


def page_of(run: Run) -> dict[str, Any]:
    """The page of a stored run; every number on it is a finding's."""
    results, facts = run.results(), run.facts
    table, background = table_of(results), background_page(results)
    return {
        "title": "Eye exam of " + ", ".join(results["models"]),
        "created": results["created"],
        "snellen": results["snellen"],
        "data": [
            {"on": on, "text": held["text"], "samples": held["samples"], "classes": len(held["classes"])}
            for on, held in results["data"].items()
            if on not in VARIANTS
        ],
        "variants": [on for on in results["data"] if on in VARIANTS],
        "models": [{"name": name, "runs": len(runs)} for name, runs in results["models"].items()],
        "command": command_of(facts),
        "verdict": verdict_of(results, table),
        "warnings": results.get("warnings", []),  # a run of before there were checks has none
        "notices": results["notices"],
        "comparison": comparison_of(results),
        "table": table,
        "curves": curves_of(results),
        "ratios": ratios_of(results),
        "sizes": numbers_behind(results),
        "interference": interference_page(results),
        "background": None if background is None else {**background, "gallery": background_gallery(run, results)},
        "adversarial": adversarial_page(run, results),
        "bars": bars_of(results),
        "gallery": gallery_of(run, results),
        "unreadable": [
            {"on": on, "sample": s, "error": e} for on in results["data"] for s, e in unreadable(run.store, on)
        ],
        "reproduce": reproduce_of(facts),
    }


def command_of(facts: Mapping[str, Any]) -> str:
    """The line that makes this run again: the command as typed, or the Python call it came from."""
    if facts["command"]:
        name, *rest = facts["command"]
        return shlex.join([Path(name).name, *rest] if Path(name).name == "snellen" else ["snellen", name, *rest])
    models = {
        name: [facts["models"][name][run]["text"] or "…" for run in runs] for name, runs in facts["asked"].items()
    }
    shown = {name: texts[0] if len(texts) == 1 else texts for name, texts in models.items()}
    pools = {"train": facts["data"].get("train"), **{name: facts.get(name) for name in ("donors", "occluders")}}
    given = {
        "audits": _audits_of(facts),
        **{name: held["text"] for name, held in pools.items() if held},
        **{name: facts["settings"].get(name) for name in ("seed", "limit", "keep")},
    }
    more = "".join(f", {name}={value!r}" for name, value in given.items() if value)
    return f"snellen.audit({shown!r}, {facts['data']['test']['text']!r}{more})"


def _audits_of(facts: Mapping[str, Any]) -> str:
    """The audits as text, empty where they are the default; `…` for one that was made in Python."""
    texts = [text for text in facts["audits"] if text != str(Baseline())]
    if facts.get("audit_reasons", texts == [str(one) for one in parse_audits(None)]):
        return ""
    return ", ".join(text if text.partition("(")[0] in AUDITS else "…" for text in texts)


def curves_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One panel per fill and dataset: accuracy against covered share for each model, the clean accuracy at 0."""
    panels: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for one in results["findings"]:
        if one["name"] == "occluded_accuracy" and known(one["value"]) and known(one["facts"]["covered"]):
            lines = panels.setdefault((one["on"], one["facts"]["fill"]), {})
            lines.setdefault(one["model"], []).append(_point(one, one["facts"]["covered"]))
    for (on, _), lines in panels.items():
        for one in results["findings"]:
            if one["distortions"] == ["none()"] and one["on"] == on and one["model"] in lines and known(one["value"]):
                lines[one["model"]].insert(0, _point(one, 0.0))
    return [
        {
            "on": on,
            "fill": fill,
            "under": covering(fill),
            "chance": 1 / len(results["data"][on]["classes"]),
            "lines": [{"model": model, "points": points} for model, points in lines.items()],
        }
        for (on, fill), lines in panels.items()
    ]


def _point(finding: Mapping[str, Any], covered: float) -> dict[str, Any]:
    trust = trust_of(finding)
    return {"covered": covered, **{name: finding[name] for name in ("value", "low", "high")}, "trust": trust}


def bars_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Per distortion and model, the rise in the share of wrong answers by predicted class, mean and range over runs; and the
    largest rise under mild noise beside it."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in results["findings"]:
        if one["name"] != "interference":
            continue
        classes, runs = one["facts"]["classes"], one["facts"]["increase"]
        bars = []
        for name, values in zip(classes, zip(*runs)):
            there = [value for value in values if known(value)]
            if there:
                bars.append({"class": name, "mean": sum(there) / len(there), "low": min(there), "high": max(there)})
        if len(classes) > MOST_CLASSES:
            bars = sorted(bars, key=lambda bar: -bar["mean"])[:TOP_CLASSES]
        chart = {
            "model": one["model"],
            "runs": len(runs),
            "classes": len(classes),
            "bars": bars,
            "trust": trust_of(one),
            "noise": noise_rise(results["findings"], one["model"]),
        }
        groups.setdefault(one["distortions"][0], []).append(chart)
    return [{"distortion": text, "words": in_words(text), "charts": charts} for text, charts in groups.items()]


def reproduce_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Versions, fingerprints, settings and hardware, as names and values."""
    settings = facts["settings"]
    return {
        "made": {
            "first asked": facts["created"],
            "last asked": facts["updated"],
            "seed": settings["seed"],
            "limit": settings["limit"] or "none",
            "device and precision": f"{settings['device']}, {settings['precision']}",
            "batch and shard": f"{settings['batch_size'] or 'chosen by image size'}, {settings['shard']}",
            "hardware": ", ".join(f"{name} {value}" for name, value in facts["hardware"].items()),
            "audits": "; ".join(facts["audits"]),
        },
        "versions": {"snellen": facts["snellen"], "python": facts["python"], **facts["packages"]},
        "fingerprints": {
            **{f"{held['text']} ({on})": held["fingerprint"] for on, held in facts["data"].items()},
            **{
                f"{name} / {run}" if len(runs) > 1 or run != name else name: facts["models"][name][run]["fingerprint"]
                for name, runs in facts["asked"].items()
                for run in runs
            },
        },
    }
