"""Worst-case edits: the accuracy under edits that were chosen, and which of them matter."""

from __future__ import annotations

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import answers_of, of_findings
from sentence_cases.world import World
from snellen.audits import CleanAudit, ShiftAudit
from snellen.audits.edit_effects import EditLeftOut, effect_findings
from snellen.audits.shift_facts import EditEffectFacts, WorstEditsFacts
from snellen.audits.unsearched import UnsearchedImages
from snellen.distort import parse
from snellen.engine import Answers, Cell
from snellen.measure import compare
from snellen.report.sections.shift import _effect_row, shift_sentence

TRIED = 40  # tuples, half of them at random
EDITS = ("brightness(0.9)", "contrast(0.9)", "colour(0.9)", "sharpness(0.9)", "posterize(4)")


def observe(seed: int) -> ReportRead:
    random = np.random.default_rng([seed, 9])
    world = World.draw(random, images=(150, 2000))
    return ReportRead((*_worst(random, world), *_effects(random, world)), world.tags)


def _worst(random: np.random.Generator, world: World) -> list[Observation]:
    """Of tuples under which a model is equally often right the lowest on 100 images is chosen."""
    audit, share = ShiftAudit(length=2, random=TRIED // 2, evaluations=TRIED // 2, images=100), random.uniform(0.3, 0.9)
    tuples = [f"brightness({0.5 + place / 100:g}) | contrast(0.9)" for place in range(TRIED)]
    right = {str(parse(text)): world.right(random, share) for text in tuples}
    searched = world.exam.samples["test"].hash_order[:100]
    draws, evolution = audit.searches(world.exam)
    parts = {draws: tuples[: TRIED // 2], evolution: tuples[TRIED // 2 :]}
    tables = {
        cell: [[{"edits": text, "value": float(right[str(parse(text))][searched].mean())} for text in part]]
        for cell, part in parts.items()
    }
    worst = str(parse(audit._worst(world.exam, tables, 0)))

    def answer(cell: Cell) -> np.ndarray:
        text = str(cell.distortion)
        return np.where(right[text] if text in right else world.right(random, 0.9), world.labels, -1)

    cells = [world.exam.clean(), world.exam.yardstick(), world.exam.cell(parse(worst))]
    held = answers_of(world, "mine", cells, answer)
    answers = Answers("mine", held.runs, held._blocks, held.classes, outcomes=tables)
    results = of_findings(
        world, [answers], [*CleanAudit().conclude(world.exam, answers), *audit.conclude(world.exam, answers)]
    )
    (found,) = results.having(WorstEditsFacts)
    ((_, sentence),) = shift_sentence(results, "mine")
    if "on images that were not searched" not in sentence or found.low is None or found.high is None:
        return []
    return [Observation("interval under the worst edits", True, found.low <= share <= found.high)]


def _effects(random: np.random.Generator, world: World) -> list[Observation]:
    """Five edits each of two models, of which some do nothing."""
    whole = world.exam.cell(parse(" | ".join(EDITS)))
    unsearched = UnsearchedImages(frozenset(world.ids))
    share, planted, effects = random.uniform(0.3, 0.7), [], []
    for model in ("model-0", "model-1"):
        with_all = world.right(random, share).astype(float)
        for place, edit in enumerate(EDITS):
            effect = random.choice([0.0, 0.0, random.uniform(0.02, 0.2)])
            without = world.right(random, share + effect).astype(float)
            planted.append(effect)
            effects.append(EditLeftOut(model, whole, edit, place, compare(without, with_all, world.groups), unsearched))
    results = of_findings(
        world, [Answers("model-0", ["run-0"], {}, world.exam.classes)], effect_findings(world.exam, effects)
    )
    said = [_effect_row(found).cells[2].text == "yes" for found in results.having(EditEffectFacts)]  # type: ignore[union-attr]
    false = any(clear and not effect for clear, effect in zip(said, planted))
    return [Observation("effect of an edit is clear", false, False)]
