"""Shape: accuracy with shuffled patches, and shape bias where it was measured, are set beside those of other models."""

from __future__ import annotations

from snellen.report.results import Finding
from snellen.report.sections.section import Section


def shuffled(name: str, finding: Finding) -> bool:
    """Whether a finding of this name is the accuracy under patch shuffling and nothing else."""
    distortion = finding["distortions"][0] if finding["distortions"] else ""
    return finding["name"] == name and distortion.startswith("shuffle(") and "|" not in distortion


SHAPE = Section(
    columns={
        "shuffled": lambda one: shuffled("shuffled_accuracy", one),
        "shape bias": lambda one: one["name"] == "shape_bias",
    }
)
