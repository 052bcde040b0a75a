"""Lists with one entry per line: nonsense, repeated, very long, in another encoding."""

from __future__ import annotations

from pathlib import Path
from random import Random

from . import nasty


def mutate(file: Path, draw: Random) -> str:
    lines = [line[:1000] for line in file.read_bytes().decode(errors="replace").splitlines()]
    how = draw.choice(["set", "add", "remove", "repeat", "encoding", "long"])
    place = draw.randrange(len(lines) + 1)
    if how == "set":
        lines[place : place + 1] = [nasty.text(draw)]
    elif how == "add":
        lines.insert(place, nasty.text(draw))
    elif how == "remove":
        del lines[place:]
    elif how == "repeat":
        lines *= draw.choice([2, 1000 if len(lines) < 100 else 2])
    elif how == "long":
        lines.insert(place, "a" * 1_000_000)
    text = "\n".join(lines)
    encoding = draw.choice(["utf-16", "latin-1", "utf-8-sig", "utf-32"]) if how == "encoding" else "utf-8"
    file.write_bytes(text.encode(encoding, errors="replace" if how != "set" else "surrogatepass"))
    return f"lines: {how}"
