"""counts.json: what a build tells of a set that is complete."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from snellen.build.destination import encode_json
from snellen.errors import UserError
from snellen.files import read_json

SUMMARY = "counts.json"
Count = Annotated[int, msgspec.Meta(ge=0)]
Summary = TypeVar("Summary")


def read_summary(out: Path, kind: type[Summary]) -> Summary:
    """The summary of a complete set."""
    try:
        summary: Summary = read_json(out / SUMMARY, kind, "file of the set's counts")
    except UserError as error:
        raise UserError(f"{error}; build the set again, into another --out") from None
    return summary


def as_json(built: Any, **more: Any) -> str:
    """What was built, a dataclass with its folder `out`, as JSON."""
    return encode_json({**asdict(built), "out": str(built.out), **more}, indent=1).decode().rstrip()
