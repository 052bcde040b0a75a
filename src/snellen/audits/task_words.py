"""How findings speak of models of each task."""

from __future__ import annotations

from dataclasses import dataclass


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
    "classification": TaskWords("accuracy", "Clean accuracy", "share of {on} images answered rightly"),
    "segmentation": TaskWords(
        "pixel accuracy", "Clean pixel accuracy", "mean share of the labelled pixels of {on} images that are right"
    ),
    "detection": TaskWords("detection rate", "Clean detection rate", "share of {on} images whose object is found"),
}
