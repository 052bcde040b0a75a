"""The nine classes of ImageNet-9 (Xiao et al. 2021), read from the answers of a model with finer classes.

Each has some of ImageNet's classes (370 in all, in `imagenet9.json`), in the published order, in which the
"next" class is counted. Whippet, Italian greyhound and the domestic cats belong to none, as
published. The answer is the class of the model's own best class; one that belongs to none of the nine is wrong.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path

from snellen.models.label_maps import Groups, group_targets

_LONG = {"wheeled vehicle": "vehicle", "musical instrument": "instrument"}  # as the published folders name them


@functools.cache
def nine() -> Groups:
    """The nine classes in their order, as the published folders name them: name → WordNet id → place among the 1,000."""
    return json.loads(Path(__file__).with_suffix(".json").read_text())


@functools.cache
def classes() -> Groups:
    """Class → WordNet id → place among ImageNet's 1,000 classes; the nine in their published order."""
    return {_LONG.get(name, name): ids for name, ids in nine().items()}


def plain_name(name: str) -> str | None:
    """Which of the nine a class is, by its plain name or its published folder ('06_musical instrument'); None: another."""
    bare = re.sub(r"[\s_-]+", " ", re.sub(r"^\d{2}_", "", name.strip().lower()))
    bare = _LONG.get(bare, bare)
    return bare if bare in classes() else None


def in9_targets(known: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...] | None:
    """For each class that a model knows the position of its class of the nine in `wanted`, or −1.

    None unless all of `wanted` are of the nine, however spelt, and the model's classes are finer ones of ImageNet, or the
    nine themselves in another spelling or order.
    """
    names = [plain_name(name) for name in wanted]
    if None in names or len(set(names)) < len(names) or list(known) == list(wanted):
        return None
    position = {str(name): place for place, name in enumerate(names)}
    own = [plain_name(name) for name in known]
    if set(names) <= set(own) and None not in own:
        return tuple(position.get(str(name), -1) for name in own)
    return group_targets(classes(), known, position)
