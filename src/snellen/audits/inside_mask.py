"""Maps inside the masks: how much of what speaks for an answer lies on the object (Xiao et al. 2021, figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.engine.keep.map_reader import MaskedMaps
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.map import MapRequest
from snellen.errors import UserError
from snellen.measure import accuracy, inside_mask, paired_difference

AUDIT = "inside_mask"
LABEL = "Share of the map inside the true mask"
EXAMPLES = 16  # images that a page shows
AT_ONCE = 32  # maps that are summed together, in float64


class InsideExample(msgspec.Struct, frozen=True):
    """A sample and the share of its map inside the mask, by run."""

    sample: str
    inside: tuple[Number, ...]


class InsideMaskFacts(FindingFacts, frozen=True, kw_only=True):
    """The masks' mean share of the images, which an even map has inside; how many maps are 0 everywhere; some images; and on
    how many the mask has no object, which older runs counted as a share of 0."""

    mask_share: Number
    empty_maps: int
    examples: tuple[InsideExample, ...]
    without_object: int | UnsetType = UNSET


class InsideDifferenceFacts(FindingFacts, frozen=True, kw_only=True):
    """The model `other` whose share is subtracted."""

    other: str


@dataclass(frozen=True)
class Shares:
    """The samples of a model that count, by id: the share of each run's map inside the true mask, float [runs, samples] (nan
    where a map is 0 everywhere or the mask has no object), and the share of the image that the mask covers, float [samples]."""

    ids: Sequence[str]
    inside: np.ndarray
    mask: np.ndarray


@dataclass(frozen=True)
class InsideMaskAudit(Audit):
    """The share of each model's map, of its own answer to the clean image, that lies inside the object's true mask.

    An even map has the mask's share of the image (the fact `mask_share`), which is what a share is to be compared with.
    `layer` is where the map is read: a name in the network, a stage from the end (-2) or stage3; none is the last stage.
    `method` is the attribution method. Several models are compared with the first. Data must have masks, and models
    gradients.
    """

    layer: int | str | None = None
    method: str = "gradcam"
    title: ClassVar[str] = "Maps inside the masks"
    names: ClassVar[tuple[str, ...]] = ("inside_mask",)
    compared: ClassVar[tuple[str, ...]] = ("inside_mask_difference",)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "inside_mask": InsideMaskFacts,
        "inside_mask_difference": InsideDifferenceFacts,
    }

    def cells(self, exam: Exam) -> list[Cell]:
        if "masks" not in exam.facts.get("test", frozenset({"masks"})):
            raise UserError(
                f"{exam.texts.get('test', 'the test data')} has no masks to compare maps with; give data that have, such as "
                "phantom:test"
            )
        return []

    def request(self, exam: Exam) -> MapRequest:
        """The maps that are looked at."""
        return exam.map(self.layer, self.method)

    def maps(self, exam: Exam) -> list[MapRequest]:
        return [self.request(exam)]

    def shares(self, exam: Exam, answers: Answers) -> Shares:
        """What the findings rest on, computed once per model."""
        return answers.once(self, lambda: _shares(answers, self.request(exam)))

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        shares = self.shares(exam, answers)
        known = shares.mask > 0
        facts = InsideMaskFacts(
            mask_share=float(shares.mask[known].mean()) if known.any() else float("nan"),
            empty_maps=int(np.isnan(shares.inside[:, known]).sum()),
            without_object=int((~known).sum()),
            examples=tuple(
                InsideExample(sample, tuple(inside.tolist()))
                for sample, inside in zip(shares.ids[:EXAMPLES], shares.inside.T)
            ),
        )
        per_run = tuple(float(np.nanmean(run)) if not np.isnan(run).all() else np.nan for run in shares.inside)
        estimate = accuracy(shares.inside, exam.column("group", shares.ids))
        text = "share of the map inside the true mask, mean over images"
        return [
            finding(
                AUDIT, "inside_mask", answers.model, estimate, text, better="higher", facts=facts, per_run=per_run, label=LABEL
            )
        ]  # fmt: skip

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """How much more of the maps is inside the masks than of the first model's, on the same images."""
        first = everyone[0]
        return [self._difference(exam, answers, first) for answers in everyone[1:]]

    def pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, str]]:
        """The images beside which a page shows the maps."""
        samples = (
            example.sample
            for conclusion in findings
            if isinstance(conclusion.facts, InsideMaskFacts)
            for example in conclusion.facts.examples
        )
        return [(exam.clean(), sample) for sample in dict.fromkeys(samples)]

    def _difference(self, exam: Exam, answers: Answers, first: Answers) -> Finding:
        own, other = self.shares(exam, answers), self.shares(exam, first)
        place = {sample: column for column, sample in enumerate(other.ids)}
        columns = [column for column, sample in enumerate(own.ids) if sample in place]
        ids = [own.ids[column] for column in columns]
        estimate = paired_difference(
            own.inside[:, columns], other.inside[:, [place[sample] for sample in ids]], exam.column("group", ids)
        )
        text = f"share of the map inside the true mask, less that of {first.model} on the same images"
        return finding(
            AUDIT, "inside_mask_difference", answers.model, estimate, text, unit="difference",
            facts=InsideDifferenceFacts(other=first.model), label=f"{LABEL}, minus that of {first.model}",
        )  # fmt: skip


def _shares(answers: Answers, request: MapRequest) -> Shares:
    ids: list[str] = []
    inside: list[np.ndarray] = []
    mask: list[np.ndarray] = []
    for runs in answers.masked_maps(request):
        ids += runs[0].ids
        inside.append(np.stack([inside_masks(run) for run in runs]))
        mask.append(runs[0].masks.mean((1, 2)))
    if not ids:
        return Shares((), np.empty((len(answers.runs), 0)), np.empty(0))
    return Shares(tuple(ids), np.concatenate(inside, axis=1), np.concatenate(mask))


def inside_masks(part: MaskedMaps) -> np.ndarray:
    """The share of each map inside its mask, float [samples]; nan where the map or the mask is empty."""
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(part.maps), AT_ONCE)]
    shares = np.concatenate([inside_mask(part.maps[some], part.masks[some]) for some in parts])
    return np.where(part.masks.any((1, 2)), shares, np.nan)
