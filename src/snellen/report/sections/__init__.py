"""Sections: what a report shows of each audit, one file each.

A section is a `Section` of functions from `Results` to blocks or words; the table below lists them in the order of the
page. An audit that is not listed has its rows in the table of findings and nothing else.
"""

from __future__ import annotations

from snellen.report.results import Results
from snellen.report.sections.adversarial_backgrounds import ADVERSARIAL_BACKGROUNDS
from snellen.report.sections.attention import ATTENTION
from snellen.report.sections.augmentation import AUGMENTATION
from snellen.report.sections.background import BACKGROUND
from snellen.report.sections.baseline import BASELINE
from snellen.report.sections.calibration import CALIBRATION
from snellen.report.sections.concepts import CONCEPTS
from snellen.report.sections.corruptions import CORRUPTIONS
from snellen.report.sections.delivery import DELIVERY
from snellen.report.sections.explanation import EXPLANATION
from snellen.report.sections.faithfulness import FAITHFULNESS
from snellen.report.sections.inside_mask import INSIDE_MASK
from snellen.report.sections.interference import INTERFERENCE
from snellen.report.sections.interpretability import INTERPRETABILITY
from snellen.report.sections.occluders import OCCLUDERS
from snellen.report.sections.occlusion import OCCLUSION
from snellen.report.sections.replies import REPLIES
from snellen.report.sections.section import Section
from snellen.report.sections.shape import SHAPE
from snellen.report.sections.shift import SHIFT

SECTIONS: dict[str, Section] = {
    "baseline": BASELINE,
    "replies": REPLIES,
    "calibration": CALIBRATION,
    "shape": SHAPE,
    "corruptions": CORRUPTIONS,
    "occlusion": OCCLUSION,
    "occluders": OCCLUDERS,
    "background": BACKGROUND,
    "adversarial_backgrounds": ADVERSARIAL_BACKGROUNDS,
    "inside_mask": INSIDE_MASK,
    "explanation": EXPLANATION,
    "concepts": CONCEPTS,
    "attention": ATTENTION,
    "faithfulness": FAITHFULNESS,
    "interpretability": INTERPRETABILITY,  # no audit: it reads those above
    "shift": SHIFT,
    "delivery": DELIVERY,
    "interference": INTERFERENCE,
    "augmentation": AUGMENTATION,
}


def section_sentences(results: Results, model: str) -> dict[str, list[str]]:
    """What all sections say of one model, by term; of two audits of one kind the terms name the settings where they differ."""
    sentences: dict[str, list[str]] = {}
    for audit, section in SECTIONS.items():
        every = {
            settings: section.verdict(results.with_settings(audit, settings), model)
            for settings in results.settings_of(audit)
        }
        if (
            len({tuple(some) for some in every.values()}) < 2
        ):  # all say the same, or there is one audit of the kind, or none
            every = {"": next(iter(every.values())) if every else section.verdict(results, model)}
        for settings, some in every.items():
            for term, sentence in some:
                sentences.setdefault(f"{term} ({settings})" if settings else term, []).append(sentence)
    return sentences
