"""Options that commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")]
AsJson = Annotated[bool, typer.Option("--json", help="print the result as JSON")]
