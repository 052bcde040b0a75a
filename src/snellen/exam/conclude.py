"""Concluding: from stored answers to doubts, findings, pictures and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.audits import Exam, Finding, differences, with_trust
from snellen.audits.occluders.types import real_levels
from snellen.audits.told_apart import made_by, own_findings, told_apart
from snellen.checks import Doubt, doubts_about, merge_runs, stored_copies
from snellen.checks.answers import NO_PROBABILITIES
from snellen.engine import Answers, Plan, Store
from snellen.engine.keep.thumbnails import add_pictures, add_trial_pictures
from snellen.engine.requests.cell import Cell
from snellen.exam.drift import stored_drifts
from snellen.exam.prepare import Prepared
from snellen.report.telling import UnmodifiedAnswers, samples_by_level, telling_samples


def check(prepared: Prepared, store: Store, everyone: Sequence[Answers], facts: Mapping[str, Any]) -> list[Doubt]:
    """Why the numbers should not be believed yet: each model's preprocessing, drift and clean answers, then the data. `facts` are
    those of run.json."""
    preprocessing = facts["preprocessing"]
    doubts: list[Doubt] = []
    for answers in everyone:
        runs = [subject for subject in prepared.inputs.subjects if subject.name == answers.model]
        stored = [
            Doubt(**facts) for subject in runs for facts in preprocessing.get(f"{subject.name}/{subject.run}", ())
        ]
        early = [doubt for doubt in stored if doubt.name != NO_PROBABILITIES]  # which is a notice
        stated = {subject.run: subject.card.stated for subject in runs}
        doubts += merge_runs(early, len(runs)) + stored_drifts(facts.get("drift", {}), runs)
        if prepared.exam.task == "classification":  # the others are about classes of images
            doubts += doubts_about(answers, prepared.exam.clean(), stated, runs[0].card.chance)
    return doubts + stored_copies(store, list(prepared.inputs.data))


def conclude(prepared: Prepared, everyone: Sequence[Answers]) -> list[Finding]:
    """Every audit's findings for every model, each with its interference; what audits say of all models together, and the
    differences between models."""
    findings: list[Finding] = []
    for answers in everyone:
        for audit in prepared.audits:
            own = made_by(audit, audit.conclude(prepared.exam, answers))
            findings += with_trust(prepared.exam, answers, own)
    for audit in prepared.audits:
        comparisons = made_by(audit, audit.compare(prepared.exam, everyone, own_findings(audit, findings)))
        for answers in everyone:
            own = [finding for finding in comparisons if finding.model == answers.model]
            findings += with_trust(prepared.exam, answers, own)
        names = {answers.model for answers in everyone}
        findings += [finding for finding in comparisons if finding.model not in names]
    findings = told_apart(findings)  # two audits may also ask the same, as `explanation` and `faithfulness` do
    return findings + differences(prepared.exam, everyone, findings)


def add_report_pictures(
    prepared: Prepared, plan: Plan, store: Store, everyone: Sequence[Answers], findings: Sequence[Finding]
) -> None:
    """Store the pictures that the report shows of findings and answers; no model is run."""
    pictures = [picture for audit in prepared.audits for picture in audit.pictures(prepared.exam, findings)]
    pictures += _telling_pictures(prepared.exam, everyone)
    add_pictures(pictures, plan, store, prepared.inputs.pools)
    things = [thing for audit in prepared.audits for thing in audit.trial_pictures(prepared.exam, findings)]
    add_trial_pictures(things, plan, store, prepared.inputs.pools)


def _telling_pictures(exam: Exam, everyone: Sequence[Answers]) -> list[tuple[Cell, str]]:
    """The unmodified images that the report's galleries show: telling ones, and some of each level of occlusion."""
    if exam.task != "classification":
        return []
    clean = exam.clean()
    blocks = {answers.model: UnmodifiedAnswers.of(answers[clean]) for answers in everyone}
    listing = exam.samples.get("test")
    samples = telling_samples(blocks)
    if listing is not None:
        levels = samples_by_level(listing.ids, listing.labels, real_levels(listing))
        samples += [sample for some in levels.values() for sample in some]
    return [(clean, sample) for sample in dict.fromkeys(samples)]
