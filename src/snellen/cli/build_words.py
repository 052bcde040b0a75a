"""What the commands that build sets share: lists in one word, and what they print at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from snellen.errors import UserError
from snellen.terminal import show, tell


def words(text: str | None) -> tuple[str, ...]:
    """Words that are separated by commas."""
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Whole numbers that are separated by commas."""
    listed = words(text)
    for word in listed:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise UserError(f"expected whole numbers in {option}, separated by commas, got '{word}'")
    return tuple(map(int, listed))


def tell_warnings(rejected: Mapping[str, int], out: Path, warnings: Sequence[str]) -> None:
    """Print what was not taken, and what to look at."""
    rejections = ", ".join(f"{count:,} {reason}" for reason, count in rejected.items())
    show(f"not taken: {rejections or 'none'}; see {out / 'rejected.csv'}")
    for line in warnings:
        tell(f"note: {line}")
