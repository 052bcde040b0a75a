"""Accuracy by type of occluder and level, what each level costs and how fast (Kassaw et al. 2024, figures 6, 14 and 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, Trust, finding
from snellen.audits.occluder_rows import REAL, OccluderRows, has_groups
from snellen.audits.occluder_types import OccluderType, has_masks
from snellen.audits.trust import trust_in
from snellen.engine.keep.read_back import Answers
from snellen.measure import Estimate, accuracy, accuracy_by_level
from snellen.measure.occlusion_levels import LATTICE_BINS, Bins, bin_middles, bin_names, occlusion_level
from snellen.measure.occlusion_table import CLEAN

AUDIT = "occluders"
RELATIONS = {"same_class": "same class", "other_class": "other class", "unknown": "unknown occluder"}
LEVEL_NAMES = ("none", "less than half", "half or more")
REAL_NAMES = ("none", "up to half", "more than half")
IN_WORDS = {
    "black": "black boxes",
    "white": "white boxes",
    "noise": "boxes of noise",
    "texture": "striped boxes",
    "object": "cut-out objects",
    "solid": "solid grey boxes",
    "vertical": "vertical lines",
    "horizontal": "horizontal lines",
    "cross_hatch": "cross-hatched lines",
    "oblique": "oblique lines",
    "right-angle": "lines at right angles",
    REAL: "real occlusion",
}

_RELATION_WORDS = {
    "same class": "the object's class", "other class": "another class", "unknown occluder": "unknown class",
}  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """What levels are on the axis: `levels` of real occlusion and its halves, bins of hidden `shares`, or those of lattices."""

    word: str
    names: tuple[str, ...]
    positions: tuple[float, ...]
    bins: Bins | None = None

    def levels(self, rows: OccluderRows) -> np.ndarray:
        """int64 [rows]: the place on the axis; unoccluded images are at the first, other ones never."""
        if self.bins is None:
            return rows.level
        places = occlusion_level(rows.share, self.bins)
        clean = rows.kind == CLEAN
        return np.where(clean, 0, np.where(places == 0, -1, places))


LEVELS = Scale("levels", LEVEL_NAMES, (0, 1, 2))
REAL_LEVELS = Scale("levels", REAL_NAMES, (0, 1, 2))
LATTICES = Scale("lattice", bin_names(LATTICE_BINS), bin_middles(LATTICE_BINS), LATTICE_BINS)


def share_scale(bins: Bins) -> Scale:
    """The scale of bins of the hidden share."""
    return Scale("shares", bin_names(bins), bin_middles(bins), bins)


@dataclass(frozen=True)
class Series:
    """The images of one type beside the unoccluded ones, on the scale that they are read by; `types` are what was shown."""

    name: str
    family: str
    scale: Scale
    rows: OccluderRows
    types: tuple[OccluderType, ...] = ()
    relation: str = ""

    def words(self) -> str:
        """The type inside a sentence."""
        if self.relation:
            return f"real occluders of {_RELATION_WORDS[self.relation]}"
        return IN_WORDS.get(self.name, self.name.replace("lattice", "lattices of"))


def series_of(rows: OccluderRows, types: Sequence[OccluderType], bins: Bins) -> list[Series]:
    """Every line of the charts: real occlusion, by relation too where that is known, then all types, right angles pooled."""
    clean, series = rows.kind == CLEAN, []

    def add(
        head: tuple[str, str, Scale], own: np.ndarray, shown: Sequence[OccluderType] = (), relation: str = ""
    ) -> None:
        if (own & ~clean).any():
            series.append(Series(*head, rows.at(own | clean), tuple(shown), relation))

    real = rows.family == REAL
    add((REAL, REAL, REAL_LEVELS), real)
    if np.isin(rows.relation[real].astype(str), ("same_class", "other_class")).any():
        for word, words in RELATIONS.items():
            add((f"{REAL}, {words}", REAL, REAL_LEVELS), rows.relation == word, (), words)
    for one in types:
        if one.family != "lattice":
            scale = LEVELS if one.family == "synthetic" else share_scale(bins)
            add((one.name, one.family, scale), rows.kind == one.name, (one,))
    pooled = [one for one in types if one.pool == "right-angle"]
    if len(pooled) > 1:
        own = np.isin(rows.kind.astype(str), [one.name for one in pooled])
        add(("right-angle", "diffuse", share_scale(bins)), own, pooled)
    for judge in dict.fromkeys(one.judge for one in types if one.family == "lattice"):
        add((judge, "lattice", LATTICES), rows.judge == judge, [one for one in types if one.judge == judge])
    return series


def pooled_rows(rows: OccluderRows, types: Sequence[OccluderType], bins: Bins) -> OccluderRows:
    """The rows with the level of each on the scale of its family, and right angles as one judge where there are several."""
    several = sum(one.pool == "right-angle" for one in types) > 1
    judge, level = rows.judge.copy(), rows.level.copy()
    for family, scale in (("diffuse", share_scale(bins)), ("lattice", LATTICES)):
        own = rows.family == family
        level[own] = scale.levels(rows.at(own))
    if several:
        judge[np.isin(rows.kind.astype(str), [one.name for one in types if one.pool == "right-angle"])] = "right-angle"
    return replace(rows, judge=judge, level=level)


def names_of_levels(types: Sequence[OccluderType], bins: Bins) -> dict[str, tuple[str, ...]]:
    """The names of the levels of each judge of `pooled_rows`."""
    names = {CLEAN: REAL_NAMES, REAL: REAL_NAMES, "right-angle": bin_names(bins)}
    scales = {"synthetic": LEVEL_NAMES, "diffuse": bin_names(bins), "lattice": LATTICES.names}
    return {**names, **{one.judge: scales[one.family] for one in types}}


def level_findings(exam: Exam, answers: Answers, series: Sequence[Series]) -> list[Finding]:
    """What one model keeps at each level of each series, what it loses against unoccluded images, and the slope of it all."""
    findings = [unoccluded_finding(exam, answers.model, series[0].rows)] if series else []
    for one in series:
        findings += _series_findings(exam, answers, one)
    return findings


def unoccluded_finding(exam: Exam, model: str, rows: OccluderRows) -> Finding:
    """Accuracy on the images without occlusion, level 0."""
    clean = rows.at(rows.kind == CLEAN)
    return finding(
        AUDIT, "unoccluded_accuracy", model, accuracy(clean.correct, clean.group if has_groups(exam) else None),
        "share of unoccluded test images answered rightly", better="higher", label="Accuracy without occlusion",
        topic="unoccluded images", per_run=_per_run(clean.correct),
    )  # fmt: skip


def _series_findings(exam: Exam, answers: Answers, one: Series) -> list[Finding]:
    rows, scale = one.rows, one.scale
    levels = scale.levels(rows)
    kind = np.where(rows.kind == CLEAN, CLEAN, one.name).astype(object)
    table = accuracy_by_level(rows.correct, kind, levels, rows.group, positions=scale.positions)[one.name]
    trust = _trust(exam, answers, one.types)
    base: dict[str, Any] = {
        "type": one.name, "family": one.family, "scale": scale.word, "share_of": share_of(exam, one.family),
        "relation": one.relation, "clustered": has_groups(exam), "distortions": [str(t.distortion) for t in one.types],
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
        facts = {
            **base, "level": place, "level_name": name, "position": scale.positions[place], "drop": drop.value,
            "drop_low": drop.low, "drop_high": drop.high,
        }  # fmt: skip
        where = _where(exam, one, name)
        findings.append(finding(
            AUDIT, "level_accuracy", answers.model, estimate, f"accuracy under {one.words()}, {where}", better="higher",
            facts=facts, trust=trust, per_run=_per_run(rows.correct[:, own]), label=f"Accuracy: {one.words()}, {where}",
        ))  # fmt: skip
    per = "level" if scale.bins is None else f"whole {base['share_of']} hidden"
    findings.append(finding(
        AUDIT, "occlusion_slope", answers.model, table.slope, f"change of accuracy under {one.words()} per {per}",
        unit="difference", better="higher", facts={**base, "slopes": [vars(step) for step in table.slopes[1:]]}, trust=trust,
        label=f"Slope: {one.words()}, per {per}",
    ))  # fmt: skip
    return findings


def share_of(exam: Exam, family: str) -> str:
    """What hidden shares are shares of: the object, or the image where the data have no masks, and under lattices always."""
    return "object" if family == REAL or (has_masks(exam) and family != "lattice") else "image"


def _where(exam: Exam, one: Series, name: str) -> str:
    if one.family == REAL:
        return f"{name} of the object hidden"
    return f"{name} of the {share_of(exam, one.family)} hidden"


def _estimate(exam: Exam, rows: OccluderRows, own: np.ndarray, clustered: Estimate) -> Estimate:
    """Where images are independent and shown once, the interval of accuracies, which has a width at 0 and 100% too."""
    if has_groups(exam) or len(set(rows.id[own].tolist())) < own.sum():
        return clustered
    return accuracy(rows.correct[:, own])


def _per_run(correct: np.ndarray) -> tuple[float, ...]:
    return tuple(correct.mean(1, dtype=np.float64).tolist()) if correct.size else ()


def _trust(exam: Exam, answers: Answers, types: Sequence[OccluderType]) -> Trust | None:
    """The strongest interference among what was shown; these findings are about parts of cells and carry it themselves."""
    trusts = [trust_in(exam, answers, one.cell(exam)) for one in types]
    return max(trusts, key=lambda one: (one.flagged, one.index), default=None)
