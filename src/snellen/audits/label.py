"""Findings in words: how they speak of models of each task, and the label and topic of one whose audit says neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.distort.language import VARIANTS, in_words

TELLING_FACTS = (
    "of",
    "kind",
    "masking",
    "fill",
    "other",
    "area",
    "removed",
)  # facts that tell findings of one name apart


@dataclass(frozen=True)
class TaskWords:
    """The words of a task: what is measured (`accuracy`), its clean value as a table names it, and what is right of images,
    with `{on}` for the role of the data."""

    accuracy: str
    clean: str
    right: str

    @property
    def label(self) -> str:
        """What is measured, at the start of a label."""
        return self.accuracy[0].upper() + self.accuracy[1:]


WORDS: dict[str, TaskWords] = {
    "classification": TaskWords("accuracy", "Clean accuracy", "share of {on} images classified correctly"),
    "segmentation": TaskWords(
        "pixel accuracy", "Clean pixel accuracy", "mean share of the labelled pixels of {on} images that are right"
    ),
    "detection": TaskWords("detection rate", "Clean detection rate", "share of {on} images whose object is found"),
}


def plain_label(name: str, distortions: Sequence[str], facts: Mapping[str, Any], on: str) -> str:
    """A label made of a finding's name, its distortion in words (or its facts) and the dataset it is about."""
    words = name.replace("_", " ").replace("iocclusion", "iOcclusion")
    different = set(distortions) - {"none()"}
    if len(different) == 1:
        words += f" under {in_words(different.pop())}"
    elif facts:
        words = ", ".join([words, *(str(facts[fact]) for fact in TELLING_FACTS if fact in facts)])
    label = words if words.startswith("iO") else words[:1].upper() + words[1:]
    return label + images_of(on)


def in_sentence(label: str) -> str:
    """A label as it stands inside a sentence: its first letter small, unless an abbreviation or iOcclusion begins it."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def images_of(on: str) -> str:
    """Which images a finding is about, where these are not the test images: ` (train images)`."""
    return "" if on in ("", "test", *VARIANTS) else f" ({on} images)"
