"""Run-length masks as COCO stores them."""

from __future__ import annotations

from typing import Any

import numpy as np


def run_lengths(mask: np.ndarray) -> list[int]:
    """The lengths of runs of equal pixels down the columns of a mask [H, W]; the first run is of pixels outside."""
    pixels = np.asarray(mask, bool).T.reshape(-1)
    edges = np.flatnonzero(pixels[1:] != pixels[:-1]) + 1
    lengths = np.diff(edges, prepend=0, append=len(pixels)).tolist()
    return [0, *lengths] if len(pixels) and pixels[0] else lengths


def pack(lengths: list[int]) -> str:
    """COCO's text of run lengths.

    From the fourth on, a length is written as its difference to the one two before it. Numbers come in groups of five
    bits, lowest first; the sixth bit says that more follow, the fifth of the last group is the sign; 48 makes each
    group a printable character.
    """
    text = []
    for position, length in enumerate(lengths):
        rest = length - lengths[position - 2] if position > 2 else length
        while True:
            group, rest = rest & 31, rest >> 5
            done = rest == (-1 if group & 16 else 0)
            text.append(chr(48 + group + (0 if done else 32)))
            if done:
                break
    return "".join(text)


def rle(mask: np.ndarray) -> dict[str, Any]:
    """A mask [H, W] as COCO's compressed run lengths: `size` [H, W] and `counts`, a text."""
    return {"size": [int(side) for side in mask.shape], "counts": pack(run_lengths(mask))}
