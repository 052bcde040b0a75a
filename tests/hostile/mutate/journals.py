"""Journals: one line of JSON per entry, cut, repeated, exchanged, damaged or forged."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from . import nasty
from .unfit import Unfit


def mutate(file: Path, draw: Random) -> str:
    lines = file.read_bytes().split(b"\n")
    how = draw.choice(["cut", "remove", "repeat", "exchange", "value", "forge", "behind", "head"])
    place, other = (draw.randrange(max(1, len(lines) - 1)) for _ in range(2))
    if how == "cut":
        whole = b"\n".join(lines)
        file.write_bytes(whole[: draw.randrange(len(whole) + 1)])
        return "journal: cut"
    if how == "remove":
        del lines[place]
    elif how == "repeat":
        lines.insert(place, lines[place])
    elif how == "exchange":
        lines[place], lines[other] = lines[other], lines[place]
    elif how == "head":
        lines[0] = draw.choice([b"", b"{}", lines[0][:-1], lines[0] * 2, nasty.text(draw).encode(errors="replace")])
    else:
        line = _parsed(lines[place] or lines[0])
        line["value"] = draw.choice([0.0, 1.0, None, 0.5, -1, "0", 1e308])
        if how == "value":
            lines[place] = json.dumps(line).encode()
        else:
            _forge(line)
            lines.insert(len(lines) - 1 if how == "behind" else place, json.dumps(line).encode())
    file.write_bytes(b"\n".join(lines))
    return f"journal: {how}"


def _parsed(line: bytes) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise Unfit from error
    if not isinstance(entry, dict) or not isinstance(entry.get("edits"), list):
        raise Unfit
    return entry


def _forge(line: dict[str, object]) -> None:
    """Give an entry the checksum that belongs to it, as anyone can."""
    from snellen.hashing import key_of
    from snellen.search.history import Evaluation

    edits, value = line["edits"], line["value"]
    assert isinstance(edits, list)
    line["checksum"] = key_of(Evaluation(tuple(edits), value))  # type: ignore[arg-type]
