"""Answers to the same images, shown in several ways, side by side."""

from __future__ import annotations

import numpy as np

from snellen.audits.exam import Exam
from snellen.engine.answers import Answers, Block
from snellen.engine.cell import Cell


def paired(exam: Exam, answers: Answers, *cells: Cell) -> list[Block]:
    """The blocks of several cells, restricted to the images that count in all of them, in one order.

    Cells of one dataset are paired by sample; stored variants of it by the object that their images show.
    """
    if len({cell.on for cell in cells}) == 1:
        return answers.together(*cells)
    blocks = [answers[cell] for cell in cells]
    rows = [
        {shown: row for row, shown in enumerate(exam.foregrounds(cell.on, block.ids))}
        for cell, block in zip(cells, blocks)
    ]
    common = [shown for shown in rows[0] if all(shown in other for other in rows)]
    return [block.at(np.array([held[shown] for shown in common], int)) for block, held in zip(blocks, rows)]
