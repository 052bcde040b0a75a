"""`python -m snellen`: the command line, for launchers that start modules (`accelerate launch -m snellen train …`)."""

from __future__ import annotations

from snellen.cli import main

if __name__ == "__main__":
    main()
