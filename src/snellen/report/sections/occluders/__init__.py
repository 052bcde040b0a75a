"""Occluders: accuracy by type and level, ranks of models, the class tree and people (Kassaw et al. 2024)."""

from __future__ import annotations

from snellen.audits.occluders.people import ALL, HumanGapFacts
from snellen.audits.occluders.types import AUDIT, REAL
from snellen.report.blocks import Block, Heading, lead, note
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.occluders.levels import diffuse_blocks, level_blocks, tree_blocks
from snellen.report.sections.occluders.people import people_blocks
from snellen.report.sections.occluders.ranks import rank_blocks
from snellen.report.sections.occluders.values import OccluderValues
from snellen.report.sections.section import Section
from snellen.report.words import is_known, percent, points

FEW = 20  # images below which a level is not called the worst


def occluders_blocks(results: Results) -> list[Block]:
    """All tables and figures; nothing without the audit."""
    if not results.of_audit(AUDIT):
        return []
    values = OccluderValues(results)
    return [
        Heading("Occluders"),
        lead(
            "How accuracy falls as more is hidden, by what hides it. "
            + ("Real occlusion was there when the images were taken. " if values.types(REAL) else "")
            + "Synthetic and diffuse occluders were put before the unoccluded images."
        ),
        *_shares_named(values),
        *level_blocks(values),
        *rank_blocks(values),
        *diffuse_blocks(values),
        *tree_blocks(values),
        *people_blocks(values),
    ]


def occluders_sentences(results: Results, model: str) -> list[tuple[str, str]]:
    """What hurts a model most, and how it compares with people."""
    own = [finding for finding in OccluderValues(results).levels if finding.model == model]
    levels = [finding for finding in own if is_known(finding.facts.drop) and not finding.facts.relation]
    sentences = []
    if levels:
        many = [finding for finding in levels if finding.n >= FEW] or levels
        most = max(many, key=lambda finding: finding.facts.drop or 0.0)
        drop = points(most.facts.drop)[1:]  # without its sign
        chosen = f", chosen as the largest loss of {len(many)} on these images" if len(many) > 1 else ""
        sentences.append(f"Most is lost under {most.facts.words}: {drop} to {percent(most.value)}{chosen}.")
    gaps = (finding for finding in results.having(HumanGapFacts) if finding.model == model)
    gap = next((finding for finding in gaps if finding.facts.type == ALL), None)
    if gap is not None and is_known(gap.value):
        human, share = percent(gap.facts.human), percent(gap.facts.own)
        sentences.append(f"People are right on {human} of the images that they saw, it on {share}.")
    return [("Under occluders", sentence) for sentence in sentences]


def _shares_named(values: OccluderValues) -> list[Block]:
    """Says which shares are of the image, because no mask tells the object's."""
    kinds = [*values.types("synthetic"), *values.types("diffuse")]
    if not kinds or values.share_of(kinds[0]) == "object":
        return []
    return [note("These data have no masks: hidden shares are shares of the image, not of the object.")]


def _is_unoccluded(finding: AnyFinding) -> bool:
    return finding.audit == AUDIT and finding.name == "unoccluded_accuracy"


OCCLUDERS = Section(
    headline="level_accuracy",
    blocks=occluders_blocks,
    verdict=occluders_sentences,
    columns={"occluders": _is_unoccluded},
    losses=lambda finding: finding.name == "occluder_accuracy",
    elsewhere=frozenset(
        {
            *("level_accuracy", "occlusion_slope", "tree_accuracy", "tree_distance", "mean_rank", "occlusion_residual"),
            *("human_gap", "error_consistency", "top_image_accuracy", "top_tree_accuracy", "unoccluded_accuracy"),
        }
    ),
    meanings=meanings("Hidden share", "Slope", "Class tree", "Friedman's Q", "Kendall's W", "Beyond clean accuracy"),
)
