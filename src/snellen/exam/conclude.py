"""Concluding: from stored answers to doubts, findings, pictures and a report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from snellen.audits import Finding, differences, with_trust
from snellen.checks import Doubt, doubts_about, merge_runs, probabilities, stored_copies
from snellen.engine import Answers, Plan, Store
from snellen.engine.keep.thumbnails import add_pictures, add_trial_pictures
from snellen.exam.prepare import Prepared


def check(
    prepared: Prepared, store: Store, everyone: Sequence[Answers], preprocessing: Mapping[str, Any]
) -> list[Doubt]:
    """Why the numbers should not be believed yet: each model's preprocessing and clean answers, then the data."""
    doubts: list[Doubt] = []
    for answers in everyone:
        runs = [subject for subject in prepared.inputs.subjects if subject.name == answers.model]
        stored = [Doubt(**facts) for one in runs for facts in preprocessing.get(f"{one.name}/{one.run}", ())]
        early = [doubt for doubt in stored if doubt.name != probabilities.NAME]  # which is a notice
        stated = {one.run: one.card.stated for one in runs}
        doubts += merge_runs(early, len(runs))
        if prepared.exam.task == "classification":  # the others are about classes of images
            doubts += doubts_about(answers, prepared.exam.clean(), stated)
    return doubts + stored_copies(store, list(prepared.inputs.data))


def conclude(prepared: Prepared, everyone: Sequence[Answers]) -> list[Finding]:
    """Every audit's findings for every model, each with its interference; what audits say of all models together, and the
    differences between models."""
    findings: list[Finding] = []
    for answers in everyone:
        for one in prepared.audits:
            findings += with_trust(prepared.exam, answers, one.conclude(prepared.exam, answers))
    for one in prepared.audits:
        comparisons = one.compare(prepared.exam, everyone, findings)
        for answers in everyone:
            own = [finding for finding in comparisons if finding.model == answers.model]
            findings += with_trust(prepared.exam, answers, own)
        names = {answers.model for answers in everyone}
        findings += [finding for finding in comparisons if finding.model not in names]
    findings = _once(findings)
    return findings + differences(prepared.exam, everyone, findings)


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without repetitions: two audits may ask the same, as `explanation` and `faithfulness` do."""
    return list({json.dumps(one.to_json(), default=str): one for one in findings}.values())


def add_report_pictures(prepared: Prepared, plan: Plan, store: Store, findings: Sequence[Finding]) -> None:
    """Store the pictures that the report shows of findings; no model is run."""
    pictures = [picture for one in prepared.audits for picture in one.pictures(prepared.exam, findings)]
    add_pictures(pictures, plan, store, prepared.inputs.pools)
    things = [thing for one in prepared.audits for thing in one.trial_pictures(prepared.exam, findings)]
    add_trial_pictures(things, plan, store, prepared.inputs.pools)
