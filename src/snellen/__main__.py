"""The command line: what `snellen` runs, and `python -m snellen` (`accelerate launch -m snellen train …`).

What it imports takes a moment. Ctrl-C in it ends in the same line as later, and a package that is missing is named.
"""

from __future__ import annotations

import os
import signal
import sys

from snellen.errors import STOPPED


def main(arguments: list[str] | None = None) -> None:
    """Import the commands, then run one."""
    ctrl_c = signal.getsignal(signal.SIGINT)
    if ctrl_c is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)  # an exception might be caught by a library that is being imported
    try:
        from snellen.cli import main as run
    except ModuleNotFoundError as error:
        from snellen.extras import missing

        refusal = missing(error)
        if refusal is None:
            raise
        os.write(2, f"error: {refusal}\n".encode())
        sys.exit(2)
    if ctrl_c is signal.default_int_handler:
        signal.signal(signal.SIGINT, ctrl_c)
    run(arguments)


def _stop(*_: object) -> None:
    """End here and now: nothing is begun yet."""
    os.write(2, f"{STOPPED}\n".encode())
    os._exit(130)


if __name__ == "__main__":
    main()
