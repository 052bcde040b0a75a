"""What a user can fix: one line that says what was got, what was wanted and what to do next."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Line breaks, control characters, those that turn the direction of writing, and what is no text.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
LONGEST_LIST = 200  # characters of names that a message lists
_TYPED: ContextVar[bool] = ContextVar("settings are typed as options of a command", default=False)
_LONG_WORD = re.compile(r"(\S{120})\S{81,}(\S{40})")  # its ends are enough to find it


class UserError(Exception):
    """Something the user can fix; the command line prints it without a traceback and exits with 2.

    One line that can be read, whatever it quotes: line breaks and control characters are written as escapes, and of words
    of more than 240 characters only the ends.
    """

    def __init__(self, text: str) -> None:
        super().__init__(_LONG_WORD.sub(r"\1…\2", one_line(text)))


class Hung(BaseException):
    """A watchdog's time is up. Not an Exception, so that a model which catches those does not go on."""


def one_line(text: str) -> str:
    """The text on one line that a terminal only shows: line breaks and control characters are written as escapes."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def harmless(text: str) -> str:
    """The text of a file with its line breaks and tabs; all else that would act on a terminal is written as escapes."""
    return CONTROL.sub(lambda match: match[0] if match[0] in "\n\t" else one_line(match[0]), text.replace("\r\n", "\n"))


@contextmanager
def concerning(source: object) -> Iterator[None]:
    """Say of an error inside that it is about this file or dataset, unless its text does so already."""
    try:
        yield
    except UserError as error:
        if str(source) in str(error):
            raise
        raise UserError(f"{source}: {error}") from error.__cause__


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The error for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    names = ", ".join(known)
    names = names if len(names) <= LONGEST_LIST else f"{names[:LONGEST_LIST].rpartition(', ')[0]} …"
    hint = f"did you mean '{near[0]}'?" if near else f"known: {names}"
    short = name if len(name) <= 60 else f"{name[:60]}…"
    return UserError(f"unknown {kind} '{short}'; {hint}")


def option(name: str, flag: str = "") -> str:
    """A setting in its caller's words: `--min-clear` (or its own flag) on the command line, `min_clear` in Python."""
    return (flag or f"--{name.replace('_', '-')}") if _TYPED.get() else name


def choice(name: str, value: object, flag: str = "") -> str:
    """A setting with its value in its caller's words: `--split video` on the command line, `split='video'` in Python."""
    return f"{option(name, flag)} {value}" if _TYPED.get() else f"{name}={value!r}"


def is_command() -> bool:
    """Whether settings are typed as options of a command."""
    return _TYPED.get()


@contextmanager
def command(typed: bool = True) -> Iterator[None]:
    """Name settings inside as options of a command."""
    token = _TYPED.set(typed)
    try:
        yield
    finally:
        _TYPED.reset(token)
