"""Code of the user's (a module, a factory, a model) run so that neither its failures nor its habits end the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from snellen.errors import Hung, UserError
from snellen.files.net import reason_of

PASSING = (KeyboardInterrupt, GeneratorExit, Hung)  # what ends the body without its being at fault


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """What is raised inside is the failure of `what` ("the factory 'nets.py:load' failed"), in one line, and so is
    `sys.exit`, whatever its code; the working folder is the same afterwards."""
    before = None
    with suppress(OSError):  # a folder that was removed is none to come back to
        before = os.getcwd()
    try:
        yield
    except (UserError, *PASSING):
        raise
    except BaseException as error:
        raise failure_of(what, error) from error
    finally:
        if before is not None:
            with suppress(OSError):
                os.chdir(before)


def failure_of(what: str, error: BaseException) -> UserError:
    """The error for code of the user's that failed, or called `sys.exit`, which would end the command as if it had done its
    work."""
    if isinstance(error, SystemExit):
        return UserError(f"{what} called sys.exit({error.code!r}); take that out")
    reason, name = reason_of(error), type(error).__name__
    return UserError(f"{what} failed: {name if reason == name else f'{name}: {reason}'}")
