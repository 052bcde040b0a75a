"""Groupings of ImageNet classes that datasets use, and how they become rows of the classes that a model knows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

Groups = Mapping[str, Mapping[str, int]]  # group → WordNet id → place among ImageNet's 1,000 classes

PLACES = {
    1000: 0,
    1001: 1,
}  # classes of a model for ImageNet → where ImageNet's first is: 1,001 begin with 'background'
_SIGN, _SIGN_PLACE = "airliner", 404  # a class by whose name a list of 1,000 is known to be in ImageNet's order


def plain(name: str) -> str:
    """A name in small letters, with single spaces for underscores and hyphens."""
    return re.sub(r"[\s_-]+", " ", name.strip().lower())


def group_targets(groups: Groups, known: Sequence[str], position: Mapping[str, int]) -> tuple[int, ...] | None:
    """For each class that a model knows the position of its group, or −1; None where it knows none of them.

    A class is known by a WordNet id among its names (for ImageNet, Tiny ImageNet or any part of WordNet); 1,000 or 1,001
    classes without ids by their place, if they are in ImageNet's order.
    """
    target = {wnid: position[name] for name, members in groups.items() if name in position for wnid in members}
    ids = [re.search(r"\bn\d{8}\b", name) for name in known]
    if any(ids):
        targets = [target.get(match[0], -1) if match else -1 for match in ids]
    elif len(known) in PLACES and _SIGN in known[_SIGN_PLACE + PLACES[len(known)]].lower():
        targets = [-1] * len(known)
        for members in groups.values():
            for wnid, place in members.items():
                targets[place + PLACES[len(known)]] = target.get(wnid, -1)
    else:
        return None
    return tuple(targets) if max(targets) >= 0 else None
