"""The command line: what `snellen` runs, and `python -m snellen` (`accelerate launch -m snellen train …`).

What it imports takes a moment. Ctrl-C in it ends in the same line as later, and a package that is missing is named.
"""

from __future__ import annotations

import os
import sys

from snellen.ctrl_c import stopping_at_once


def main(arguments: list[str] | None = None) -> None:
    """Import the commands, then run one."""
    with stopping_at_once():
        try:
            from snellen.cli import main as run
        except ModuleNotFoundError as error:
            from snellen.extras import missing

            refusal = missing(error)
            if refusal is None:
                raise
            os.write(2, f"error: {refusal}\n".encode())
            sys.exit(2)
    run(arguments)


if __name__ == "__main__":
    main()
