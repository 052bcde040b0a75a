"""The sixteen everyday categories of Geirhos et al. (2019), read from the answers of a model with finer classes.

`geirhos16.json` lists each category's ImageNet classes (207 in all) as WordNet id and place among the 1,000.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path

from snellen.models.label_maps import Groups, group_targets


@functools.cache
def categories() -> Groups:
    """Category → WordNet id → place among ImageNet's 1,000 classes."""
    return json.loads(Path(__file__).with_suffix(".json").read_text())


def sixteen_targets(known: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...] | None:
    """For each class that a model knows the position of its category in `wanted`, or −1.

    None unless all of `wanted` are among the sixteen, the model has other classes than these, and some of its classes
    belong to one of them.
    """
    if not set(wanted) <= set(categories()) or set(wanted) <= set(known):
        return None
    return group_targets(categories(), known, {name: i for i, name in enumerate(wanted)})
