"""A command carried out in this process."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.cli import main


def exit_code(arguments: Sequence[str]) -> int:
    """The exit code of a command; it prints where tests can read it."""
    try:
        main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    return 0
