"""Shape or texture: what shuffled patches and cue conflicts say a model looks at (Marcu & Prügel-Bennett 2022, section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.audits.run_facts import RunFacts
from snellen.data.dataset import Dataset
from snellen.distort import Shuffle, SoftShuffle
from snellen.distort.language import in_words
from snellen.distort.raster import expect_grid
from snellen.engine.keep.read_back import AnswerBlock, Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import accuracy, shape_bias
from snellen.measure.estimate import NO_DATA

SHUFFLED = ("shuffled_accuracy", "soft_shuffled_accuracy")
CUES = ("shape_accuracy", "texture_accuracy", "shape_bias")


class ShapeBiasFacts(FindingFacts, frozen=True, kw_only=True):
    """How many images have cues in `conflict`, and how many answers to them name the shape or the texture."""

    conflicts: int
    decided: int


@dataclass(frozen=True)
class ShapeAudit(Audit):
    """Accuracy on shuffled patches, and on cue conflicts whether answers name the shape or the texture.

    Patches of a `grid` × `grid` raster (2×2 below 32 pixels, 4×4 from there) keep their texture and lose the outline. They
    are shown twice, with hard seams and fading into each other: where both DI differ, the seams are taken for something.
    Cue conflicts are images with a column `texture` that names a class, such as `cue:` data: shape accuracy and texture
    accuracy over all of them, and the shape bias, the share of shapes among the answers to conflicts that name either.
    """

    grid: int | None = None
    title: ClassVar[str] = "Shape or texture"
    names: ClassVar[tuple[str, ...]] = (*SHUFFLED, *CUES)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        **dict.fromkeys(SHUFFLED, RunFacts),
        "shape_accuracy": FindingFacts,
        "texture_accuracy": FindingFacts,
        "shape_bias": ShapeBiasFacts,
    }

    def __post_init__(self) -> None:
        if self.grid is not None:
            expect_grid(self.grid)

    def suits(self, data: Dataset) -> str:
        if "texture" not in data.samples.columns:
            return ""
        textures = positions_in(data.classes, data.samples.columns["texture"])
        return "cue conflicts" if ((textures >= 0) & (textures != data.samples.labels)).any() else ""

    def shuffle_cell(self, exam: Exam) -> Cell:
        """The answers to shuffled tiles."""
        return exam.cell(Shuffle(self._grid(exam)))

    def soft_shuffle_cell(self, exam: Exam) -> Cell:
        """The answers to shuffled tiles without hard seams."""
        return exam.cell(SoftShuffle(self._grid(exam)))

    def _grid(self, exam: Exam) -> int:
        return self.grid or (4 if exam.side >= 32 else 2)

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.clean(), self.shuffle_cell(exam), self.soft_shuffle_cell(exam)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        findings = []
        for name, cell in zip(SHUFFLED, (self.shuffle_cell(exam), self.soft_shuffle_cell(exam))):
            text = f"accuracy under {cell.distortion}: what is known without the outline, unless DI says otherwise"
            words = in_words(str(cell.distortion))
            more = {"better": "", "label": f"Accuracy without outlines: {words}", "topic": words}
            findings.append(accuracy_finding("shape", name, answers.model, answers[cell], cell, text, **more))
        return [*findings, *self._cues(exam, answers)]

    def _cues(self, exam: Exam, answers: Answers) -> list[Finding]:
        block = answers[exam.clean()]
        textures = texture_classes(exam, block)
        rows = np.flatnonzero(textures >= 0)
        if not len(rows):
            has = exam.column("texture", block.ids) is not None
            why = "its column 'texture' names none of its classes" if has else "it has no column 'texture'"
            text = f"the data has no cues in conflict: {why}; use cue: data, for example"
            return [finding("shape", name, answers.model, NO_DATA, text) for name in CUES]
        block, textures = block.at(rows), textures[rows]
        bias = shape_bias(block.pred, block.labels, textures, block.groups)
        findings = []
        for cue, right in (("shape", block.pred == block.labels), ("texture", block.pred == textures)):
            estimate = accuracy(right.astype(float), block.groups)
            text = f"share of all {len(rows)} images whose {cue} is answered"
            findings.append(
                finding(
                    "shape", f"{cue}_accuracy", answers.model, estimate, text, cells=(exam.clean(),),
                    per_run=tuple(right.mean(1).tolist()), label=f"Answers that name the {cue}",
                )
            )  # fmt: skip
        biases = [shape_bias(run, block.labels, textures).value for run in block.pred]
        text = (
            f"share of shapes among the {bias.decided} answers that name the shape or the texture "
            f"({bias.conflicts} conflicts; people: about 0.96)"
        )
        facts = ShapeBiasFacts(conflicts=bias.conflicts, decided=bias.decided)
        findings.append(
            finding(
                "shape", "shape_bias", answers.model, bias, text, cells=(exam.clean(),), facts=facts,
                per_run=tuple(biases), label="Shape against texture (shape bias)", topic="the shape bias",
            )
        )  # fmt: skip
        return findings


def texture_classes(exam: Exam, block: AnswerBlock) -> np.ndarray:
    """int64 [samples]: the class that each image's texture is of; −2 where none is named, or no class of the data."""
    names = exam.column("texture", block.ids)
    return np.full(len(block.ids), -2) if names is None else positions_in(exam.classes["test"], names)


def positions_in(classes: Sequence[str], names: Iterable[str]) -> np.ndarray:
    """int64 [names]: the position of each name among the classes, −2 where it is none of them."""
    position = {name: i for i, name in enumerate(classes)}
    return np.array([position.get(str(name), -2) for name in names], np.int64)
