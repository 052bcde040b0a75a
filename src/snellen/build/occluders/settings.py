"""How objects are cut out: every choice that changes a byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from snellen.build.iruo.settings import class_folder
from snellen.errors import UserError

BOUNDS = {"per_class": (1, 10_000), "min_pixels": (1, 10**9), "seed": (0, 2**63 - 1)}


@dataclass(frozen=True)
class Settings:
    """Settings of a folder of cut-outs.

    `without` are classes that no cut-out may have, beside those of the target. Of each other class up to `per_class` objects are
    taken, at random by the `seed`, of at least `min_pixels` pixels; with `whole` none that touches the border of its image, where
    a part of it may be missing.
    """

    without: tuple[str, ...] = ()
    per_class: int = 8
    min_pixels: int = 1000
    whole: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                option = name.replace("_", "-")
                raise UserError(f"expected --{option} from {low:,} to {high:,}, got {getattr(self, name)}")


def absent_classes(classes: Sequence[str], target: Iterable[str], settings: Settings, data: str) -> list[int]:
    """The numbers of the classes that may be cut out: those that neither the target nor `without` has, however it is written."""
    taken = {class_folder(name) for name in (*target, *settings.without)}
    numbers = [number for number, name in enumerate(classes) if class_folder(name) not in taken]
    if not numbers:
        raise UserError(
            f"every class of {data} is one of the target: {', '.join(classes[:8])}; use data that have other classes too"
        )
    return numbers
