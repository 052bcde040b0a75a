"""Which edits of a worst tuple matter: what comes back where one alone is left out, corrected over all edits of all models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snellen.audits.exam import Exam
from snellen.audits.families import corrected
from snellen.audits.finding import Finding, finding
from snellen.audits.label import WORDS
from snellen.audits.shift_facts import EditEffectFacts, without_each
from snellen.audits.unsearched import UnsearchedImages
from snellen.distort import parse
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import compare
from snellen.measure.comparison import Comparison

FAMILY = "effects of edits: all edits of the worst tuple of each model"


@dataclass(frozen=True)
class EditLeftOut:
    """An edit of a model's worst tuple (`whole`), its place from 0, and what comes back without it on images not searched."""

    model: str
    whole: Cell
    edit: str
    place: int
    effect: Comparison
    unsearched: UnsearchedImages


def edits_left_out(exam: Exam, answers: Answers, worst: str, unsearched: UnsearchedImages) -> list[EditLeftOut]:
    """Each edit of the worst tuple of a model's first run, on images that were not searched."""
    whole, effects = exam.cell(parse(worst)), []
    for place, (edit, rest) in enumerate(zip(worst.split(" | "), without_each(worst))):
        blocks = answers.together(whole, exam.cell(rest))
        with_all, without = (block.of(unsearched.rows(block)) for block in blocks)
        effect = compare(without.score[:1], with_all.score[:1], without.groups)
        effects.append(EditLeftOut(answers.model, whole, edit, place, effect, unsearched))
    return effects


def effect_findings(exam: Exam, effects: Sequence[EditLeftOut]) -> list[Finding]:
    """How much accuracy comes back where one edit is left out; the tests of all models are one family."""
    family = corrected([left_out.effect.p for left_out in effects], FAMILY)
    return [_effect(exam, left_out, p, family.words) for left_out, p in zip(effects, family.p)]


def _effect(exam: Exam, left_out: EditLeftOut, p: float, family: str) -> Finding:
    edit, words = left_out.edit, parse(left_out.edit).words()
    facts = EditEffectFacts(
        edit=edit, place=left_out.place, words=words, p=left_out.effect.p, p_corrected=p, corrected_over=family,
        chosen=left_out.unsearched.chosen,
    )  # fmt: skip
    return finding(
        "shift", "edit_effect", left_out.model, left_out.effect,
        f"{WORDS[exam.task].accuracy} without {edit} less that under all of {left_out.whole.distortion} (first run), "
        f"{left_out.unsearched.words}",
        unit="difference", cells=(left_out.whole,), facts=facts, label=f"Effect of {words}", topic=f"the effect of {words}",
    )  # fmt: skip
