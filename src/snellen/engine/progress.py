"""Progress on stderr: what is asked, how much is left and how fast it goes; silent where it is not a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any

from snellen.errors import one_line
from snellen.terminal import tell

WIDEST = 30  # letters of what is asked; the bar and its numbers take the rest of a line of 80


class RunProgress:
    """Counts images shown to models, or trials that ended; says nothing where it is to be quiet or stderr is not a terminal."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.terminal = not quiet and sys.stderr.isatty()
        self.done = self.total = 0
        self.of, self.about = "images", "asking"
        self.began = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def say(self, text: str) -> None:
        """One line of what is going on."""
        if self.terminal:
            tell(text)

    def note(self, text: str) -> None:
        """One line that users should read, terminal or not."""
        if not self.quiet:
            tell(f"note: {text}")

    def warn(self, text: str) -> None:
        """What a reader must see, with or without a terminal."""
        if not self.quiet:
            tell(f"warning: {text}")

    def start(self, total: int, of: str = "images") -> None:
        """Begin a bar of so many images, or of what `of` names."""
        self.total, self.done, self.began, self.of = total, 0, time.perf_counter(), of
        if not self.terminal or not total:
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(12),
            MofNCompleteColumn(),
            TextColumn(f"{{task.fields[rate]}} {of}/s"),
        )
        self._bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self.about, total=total, rate="–")
        self._bar.start()

    def describe(self, text: str) -> None:
        """What is asked now, cut to what a line has room for."""
        self.about = one_line(text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…")
        if self._bar is not None:
            self._bar.update(self._task, description=self.about)

    def advance(self, images: int) -> None:
        """So many more are done."""
        self.done += images
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, rate=f"{self.rate:,.0f}")

    @property
    def rate(self) -> float:
        """Images per second so far."""
        return self.done / max(time.perf_counter() - self.began, 1e-9)

    def stop(self) -> None:
        """End the bar with a line of what was done and how fast."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self.terminal and self.done:
            seconds = time.perf_counter() - self.began
            tell(f"asked {self.done:,} {self.of} in {seconds:.1f} s ({self.rate:,.0f} {self.of}/s)")
