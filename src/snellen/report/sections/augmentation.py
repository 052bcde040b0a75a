"""Augmentations: how far each moves the data for a model, as a figure of changes in accuracy."""

from __future__ import annotations

from snellen.audits.augmentation import AffinityFacts
from snellen.report.blocks import Block, FactLine, Panels, lead
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.interval_dots import interval_dots
from snellen.report.sections.section import Section
from snellen.report.words import in_words


def augmentation_blocks(results: Results) -> list[Block]:
    """The change in accuracy under each augmentation; nothing without this audit."""
    questions: dict[str, list[AnyFinding]] = {}
    for finding in results.having(AffinityFacts):
        questions.setdefault(in_words(finding.distortions[0]), []).append(finding)
    dots = interval_dots("Change of accuracy (affinity)", questions, results, "change of accuracy")
    if dots is None:
        return []
    return [
        lead(
            "How much accuracy changes when test images are modified as an augmentation modifies training images. Below 0 the "
            "images are further from those that the model knows. The thin lines are 95% intervals."
        ),
        FactLine(results.keys()),
        Panels((dots,)),
    ]


AUGMENTATION = Section(
    blocks=augmentation_blocks, headline="affinity", meanings=meanings("Affinity", "Direction", "Diversity")
)
