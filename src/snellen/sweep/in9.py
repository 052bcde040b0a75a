"""`--in9 DIR`: every variant of a folder as data to train on and to test on."""

from __future__ import annotations

from pathlib import Path

from snellen.errors import UserError

VARIANTS = (
    *("original", "only_bg_b", "only_bg_t", "no_fg", "only_fg"),
    *("mixed_same", "mixed_rand", "mixed_next", "bg_blurred"),
)


def in9_variants(root: Path) -> tuple[list[str], list[str]]:
    """NAME=DATA of the variants to train on (those with a `train` split) and to test on (those with a `val` split)."""
    if not root.is_dir():
        raise UserError(f"--in9: no folder '{root}'")
    learnt = [name for name in VARIANTS if (root / name / "train").is_dir()]
    shown = [name for name in VARIANTS if (root / name / "val").is_dir()]
    if not learnt and not shown:
        raise UserError(f"--in9: '{root}' has no variant such as original/val; make one with `snellen build in9`")
    return [f"{name}=in9:{root}/{name}?split=train" for name in learnt], [f"{name}=in9:{root}/{name}" for name in shown]
