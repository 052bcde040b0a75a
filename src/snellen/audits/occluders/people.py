"""People beside models under occluders: accuracy, gaps by type and level, the best of them (Kassaw et al. 2024, 6.3 and 6.4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.audits.occluders.answers import PeopleColumns
from snellen.audits.occluders.types import AUDIT, REAL
from snellen.measure import (
    Estimate,
    HumanAccuracy,
    TopRespondents,
    human_accuracy,
    human_gap,
    top_respondents,
    without_observers,
    wrong_object_clicks,
)
from snellen.measure.estimate import NO_DATA
from snellen.measure.occlusion_table import CLEAN

PEOPLE = "people"
ALL = "all"  # the type of findings about all images that people saw
RATED_ONCE = "normalised accuracy and Tukey's rule compare people on the same images, but each image was rated by one person only"
ScoresByImage = Mapping[str, Mapping[Hashable, float]]  # model → image → right or wrong


class PeopleFacts(FindingFacts, frozen=True, kw_only=True):
    """How many people gave how many answers (outliers left out), who is an outlier, and by how much each is better than others
    on the same images; nothing of it where people cannot be compared with each other."""

    observers: int | UnsetType = UNSET
    outliers: tuple[str, ...] | UnsetType = UNSET
    normalised: dict[str, Number] | UnsetType = UNSET
    answers: int | UnsetType = UNSET


class HumanAccuracyFacts(FindingFacts, frozen=True, kw_only=True):
    """The type of occluder and the level."""

    type: str
    level: int
    level_name: str


class TopPeopleFacts(FindingFacts, frozen=True, kw_only=True):
    """The type of occluder, the level, and how many people are the best (not stored by older versions)."""

    type: str
    level: int
    level_name: str
    observers: int | UnsetType = UNSET


class HumanGapFacts(FindingFacts, frozen=True, kw_only=True):
    """The type and level, or the type `all`, and the accuracies of people and of the model on the same images."""

    type: str
    level: int | UnsetType = UNSET
    level_name: str | UnsetType = UNSET
    human: Number
    own: Number


class ClickFacts(FindingFacts, frozen=True, kw_only=True):
    """The type and level, or the type `all`."""

    type: str
    level: int | UnsetType = UNSET
    level_name: str | UnsetType = UNSET


class LevelPlace(TypedDict):
    """The facts that name a type and level."""

    type: str
    level: int
    level_name: str


@dataclass(frozen=True)
class Crowd:
    """The answers of people without outliers; `everyone` is what is known of all of them, None with one rating per image.

    `names` are those of the levels of each type, and `groups` the column of images that are drawn together.
    """

    frame: PeopleColumns
    names: Mapping[str, Sequence[str]]
    groups: str | None = None
    everyone: HumanAccuracy | None = None

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

    def place(self, kind: str, level: int) -> LevelPlace:
        """A type and level as facts."""
        return {"type": kind, "level": level, "level_name": self.names[kind][level]}

    def where(self, kind: str, level: int) -> str:
        """A type and level inside a sentence."""
        return "unoccluded images" if kind == CLEAN else f"{kind} occluders, {self.names[kind][level]} hidden"


def crowd_of(frame: PeopleColumns, names: Mapping[str, Sequence[str]], groups: str | None) -> Crowd:
    """People without low outliers by Tukey's rule; with one rating per image nobody can be left out."""
    ratings = set(zip(frame["sample"], frame["observer"]))
    if len(ratings) == len(set(frame["sample"])):
        return Crowd(frame, names, groups)
    everyone = human_accuracy(frame, repeats=0)
    return Crowd(without_observers(frame, everyone.outliers), names, groups, everyone)


def people_findings(crowd: Crowd, scores: ScoresByImage) -> list[Finding]:
    """People as one more row, and each model's gap to them on the images that they saw."""
    findings = [_outliers(crowd)]
    for kind in dict.fromkeys(crowd.frame["kind"]):
        own = crowd.only([answered == kind for answered in crowd.frame["kind"]])
        for level, estimate in own.by_level().items():
            facts = HumanAccuracyFacts(**crowd.place(kind, level))
            findings.append(_accuracy("human_accuracy", PEOPLE, estimate, facts, "people", crowd.where(kind, level)))
    for model, own_scores in scores.items():
        findings += _gaps(crowd, model, own_scores)
    return findings + _clicks(crowd.as_taken())


def _accuracy(name: str, model: str, estimate: Estimate, facts: FindingFacts, who: str, where: str) -> Finding:
    text, label = f"accuracy of {who}, {where}", f"Accuracy of {who}: {where}"
    return finding(AUDIT, name, model, estimate, text, better="higher", facts=facts, label=label)


def _gaps(crowd: Crowd, model: str, scores: Mapping[Hashable, float]) -> list[Finding]:
    findings = []
    for key, gap in human_gap(crowd.frame, scores, ("kind", "level"), groups=crowd.groups).items():
        kind, level = (str(key[0]), int(str(key[1]))) if key else (ALL, 0)
        where = crowd.where(kind, level) if key else "all images that people saw"
        if key:
            facts = HumanGapFacts(**crowd.place(kind, level), human=gap.human, own=gap.model)
        else:
            facts = HumanGapFacts(type=ALL, human=gap.human, own=gap.model)
        findings.append(finding(
            AUDIT, "human_gap", model, gap, f"accuracy of people less that of the model on the same images, {where}",
            unit="difference", better="lower", facts=facts, label=f"People minus model: {where}",
        ))  # fmt: skip
    return findings


def _clicks(crowd: Crowd) -> list[Finding]:
    """How often people clicked beside the object, by level; nothing where no clicks are known."""
    if np.isnan(np.array(crowd.frame["hit"], np.float64)).all():
        return []
    findings = []
    for level, estimate in wrong_object_clicks(crowd.frame).items():
        if level is None:
            facts, where = ClickFacts(type=ALL), "all levels"
        else:
            place = int(str(level))
            kind = REAL if place else CLEAN
            facts, where = ClickFacts(**crowd.place(kind, place)), crowd.where(kind, place)
        findings.append(finding(
            AUDIT, "wrong_object_clicks", PEOPLE, estimate, f"share of clicks that lie beside the object, {where}",
            better="lower", facts=facts, label=f"Clicks beside the object: {where}",
        ))  # fmt: skip
    return findings


def _outliers(crowd: Crowd) -> Finding:
    """How many people answered, who is left out, and by how much each is better than others on the same images."""
    label, everyone = "People left out as outliers", crowd.everyone
    if everyone is None:
        more = {"unit": "count", "facts": PeopleFacts(), "label": label}
        return finding(AUDIT, "human_outliers", PEOPLE, NO_DATA, RATED_ONCE, **more)
    facts = PeopleFacts(
        observers=len(everyone.normalised), outliers=tuple(map(str, everyone.outliers)),
        normalised={str(observer): value for observer, value in everyone.normalised.items()},
        answers=len(crowd.frame["sample"]),
    )  # fmt: skip
    number = Estimate(float(len(everyone.outliers)), float("nan"), float("nan"), len(everyone.normalised))
    text = "people whose accuracy, less the mean on the images that they saw, is a low outlier by Tukey's rule"
    return finding(AUDIT, "human_outliers", PEOPLE, number, text, unit="count", facts=facts, label=label)


# The best people


def best_people(crowd: Crowd, scores: ScoresByImage, k: int | None) -> TopRespondents | None:
    """The best of those who answered images as they were taken; None where people cannot be compared with each other."""
    frame = crowd.as_taken().frame
    if crowd.everyone is None or not frame["sample"]:
        return None
    try:
        return top_respondents(frame, scores, k, remove_outliers=False)  # the crowd has none
    except ValueError:
        return None  # fewer than were asked for


def top_findings(crowd: Crowd, top: TopRespondents) -> list[Finding]:
    """The best people by level, and every model on the images that these people saw: table 3 of the paper."""
    best = f"the best {len(top.observers)} people"
    findings = []
    for model, levels in ((PEOPLE, top.people.by_level), *top.models.items()):
        name = "top_human_accuracy" if model == PEOPLE else "top_image_accuracy"
        who = best if model == PEOPLE else f"the model on images that {best} saw"
        for level, estimate in levels.items():
            if level is not None:
                place = int(str(level))
                kind = REAL if place else CLEAN
                facts: FindingFacts = HumanAccuracyFacts(**crowd.place(kind, place))
                if model == PEOPLE:
                    facts = TopPeopleFacts(**crowd.place(kind, place), observers=len(top.observers))
                findings.append(_accuracy(name, model, estimate, facts, who, crowd.where(kind, place)))
    return findings
