"""The sixteen everyday categories of Geirhos et al. (2019), read from the answers of a model with finer classes.

`sixteen.json` lists each category's ImageNet classes (207 in all) as WordNet id and place among the 1,000.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_PLACES = {
    1000: 0,
    1001: 1,
}  # classes of a model for ImageNet → where ImageNet's first is: 1,001 begin with 'background'
_SIGN, _SIGN_PLACE = "airliner", 404  # a class by whose name a list of 1,000 is known to be in ImageNet's order


@functools.cache
def categories() -> Mapping[str, Mapping[str, int]]:
    """Category → WordNet id → place among ImageNet's 1,000 classes."""
    return json.loads(Path(__file__).with_suffix(".json").read_text())


def sixteen_targets(known: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...] | None:
    """For each class that a model knows the position of its category in `wanted`, or −1.

    None unless all of `wanted` are among the sixteen, the model has other classes than these, and some of its classes
    belong to one of them. A class is known by a WordNet id among its names (for ImageNet, Tiny ImageNet or any part of
    WordNet); 1,000 or 1,001 classes without ids by their place, if they are in ImageNet's order.
    """
    if not set(wanted) <= set(categories()) or set(wanted) <= set(known):
        return None
    position = {name: i for i, name in enumerate(wanted)}
    target = {wnid: position[name] for name, held in categories().items() if name in position for wnid in held}
    ids = [re.search(r"\bn\d{8}\b", name) for name in known]
    if any(ids):
        targets = [target.get(found[0], -1) if found else -1 for found in ids]
    elif len(known) in _PLACES and _SIGN in known[_SIGN_PLACE + _PLACES[len(known)]].lower():
        targets = [-1] * len(known)
        for held in categories().values():
            for wnid, place in held.items():
                targets[place + _PLACES[len(known)]] = target.get(wnid, -1)
    else:
        return None
    return tuple(targets) if max(targets) >= 0 else None
