"""Answers scored at every depth of a class tree, by level of occlusion, and how far off errors are (Kassaw et al. 2024, 6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.audits.occluder_levels import AUDIT, LEVEL_NAMES
from snellen.audits.occluder_rows import REAL, OccluderRows, has_groups
from snellen.data.phantom.shapes import class_tree
from snellen.measure import IRUO_TREE, hierarchical_accuracy, tree_depths, tree_distances
from snellen.measure.occlusion_table import CLEAN


def tree_of(exam: Exam) -> Mapping[str, str]:
    """The tree of the test data's classes: their own, that of the 23 published classes, or that of generated shapes; or none."""
    classes = exam.classes["test"]
    trees = (exam.tree, IRUO_TREE, class_tree())
    return next((tree for tree in trees if classes and all(name in tree for name in classes)), {})


def depths_of(exam: Exam, tree: Mapping[str, str]) -> list[int]:
    """The depths at which answers are scored, from below the root to that of the deepest class."""
    depths = tree_depths(tree)
    return list(range(1, max(depths[name] for name in exam.classes["test"]) + 1))


def scored_rows(rows: OccluderRows) -> OccluderRows:
    """The images that are scored by the tree: unoccluded and really occluded ones; without these, synthetic ones."""
    family = REAL if (rows.family == REAL).any() else "synthetic"
    return rows.at((rows.kind == CLEAN) | (rows.family == family))


def class_names(exam: Exam, numbers: np.ndarray) -> np.ndarray:
    """Names of class numbers, empty where an answer is none of the data's classes."""
    names = np.array([*exam.classes["test"], ""], object)
    return np.asarray(names[np.where(numbers < 0, len(names) - 1, numbers)])


def tree_findings(exam: Exam, model: str, rows: OccluderRows, tree: Mapping[str, str]) -> list[Finding]:
    """Accuracy at each depth and level of occlusion, and the mean distance of errors at each level."""
    scored = scored_rows(rows)
    findings = depth_findings(exam, model, scored, tree)
    for level in _levels(scored):
        own = scored.at(scored.level == level)
        pred, label = class_names(exam, own.pred), class_names(exam, own.label)
        distances = tree_distances(pred, label, tree, _groups(exam, own))
        facts = {
            "level": level, "level_name": LEVEL_NAMES[level], "unanswered": distances.unanswered,
            "shares": {str(edges): share for edges, share in distances.shares.items()},
        }  # fmt: skip
        findings.append(finding(
            AUDIT, "tree_distance", model, distances,
            f"mean number of edges from the truth to a wrong answer in the class tree, {LEVEL_NAMES[level]} hidden",
            better="lower", unit="index", facts=facts, label=f"Distance of errors in the tree, {LEVEL_NAMES[level]} hidden",
        ))  # fmt: skip
    return findings


def depth_findings(
    exam: Exam, model: str, rows: OccluderRows, tree: Mapping[str, str], name: str = "tree_accuracy"
) -> list[Finding]:
    """Accuracy at each depth of the tree, for each level that there are images of."""
    findings = []
    for level in _levels(rows):
        own = rows.at(rows.level == level)
        pred, label = class_names(exam, own.pred), class_names(exam, own.label)
        for depth in depths_of(exam, tree):
            estimate = hierarchical_accuracy(pred, label, tree, depth, _groups(exam, own))
            facts = {"level": level, "level_name": LEVEL_NAMES[level], "depth": depth}
            where = f"depth {depth} of the class tree, {LEVEL_NAMES[level]} hidden"
            more = {"better": "higher", "facts": facts, "label": f"Accuracy at {where}"}
            findings.append(finding(AUDIT, name, model, estimate, f"accuracy at {where}", **more))
    return findings


def _groups(exam: Exam, rows: OccluderRows) -> np.ndarray | None:
    """What is drawn together: videos, or an image that was shown under several types; None where every row stands alone."""
    return rows.group if has_groups(exam) or len(set(rows.id.tolist())) < len(rows.id) else None


def _levels(rows: OccluderRows) -> Sequence[int]:
    return [level for level in (0, 1, 2) if (rows.level == level).any()]
