"""Code of the user's (a module, a factory, a model) run so that neither its failures nor its habits end the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from snellen.errors import UserError
from snellen.files.net import reason_of


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """What is raised inside is the failure of `what` ("the factory 'nets.py:load' failed"), in one line, and so is
    `sys.exit`, whatever its code; the working folder is the same afterwards."""
    before = None
    with suppress(OSError):  # a folder that was removed is none to come back to
        before = os.getcwd()
    try:
        yield
    except UserError:
        raise
    except SystemExit as stop:
        raise exited(what, stop) from stop
    except Exception as error:
        reason = reason_of(error)
        name = type(error).__name__
        raise UserError(f"{what} failed: {name if reason == name else f'{name}: {reason}'}") from error
    finally:
        if before is not None:
            with suppress(OSError):
                os.chdir(before)


def exited(what: str, stop: SystemExit) -> UserError:
    """The error for code that calls `sys.exit`, which would end the command as if it had done its work."""
    return UserError(f"{what} called sys.exit({stop.code!r}); take that out")
