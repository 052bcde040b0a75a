"""People beside models under occluders: their accuracy, and the gap by type and level (Kassaw et al. 2024, 6.3 and 6.4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from snellen.audits.finding import Finding, finding
from snellen.audits.occluder_answers import Frame
from snellen.audits.occluder_levels import AUDIT
from snellen.audits.occluder_rows import REAL
from snellen.measure import (
    Estimate,
    HumanAccuracy,
    human_accuracy,
    human_gap,
    without_observers,
    wrong_object_clicks,
)
from snellen.measure.estimate import NO_DATA
from snellen.measure.occlusion_table import CLEAN

PEOPLE = "people"
Scores = Mapping[str, Mapping[Hashable, float]]  # model → image → right or wrong


@dataclass(frozen=True)
class Crowd:
    """The answers of people without outliers; `everyone` is what is known of all of them, None with one rating per image.

    `names` are those of the levels of each type, `groups` the column of images that are drawn together, and `refusal` says why
    people cannot be compared with each other, empty where they can.
    """

    frame: Frame
    names: Mapping[str, Sequence[str]]
    groups: str | None = None
    everyone: HumanAccuracy | None = None
    refusal: str = ""

    def only(self, rows: Sequence[bool]) -> Crowd:
        """The same with some of the answers."""
        frame = {name: [value for value, own in zip(values, rows) if own] for name, values in self.frame.items()}
        return replace(self, frame=frame)

    def as_taken(self) -> Crowd:
        """The answers to images that no occluder was put before."""
        return self.only([kind in (CLEAN, REAL) for kind in self.frame["kind"]])

    def by_level(self) -> dict[int, Estimate]:
        """People's accuracy at each level."""
        levels = human_accuracy(self.frame, False, groups=self.groups).by_level
        return {int(str(level)): estimate for level, estimate in levels.items()}

    def place(self, kind: str, level: int) -> dict[str, Any]:
        """The facts that name a type and level."""
        return {"type": kind, "level": level, "level_name": self.names[kind][level]}

    def where(self, kind: str, level: int) -> str:
        """A type and level inside a sentence."""
        return "unoccluded images" if kind == CLEAN else f"{kind} occluders, {self.names[kind][level]} hidden"


def crowd_of(frame: Frame, names: Mapping[str, Sequence[str]], groups: str | None) -> Crowd:
    """People without low outliers by Tukey's rule; with one rating per image nobody can be left out."""
    try:
        everyone = human_accuracy(frame, repeats=0)
    except ValueError as error:
        return Crowd(frame, names, groups, refusal=str(error).partition(";")[0])
    return Crowd(without_observers(frame, everyone.outliers), names, groups, everyone)


def people_findings(crowd: Crowd, scores: Scores) -> list[Finding]:
    """People as one more row, and each model's gap to them on the images that they saw."""
    findings = [_outliers(crowd)]
    for kind in dict.fromkeys(crowd.frame["kind"]):
        own = crowd.only([one == kind for one in crowd.frame["kind"]])
        for level, estimate in own.by_level().items():
            findings.append(accuracy_of("human_accuracy", PEOPLE, estimate, (crowd, kind, level), "people"))
    for model, own_scores in scores.items():
        findings += _gaps(crowd, model, own_scores)
    return findings + _clicks(crowd.as_taken())


def accuracy_of(name: str, model: str, estimate: Estimate, place: tuple[Crowd, str, int], who: str) -> Finding:
    """An accuracy at a type and level."""
    crowd, kind, level = place
    where, facts = crowd.where(kind, level), crowd.place(kind, level)
    label = f"Accuracy of {who}: {where}"
    return finding(
        AUDIT, name, model, estimate, f"accuracy of {who}, {where}", better="higher", facts=facts, label=label
    )


def _gaps(crowd: Crowd, model: str, scores: Mapping[Hashable, float]) -> list[Finding]:
    findings = []
    for key, gap in human_gap(crowd.frame, scores, ("kind", "level"), groups=crowd.groups).items():
        kind, level = (str(key[0]), int(str(key[1]))) if key else ("", 0)
        where = crowd.where(kind, level) if key else "all images that people saw"
        facts = {**(crowd.place(kind, level) if key else {"type": "all"}), "human": gap.human, "own": gap.model}
        findings.append(finding(
            AUDIT, "human_gap", model, gap, f"accuracy of people less that of the model on the same images, {where}",
            unit="difference", better="lower", facts=facts, label=f"People less model: {where}",
        ))  # fmt: skip
    return findings


def _clicks(crowd: Crowd) -> list[Finding]:
    """How often people clicked beside the object, by level; nothing where no clicks are known."""
    if np.isnan(np.array(crowd.frame["hit"], np.float64)).all():
        return []
    findings = []
    for level, estimate in wrong_object_clicks(crowd.frame).items():
        place = None if level is None else int(str(level))
        kind = CLEAN if place == 0 else REAL
        facts = {"type": "all"} if place is None else crowd.place(kind, place)
        where = "all levels" if place is None else crowd.where(kind, place)
        text, label = f"share of clicks that lie beside the object, {where}", f"Clicks beside the object: {where}"
        findings.append(
            finding(AUDIT, "wrong_object_clicks", PEOPLE, estimate, text, better="lower", facts=facts, label=label)
        )
    return findings


def _outliers(crowd: Crowd) -> Finding:
    """How many people answered, who is left out, and by how much each is better than others on the same images."""
    label = "People left out as outliers"
    if crowd.everyone is None:
        return finding(AUDIT, "human_outliers", PEOPLE, NO_DATA, crowd.refusal, unit="count", label=label)
    everyone = crowd.everyone
    facts = {
        "observers": len(everyone.normalised), "outliers": [str(one) for one in everyone.outliers],
        "normalised": {str(one): value for one, value in everyone.normalised.items()}, "answers": len(crowd.frame["sample"]),
    }  # fmt: skip
    number = Estimate(float(len(everyone.outliers)), float("nan"), float("nan"), len(everyone.normalised))
    text = "people whose accuracy, less the mean on the images that they saw, is a low outlier by Tukey's rule"
    return finding(AUDIT, "human_outliers", PEOPLE, number, text, unit="count", facts=facts, label=label)
