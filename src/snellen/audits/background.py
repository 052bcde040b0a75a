"""Backgrounds: how much of a model's accuracy comes from them, and which images need theirs (Xiao et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.background_facts import (
    AccuracyOfSize,
    BgGapFacts,
    CategoryExample,
    NeedsBackgroundFacts,
    OutlineFacts,
    ProgressFacts,
    ScaleLeakageFacts,
    SizeEffectFacts,
    VariantFacts,
)
from snellen.audits.background_progress import progress
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.data.dataset import Dataset
from snellen.data.variants import is_variant, refuse_variant
from snellen.distort import Background
from snellen.distort.background import MIXED
from snellen.distort.language import VARIANTS
from snellen.distort.law import expect_within
from snellen.engine.keep.read_back import AnswerBlock, Answers
from snellen.engine.requests.cell import Cell
from snellen.errors import UserError
from snellen.measure import (
    CATEGORIES,
    accuracy_by_size,
    background_categories,
    bg_gap,
    paired_difference,
    scale_leakage,
)
from snellen.measure.estimate import NO_DATA

WITH_OBJECT = ("only_fg", "mixed_same", "mixed_rand", "mixed_next")
WITHOUT_OBJECT = ("no_fg", "only_bg_b", "only_bg_t")
MEANING = {
    "only_fg": "the object alone, on black",
    "mixed_same": "the object on another background of its own class",
    "mixed_rand": "the object on a background of any class",
    "mixed_next": "the object on a background of the next class",
    "bg_blurred": "the object on its own background, blurred",
    "no_fg": "the background with the object blackened, its outline kept",
    "only_bg_b": "the background with the object's box blackened",
    "only_bg_t": "the background with the object's box filled by what lies beside it",
}
BACKGROUND_LABELS = {
    "bg_gap": "Lost with backgrounds of any class (BG-Gap)",
    "bg_gap_next": "Lost with backgrounds of the next class",
    "needs_background": "Images that need their background",
    "outline_gain": "Gained by the outline: object minus box blackened",
    "size_effect": "Background alone: small minus large objects",
    "scale_leakage": "Class leakage through box size",
}
BlocksByKind = Mapping[str, AnswerBlock]


@dataclass(frozen=True)
class BackgroundAudit(Audit):
    """Accuracy on the variants of ImageNet-9: objects on other backgrounds, and backgrounds without their objects.

    The BG-Gap is what is lost when backgrounds of the own class give way to those of any class. Each image falls into one
    of five categories by the part that its background plays. `bins` divide the objects by their size; `sigma` above 0 adds
    blurred backgrounds; without `own` an image never lends to itself. Data must have masks, or boxes at least: the
    object is then its whole box (`foreground=box` asks for that). Of `in9:DIR/original` the variants beside it are shown
    as they are, unless `own`, `foreground`, `sigma` or `--donors` ask for others; else they are made of the test images, or
    with backgrounds of `--donors`. From three models on, each accuracy and gap is set against clean accuracy. `examples`
    images of each category are pictured.
    """

    bins: int = 10
    sigma: float = 0.0
    own: bool = True
    foreground: Literal["auto", "mask", "box"] = "auto"
    examples: int = 4
    title: ClassVar[str] = "Backgrounds"
    names: ClassVar[tuple[str, ...]] = (
        *(f"{kind}_accuracy" for kind in (*WITH_OBJECT, *WITHOUT_OBJECT)),
        *("bg_gap", "bg_gap_next", "needs_background", "outline_gain", "size_effect", "scale_leakage"),
    )
    compared: ClassVar[tuple[str, ...]] = ("progress",)  # findings about several models together
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        **dict.fromkeys([f"{kind}_accuracy" for kind in MEANING], VariantFacts),
        "bg_gap": BgGapFacts,
        "bg_gap_next": BgGapFacts,
        "needs_background": NeedsBackgroundFacts,
        "outline_gain": OutlineFacts,
        "size_effect": SizeEffectFacts,
        "scale_leakage": ScaleLeakageFacts,
        "progress": ProgressFacts,
    }

    def __post_init__(self) -> None:
        expect_within("bins", self.bins, 1, 1000)
        expect_within("sigma", self.sigma, 0, 1000)
        expect_within("examples", self.examples, 0, 1000)
        if self.sigma:
            object.__setattr__(self, "names", (*type(self).names, "bg_blurred_accuracy"))

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants it needs; those of them that lie beside the data are shown as they are."""
        return (*WITH_OBJECT, *(("bg_blurred",) if self.sigma else ()), *WITHOUT_OBJECT)

    def suits(self, data: Dataset) -> str:
        if is_variant(data.text):  # whose backgrounds are exchanged already
            return ""
        return next((fact for fact in ("masks", "boxes") if fact in data.facts), "")

    def object_is(self, exam: Exam) -> Literal["mask", "box"]:
        """What counts as the object: its mask, or its box where no masks are known."""
        facts = exam.facts.get("test", frozenset({"masks"}))
        if self.foreground != "auto":
            return self.foreground
        return "box" if "boxes" in facts and "masks" not in facts else "mask"

    def cell(self, exam: Exam, kind: str) -> Cell:
        """The question of one variant; `original` is the clean one."""
        if kind == "original":
            return exam.clean()
        if self.is_stored(exam, kind):
            return exam.clean(kind)
        variant = Background(kind, own=self.own, foreground=self.object_is(exam))  # type: ignore[arg-type]
        return exam.cell(replace(variant, sigma=self.sigma) if kind == "bg_blurred" else variant)

    def is_stored(self, exam: Exam, kind: str) -> bool:
        """Whether a variant is shown as it lies beside the data; else it is made again."""
        if kind not in exam.variants:
            return False
        if kind == "bg_blurred":  # of the sigma that it was built with
            return "masks" not in exam.facts.get("test", ())
        if kind in MIXED and (exam.donors or not self.own):
            return False
        return self.foreground != "box" or kind in ("only_bg_b", "only_bg_t")

    def cells(self, exam: Exam) -> list[Cell]:
        refuse_variant(exam.texts.get("test", ""), "background")
        if not exam.variants and not exam.facts.get("test", frozenset({"masks"})) & {"masks", "boxes"}:
            raise UserError(
                "the background audit needs the objects' masks or boxes, which the test data do not have; "
                "use voc:, coco:, boxes: or in9: data, or a manifest with boxes"
            )
        return [self.cell(exam, kind) for kind in ("original", *self.variants)]

    def blocks(self, exam: Exam, answers: Answers) -> dict[str, AnswerBlock]:
        """The answers by variant, on the images that count in all of them: every number rests on the same ones."""
        kinds = ("original", *self.variants)
        return dict(zip(kinds, answers.together(*(self.cell(exam, kind) for kind in kinds))))

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        blocks = self.blocks(exam, answers)
        return [
            *(self._accuracy(exam, answers, kind, blocks) for kind in self.variants),
            self._gap(
                exam, answers, blocks, "bg_gap", "mixed_rand", "when backgrounds of its class become those of any"
            ),
            self._gap(exam, answers, blocks, "bg_gap_next", "mixed_next", "when they become those of the next class"),
            self._needs(exam, answers, blocks),
            self._outline(exam, answers, blocks),
            self._size(exam, answers, blocks),
            self._leakage(exam, answers, blocks),
        ]

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """Over three models or more: how accuracies and gaps move with clean accuracy."""
        return progress(everyone, findings, self.variants)

    def pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, str]]:
        """The images that a reader should see: the examples of each category, in the three ways that decide it."""
        return [
            (self.cell(exam, kind), sample)
            for needs in findings
            if isinstance(needs.facts, NeedsBackgroundFacts)
            for examples in needs.facts.examples.values()
            for example in examples
            for kind, sample in example.samples.items()
        ]

    def _accuracy(self, exam: Exam, answers: Answers, kind: str, blocks: BlocksByKind) -> Finding:
        facts = VariantFacts(kind=kind, original=_mean(blocks["original"]), stored=self.is_stored(exam, kind))
        text = f"accuracy on {MEANING[kind]}"
        name, cell = f"{kind}_accuracy", self.cell(exam, kind)
        # To know an image by its background alone is neither good nor bad: backgrounds do tell something.
        more = {"better": "" if kind in WITHOUT_OBJECT else "higher", "facts": facts}
        more |= {"label": f"Accuracy: {VARIANTS[kind]}", "topic": VARIANTS[kind]}
        return accuracy_finding("background", name, answers.model, blocks[kind], cell, text, **more)

    def _gap(self, exam: Exam, answers: Answers, blocks: BlocksByKind, name: str, other: str, words: str) -> Finding:
        same, rand = blocks["mixed_same"], blocks[other]
        beside: dict[str, Any] = {other: _mean(rand)}
        return finding(
            "background", name, answers.model, bg_gap(same.score, rand.score, same.groups), f"accuracy lost {words}",
            better="lower", unit="difference", cells=(self.cell(exam, "mixed_same"), self.cell(exam, other)),
            facts=BgGapFacts(mixed_same=_mean(same), original=_mean(blocks["original"]), **beside),
            per_run=_per_run(same, rand), label=BACKGROUND_LABELS[name],
        )  # fmt: skip

    def _needs(self, exam: Exam, answers: Answers, blocks: BlocksByKind) -> Finding:
        kinds = ("original", "mixed_rand", "only_bg_t")
        full, foreground, background = (blocks[kind] for kind in kinds)
        categories = background_categories(full.score, foreground.score, background.score, full.groups)
        classes = exam.classes["test"]
        counts = {
            category: np.bincount(np.nonzero(categories.labels == category)[1], minlength=len(full.labels))
            for category in CATEGORIES
        }
        each = {
            category: np.bincount(full.labels, own, len(classes)).astype(int).tolist()
            for category, own in counts.items()
        }
        by_class = {
            name: {category: own[label] for category, own in each.items()} for label, name in enumerate(classes)
        }
        examples = {
            category: [
                CategoryExample(
                    label=classes[full.labels[row]], samples={kind: str(blocks[kind].ids[row]) for kind in kinds}
                )
                for row in _examples(category, categories.labels[0], full, background, self.examples)
            ]
            for category in CATEGORIES
        }
        text = (
            "share of images classified correctly, but no longer once their background is one of any class: they need their own "
            "(BG Required and BG+FG Required)"
        )
        per_run = (
            tuple(np.isin(run, CATEGORIES[1:3]).mean() for run in categories.labels) if categories.labels.size else ()
        )
        return finding(
            "background", "needs_background", answers.model, categories, text, better="lower",
            cells=tuple(self.cell(exam, kind) for kind in kinds),
            facts=NeedsBackgroundFacts(
                counts=categories.counts, by_class=by_class, examples=examples,
                roles=[self.cell(exam, kind).on for kind in kinds],
            ),
            per_run=per_run, label=BACKGROUND_LABELS["needs_background"],
        )  # fmt: skip

    def _outline(self, exam: Exam, answers: Answers, blocks: BlocksByKind) -> Finding:
        cells = (self.cell(exam, "no_fg"), self.cell(exam, "only_bg_b"))
        text = "what a black object's outline adds to its background: accuracy with it less with a black box"
        if self.object_is(exam) == "box" and not self.is_stored(exam, "no_fg"):
            text = "the data has no masks, so the object's outline is not known"
            more = {"unit": "difference", "label": BACKGROUND_LABELS["outline_gain"], "facts": OutlineFacts()}
            return finding("background", "outline_gain", answers.model, NO_DATA, text, **more)
        outlined, boxed = blocks["no_fg"], blocks["only_bg_b"]
        gain = paired_difference(outlined.score, boxed.score, outlined.groups)
        facts = OutlineFacts(no_fg=_mean(outlined), only_bg_b=_mean(boxed))
        return finding(
            "background", "outline_gain", answers.model, gain, text, unit="difference", cells=cells, facts=facts,
            per_run=_per_run(outlined, boxed), label=BACKGROUND_LABELS["outline_gain"],
        )  # fmt: skip

    def _size(self, exam: Exam, answers: Answers, blocks: BlocksByKind) -> Finding:
        block = blocks["only_bg_t"]
        by_size = accuracy_by_size(
            block.score, areas(exam, blocks), np.linspace(0, 1, self.bins + 1).tolist(), block.groups
        )
        bins = [AccuracyOfSize(start=size.start, stop=size.stop, **vars(size.estimate)) for size in by_size.bins]
        text = "accuracy on backgrounds alone, where the smaller half of the objects was less where the larger half was"
        return finding(
            "background", "size_effect", answers.model, by_size, text, unit="difference",
            cells=(self.cell(exam, "only_bg_t"),), facts=SizeEffectFacts(bins=bins, overall=_mean(block)),
            label=BACKGROUND_LABELS["size_effect"],
        )  # fmt: skip

    def _leakage(self, exam: Exam, answers: Answers, blocks: BlocksByKind) -> Finding:
        block = blocks["original"]
        leakage = scale_leakage(areas(exam, blocks), block.labels, block.groups)
        text = (
            f"of the data, not the model: the class guessed from the size of the box alone is right on {leakage.guessed:.1%}, "
            f"always naming the most frequent class on {leakage.chance:.1%}"
        )
        if not leakage.n:
            text = "how far the size of its box gives an object's class away is not known: no boxes, or too few images"
        facts = ScaleLeakageFacts(guessed=leakage.guessed, chance=leakage.chance)
        return finding(
            "background", "scale_leakage", answers.model, leakage, text, unit="difference", facts=facts,
            cells=(exam.clean(),), label=BACKGROUND_LABELS["scale_leakage"],
        )  # fmt: skip


def areas(exam: Exam, blocks: BlocksByKind) -> np.ndarray:
    """float [samples]: the share of the image that each object's box covers, nan where it is not known."""
    covered = blocks["only_bg_b"].covered
    listed = exam.column("box_share", blocks["original"].ids)
    return covered if listed is None or not np.isnan(covered).all() else np.asarray(listed, float)


def _mean(block: AnswerBlock) -> float:
    return float(block.score.mean(dtype=np.float64)) if block.score.size else float("nan")


def _per_run(first: AnswerBlock, second: AnswerBlock) -> tuple[float, ...]:
    return tuple((first.score.mean(1) - second.score.mean(1)).tolist()) if first.score.size else ()


def _examples(category: str, labels: np.ndarray, full: AnswerBlock, background: AnswerBlock, count: int) -> list[Any]:
    """Rows of a category's examples, by the first run: different classes first; of those that a background fools, first the
    ones that its own answer is given for (figure 33)."""
    rows = np.flatnonzero(labels == category)
    alike = full.pred[0, rows] == background.pred[0, rows]
    rows = rows[np.argsort(~alike, kind="stable")] if category.endswith("Fools") else rows
    turn: dict[int, int] = {}
    places = []
    for row in rows:
        label = int(full.labels[row])
        places.append(turn.setdefault(label, 0))
        turn[label] += 1
    return rows[np.argsort(places, kind="stable")][:count].tolist()
