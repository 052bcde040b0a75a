"""What sections read: the findings of a run, its facts and, where its folder is there, answers and thumbnails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import msgspec

from snellen.audits import read_findings
from snellen.audits.facts import FindingFacts
from snellen.audits.run_facts import PixelFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.engine.keep.run_folder import RunFolder
from snellen.engine.keep.schemas import DataRecord, FindingsHeader, RunRecord
from snellen.report.blocks import Line, Span
from snellen.report.charts import COLOURS
from snellen.report.guessing import Counted, Guess, best_guess, constant_answer, counted_answers
from snellen.report.pictures import picture_address
from snellen.report.words import count_of

AnyFinding: TypeAlias = StoredFinding[Any]
F = TypeVar("F", bound=FindingFacts)


@dataclass(frozen=True)
class Results:
    """The results of a run, decoded from the content of findings.json and of run.json as they are needed."""

    findings_json: Mapping[str, Any]
    run_json: Mapping[str, Any]
    folder: RunFolder

    @classmethod
    def of(cls, folder: RunFolder) -> Results:
        """The results in a run folder, whose samples and answers must all be there."""
        folder.check_files(["samples", "answers"])
        return cls(folder.results(), folder.facts, folder)

    @cached_property
    def findings(self) -> list[AnyFinding]:
        """Every finding, in the order of the audits."""
        return read_findings(self.findings_json)

    @cached_property
    def header(self) -> FindingsHeader:
        """What findings.json holds beside its findings."""
        return msgspec.convert(self.findings_json, FindingsHeader)

    @cached_property
    def facts(self) -> RunRecord:
        """run.json: settings, cards and where the run comes from."""
        return msgspec.convert(self.run_json, RunRecord)

    @cached_property
    def models(self) -> dict[str, list[str]]:
        """The runs of each model by their names."""
        return msgspec.convert(self.findings_json["models"], dict[str, list[str]])

    @cached_property
    def data(self) -> dict[str, DataRecord]:
        """The datasets by their role, such as `test`: text, samples and classes."""
        return msgspec.convert(self.findings_json["data"], dict[str, DataRecord])

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

    def of_audit(self, audit: str) -> list[AnyFinding]:
        """The findings of one audit."""
        return [finding for finding in self.findings if finding.audit == audit]

    def settings_of(self, audit: str) -> list[str]:
        """By what audits of one kind are told apart where a run has several; nothing where it has one."""
        every = (finding.facts.settings for finding in self.of_audit(audit))
        return list(dict.fromkeys(settings for settings in every if isinstance(settings, str)))

    def with_settings(self, audit: str, settings: str) -> Results:
        """The results without what the audits of one kind found by other settings."""
        entries = [
            entry
            for entry in self.findings_json["findings"]
            if entry["audit"] != audit or entry["facts"].get("settings", settings) == settings
        ]
        return replace(self, findings_json={**self.findings_json, "findings": entries})

    def having(self, kind: type[F]) -> list[StoredFinding[F]]:
        """The findings with facts of one type."""
        return [finding for finding in self.findings if isinstance(finding.facts, kind)]

    def of_model(self, model: str) -> list[AnyFinding]:
        """The findings of one model."""
        return [finding for finding in self.findings if finding.model == model]

    def clean(self, model: str, on: str = "test") -> StoredFinding[PixelFacts] | None:
        """The accuracy of a model on unmodified images."""
        own = (finding for finding in self.having(PixelFacts) if finding.audit == "baseline" and finding.model == model)
        return next((finding for finding in own if finding.on == on and finding.distortions == ["none()"]), None)

    @cached_property
    def _guesses(self) -> dict[tuple[str, frozenset[str] | None, float | None], Guess]:
        return {}

    def guess(self, *findings: AnyFinding) -> Guess:
        """What can be right without looking at the images that some findings on one dataset are about; without any, of all test
        images."""
        on = findings[0].on if findings else "test"
        counted = self._counted_samples(on, findings) if findings else None
        chances = {chance for finding in findings for chance in self._chances(finding.model)}
        chance = chances.pop() if len(chances) == 1 else None  # models that differ in it have no chance in common
        if (on, counted, chance) not in self._guesses:
            among = counted or None  # a finding whose answers are not told apart is about all images
            self._guesses[on, counted, chance] = best_guess(self.folder, on, self.data[on].classes, among, chance)
        return self._guesses[on, counted, chance]

    def _chances(self, model: str) -> set[float | None]:
        """What guessing gets right by the cards of a model's runs, None where that is 1 in all classes."""
        return {card.get("chance") for card in self.run_json.get("models", {}).get(model, {}).values()}

    def constant_answer(self, finding: AnyFinding) -> str:
        """The one class that a model answers to (nearly) all images behind a finding, in words; '' where its answers vary."""
        counted = counted_answers(self.folder, self._cells_of([finding]), self._counted.excluded)
        return constant_answer(counted.preds, self.data[finding.on].classes)

    def _counted_samples(self, on: str, findings: Sequence[AnyFinding]) -> frozenset[str] | None:
        """The samples that count for some findings; None where all do."""
        cells = self._cells_of(findings)
        if self._counted.all_count(cells, self.data[on].samples):
            return None
        return counted_answers(self.folder, cells, self._counted.excluded).samples

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """The rows of the `cells` table."""
        return self.folder.store.cells()

    @cached_property
    def _counted(self) -> Counted:
        return Counted.of(self.folder)

    def _cells_of(self, findings: Sequence[AnyFinding]) -> list[dict[str, Any]]:
        """The cells that findings rest on, of the runs and the seed of this report."""
        wanted = {(finding.model, finding.on, text) for finding in findings for text in finding.distortions}
        return [
            row
            for row in self.cells
            if (row["model"], row["on"], row["distortion"]) in wanted
            and row["run"] in self.models[row["model"]]
            and row["seed"] == self.facts.settings.seed
        ]

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
