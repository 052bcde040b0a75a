"""What came of one input."""

from __future__ import annotations

from dataclasses import dataclass

GOOD = ("accepted", "refused", "net")
BAD = (
    "unfit",
    "vague",
    "traceback",
    "hang",
    "crash",
    "memory",
    "different",
    "left behind",
    "wrote outside",
    "code run",
)
LONGEST = 400  # characters of a message that a stranger would still read


class Different(Exception):
    """Something was read of damaged files without a word, and it is not what the undamaged ones hold."""


@dataclass(frozen=True)
class Outcome:
    """`result` is one of GOOD or BAD: `net` is a refusal that only the last net gave, `unfit` that of an undamaged file, `vague`
    one that does not name the file in one line, `different` an answer without a word that is not that of the undamaged files,
    `left behind` files beside the input of a reader that should write none. `change` says what was done to which file, `message`
    what the reader said, `place` where in our code a traceback began."""

    reader: str
    number: int
    result: str
    change: str = ""
    message: str = ""
    place: str = ""
