"""Adversarial backgrounds: the objects that some background fools a model on, and which ones do (Xiao et al. 2021, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec
import numpy as np

from snellen.audits.attack_rates import (
    Halves,
    RateBin,
    WorstBackground,
    histogram_of,
    mean_success,
    share_turned,
    turned_into,
    worst_of_class,
)
from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.data.variants import refuse_variant
from snellen.distort import Background as Variant
from snellen.distort.law import expect_within
from snellen.engine.keep.read_back import Answers, TrialTable
from snellen.engine.requests.cell import Cell
from snellen.errors import UserError
from snellen.measure import accuracy
from snellen.search.backgrounds import EveryBackground, vulnerable

AUDIT = "adversarial_backgrounds"
MOST_CLASSES, TOP_CLASSES = 20, 15  # up to how many classes all are shown, and how many are beyond that
CHOSEN = ", chosen on these objects"  # at the end of labels
RULES = {
    "any": "gives a wrong answer",
    "background": "of another class gives the background's class",
}


class VulnerableFacts(FindingFacts, frozen=True, kw_only=True):
    """The rule and the number of backgrounds; the share fooled of each class; the share of wrong answers on one background of
    any class; the `images` asked in each run and the fewest that any order needs (none where all were asked); the objects that
    the model failed on; and the trial."""

    rule: Literal["any", "background"]
    backgrounds: int
    by_class: dict[str, Number]
    wrong_on_one: Number
    images: list[int] = msgspec.field(name="asked")
    least: list[int]
    failed: int
    trial: str


class AttackRateFacts(FindingFacts, frozen=True, kw_only=True):
    """The trial and the number of backgrounds; by class the worst ones, and the share of objects of other classes that some
    background of the class turns into it; how many backgrounds have which rate, and the rate of the strongest.

    The worst and the strongest are chosen on one half of the objects, and their rates are of the other half, of `stated` objects.
    Where these are too few both are of all: then rates are `chosen`. Earlier runs, which have neither fact, are so too.
    """

    trial: str
    backgrounds: int
    worst: dict[str, list[WorstBackground]]
    class_totals: dict[str, Number]
    histogram: list[RateBin]
    highest: Number
    stated: int | UnsetType = UNSET
    chosen: bool | UnsetType = UNSET


class WorstClassFacts(FindingFacts, frozen=True, kw_only=True):
    """The class whose backgrounds turn most objects into it, and whether it was `chosen` on the objects that the value is of."""

    name: str = msgspec.field(name="class")
    chosen: bool | UnsetType = UNSET


def pictured_classes(facts: AttackRateFacts) -> list[str]:
    """The classes whose worst backgrounds a reader sees: all, or of very many those whose backgrounds are strongest."""
    if len(facts.worst) <= MOST_CLASSES:
        return list(facts.worst)
    totals = {name: facts.class_totals.get(name) for name in facts.worst}
    return sorted(totals, key=lambda name: -(totals[name] or 0.0))[:TOP_CLASSES]


@dataclass(frozen=True)
class AdversarialBackgroundsAudit(Audit):
    """Every object on every background: the share of objects that at least one background fools the model on.

    `rule=any` counts any wrong answer, as the published evaluation does; `background` only the background's own class.
    `backgrounds` takes so many of the pool (0: all), chosen by a hash of their ids. Each object is asked until the first
    success; with `rates` on all backgrounds, for the attack rate of each background, the `worst` of each class with
    pictures, and the totals by class. Backgrounds are the test images without their objects, or those of `--donors`; with
    `bare` the donors are backgrounds already, such as `in9:DIR/only_bg_t`. Data must have masks, or boxes at least.
    """

    rule: Literal["any", "background"] = "any"
    backgrounds: int = 0
    rates: bool = False
    foreground: Literal["auto", "mask", "box"] = "auto"
    bare: bool = False
    worst: int = 5
    title: ClassVar[str] = "Adversarial backgrounds"
    names: ClassVar[tuple[str, ...]] = ("vulnerable",)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "vulnerable": VulnerableFacts,
        "attack_rate": AttackRateFacts,
        "worst_class_total": WorstClassFacts,
    }

    def __post_init__(self) -> None:
        expect_within("backgrounds", self.backgrounds, 0, 10**9)
        expect_within("worst", self.worst, 0, 1000)
        if self.rates:
            object.__setattr__(self, "names", ("vulnerable", "attack_rate", "worst_class_total"))

    @property
    def variants(self) -> tuple[str, ...]:
        return ("mixed_rand",)

    def object_is(self, exam: Exam) -> Literal["mask", "box"]:
        """What counts as the object: its mask, or its box where no masks are known."""
        facts = exam.facts.get("test", frozenset({"masks"}))
        if self.foreground != "auto":
            return self.foreground
        return "box" if "boxes" in facts and "masks" not in facts else "mask"

    def mixed_cell(self, exam: Exam) -> Cell:
        """The same pasting with one background of any class per object: what chance does, and its interference."""
        if "mixed_rand" in exam.variants and self.foreground != "box" and (self.bare or not exam.donors):
            return exam.clean("mixed_rand")
        return exam.cell(Variant("mixed_rand", foreground=self.object_is(exam)))

    def trial(self, exam: Exam) -> Cell:
        """Every object on every background, as these settings try them."""
        how = EveryBackground(self.rule, self.backgrounds, self.rates, self.object_is(exam), self.bare)
        return exam.trial(how)

    def cells(self, exam: Exam) -> list[Cell]:
        if not exam.donors:  # else objects of any variant that has them will do
            refuse_variant(exam.texts.get("test", ""), AUDIT)
        if not exam.facts.get("test", frozenset({"masks"})) & {"masks", "boxes"}:
            raise UserError(
                f"the audit {AUDIT} needs the objects' masks or boxes, which the test data do not have; use voc:, coco:, "
                "boxes: or in9: data, or a manifest with boxes"
            )
        return (
            [exam.clean()] if self.bare and "mixed_rand" not in exam.variants else [exam.clean(), self.mixed_cell(exam)]
        )

    def trials(self, exam: Exam) -> list[Cell]:
        return [self.trial(exam)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        runs = answers.trials(self.trial(exam))
        return [self._vulnerable(exam, answers, runs), *(self._rates(exam, answers, runs) if self.rates else ())]

    def trial_pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, int]]:
        """The backgrounds that a reader should see: the worst of each class."""
        return [
            (self.trial(exam), background.place)
            for rate in findings
            if isinstance(rate.facts, AttackRateFacts)
            for name in pictured_classes(rate.facts)
            for background in rate.facts.worst.get(name, ())
        ]

    def _vulnerable(self, exam: Exam, answers: Answers, runs: Sequence[TrialTable]) -> Finding:
        fooled = np.array([[vulnerable(row) for row in run.rows] for run in runs])
        share = accuracy(fooled, answers.groups(exam.clean()))
        count = len(runs[0].things.get("place", ()))
        labels = exam.samples["test"].labels
        classes = exam.classes["test"]
        known = ~np.isnan(fooled) & (labels >= 0)
        place = np.broadcast_to(labels, fooled.shape)[known]
        many = np.bincount(place, minlength=len(classes))
        total = np.bincount(place, fooled[known], len(classes))
        by_class: dict[str, Number] = {
            name: float(total[label] / many[label]) for label, name in enumerate(classes) if many[label]
        }
        images = [sum(row["asked"] for row in run.rows if row) for run in runs]
        facts = VulnerableFacts(
            rule=self.rule,
            backgrounds=count,
            by_class=by_class,
            wrong_on_one=self._wrong_on_one(exam, answers),
            images=images,
            least=[] if self.rates else [_least(run) for run in runs],
            failed=sum(bool(row and row["error"] and row["asked"]) for run in runs for row in run.rows),
            trial=str(self.trial(exam).distortion),
        )
        text = f"share of objects for which at least one of {count:,} backgrounds {RULES[self.rule]}"
        return finding(
            AUDIT, "vulnerable", answers.model, share, text, better="lower", cells=tuple(self.cells(exam)), facts=facts,
            per_run=tuple(np.nanmean(run) for run in fooled) if share.n else (),
            label="Objects misclassified on at least one background", topic="objects fooled by some background",
        )  # fmt: skip

    def _wrong_on_one(self, exam: Exam, answers: Answers) -> float:
        """The share of wrong answers with a single background of any class."""
        if self.bare and "mixed_rand" not in exam.variants:
            return float("nan")
        score = answers[self.mixed_cell(exam)].score
        return 1 - float(score.mean()) if score.size else float("nan")

    def _rates(self, exam: Exam, answers: Answers, runs: Sequence[TrialTable]) -> list[Finding]:
        """The attack rates, by the runs' mean: a background is bad if it is so for all of them."""
        halves, labels, things = Halves.of(exam), exam.samples["test"].labels, runs[0].things
        other, cells = np.array(things["label"], int), tuple(self.cells(exam))
        rates, _, totals = mean_success(runs, labels, other)
        chosen_by, _, totals_by = mean_success(runs, labels, other, halves.choosing)
        stated, tried, _ = mean_success(runs, labels, other, halves.stated)
        turned = np.array([share_turned(run, labels, other) for run in runs])
        rate = accuracy(turned, answers.groups(exam.clean()))
        names = dict(zip(things["label"], things["class"]))
        strongest = np.nanargmax(chosen_by) if np.isfinite(chosen_by).any() else None
        facts = AttackRateFacts(
            trial=str(self.trial(exam).distortion),
            backgrounds=len(other),
            worst={
                names[k]: worst_of_class(things, chosen_by, (stated, tried), names[k], self.worst)
                for k in sorted(names)
            },
            class_totals={names[k]: totals[k] for k in sorted(names)},
            histogram=histogram_of(rates),
            highest=float("nan") if strongest is None else float(stated[strongest]),
            stated=int(halves.stated.sum()),
            chosen=halves.chosen,
        )
        text = (
            "of the backgrounds of other classes, the share whose class is answered, mean over objects: what one background "
            "drawn at random does, not the worst one"
        )
        findings = [
            finding(
                AUDIT, "attack_rate", answers.model, rate, text, better="lower", cells=cells, facts=facts,
                label="Answered as the background's class, one drawn at random", topic="a background drawn at random",
            )
        ]  # fmt: skip
        finite = {label: total for label, total in totals_by.items() if np.isfinite(total)}
        if finite:
            label = max(finite, key=lambda number: (finite[number], -number))
            hits = np.array([turned_into(run, labels, other, label) for run in runs])
            share = accuracy(np.where(halves.stated, hits, np.nan), answers.groups(exam.clean()))
            text = (
                "share of objects of other classes that at least one background of a class turns into it, for the worst class; "
                f"{halves.words}"
            )
            mark = CHOSEN if halves.chosen else ""
            findings.append(
                finding(
                    AUDIT, "worst_class_total", answers.model, share, text, better="lower", cells=cells,
                    facts=WorstClassFacts(name=names[label], chosen=halves.chosen),
                    label=f"Objects turned into the worst class by some background{mark}",
                    topic="the worst class of backgrounds",
                )
            )  # fmt: skip
        return findings


def _least(run: TrialTable) -> int:
    """The fewest images that any order could have asked: one of an object that can be fooled, all of one that cannot."""
    return sum(1 if row["fooled"] else row["tried"] for row in run.rows if row and vulnerable(row) in (0, 1))
