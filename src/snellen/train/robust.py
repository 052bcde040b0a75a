"""Training that hardens: against an attack, shifts of the images or hidden objects, or for the worst group."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from snellen.errors import unknown
from snellen.train.ada import Ada, parse_ada
from snellen.train.feature_augmentation import Dfa, parse_dfa
from snellen.train.groupdro import Groupdro, parse_groupdro
from snellen.train.pgd import Pgd, parse_pgd
from snellen.train.shift.ways import Rda, parse_shift

Way: TypeAlias = Pgd | Groupdro | Rda | Ada | Dfa

WAYS: dict[str, Callable[[str], Way]] = {
    "pgd": parse_pgd,
    "groupdro": parse_groupdro,
    "rda": parse_shift,
    "rsda": parse_shift,
    "esda": parse_shift,
    "ada": parse_ada,
    "dfa": parse_dfa,
}


def parse_robust(text: str) -> Way | None:
    """The way that a text such as `pgd(radius=0.03)`, `groupdro(groups=scene)` or `esda(set=cifar10)` names; None for `none`.

    >>> from snellen.train import parse_robust
    >>> parse_robust("ada")
    Ada(phases=3, updates=100, steps=15, size=1.0, gamma=1.0, objective='code')
    >>> parse_robust("none") is None
    True
    """
    if text == "none":
        return None
    name = text.partition("(")[0].strip()
    if name not in WAYS:
        raise unknown("attack or way to train", name, ("none", *WAYS))
    return WAYS[name](text)
