"""Accuracy by type of occluder and level, what each level costs and how fast (Kassaw et al. 2024, figures 6, 14 and 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, Trust, finding
from snellen.audits.occluders.rows import (
    LATTICES,
    LEVELS,
    LevelScale,
    OccluderRows,
    has_groups,
    right_angles,
    share_scale,
)
from snellen.audits.occluders.types import AUDIT, REAL, RIGHT_ANGLE, OccluderType, has_masks, type_words
from snellen.audits.trust import trust_in
from snellen.engine.keep.read_back import Answers
from snellen.measure import Estimate, accuracy, accuracy_by_level
from snellen.measure.occlusion_levels import Bins
from snellen.measure.occlusion_table import CLEAN

RELATIONS = {"same_class": "same class", "other_class": "other class", "unknown": "unknown occluder"}


class SeriesFacts(FindingFacts, frozen=True, kw_only=True):
    """One type of occluder on one scale.

    `scale` is `levels`, `shares` or `lattice`; `share_of` what hidden shares are of, `object` or `image`; `relation` the class
    of real occluders where they are split by it; `clustered` whether images of a group are drawn together.
    """

    type: str
    family: str
    scale: str
    share_of: str
    relation: str
    clustered: bool
    distortions: tuple[str, ...]


class LevelAccuracyFacts(SeriesFacts, frozen=True, kw_only=True):
    """One level, its place on the axis (`position`), and what is lost there against unoccluded images (`drop`)."""

    level: int
    level_name: str
    position: float
    drop: Number
    drop_low: Number
    drop_high: Number

    @property
    def words(self) -> str:
        """The type and what it hides, inside a sentence."""
        return (
            f"{type_words(self.type, self.relation, self.distortions)}, {self.level_name} of the {self.share_of} hidden"
        )


class SlopeStep(msgspec.Struct, frozen=True):
    """The change of accuracy from one level to the next, per unit of the axis, with its interval."""

    value: Number
    low: Number
    high: Number
    n: int


class OcclusionSlopeFacts(SeriesFacts, frozen=True, kw_only=True):
    """The slopes from level to level."""

    slopes: tuple[SlopeStep, ...]


@dataclass(frozen=True)
class Series:
    """The images of one type beside the unoccluded ones, on the scale that they are read by; `types` are what was shown."""

    name: str
    family: str
    scale: LevelScale
    rows: OccluderRows
    types: tuple[OccluderType, ...] = ()
    relation: str = ""


def series_of(rows: OccluderRows, types: Sequence[OccluderType], bins: Bins) -> list[Series]:
    """Every line of the charts: real occlusion, by relation too where that is known, then all types, right angles pooled."""
    clean, series = rows.kind == CLEAN, []

    def add(
        head: tuple[str, str, LevelScale], own: np.ndarray, shown: Sequence[OccluderType] = (), relation: str = ""
    ) -> None:
        if (own & ~clean).any():
            series.append(Series(*head, rows.at(own | clean), tuple(shown), relation))

    real = rows.family == REAL
    add((REAL, REAL, LEVELS), real)
    if np.isin(rows.relation[real].astype(str), ("same_class", "other_class")).any():
        for word, words in RELATIONS.items():
            add((f"{REAL}, {words}", REAL, LEVELS), rows.relation == word, (), words)
    for occluder in types:
        if occluder.family != "lattice":
            scale = LEVELS if occluder.family == "synthetic" else share_scale(bins)
            add((occluder.name, occluder.family, scale), rows.kind == occluder.name, (occluder,))
    if pooled := right_angles(types):
        own = np.isin(rows.kind.astype(str), [occluder.name for occluder in pooled])
        add((RIGHT_ANGLE, "diffuse", share_scale(bins)), own, pooled)
    lattices = [occluder for occluder in types if occluder.family == "lattice"]
    for judge in dict.fromkeys(occluder.judge for occluder in lattices):
        shown = [occluder for occluder in lattices if occluder.judge == judge]
        add((judge, "lattice", LATTICES), rows.judge == judge, shown)
    return series


def level_findings(exam: Exam, answers: Answers, series: Sequence[Series]) -> list[Finding]:
    """What one model keeps at each level of each series, what it loses against unoccluded images, and the slope of it all."""
    findings = [unoccluded_finding(exam, answers.model, series[0].rows)] if series else []
    for line in series:
        findings += _series_findings(exam, answers, line)
    return findings


def unoccluded_finding(exam: Exam, model: str, rows: OccluderRows) -> Finding:
    """Accuracy on the images without occlusion, level 0."""
    clean = rows.at(rows.kind == CLEAN)
    return finding(
        AUDIT, "unoccluded_accuracy", model, accuracy(clean.correct, clean.group if has_groups(exam) else None),
        "share of unoccluded test images classified correctly", better="higher", label="Accuracy without occlusion",
        topic="unoccluded images", per_run=_per_run(clean.correct),
    )  # fmt: skip


def _series_findings(exam: Exam, answers: Answers, series: Series) -> list[Finding]:
    rows, scale = series.rows, series.scale
    levels = scale.levels(rows)
    kind = np.where(rows.kind == CLEAN, CLEAN, series.name).astype(object)
    table = accuracy_by_level(rows.correct, kind, levels, rows.group, positions=scale.positions)[series.name]
    trust = _trust(exam, answers, series.types)
    shared: dict[str, Any] = {
        "type": series.name, "family": series.family, "scale": scale.word, "share_of": share_of(exam, series.family),
        "relation": series.relation, "clustered": has_groups(exam),
        "distortions": tuple(str(occluder.distortion) for occluder in series.types),
    }  # fmt: skip
    findings = []
    for place, name in enumerate(scale.names):
        if not place:
            continue
        own = levels == place
        if scale is LATTICES and not own.any():
            continue  # a share that was not asked for
        estimate = _estimate(exam, rows, own, table.accuracy[place])
        drop = table.drops[place]
        facts = LevelAccuracyFacts(
            **shared, level=place, level_name=name, position=scale.positions[place], drop=drop.value, drop_low=drop.low,
            drop_high=drop.high,
        )  # fmt: skip
        findings.append(finding(
            AUDIT, "level_accuracy", answers.model, estimate, f"accuracy under {facts.words}", better="higher", facts=facts,
            trust=trust, per_run=_per_run(rows.correct[:, own]), label=f"Accuracy: {facts.words}",
        ))  # fmt: skip
    words = type_words(series.name, series.relation, shared["distortions"])
    per = "level" if scale.bins is None else f"whole {shared['share_of']} hidden"
    steps = tuple(SlopeStep(step.value, step.low, step.high, step.n) for step in table.slopes[1:])
    findings.append(finding(
        AUDIT, "occlusion_slope", answers.model, table.slope, f"change of accuracy under {words} per {per}",
        unit="difference", better="higher", facts=OcclusionSlopeFacts(**shared, slopes=steps), trust=trust,
        label=f"Change of accuracy per {per}: {words}", topic=f"the slope under {words}",
    ))  # fmt: skip
    return findings


def share_of(exam: Exam, family: str) -> str:
    """What hidden shares are shares of: the object, or the image where the data have no masks, and under lattices always."""
    return "object" if family == REAL or (has_masks(exam) and family != "lattice") else "image"


def _estimate(exam: Exam, rows: OccluderRows, own: np.ndarray, clustered: Estimate) -> Estimate:
    """Where images are independent and shown once, the interval of accuracies, which has a width at 0 and 100% too."""
    if has_groups(exam) or len(set(rows.id[own].tolist())) < own.sum():
        return clustered
    return accuracy(rows.correct[:, own])


def _per_run(correct: np.ndarray) -> tuple[float, ...]:
    return tuple(correct.mean(1, dtype=np.float64).tolist()) if correct.size else ()


def _trust(exam: Exam, answers: Answers, types: Sequence[OccluderType]) -> Trust | None:
    """The strongest interference among what was shown; these findings are about parts of cells and carry it themselves."""
    trusts = [trust_in(exam, answers, occluder.cell(exam)) for occluder in types]
    return max(trusts, key=lambda trust: (trust.flagged, trust.index), default=None)
