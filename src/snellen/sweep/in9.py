"""`--in9 DIR`: every variant of a built or published set as data to train on and to test on."""

from __future__ import annotations

from pathlib import Path

from snellen.data.in9.layout import VARIANTS
from snellen.errors import UserError

LEARNT, SHOWN = "train", "val"


def in9_variants(root: Path, test: Path | None = None) -> tuple[list[str], list[str]]:
    """NAME=DATA of the variants to train on and to test on.

    One folder has the splits `train` and `val`; where another is given for the tests, each may have its images under
    either name.
    """
    if test is None:
        return _texts(root, (LEARNT,), "--in9"), _texts(root, (SHOWN,), "--in9")
    return _texts(root, (LEARNT, SHOWN), "--in9"), _texts(test, (SHOWN, LEARNT), "--in9-test")


def _texts(root: Path, splits: tuple[str, ...], flag: str) -> list[str]:
    """The variants of a folder that have one of the splits, the first that is there."""
    if not root.is_dir():
        raise UserError(f"{flag}: no folder '{root}'")
    for split in splits:
        names = [name for name in VARIANTS if (root / name / split).is_dir()]
        if names:
            return [f"{name}=in9:{root}/{name}?split={split}" for name in names]
    wanted = " or ".join(f"original/{split}" for split in splits)
    built = f"`snellen build in9 --split {splits[0]}` makes one"
    also = ", or name the tests' folder with --in9-test" if flag == "--in9" and len(splits) == 1 else ""
    raise UserError(f"{flag}: '{root}' has no variant such as {wanted}; {built}{also}")
