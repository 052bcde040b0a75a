"""What a model's answers to unmodified images make doubtful."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from snellen.checks.answers import below_stated
from snellen.checks.classes import class_order, unmapped, unrelated
from snellen.checks.doubt import CleanAnswers, Doubt
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell

# Of each run's clean answers; the more particular reasons stand before the more general ones.
CHECKS: tuple[Callable[[CleanAnswers], Doubt | None], ...] = (class_order, unmapped, unrelated, below_stated)


def doubts_about(
    answers: Answers, cell: Cell, stated: Mapping[str, float | None], chance: float | None = None
) -> list[Doubt]:
    """What the clean answers (`cell`) of one model make doubtful; `stated` is the stated accuracy by run, `chance` what guessing
    gets right where that is not 1 in all classes."""
    every = [replace(clean, chance=chance) for clean in _by_run(answers, cell, stated)]
    doubts = [doubt for check in CHECKS for clean in every if (doubt := check(clean))]
    return merge_runs(doubts, len(answers.runs))


def merge_runs(doubts: Sequence[Doubt], runs: int) -> list[Doubt]:
    """The doubts about one model's runs, one per name: that of the first run that raises it.

    >>> from snellen.checks import Doubt, merge_runs
    >>> order = Doubt("class_order", "'net' names other classes", "give a label map", "net")
    >>> [doubt.text for doubt in merge_runs([order, order], runs=3)]
    ["'net' names other classes (the like in 2 of 3 runs)"]
    """
    by_name: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        by_name.setdefault(doubt.name, []).append(doubt)
    return [
        replace(same[0], text=f"{same[0].text} (the like in {len(same)} of {runs} runs)") if runs > 1 else same[0]
        for same in by_name.values()
    ]


def _by_run(answers: Answers, cell: Cell, stated: Mapping[str, float | None]) -> list[CleanAnswers]:
    block = answers[cell]
    block = block.of(block.labels >= 0)
    return [
        CleanAnswers(
            who=f"'{answers.model}'" if len(answers.runs) == 1 else f"'{answers.model}' ({run})",
            model=answers.model,
            pred=block.pred[row],
            labels=block.labels,
            confidence=block.confidence[row],
            classes=answers.classes[cell.on],
            stated=stated.get(run),
            groups=block.groups,
        )
        for row, run in enumerate(answers.runs)
    ]
