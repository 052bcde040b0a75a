"""Shape or texture: what is left without outlines, and which cue the answers follow."""

from __future__ import annotations

from snellen.audits.shape import CUES, SHUFFLED
from snellen.report.blocks import Block, FactLine, Panels, lead
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.interval_dots import interval_dots
from snellen.report.sections.published_marcu import published_by_marcu
from snellen.report.sections.section import Section
from snellen.report.words import in_words

PANELS = {"Without outlines": (SHUFFLED, "accuracy"), "Shape and texture in conflict": (CUES, "share of answers")}
CUE_WORDS = {"shape_accuracy": "name the shape", "texture_accuracy": "name the texture", "shape_bias": "shape bias"}


def shape_blocks(results: Results) -> list[Block]:
    """A point with its interval for each accuracy; nothing without this audit."""
    charts = []
    for title, (names, axis) in PANELS.items():
        questions: dict[str, list[AnyFinding]] = {}
        for finding in results.of_audit("shape"):
            if finding.name in names:
                words = CUE_WORDS.get(finding.name) or in_words(next(iter(finding.distortions), ""))
                questions.setdefault(words, []).append(finding)
        if dots := interval_dots(title, questions, results, axis):
            charts.append(dots)
    if not charts:
        return []
    return [
        lead(
            "Shuffled patches keep their texture and lose the outline. Where cues are in conflict, an image has the shape of one "
            "class and the texture of another. The thin lines are 95% intervals."
        ),
        FactLine(results.keys()),
        Panels(tuple(charts)),
    ]


def shuffled(name: str, finding: AnyFinding) -> bool:
    """Whether a finding of this name is the accuracy under patch shuffling and nothing else."""
    distortion = finding.distortions[0] if finding.distortions else ""
    return finding.name == name and distortion.startswith("shuffle(") and "|" not in distortion


SHAPE = Section(  # the accuracy under patch shuffling is in one column with that of the audit of interference
    blocks=shape_blocks,
    columns={
        "shuffled": lambda finding: shuffled("shuffled_accuracy", finding),
        "shape bias": lambda finding: finding.name == "shape_bias",
    },
    meanings=meanings("Shuffled patches", "Shape and texture accuracy", "Shape bias"),
    published=published_by_marcu(
        "shape",
        {
            "2": "accuracy on the cue conflicts of Geirhos et al. (2019), by shape and by texture",
            "4": "accuracy on shuffled patches",
        },
    ),
)
