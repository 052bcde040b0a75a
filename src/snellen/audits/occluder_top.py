"""The best people, models on the images that they saw, and both at every depth of the class tree (Kassaw et al. 2024, 6.3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.audits.occluder_levels import AUDIT
from snellen.audits.occluder_people import PEOPLE, Crowd, Scores, accuracy_of
from snellen.audits.occluder_rows import REAL, OccluderRows
from snellen.audits.occluder_trees import depth_findings, depths_of
from snellen.measure import TopRespondents, at_level, top_respondents, tree_distances
from snellen.measure.occlusion_table import CLEAN


def best_people(crowd: Crowd, scores: Scores, k: int | None) -> TopRespondents | None:
    """The best of those who answered images as they were taken; None where people cannot be compared with each other."""
    frame = crowd.as_taken().frame
    if crowd.everyone is None or not frame["sample"]:
        return None
    try:
        return top_respondents(frame, scores, k)
    except ValueError:
        return None  # fewer than were asked for


def top_findings(crowd: Crowd, top: TopRespondents) -> list[Finding]:
    """The best people by level, and every model on the images that these people saw: table 3 of the paper."""
    who, saw = f"the best {len(top.observers)} people", f"images that the best {len(top.observers)} people saw"
    findings = []
    for model, levels in ((PEOPLE, top.people.by_level), *top.models.items()):
        name, words = ("top_human_accuracy", who) if model == PEOPLE else ("top_image_accuracy", f"the model on {saw}")
        for level, estimate in levels.items():
            if level is not None:
                place = int(str(level))
                findings.append(accuracy_of(name, model, estimate, (crowd, REAL if place else CLEAN, place), words))
    return findings


def tree_findings_of_people(exam: Exam, crowd: Crowd, tree: Mapping[str, str]) -> list[Finding]:
    """People scored at every depth of the class tree, and how far off their errors are, by level."""
    taken = crowd.as_taken()
    if not taken.frame["sample"]:
        return []
    findings = _depths(exam, taken, tree, "tree_accuracy", "people")
    for level in sorted(set(taken.frame["level"])):
        own = taken.only([one == level for one in taken.frame["level"]])
        answer, label = (np.array(own.frame[name], object) for name in ("answer", "label"))
        distances = tree_distances(answer, label, tree, own.frame["sample"])
        facts = {
            **own.place(REAL if level else CLEAN, level), "unanswered": distances.unanswered,
            "shares": {str(edges): share for edges, share in distances.shares.items()},
        }  # fmt: skip
        text = f"mean number of edges from the truth to a wrong answer of people, {facts['level_name']} hidden"
        findings.append(
            finding(AUDIT, "tree_distance", PEOPLE, distances, text, better="lower", unit="index", facts=facts)
        )
    return findings


def top_tree_findings(
    exam: Exam, crowd: Crowd, top: TopRespondents, rows: Mapping[str, OccluderRows], tree: Mapping[str, str]
) -> list[Finding]:
    """Figure 11: the best people, and models on the images that these saw, at every depth and level."""
    best = crowd.as_taken()
    best = best.only([one in top.observers for one in best.frame["observer"]])
    seen = set(best.frame["sample"])
    findings = _depths(exam, best, tree, "top_tree_accuracy", "the best people")
    for model, own in rows.items():
        places = [f"{kind}/{sample}" in seen for kind, sample in own.images()]
        findings += depth_findings(exam, model, own.at(np.flatnonzero(places)), tree, "top_tree_accuracy")
    return findings


def _depths(exam: Exam, crowd: Crowd, tree: Mapping[str, str], name: str, who: str) -> list[Finding]:
    findings = []
    for depth in depths_of(exam, tree):
        columns = {
            one: at_level(np.array(crowd.frame[one], object), tree, depth).tolist() for one in ("label", "answer")
        }
        at_depth = Crowd({**crowd.frame, **columns}, crowd.names, crowd.groups)
        for level, estimate in at_depth.by_level().items():
            facts = {**crowd.place(REAL if level else CLEAN, level), "depth": depth}
            text = f"accuracy of {who} at depth {depth} of the class tree, {facts['level_name']} hidden"
            findings.append(finding(AUDIT, name, PEOPLE, estimate, text, better="higher", facts=facts))
    return findings
