"""Who sees what: the three designs as one pure function of what was shown before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from snellen.errors import UserError, option
from snellen.web.study.request import Design


def choose(
    design: Design, count: int, sources: Sequence[str], seen: Sequence[int], rng: np.random.Generator
) -> list[int]:
    """The items that the next person sees, in random order: `count` of them, or as many as there are.

    `sources` names the source of each item, of which a person sees one item at most; `seen` counts who has each item already.

    - `random`: every item is as likely, whatever others have (Kassaw et al. 2024: 200 of 552).
    - `balanced`: those that the fewest have, so that the numbers differ by at most one (see `check_design`).
    - `partition`: only those that no person has.
    """
    order = rng.permutation(len(sources))
    if design == "random":
        return _distinct(order.tolist(), sources, count)
    chosen: list[int] = []
    used: set[str] = set()
    levels = sorted(set(seen)) if design == "balanced" else [0]
    for level in levels:
        open_items = [int(item) for item in order if seen[item] == level]
        waiting: dict[str, list[int]] = {}
        for item in open_items:
            waiting.setdefault(sources[item], []).append(item)
        # The sources with most items left come first: else the last ones would all be of one source.
        for source in sorted(waiting, key=lambda name: -len(waiting[name])):
            if len(chosen) < count and source not in used:
                used.add(source)
                chosen.append(waiting[source][0])
    return [chosen[place] for place in rng.permutation(len(chosen))]


def check_design(design: Design, count: int, sources: Sequence[str]) -> None:
    """Refuse a number per person that the design cannot keep.

    Ratings are balanced if `count` times the items of the largest source is at most the number of items: then its items can be
    spread over people, of whom each sees one.
    """
    distinct = len(set(sources))
    if count > distinct:
        raise UserError(
            f"a person can see {distinct} images, one per source, got {option('per_person')} {count}; give at most {distinct}"
        )
    largest = max(Counter(sources).values(), default=0)
    if design == "balanced" and count * largest > len(sources):
        most = len(sources) // largest
        raise UserError(
            f"{option('design')} balanced cannot show {count} images per person: one source has {largest} of {len(sources)} "
            f"images, and a person sees one of them; give {option('per_person')} {max(most, 1)}, or choose random"
        )


def _distinct(order: Sequence[int], sources: Sequence[str], count: int) -> list[int]:
    chosen: list[int] = []
    used: set[str] = set()
    for item in order:
        if sources[item] not in used and len(chosen) < count:
            used.add(sources[item])
            chosen.append(item)
    return chosen
