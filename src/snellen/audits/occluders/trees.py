"""Answers of models and people at every depth of a class tree, and how far off errors are (Kassaw et al. 2024, 6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.audits.occluders.people import PEOPLE, Crowd
from snellen.audits.occluders.rows import LEVEL_NAMES, OccluderRows, class_names, has_groups
from snellen.audits.occluders.types import AUDIT, REAL
from snellen.data.phantom.shapes import class_tree
from snellen.measure import (
    IRUO_TREE,
    TopRespondents,
    at_level,
    hierarchical_accuracy,
    tree_depths,
    tree_distances,
)
from snellen.measure.occlusion_table import CLEAN


class TreeAccuracyFacts(FindingFacts, frozen=True, kw_only=True):
    """The level, the type where it is about people, and the depth of the tree at which answers are scored."""

    type: str | UnsetType = UNSET
    level: int
    level_name: str
    depth: int


class TreeDistanceFacts(FindingFacts, frozen=True, kw_only=True):
    """The level, the type where it is about people, the number of empty answers, and the share of errors at each distance, in
    edges of the tree."""

    type: str | UnsetType = UNSET
    level: int
    level_name: str
    unanswered: int
    shares: dict[int, float]


def tree_of(exam: Exam) -> Mapping[str, str]:
    """The tree of the test data's classes: their own, that of the 23 published classes, or that of generated shapes; or none."""
    classes = exam.classes["test"]
    trees = (exam.tree, IRUO_TREE, class_tree())
    return next((tree for tree in trees if classes and all(name in tree for name in classes)), {})


def depths_of(exam: Exam, tree: Mapping[str, str]) -> list[int]:
    """The depths at which answers are scored, from below the root to that of the deepest class."""
    depths = tree_depths(tree)
    return list(range(1, max(depths[name] for name in exam.classes["test"]) + 1))


# Models


def scored_rows(rows: OccluderRows) -> OccluderRows:
    """The images that are scored by the tree: unoccluded and really occluded ones; without these, synthetic ones."""
    family = REAL if (rows.family == REAL).any() else "synthetic"
    return rows.at((rows.kind == CLEAN) | (rows.family == family))


def tree_findings(exam: Exam, model: str, rows: OccluderRows, tree: Mapping[str, str]) -> list[Finding]:
    """Accuracy at each depth and level of occlusion, and the mean distance of errors at each level."""
    scored = scored_rows(rows)
    findings = depth_findings(exam, model, scored, tree)
    for level in _levels(scored):
        own = scored.at(scored.level == level)
        pred, label = class_names(exam, own.pred), class_names(exam, own.label)
        distances = tree_distances(pred, label, tree, _groups(exam, own))
        name = LEVEL_NAMES[level]
        facts = TreeDistanceFacts(
            level=level, level_name=name, unanswered=distances.unanswered, shares=distances.shares
        )
        findings.append(finding(
            AUDIT, "tree_distance", model, distances,
            f"mean number of edges from the truth to a wrong answer in the class tree, {name} hidden", better="lower",
            unit="index", facts=facts, label=f"Distance of errors in the tree, {name} hidden",
        ))  # fmt: skip
    return findings


def depth_findings(
    exam: Exam, model: str, rows: OccluderRows, tree: Mapping[str, str], name: str = "tree_accuracy", among: str = ""
) -> list[Finding]:
    """Accuracy at each depth of the tree, for each level that there are images of; `among` says in words of which."""
    findings = []
    for level in _levels(rows):
        own = rows.at(rows.level == level)
        pred, label = class_names(exam, own.pred), class_names(exam, own.label)
        for depth in depths_of(exam, tree):
            estimate = hierarchical_accuracy(pred, label, tree, depth, _groups(exam, own))
            facts = TreeAccuracyFacts(level=level, level_name=LEVEL_NAMES[level], depth=depth)
            where = f"depth {depth} of the class tree, {LEVEL_NAMES[level]} hidden"
            more = {"better": "higher", "facts": facts, "label": f"Accuracy at {where}{among}"}
            findings.append(finding(AUDIT, name, model, estimate, f"accuracy at {where}", **more))
    return findings


def _groups(exam: Exam, rows: OccluderRows) -> np.ndarray | None:
    """What is drawn together: videos, or an image that was shown under several types; None where every row stands alone."""
    return rows.group if has_groups(exam) or len(set(rows.id.tolist())) < len(rows.id) else None


def _levels(rows: OccluderRows) -> Sequence[int]:
    return [level for level in (0, 1, 2) if (rows.level == level).any()]


# People


def tree_findings_of_people(exam: Exam, crowd: Crowd, tree: Mapping[str, str]) -> list[Finding]:
    """People scored at every depth of the class tree, and how far off their errors are, by level."""
    taken = crowd.as_taken()
    if not taken.frame["sample"]:
        return []
    findings = _depths_of_people(exam, taken, tree, "tree_accuracy", "people")
    for level in sorted(set(taken.frame["level"])):
        own = taken.only([answered == level for answered in taken.frame["level"]])
        answer, label = (np.array(own.frame[name], object) for name in ("answer", "label"))
        distances = tree_distances(answer, label, tree, own.frame["sample"])
        place = own.place(REAL if level else CLEAN, level)
        facts = TreeDistanceFacts(**place, unanswered=distances.unanswered, shares=distances.shares)
        text = f"mean number of edges from the truth to a wrong answer of people, {facts.level_name} hidden"
        findings.append(
            finding(
                AUDIT,
                "tree_distance",
                PEOPLE,
                distances,
                text,
                better="lower",
                unit="index",
                facts=facts,
                label=f"Distance of errors of people in the tree, {facts.level_name} hidden",
            )
        )
    return findings


def top_tree_findings(
    exam: Exam, crowd: Crowd, top: TopRespondents, rows: Mapping[str, OccluderRows], tree: Mapping[str, str]
) -> list[Finding]:
    """Figure 11: the best people, and models on the images that these saw, at every depth and level."""
    best = crowd.as_taken()
    best = best.only([observer in top.observers for observer in best.frame["observer"]])
    seen, among = set(best.frame["sample"]), " (images that the best people saw)"
    findings = _depths_of_people(exam, best, tree, "top_tree_accuracy", "the best people")
    for model, own in rows.items():
        places = [f"{kind}/{sample}" in seen for kind, sample in own.images()]
        findings += depth_findings(exam, model, own.at(np.flatnonzero(places)), tree, "top_tree_accuracy", among)
    return findings


def _depths_of_people(exam: Exam, crowd: Crowd, tree: Mapping[str, str], name: str, who: str) -> list[Finding]:
    findings = []
    for depth in depths_of(exam, tree):
        columns = {
            column: at_level(np.array(crowd.frame[column], object), tree, depth).tolist()
            for column in ("label", "answer")
        }
        at_depth = Crowd({**crowd.frame, **columns}, crowd.names, crowd.groups)
        for level, estimate in at_depth.by_level().items():
            facts = TreeAccuracyFacts(**crowd.place(REAL if level else CLEAN, level), depth=depth)
            text = f"accuracy of {who} at depth {depth} of the class tree, {facts.level_name} hidden"
            findings.append(
                finding(AUDIT, name, PEOPLE, estimate, text, better="higher", facts=facts, label=text.capitalize())
            )
    return findings
