"""Maps inside masks: how much of each map lies on the object, beside a map that is the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.audits.inside_mask import InsideMaskFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, FactLine, Panels, lead
from snellen.report.glossary import meanings
from snellen.report.results import Results
from snellen.report.sections.interval_dots import interval_dots
from snellen.report.sections.section import Section
from snellen.report.words import beside_even, is_known, percent


def inside_blocks(results: Results) -> list[Block]:
    """The share of the maps inside the masks, a point for each model; nothing without this audit."""
    findings = results.having(InsideMaskFacts)
    dots = interval_dots(
        "Share of the map inside the true mask",
        {"on the object": findings},
        results,
        "share of the map",
        _even(findings),
    )
    if dots is None:
        return []
    return [
        lead(
            "How much of each map lies on the object. The dashed line is the share of the image that the masks cover, which an "
            "even map has inside. The thin lines are 95% intervals."
        ),
        FactLine(results.keys()),
        Panels((dots,)),
    ]


def _even(findings: Sequence[StoredFinding[InsideMaskFacts]]) -> float | None:
    """The share of an even map, which is about the same for all models: they see the same images."""
    shares = [finding.facts.mask_share for finding in findings]
    return next((share for share in shares if is_known(share)), None)


def inside_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """The share of the maps inside the masks beside that of an even map; a lead only where the interval excludes it."""
    own = (finding for finding in results.having(InsideMaskFacts) if finding.model == model)
    finding = next(own, None)
    if finding is None or not is_known(finding.value):
        return []
    beside = beside_even(finding.low, finding.high, finding.facts.mask_share)
    return [("Maps", f"{percent(finding.value)} of the map lies on the object {beside}")]


INSIDE_MASK = Section(
    blocks=inside_blocks,
    verdict=inside_sentence,
    columns={"map on object": lambda finding: finding.name == "inside_mask"},
    meanings=meanings("Map", "Map inside the mask"),
)
