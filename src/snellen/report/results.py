"""What sections read: the findings of a run, its facts and, where its folder is there, answers and thumbnails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from snellen.engine.keep.run_folder import RunFolder
from snellen.report.blocks import Line, Span
from snellen.report.charts import COLOURS
from snellen.report.pictures import picture_address
from snellen.report.words import count_of

Finding: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """The results of a run; `content` is that of findings.json, `facts` that of run.json."""

    content: Mapping[str, Any]
    facts: Mapping[str, Any]
    folder: RunFolder

    @classmethod
    def of(cls, folder: RunFolder) -> Results:
        """The results in a run folder, whose samples and answers must all be there."""
        folder.check_files(["samples", "answers"])
        return cls(folder.results(), folder.facts, folder)

    @property
    def findings(self) -> list[Finding]:
        """Every finding, in the order of the audits."""
        return list(self.content["findings"])

    @property
    def models(self) -> dict[str, list[str]]:
        """The runs of each model by their names."""
        return dict(self.content["models"])

    @property
    def data(self) -> dict[str, Mapping[str, Any]]:
        """The datasets by their role, such as `test`: text, samples and classes."""
        return dict(self.content["data"])

    @property
    def several(self) -> bool:
        """Whether there is more than one model."""
        return len(self.models) > 1

    @property
    def repeated(self) -> bool:
        """Whether some model has more than one run."""
        return any(len(runs) > 1 for runs in self.models.values())

    @property
    def task(self) -> str:
        """What the models are for: classification, segmentation or detection."""
        return self.folder.task

    def of_audit(self, audit: str) -> list[Finding]:
        """The findings of one audit."""
        return [one for one in self.findings if one["audit"] == audit]

    def of_model(self, model: str) -> list[Finding]:
        """The findings of one model."""
        return [one for one in self.findings if one["model"] == model]

    def clean(self, model: str, on: str = "test") -> Finding | None:
        """The accuracy of a model on unmodified images."""
        own = (one for one in self.of_audit("baseline") if one["model"] == model and one["on"] == on)
        return next((one for one in own if one["distortions"] == ["none()"]), None)

    def chance(self, on: str = "test") -> float:
        """The accuracy of guessing among the classes."""
        return 1 / max(1, len(self.data[on]["classes"]))

    def hue(self, model: str) -> str:
        """The colour of a model's dot."""
        return str(list(self.models).index(model) % len(COLOURS))

    def own_hue(self, model: str) -> str:
        """The colour of a model's dot where there are several to distinguish."""
        return self.hue(model) if self.several else ""

    def keys(self) -> tuple[Line, ...]:
        """The models with their dots, for a legend; nothing for a single one."""
        return tuple((Span(model, hue=self.hue(model)),) for model in self.models) if self.several else ()

    def runs(self, model: str) -> str:
        """How many runs a model has, in words."""
        return count_of(len(self.models[model]), "run")

    def thumbnail(self, shown: str, position: int) -> str | None:
        """A stored thumbnail as a data address."""
        return picture_address(self.folder.store.thumbnail(shown, position))
