"""How far an export is, on stderr where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def show_progress(total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function that is told how many more of `total` images are written; it shows a bar unless it is to be quiet."""
    if quiet or not sys.stderr.isatty():
        yield lambda images: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("writing"), BarColumn(), MofNCompleteColumn(), TextColumn("images"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("writing", total=total)
        yield lambda images: bar.advance(task, images)
