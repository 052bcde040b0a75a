"""Answers to the same images, shown in several ways, side by side."""

from __future__ import annotations

import numpy as np

from snellen.engine.keep.read_back import Answers, Block
from snellen.engine.requests.cell import Cell


def pair_blocks(answers: Answers, *cells: Cell) -> list[Block]:
    """The blocks of several cells, restricted to the samples that count in all of them, in the order of the first.

    Stored variants have listings of their own, in which a sample has the same id.
    """
    if len({cell.on for cell in cells}) == 1:
        return answers.together(*cells)
    blocks = [answers[cell] for cell in cells]
    rows = [{sample: row for row, sample in enumerate(block.ids)} for block in blocks]
    common = [sample for sample in rows[0] if all(sample in other for other in rows)]
    return [block.at(np.array([place[sample] for sample in common], int)) for block, place in zip(blocks, rows)]
