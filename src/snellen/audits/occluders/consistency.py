"""Whether people and models err on the same images: error consistency of every pair (Geirhos et al. 2020)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.audits.occluders.people import ALL, PEOPLE, Crowd
from snellen.audits.occluders.rows import OccluderRows
from snellen.audits.occluders.types import AUDIT, REAL
from snellen.measure import ErrorConsistency, error_consistencies
from snellen.measure.occlusion_table import CLEAN

WHERE = {ALL: "all images that people saw", CLEAN: "unoccluded images", REAL: "images under real occlusion"}
RunsByImage = Mapping[str, Mapping[Hashable, list[float]]]  # model → image → right or wrong in each run


class ErrorConsistencyFacts(FindingFacts, frozen=True, kw_only=True):
    """With whom the finding's model (or people) is compared, the type of occluder or `all`, and the pairs of answerers counted.

    `reason` says why there is no value. Where there is one: the shares of images with both right or both wrong, as they are
    (`observed`) and of independent answerers (`expected`), the least and most kappa that the accuracies allow, these accuracies,
    and how consistent people are with each other on the same images (`ceiling`).
    """

    other: str
    type: str
    pairs: int
    reason: str = ""
    observed: Number | UnsetType = UNSET
    expected: Number | UnsetType = UNSET
    lowest: Number | UnsetType = UNSET
    highest: Number | UnsetType = UNSET
    first: Number | UnsetType = UNSET
    second: Number | UnsetType = UNSET
    ceiling: Number | UnsetType = UNSET


def runs_by_image(rows: OccluderRows) -> dict[Hashable, list[float]]:
    """Right or wrong in each run by image, as `kind/id`."""
    return {f"{kind}/{sample}": runs for (kind, sample), runs in zip(rows.images(), rows.correct.T.tolist())}


def consistency_findings(crowd: Crowd, models: RunsByImage) -> list[Finding]:
    """Every pair on all images that people saw, and pairs with people for each type of occluder too."""
    findings = _findings(crowd, models, ALL)
    for kind in dict.fromkeys(crowd.frame["kind"]):
        own = crowd.only([answered == kind for answered in crowd.frame["kind"]])
        findings += _findings(own, models, kind, between_models=False)
    return findings


def _findings(crowd: Crowd, models: RunsByImage, kind: str, between_models: bool = True) -> list[Finding]:
    pairs = error_consistencies(crowd.frame, models, groups=crowd.groups, between_models=between_models)
    ceiling = pairs[PEOPLE, PEOPLE].value
    findings = []
    for (first, second), estimate in pairs.items():
        model, other = (
            (second, first) if first == PEOPLE else (first, second)
        )  # what people and a model share is the model's
        findings.append(_finding(str(model), str(other), estimate, kind, ceiling))
    return findings


def _finding(model: str, other: str, estimate: ErrorConsistency, kind: str, ceiling: float) -> Finding:
    where = WHERE.get(kind, f"{kind} occluders")
    who = "people with each other" if model == other == PEOPLE else f"{model} with {other}"
    facts = ErrorConsistencyFacts(other=other, type=kind, pairs=estimate.pairs, reason=estimate.reason)
    text = f"error consistency of {who}, {where}: {estimate.reason}"
    if not estimate.reason:
        text = f"Cohen's kappa of right and wrong answers of {who}, {where}; independent errors give 0"
        facts = ErrorConsistencyFacts(
            other=other, type=kind, pairs=estimate.pairs, observed=estimate.observed, expected=estimate.expected,
            lowest=estimate.lowest, highest=estimate.highest, first=estimate.first, second=estimate.second, ceiling=ceiling,
        )  # fmt: skip
    return finding(
        AUDIT,
        "error_consistency",
        model,
        estimate,
        text,
        unit="index",
        facts=facts,
        label=f"Error consistency of {who}: {where}",
    )
