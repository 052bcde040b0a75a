"""Shift: the combination of harmless-looking edits under which a model does worst (Volpi & Murino 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.edit_effects import edits_left_out, effect_findings
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.audits.label import WORDS
from snellen.audits.run_facts import RunFacts, pixel_facts
from snellen.audits.shift_facts import (
    EditEffectFacts,
    RandomEditsFacts,
    Rows,
    TransferFacts,
    WorstEditsFacts,
    density,
    infeasible_share,
    minima,
    passed,
    runs_in,
    thinned,
    without_each,
)
from snellen.audits.trust import trust_in
from snellen.audits.unsearched import UnsearchedImages
from snellen.distort import parse
from snellen.distort.chain import Nothing
from snellen.distort.law import expect_within
from snellen.engine.keep.read_back import AnswerBlock, Answers, Searches
from snellen.engine.requests.cell import Cell
from snellen.errors import UserError
from snellen.measure import accuracy, compare
from snellen.search.algorithms import GeneLaw
from snellen.search.edit_search import EditSearch, Rule, SubsetSearch
from snellen.search.hue import HueShift

AUDIT = "shift"
QUANTILE = 0.001  # of random tuples, the published threshold
NEGATIVE = "invert()"
CHOSEN = ", chosen on these images"  # at the end of labels


class _Subset(NamedTuple):
    """What is searched on one set of images: random tuples, where there are any, and one search per restart."""

    draws: Sequence[Cell]
    evolutions: Sequence[Cell]


@dataclass(frozen=True)
class ShiftAudit(Audit):
    """The worst of very many combinations of edits, found by search, then shown to every model on all images; its accuracy is
    that on images that were not searched, where there are enough.

    `set` is a space of edits (`snellen list spaces`) or a YAML file; tuples have `length` of them. `random` tuples are drawn
    first, to know how accuracy is spread; then a search by `algorithm` (`es` as published, or `es_climb`) asks
    `evaluations` times, `restarts` times over; the worst counts. Searches look at `images` of the test images. `population`,
    `mutation`, `selection` and `genes` are those of the evolution. With `references` negatives and shifted hues are
    attacked too. A `constraint`, `'ssim(0.8)'` or `'edges(0.7)'`, allows only tuples that keep the content of 95% of the
    images. Each edit of the worst tuple is also left out once, to know which of them matter. `protocol` names the published
    settings that these follow, for the findings. With `subsets` all of this is done on so many sets of `images` each, and the
    lowest values are means over them.
    """

    set: str = "cifar10"
    length: int = 5
    random: int = 1000
    algorithm: Literal["es", "es_climb"] = "es"
    evaluations: int = 1000
    restarts: int = 1
    images: int = 200
    population: int = 10
    mutation: float = 0.1
    selection: Rule = "difference"
    genes: GeneLaw = "type"
    references: bool = False
    constraint: str | None = None
    protocol: str = ""
    subsets: int = 1
    title: ClassVar[str] = "Worst-case edits"
    names: ClassVar[tuple[str, ...]] = ("worst_accuracy", "worst_drop", "searched_worst", "random_worst", "edit_effect")
    compared: ClassVar[tuple[str, ...]] = ("transfer_accuracy",)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "worst_accuracy": WorstEditsFacts,
        "worst_drop": FindingFacts,
        "searched_worst": FindingFacts,
        "random_worst": RandomEditsFacts,
        "edit_effect": EditEffectFacts,
        "negative_accuracy": RunFacts,
        "hue_accuracy": FindingFacts,
        "transfer_accuracy": TransferFacts,
    }
    tasks: ClassVar[tuple[str, ...]] = tuple(WORDS)

    def __post_init__(self) -> None:
        expect_within("random", self.random, 0, EditSearch.MOST)
        expect_within("restarts", self.restarts, 1, 1000)
        expect_within("subsets", self.subsets, 1, 100)
        if self.subsets > 1 and not self.images:
            raise ValueError("expected a number of images for each subset, got 0, which stands for all")
        _ = self.evolutions, self.draws  # each refuses what it cannot do
        if self.references:
            object.__setattr__(self, "names", (*self.names, "negative_accuracy", "hue_accuracy"))

    @property
    def evolutions(self) -> list[EditSearch]:
        """The searches, one per restart."""
        return [
            EditSearch(
                self.set, self.length, self.algorithm, self.evaluations, self.images, self.population, self.mutation,
                self.selection, self.genes, restart, self.constraint,
            )
            for restart in range(self.restarts)
        ]  # fmt: skip

    @property
    def draws(self) -> EditSearch | None:
        """The random tuples; None where there are none."""
        if not self.random:
            return None
        return EditSearch(
            self.set, self.length, "rs", self.random, self.images, genes=self.genes, constraint=self.constraint
        )

    def searches(self, exam: Exam) -> list[Cell]:
        return [cell for subset in self._subsets(exam) for cell in (*subset.draws, *subset.evolutions)]

    def _subsets(self, exam: Exam) -> list[_Subset]:
        """What is searched on each set of images."""

        def cells(searches: Sequence[EditSearch], subset: int) -> list[Cell]:
            own = [SubsetSearch(**vars(search), subset=subset) if subset else search for search in searches]
            return [Cell(search, "test", exam.seed) for search in own]

        draws = [] if self.draws is None else [self.draws]
        return [_Subset(cells(draws, subset), cells(self.evolutions, subset)) for subset in range(self.subsets)]

    def trials(self, exam: Exam) -> list[Cell]:
        if self.references and exam.task != "classification":
            raise UserError(
                f"references shift the hue of an image until its class changes, and the models are for {exam.task}; leave "
                "references out (--no-references)"
            )
        return [exam.trial(HueShift())] if self.references else []

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.clean(), *([exam.cell(parse(NEGATIVE))] if self.references else [])]

    def follow(self, exam: Exam, searches: Searches) -> list[Cell]:
        worst = [self._worst(exam, tables, run) for tables in searches.values() for run in range(runs_in(tables))]
        variants = [variant for text in worst for variant in (parse(text), *without_each(text))]
        if exam.task != "classification":  # pictured beside the worst ones, as in figure 4
            variants += [parse(self._worst_random(exam, tables, 0)) for tables in searches.values()]
        return [exam.cell(distortion) for distortion in dict.fromkeys(variants)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        tables = {cell: answers.searches(cell) for cell in self.searches(exam)}
        worst = [self._worst(exam, tables, run) for run in range(len(answers.runs))]
        findings = self._accuracies(exam, answers, tables, worst)
        if self.draws is not None:
            findings.append(self._random(exam, answers, tables))
        return [*findings, *(self._references(exam, answers) if self.references else ())]

    def unsearched(self, exam: Exam) -> UnsearchedImages:
        """The images on which the worst edits are reported."""
        return UnsearchedImages.of(exam, self.images, self.subsets)

    @property
    def _times(self) -> str:
        return f", mean over {self.subsets} such sets" if self.subsets > 1 else ""

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """What each edit does to each model, and every model under the worst edits of every other: what one model fails at,
        another may stand."""
        transfers = [
            self._transfer(exam, answers, other) for answers in everyone for other in everyone if other is not answers
        ]
        effects = [
            left_out
            for answers in everyone
            for left_out in edits_left_out(exam, answers, self._first_worst(exam, answers), self.unsearched(exam))
        ]
        return [*effect_findings(exam, effects), *transfers]

    def _first_worst(self, exam: Exam, answers: Answers) -> str:
        """The worst edits of a model's first run."""
        return self._worst(exam, {cell: answers.searches(cell) for cell in self.searches(exam)}, 0)

    def _worst(self, exam: Exam, tables: Mapping[Cell, Sequence[Rows]], run: int) -> str:
        """The edits of the lowest accuracy that any search found for a run, the first where several are; none where no tuple
        met the constraint."""
        rows = [row for cell in self.searches(exam) for row in tables[cell][run] if row["value"] is not None]
        return str(min(rows, key=lambda row: row["value"])["edits"]) if rows else str(Nothing())

    def _worst_random(self, exam: Exam, tables: Mapping[Cell, Sequence[Rows]], run: int) -> str:
        """The edits of the lowest accuracy among the random tuples; none where there are none."""
        rows = [row for subset in self._subsets(exam) for cell in subset.draws for row in tables[cell][run]]
        known = [row for row in rows if row["value"] is not None]
        return str(min(known, key=lambda row: row["value"])["edits"]) if known else str(Nothing())

    def _accuracies(
        self, exam: Exam, answers: Answers, tables: Mapping[Cell, Sequence[Rows]], worst: Sequence[str]
    ) -> list[Finding]:
        """Accuracy under each run's own worst edits, on images that were not searched, and how far it is below the clean one."""
        cells = [exam.cell(parse(text)) for text in worst]
        unsearched = self.unsearched(exam)
        clean, *blocks = (block.of(unsearched.rows(block)) for block in answers.together(exam.clean(), *cells))
        scores = np.stack([block.score[run] for run, block in enumerate(blocks)])
        subsets = self._subsets(exam)
        curves = [  # by run, set of images and restart
            [[minima(tables[cell][run]) for cell in subset.evolutions] for subset in subsets]
            for run in range(len(worst))
        ]
        by_subset = [[float(min(curve[-1] for curve in of_subset)) for of_subset in of_run] for of_run in curves]
        lowest = [float(np.mean(values)) for values in by_subset]
        words = WORDS[exam.task]
        facts = WorstEditsFacts(
            edits=[str(parse(text)) for text in worst],
            words=[parse(text).words() for text in worst],
            searched=[*lowest],
            images=self.images or len(answers[exam.clean()].labels),
            evaluations=[[len(curve) for of_subset in of_run for curve in of_subset] for of_run in curves],
            curves=[[thinned(curve) for of_subset in of_run for curve in of_subset] for of_run in curves],
            set=self.set,
            length=self.length,
            protocol=self.protocol,
            constraint=self.constraint,
            infeasible=[infeasible_share(tables, run) for run in range(len(answers.runs))],
            unsearched=len(unsearched.ids),
            chosen=unsearched.chosen,
            searched_on=UNSET if self.subsets == 1 else [[*of_run] for of_run in by_subset],
            **pixel_facts(_own_runs(blocks), exam.classes["test"]),
        )
        # Each model has edits of its own: the findings rest on no common cell, and their interference is put here.
        classes = exam.task == "classification"  # else there is no interference
        trusts = [trust_in(exam, answers, cell) for cell in cells if classes and exam.modified(cell)]
        trust = max(trusts, key=lambda trust: (trust.flagged, trust.index), default=None)
        drop = compare(clean.score, scores, clean.groups)
        mark = CHOSEN if unsearched.chosen else ""
        return [
            finding(
                AUDIT, "worst_accuracy", answers.model, accuracy(scores, clean.groups),
                f"{words.accuracy} under the worst {self.length} edits that were found: {'; '.join(dict.fromkeys(worst))}, "
                f"{unsearched.words}",
                better="higher", facts=facts, label=f"{words.label} under the worst edits{mark}", topic="the worst edits",
                per_run=tuple(scores.mean(1).tolist()), trust=trust,
            ),
            finding(
                AUDIT, "worst_drop", answers.model, drop,
                f"clean {words.accuracy} less that under the worst edits, paired, {unsearched.words}",
                better="lower", unit="difference", label=f"Loss under the worst edits{mark}",
                topic="the loss under the worst edits", trust=trust,
                per_run=tuple((clean.score.mean(1) - scores.mean(1)).tolist()),
            ),
            Finding(
                AUDIT, "searched_worst", answers.model, float(np.mean(lowest)), float("nan"), float("nan"), len(lowest),
                f"lowest {words.accuracy} of {self.restarts} × {self.evaluations:,} evaluations on {facts.images:,} images"
                f"{self._times}",
                better="higher", label=f"Lowest {words.accuracy} that the search found",
                topic=f"the lowest {words.accuracy} of the search",
                per_run=tuple(lowest),
            ),
        ]  # fmt: skip

    def _random(self, exam: Exam, answers: Answers, tables: Mapping[Cell, Sequence[Rows]]) -> Finding:
        """How accuracy is spread over random tuples, on the images that were searched."""
        subsets, runs = self._subsets(exam), range(len(answers.runs))
        values = [[_values(tables[cell][run]) for subset in subsets for cell in subset.draws] for run in runs]
        thresholds = [[float(np.quantile(own, QUANTILE, method="lower")) for own in of_run] for of_run in values]
        when = [
            [
                passed(tables[cell][run], limit)
                for subset, limit in zip(subsets, thresholds[run])
                for cell in subset.evolutions
            ]
            for run in runs
        ]
        lowest = [float(np.mean([own.min() for own in of_run])) for of_run in values]
        spread = [np.concatenate(of_run) for of_run in values]
        clean, noun = answers[exam.clean()], WORDS[exam.task].accuracy
        pictured = exam.task != "classification"
        facts = RandomEditsFacts(
            quantile=[float(np.mean(of_run)) for of_run in thresholds],
            passed=when,
            density=[density(own) for own in spread],
            median=[float(np.median(own)) for own in spread],
            edits=str(parse(self._worst_random(exam, tables, 0))) if pictured else UNSET,
            random_on=[[float(own.min()) for own in of_run] for of_run in values] if self.subsets > 1 else UNSET,
        )
        return Finding(
            AUDIT, "random_worst", answers.model, float(np.mean(lowest)), float("nan"), float("nan"), self.random,
            f"lowest {noun} of {self.random:,} random tuples on {self.images or len(clean.labels):,} images{self._times}",
            better="higher", label=f"Lowest {noun} of random edits", topic="the worst random edits",
            per_run=tuple(lowest), facts=facts,
        )  # fmt: skip

    def _references(self, exam: Exam, answers: Answers) -> list[Finding]:
        """The attacks that Volpi & Murino (2019) compare with, table 1."""
        negative, trial = exam.cell(parse(NEGATIVE)), exam.trial(HueShift())
        runs = answers.trials(trial)
        right = np.array(
            [
                [np.nan if row is None or row.get("fooled") is None else not row["fooled"] for row in run.rows]
                for run in runs
            ],
            np.float64,
        )
        return [
            accuracy_finding(
                AUDIT, "negative_accuracy", answers.model, answers[negative], negative, "accuracy on negatives",
                label="Accuracy on negatives", topic="negatives",
            ),
            finding(
                AUDIT, "hue_accuracy", answers.model, accuracy(right, answers.groups(exam.clean())),
                f"share of images that none of {HueShift().shifts:,} shifts of hue and saturation fools the model on",
                better="higher", cells=(exam.clean(),), label="Accuracy under the worst hue of each image",
                topic="the worst hue of each image", per_run=tuple(np.nanmean(right, axis=1)),
            ),
        ]  # fmt: skip

    def _transfer(self, exam: Exam, answers: Answers, other: Answers) -> Finding:
        cell, words = exam.cell(parse(self._first_worst(exam, other))), WORDS[exam.task]
        return accuracy_finding(
            AUDIT, "transfer_accuracy", answers.model, answers[cell], cell,
            f"{words.accuracy} under the worst edits of {other.model}: {cell.distortion}", facts=TransferFacts(of=other.model),
            label=f"{words.label} under the worst edits of {other.model}", topic=f"the worst edits of {other.model}",
        )  # fmt: skip


def _values(rows: Rows) -> np.ndarray:
    """float [tuples]: what tuples that were shown gave; nan where none was."""
    return np.array([row["value"] for row in rows if row["value"] is not None] or [np.nan])


def _own_runs(blocks: Sequence[AnswerBlock]) -> AnswerBlock:
    """Of the answers of all runs to the edits of each run those to its own."""
    if blocks[0].counts is None:
        return blocks[0]
    own = [block.counts[run] for run, block in enumerate(blocks) if block.counts is not None]
    return replace(blocks[0], counts=np.stack(own))
