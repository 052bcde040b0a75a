"""Adversarial backgrounds on the page: who can be fooled, by which backgrounds, and the published values beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.engine.keep.run_folder import RunFolder
from snellen.engine.keep.store import read_rows
from snellen.models.label_maps.imagenet9 import plain_name
from snellen.report.gallery import picture
from snellen.report.published import published, published_table
from snellen.report.words import interval, known, percent

AUDIT = "adversarial_backgrounds"
Finding = Mapping[str, Any]
RULES = {"any": "any wrong answer counts", "background": "only the background's own class counts"}


def adversarial_page(run: RunFolder, results: Mapping[str, Any]) -> dict[str, Any] | None:
    """All that the page shows of adversarial backgrounds; None where they were not asked about."""
    found = [one for one in results["findings"] if one["audit"] == AUDIT]
    if not found:
        return None
    classes = results["data"]["test"]["classes"]
    names = {plain_name(name): name for name in classes}
    nine = len(classes) == 9 and None not in names and len(names) == 9
    told = [_share(one) for one in found if one["name"] == "vulnerable" and known(one["value"])]
    # With and without rates the same is counted: told once, and by class for one rule alone.
    shares = list({(one["model"], one["rule"], one["backgrounds"]): one for one in told}.values())
    first = {one["model"]: one for one in reversed(shares)}
    return {
        "shares": shares,
        "by_class": [
            {"model": one["model"], "class": name, "share": share}
            for one in first.values()
            for name, share in one["by_class"].items()
        ],
        "rates": [_rates(run, one) for one in found if one["name"] == "attack_rate" and known(one["value"])],
        "totals": [
            {"model": one["model"], "class": name, "share": share}
            for one in found
            if one["name"] == "attack_rate"
            for name, share in one["facts"]["class_totals"].items()
            if known(share)
        ],
        "comparable": nine,
        "published": [
            {"name": row, "value": held["vulnerable"].value, "note": held["vulnerable"].note}
            for row, held in published_table("004", "6").items()
        ],
        "published_totals": [
            {"class": names[one.row] if nine else one.row, "share": one.value / 100, "note": one.note}
            for one in published("004")
            if one.column == "class_total"
        ],
    }


def adversarial_said(own: Sequence[Finding]) -> str:
    """The verdict's sentence on adversarial backgrounds; empty where they were not asked about."""
    one = next((held for held in own if held["audit"] == AUDIT and held["name"] == "vulnerable"), None)
    if one is None or not known(one["value"]):
        return ""
    facts = one["facts"]
    fooled = "a wrong answer" if facts["rule"] == "any" else "the background's own class as the answer"
    told = (
        f"For {percent(one['value'])} of the objects (95 % interval {interval(one['low'], one['high'], 'share')} %) at least one "
        f"of {facts['backgrounds']:,} backgrounds gives {fooled}"
    )
    if facts["rule"] == "any" and known(facts["wrong_on_one"]):
        return f"{told}; with a single background of any class it is wrong on {percent(facts['wrong_on_one'])}."
    return f"{told}."


def _share(one: Finding) -> dict[str, Any]:
    facts = one["facts"]
    return {
        **{name: one[name] for name in ("model", "value", "low", "high", "n")},
        **{name: facts[name] for name in ("backgrounds", "wrong_on_one", "by_class", "failed")},
        "rule": RULES[facts["rule"]],
        "any": facts["rule"] == "any",
        "asked": sum(facts["asked"]),
        "least": sum(facts["least"]) or None,
    }


def _rates(run: RunFolder, one: Finding) -> dict[str, Any]:
    facts = one["facts"]
    (file,) = run.store.files("cells")
    rows = read_rows(file, ["distortion", "shown"]).to_pylist()
    shown = {row["shown"] for row in rows if row["distortion"] == facts["trial"]}
    return {
        **{name: one[name] for name in ("model", "value", "low", "high")},
        "backgrounds": facts["backgrounds"],
        "highest": facts["highest"],
        "histogram": [{"model": one["model"], **held} for held in facts["histogram"]],
        "worst": [
            {
                "class": name,
                "total": facts["class_totals"][name],
                "cells": [{**held, "picture": _picture(run, shown, held["place"])} for held in listed],
            }
            for name, listed in facts["worst"].items()
            if listed
        ],
    }


def _picture(run: RunFolder, shown: set[str], place: int) -> str | None:
    """The thumbnail of a background, which models with one canvas share."""
    found = (picture(run.store.thumbnail(key, place)) for key in sorted(shown))
    return next((one for one in found if one), None)
