"""When a process hangs: it has used more processor time than any input needs, or it waits for what never comes.

Not the clock: on a busy machine an input may take minutes and yet be fine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

POLL = 0.2  # seconds between two looks
_TICK = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Patience:
    """`most` seconds of processor time, and as many seconds of looks at which no thread ran or was ready to."""

    most: float
    begun: float = 0.0
    last: float = 0.0
    waited: int = 0

    def start(self, used: float) -> None:
        """An input begins; `used` is the processor time of the process so far."""
        self.begun = self.last = used
        self.waited = 0

    def is_over(self, used: float, ready: bool) -> bool:
        """Whether it hangs, by what is seen at one more look."""
        self.waited = 0 if ready or used > self.last else self.waited + 1
        self.last = used
        return used - self.begun > self.most or self.waited * POLL > self.most


def look_at(process: int) -> tuple[float, bool]:
    """The processor time that a process and those below it have used, in seconds, and whether any thread is ready to run."""
    used, ready = 0.0, False
    for number in _tree(process):
        for thread in _threads(number):
            try:
                fields = (thread / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            ready |= fields[0] in "RDT"  # running or ready, reading a disk, or stopped by someone else
            if thread.name == str(number):
                used += _TICK * sum(map(int, _whole(number)))
    return used, ready


def _whole(process: int) -> list[str]:
    """The times of all threads of a process, and of those below it that have ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
    except OSError:
        return []


def _threads(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return []


def _tree(process: int) -> Iterator[int]:
    yield process
    for thread in _threads(process):
        try:
            below = (thread / "children").read_text().split()
        except OSError:
            continue
        for child in below:
            yield from _tree(int(child))
