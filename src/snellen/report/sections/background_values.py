"""The values of the background section: variants, categories and sizes of each model, and lines over models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose

from snellen.audits.background_facts import (
    AccuracyOfSize,
    BgGapFacts,
    NeedsBackgroundFacts,
    ProgressFacts,
    ScaleLeakageFacts,
    SizeEffectFacts,
    VariantFacts,
)
from snellen.audits.background_progress import LINES
from snellen.audits.facts import Number
from snellen.audits.stored_finding import StoredFinding
from snellen.measure import CATEGORIES
from snellen.report.guessing import Guess
from snellen.report.results import AnyFinding, Results
from snellen.report.words import is_known

AUDIT = "background"
REQUIRED = CATEGORIES[1:3]
MOST_CLASSES, TOP_CLASSES = 20, 15  # up to how many classes each has its bar, and how many have one beyond that
CATEGORY_MEANING = dict(
    zip(
        CATEGORIES,
        (
            "right or wrong, whatever the background",
            "right, and the background alone suffices, but the object on another one does not",
            "right only with both: neither the background alone nor the object on another one suffices",
            "wrong, but right once the background is another one",
            "wrong, though the background alone and the object on another one are both right",
        ),
    )
)


@dataclass(frozen=True)
class CategoryCounts:
    """How many images, all or those of a class, fall into each category."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def required(self) -> int:
        """How many need their background."""
        return sum(self.counts[category] for category in REQUIRED)

    def share(self, category: str) -> float:
        """The share of the images in a category; 0 where there are none."""
        return self.counts[category] / max(1, self.total)


@dataclass(frozen=True)
class ModelBackgrounds:
    """The findings about one model."""

    model: str
    variants: tuple[StoredFinding[VariantFacts], ...]
    bg_gap: StoredFinding[BgGapFacts]
    needs: StoredFinding[NeedsBackgroundFacts]
    size: StoredFinding[SizeEffectFacts]
    clean: AnyFinding | None = None

    @property
    def original(self) -> Number:
        """The accuracy on the same images unmodified."""
        return self.variants[0].facts.original

    @property
    def original_ends(self) -> tuple[Number, Number]:
        """Its interval, where it is the clean accuracy; other images, such as a stored variant, have none."""
        clean, original = self.clean, self.original
        if clean is None or not (is_known(clean.value) and is_known(original)) or not isclose(clean.value, original):
            return None, None
        return clean.low, clean.high

    @property
    def categories(self) -> CategoryCounts:
        return CategoryCounts(self.needs.facts.counts)

    @property
    def classes(self) -> dict[str, CategoryCounts]:
        """The classes that have a bar: of very many those whose images most often need their background."""
        counted = {name: CategoryCounts(counts) for name, counts in self.needs.facts.by_class.items()}
        classes = {name: counts for name, counts in counted.items() if counts.total}
        if len(classes) <= MOST_CLASSES:
            return classes
        by_need = sorted(classes, key=lambda name: classes[name].required / classes[name].total, reverse=True)
        return {name: classes[name] for name in by_need[:TOP_CLASSES]}

    @property
    def bins(self) -> list[AccuracyOfSize]:
        """The sizes with an accuracy."""
        return [size for size in self.size.facts.bins if is_known(size.value)]


@dataclass(frozen=True)
class ProgressLine:
    """A line over models: what it is about in words, its slope (the finding's value) and its points."""

    words: str
    finding: StoredFinding[ProgressFacts]

    def height(self, clean: float) -> Number:
        """What the line says of a model with this clean accuracy."""
        slope, intercept = self.finding.value, self.finding.facts.intercept
        return None if slope is None or intercept is None else intercept + slope * clean


@dataclass(frozen=True)
class RunBackgrounds:
    """All that the section draws of a run; `boxed` says that objects are their whole boxes."""

    models: list[ModelBackgrounds]
    boxed: bool
    guess: Guess
    leakage: StoredFinding[ScaleLeakageFacts] | None
    progress: list[ProgressLine]


def background_values(results: Results) -> RunBackgrounds | None:
    """All that the section draws of this run; None without the audit of backgrounds. Every number is a finding's."""
    findings = results.of_audit(AUDIT)
    if not findings:
        return None
    leakages = (leakage for leakage in results.having(ScaleLeakageFacts) if is_known(leakage.value))
    lines = (line for line in results.having(ProgressFacts) if is_known(line.value))
    return RunBackgrounds(
        models=[_of_model(results, model) for model in results.models],
        boxed=any("foreground=box" in text for finding in findings for text in finding.distortions),
        guess=results.guess(*_alone(results)),
        leakage=next(leakages, None),
        progress=[ProgressLine(LINES.get(line.facts.of, line.facts.of), line) for line in lines],
    )


def _alone(results: Results) -> list[StoredFinding[VariantFacts]]:
    """The accuracies on backgrounds alone, which guessing is held against."""
    known = (variant for variant in results.having(VariantFacts) if is_known(variant.value))
    return [variant for variant in known if variant.facts.kind == "only_bg_t"]


def _of_model(results: Results, model: str) -> ModelBackgrounds:
    (*_, gap) = (gap for gap in results.having(BgGapFacts) if (gap.model, gap.name) == (model, "bg_gap"))
    (*_, needs) = (needs for needs in results.having(NeedsBackgroundFacts) if needs.model == model)
    (*_, size) = (size for size in results.having(SizeEffectFacts) if size.model == model)
    variants = tuple(variant for variant in results.having(VariantFacts) if variant.model == model)
    return ModelBackgrounds(model, variants, gap, needs, size, results.clean(model))
