"""Training against an attack: the batch is moved to where the network fails before it is learnt from."""

from __future__ import annotations

from snellen.train.pgd import Pgd, parse_pgd


def parse_robust(text: str) -> Pgd | None:
    """The attack that a text such as `pgd(norm=linf, radius=0.03, steps=7)` names; None for `none`."""
    return None if text == "none" else parse_pgd(text)
