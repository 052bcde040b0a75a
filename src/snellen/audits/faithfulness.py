"""Faithfulness: whether the tiles that a map calls relevant are those that a model's answers rest on (Won et al. 2023, 5.3)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from snellen.audits.alignment_facts import FilterCounts
from snellen.audits.audit import Audit
from snellen.audits.deletion_curves import (
    AreaExample,
    CurveFacts,
    CurvePanels,
    DeletionCurves,
    DeletionDifferenceFacts,
    DeletionFacts,
    PanelCurve,
    read_curves,
)
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts
from snellen.audits.families import SURE, FamilyOfTests, corrected
from snellen.audits.finding import Finding, finding
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.errors import UserError
from snellen.measure import InterModelAuc, compare, curve_areas, inter_model_auc, mean_curve
from snellen.measure.comparison import Comparison
from snellen.notation import expect_at_most
from snellen.search.deletion import Filling, OrderedDeletion, RandomDeletion

AUDIT = "faithfulness"
FAMILY = "differences of inter-model deletion: all pairs of models and methods"
PICTURES = 4  # images with the highest and with the lowest area that a page shows, each
NAMES = {"lerf": ("inter_model_deletion", "inter_model_insertion"), "morf": ("morf_deletion", "lerf_insertion")}
LABELS = {
    "inter_model_deletion": "Answers kept without irrelevant tiles, minus random ones (deletion)",
    "inter_model_insertion": "Answers regained by relevant tiles, minus random ones (insertion)",
    "morf_deletion": "Deletion, most relevant first, less random",
    "lerf_insertion": "Insertion, least relevant first, less random",
}

TOPICS = {
    "inter_model_deletion": "inter-model deletion",
    "inter_model_insertion": "inter-model insertion",
    "morf_deletion": "deletion of the most relevant first",
    "lerf_insertion": "insertion of the least relevant first",
}


@dataclass(frozen=True)
class FilteredImages:
    """The ids of the images that a filter left, and how many there were."""

    ids: tuple[str, ...]
    counts: FilterCounts


@dataclass(frozen=True)
class FaithfulnessAudit(Audit):
    """Inter-model deletion and insertion: how much longer an answer survives when tiles are hidden by relevance than at random.

    The probability of the class that a model answers to the whole image is followed while the least relevant tiles are deleted
    first, or the most relevant inserted first: the same images, seen from both ends. From this curve that of `repeats`
    random orders is subtracted; the area between them, in points of 100, is the faithfulness. Scores are normalised per
    model: 0 is the mean for hidden images, 100 that for whole ones, and single steps may lie beyond. `method` and `layer` say
    which map ranks the tiles. A tile is `tile` pixels a side (0: a 32nd of the image, 7 pixels at 224), or there are `grid` ×
    `grid` of them. `fill` hides: `image_mean`, `zero` (the model's normalisation mean), `blur` or `dataset_mean`. `orders`
    may add morf: the most relevant deleted first.
    `evaluation=adaptive` looks at as few of the `points` of each curve as the mean over the images needs to err by no more
    than `error` points of 100 with 90% confidence; `full` looks at all.
    """

    method: str = "gradcam"
    layer: int | str | None = None
    tile: int = 0
    grid: int = 0
    fill: Filling = "image_mean"
    orders: tuple[str, ...] = ("lerf",)
    repeats: int = 5
    points: int = 100
    evaluation: Literal["adaptive", "full"] = "adaptive"
    error: float = 0.2
    title: ClassVar[str] = "Faithfulness of the maps"
    names: ClassVar[tuple[str, ...]] = NAMES["lerf"]
    compared: ClassVar[tuple[str, ...]] = ("inter_model_deletion_difference",)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        **dict.fromkeys(LABELS, CurveFacts),
        "inter_model_deletion": DeletionFacts,
        "inter_model_deletion_difference": DeletionDifferenceFacts,
    }

    def __post_init__(self) -> None:
        expect_at_most(100_000, tile=self.tile, grid=self.grid)
        if not self.orders or not set(self.orders) <= set(NAMES) or len(set(self.orders)) < len(self.orders):
            raise ValueError(f"expected orders of {', '.join(NAMES)}, each once, got [{', '.join(self.orders)}]")
        object.__setattr__(self, "names", tuple(name for order in self.orders for name in NAMES[order]))
        self.ordered_trial(self.orders[0], 1)  # both refuse what makes no curve
        self.random_trial(1)

    def side(self, exam: Exam) -> int:
        """How many pixels a side a tile has, on the smallest canvas."""
        return exam.side // self.grid if self.grid else self.tile or max(1, round(exam.side / 32))

    def ordered_trial(self, order: str, side: int) -> OrderedDeletion:
        """The trial of an order by the maps of each model."""
        by_map: dict[str, Any] = {"order": order, "method": self.method, "layer": self.layer}
        return OrderedDeletion(**by_map, **self._how(side))

    def random_trial(self, side: int) -> RandomDeletion:
        """The trial of random orders. It knows no map, so all methods share it."""
        return RandomDeletion(repeats=self.repeats, **self._how(side))

    def _how(self, side: int) -> dict[str, Any]:
        tile = 1 if self.grid else side
        names = ("grid", "fill", "points", "evaluation", "error")
        return {"tile": tile, **{name: getattr(self, name) for name in names}}

    def _by(self) -> str:
        """Whose maps rank the tiles, in words."""
        return f"by {self.method}" if self.layer is None else f"by {self.method} at layer {self.layer}"

    def cells(self, exam: Exam) -> list[Cell]:
        side = self.side(exam)
        if side < 1 or exam.side // side < 2:
            got = f"a grid of {self.grid}" if self.grid else f"tiles of {side} pixels"
            raise UserError(
                f"images of {exam.side} pixels cannot be divided into {got}; give tiles of 1 to {exam.side // 2} pixels, such as "
                f"faithfulness(tile={max(1, exam.side // 32)})"
            )
        return [exam.clean()]

    def trials(self, exam: Exam) -> list[Cell]:
        return [*(self._ordered(exam, order) for order in self.orders), self._random(exam)]

    def _ordered(self, exam: Exam, order: str) -> Cell:
        return exam.trial(self.ordered_trial(order, self.side(exam)))

    def _random(self, exam: Exam) -> Cell:
        return exam.trial(self.random_trial(self.side(exam)))

    def curves(
        self, exam: Exam, answers: Answers, order: str = "lerf", chosen: FilteredImages | None = None
    ) -> DeletionCurves:
        """The curves of one model, of all images or of those that a filter left; read once."""
        cells = self._ordered(exam, order), self._random(exam)
        ordered, random = ((cell.distortion, answers.trials(cell)) for cell in cells)
        among = None if chosen is None else np.isin(exam.samples["test"].ids, chosen.ids)
        return answers.once((self, order, chosen), lambda: read_curves(ordered, random, among))  # type: ignore[arg-type]

    def conclude(self, exam: Exam, answers: Answers, chosen: FilteredImages | None = None) -> list[Finding]:
        """The areas of one model, on all images or on those that a filter left."""
        return [conclusion for order in self.orders for conclusion in self._of_order(exam, answers, order, chosen)]

    def compare(
        self,
        exam: Exam,
        everyone: Sequence[Answers],
        findings: Sequence[Finding],
        chosen: FilteredImages | None = None,
    ) -> list[Finding]:
        """How far the areas of each pair of models differ on the same images; insertion has the same areas."""
        return deletion_differences([(self, chosen)], exam, everyone)

    def difference(
        self, exam: Exam, everyone: Sequence[Answers], test: AreaTest, p: float, family: FamilyOfTests
    ) -> Finding:
        """How far the areas of two models differ, with its p-value among those of a family."""
        first, second, chosen, comparison = test.first.model, test.second.model, test.chosen, test.comparison
        sure = "clearly" if p < SURE else "not clearly"
        detectable = comparison.detectable_among(family.tests)
        text = (
            f"inter-model deletion of {first} less that of {second} on the same images: {sure} different (p = {p:.2g} after "
            f"Holm's correction over {family.words}); these data would mostly have shown a difference of {detectable:.1f}"
        )
        shown = self._examples_of_all(exam, everyone, chosen)
        areas = {
            answers.model: _areas_at(exam, self.areas(exam, answers, chosen), shown)
            for answers in everyone
            if answers.model in (first, second)
        }
        facts = DeletionDifferenceFacts(
            method=self.method, layer=self.layer, first=first, second=second, p=comparison.p, p_corrected=p,
            detectable=detectable, areas=areas, corrected_over=family.words,
            filter=UNSET if chosen is None else chosen.counts,
        )  # fmt: skip
        by = f"{self._by()}{_filtered(chosen)}"
        label, topic = f"Difference: inter-model deletion {by}", f"the difference of inter-model deletion {by}"
        name = f"{first} − {second}"
        concluded = finding(
            AUDIT, self.compared[0], name, comparison, text, unit="index", facts=facts, label=label, topic=topic
        )
        return replace(concluded, maker=self)

    def pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, str]]:
        """The images on which the maps of the models are most and least faithful."""
        samples = (
            example.sample
            for conclusion in findings
            if isinstance(conclusion.facts, DeletionFacts)
            for example in conclusion.facts.examples
        )
        return [(exam.clean(), sample) for sample in dict.fromkeys(samples)]

    def _examples_of_all(self, exam: Exam, everyone: Sequence[Answers], chosen: FilteredImages | None) -> list[str]:
        """The images that a page shows of any model."""
        curves = (self.curves(exam, answers, chosen=chosen) for answers in everyone)
        examples = (example for own in curves for example in _examples(exam, own))
        return list(dict.fromkeys(example.sample for example in examples))

    def areas(self, exam: Exam, answers: Answers, chosen: FilteredImages | None = None) -> np.ndarray:
        """float [runs, images of the listing]: the areas, nan where there is none."""
        curves = self.curves(exam, answers, chosen=chosen)
        areas = np.full((len(answers.runs), len(exam.samples["test"].ids)), np.nan)
        areas[:, curves.rows] = curves.areas
        return areas

    def compare_areas(self, exam: Exam, first: Answers, second: Answers, chosen: FilteredImages | None) -> Comparison:
        """The areas of two models on the same images."""
        return compare(self.areas(exam, first, chosen), self.areas(exam, second, chosen), _groups(exam))

    def _of_order(
        self, exam: Exam, answers: Answers, order: str, chosen: FilteredImages | None = None
    ) -> list[Finding]:
        """The area of deletion and, with the same images, of insertion."""
        curves = self.curves(exam, answers, order, chosen)
        by = f"{self._by()}{_filtered(chosen)}"
        groups = _groups(exam)
        groups = None if groups is None else groups[curves.rows]
        findings = []
        for name, some in zip(NAMES[order], (curves, curves.from_the_other_end())):
            over_runs = inter_model_auc(some.ordered.mean(0), some.random.mean(0), groups)
            own = self._facts(exam, some, over_runs)
            own["filter"] = UNSET if chosen is None else chosen.counts
            shows = name == "inter_model_deletion"
            facts = DeletionFacts(**own, examples=_examples(exam, curves)) if shows else CurveFacts(**own)
            per_run = tuple(some.areas.mean(1).tolist()) if len(curves.rows) else ()
            text = f"area between the curve of {_words(name)} and that of random orders, {by}, in points of 100"
            better: Literal["higher", "lower"] = "higher" if order == "lerf" else "lower"
            more: dict[str, Any] = {"better": better, "unit": "index", "facts": facts, "per_run": per_run}
            more |= {"label": f"{LABELS[name]}, {by}", "topic": f"{TOPICS[name]} {by}"}
            findings.append(finding(AUDIT, name, answers.model, over_runs, text, **more))
        return findings

    def _facts(self, exam: Exam, curves: DeletionCurves, area: InterModelAuc) -> dict[str, Any]:
        """The fields of `CurveFacts`."""
        order, random = curves.ordered.mean(0), curves.random.mean((0, 2))
        empty = not len(curves.rows)
        return {
            "method": self.method,
            "layer": self.layer,
            "tile": self.side(exam),
            "fill": self.fill,
            "evaluation": self.evaluation,
            "grid": self.grid,
            "seed": exam.seed,
            "se": area.se,
            "se_steps": area.se_steps,
            "order_area": float("nan") if empty else float(curve_areas(order).mean()),
            "random_area": float("nan") if empty else float(curve_areas(random).mean()),
            "whole": tuple(curves.whole.tolist()),
            "hidden": tuple(curves.hidden.tolist()),
            "asked": curves.passes,
            "full": curves.full,
            "sampling_error": curves.error,
            "curves": CurvePanels(_panel(order), _panel(random), _panel(order - random)),
            "order_error": curves.order_error,
            "requested_error": UNSET if self.evaluation == "full" else self.error,
        }


def _filtered(chosen: FilteredImages | None) -> str:
    """Which images count, in a label: the same audit may be asked of all of them too."""
    return "" if chosen is None else ", filtered images"


@dataclass(frozen=True)
class AreaTest:
    """The areas of two models on the same images, all or those that a filter left, and how they compare."""

    audit: FaithfulnessAudit
    chosen: FilteredImages | None
    first: Answers
    second: Answers
    comparison: Comparison


def deletion_differences(
    audits: Sequence[tuple[FaithfulnessAudit, FilteredImages | None]], exam: Exam, everyone: Sequence[Answers]
) -> list[Finding]:
    """How far the areas of each pair of models differ on the same images, for each audit and what a filter left of its images:
    one family of tests."""
    tests = [
        AreaTest(audit, chosen, first, second, audit.compare_areas(exam, first, second, chosen))
        for audit, chosen in audits
        if "lerf" in audit.orders
        for first, second in itertools.combinations(everyone, 2)
    ]
    family = corrected([test.comparison.p for test in tests], FAMILY)
    return [test.audit.difference(exam, everyone, test, p, family) for test, p in zip(tests, family.p)]


def _panel(curves: np.ndarray) -> PanelCurve:
    """The mean over images of curves [images, points]."""
    mean = mean_curve(curves)
    return PanelCurve(tuple(mean.value.tolist()), tuple(mean.se.tolist()))


def _words(name: str) -> str:
    """What a curve is of, inside a sentence."""
    kind = "deletion" if name.endswith("deletion") else "insertion"
    most = name in ("inter_model_insertion", "morf_deletion")
    return f"{kind} with the {'most' if most else 'least'} relevant tiles first"


def _groups(exam: Exam) -> np.ndarray | None:
    return exam.column("group", exam.samples["test"].ids)


def _areas_at(exam: Exam, areas: np.ndarray, samples: Sequence[str]) -> dict[str, float]:
    """The area of each sample, over the runs."""
    place = {sample: at for at, sample in enumerate(exam.samples["test"].ids)}
    return {sample: float(areas[:, place[sample]].mean()) for sample in samples}


def _examples(exam: Exam, curves: DeletionCurves) -> tuple[AreaExample, ...]:
    """The images with the highest and the lowest area, over the runs."""
    areas = curves.areas.mean(0)
    ids = exam.samples["test"].ids
    order = np.argsort(-areas, kind="stable")
    order = order[~np.isnan(areas[order])]
    chosen = order if len(order) <= 2 * PICTURES else np.concatenate([order[:PICTURES], order[-PICTURES:]])
    return tuple(AreaExample(ids[curves.rows[at]], float(areas[at])) for at in chosen)
