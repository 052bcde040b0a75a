"""Training that hardens: against an attack (the batch is moved to where the network fails), or for the worst group."""

from __future__ import annotations

from collections.abc import Callable

from snellen.errors import unknown
from snellen.train.groupdro import Groupdro, parse_groupdro
from snellen.train.pgd import Pgd, parse_pgd

WAYS: dict[str, Callable[[str], Pgd | Groupdro]] = {"pgd": parse_pgd, "groupdro": parse_groupdro}


def parse_robust(text: str) -> Pgd | Groupdro | None:
    """The way that a text such as `pgd(radius=0.03)` or `groupdro(groups=scene)` names; None for `none`."""
    if text == "none":
        return None
    name = text.partition("(")[0].strip()
    if name not in WAYS:
        raise unknown("attack or way to train", name, ("none", *WAYS))
    return WAYS[name](text)
