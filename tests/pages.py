"""What the tests of the docs need of Markdown: its lines without code, its paragraphs, its commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Runs of lines as ("code" | "table" | "heading" | "prose", lines); each list entry is a paragraph of its own."""
    kind, lines, fenced = "", [], False
    for line in [*text.splitlines(), ""]:
        if line.lstrip().startswith("```"):
            fenced, now = not fenced, "code"
        elif fenced:
            now = "code"
        elif not line.strip():
            now = ""
        elif line.startswith("    ") and kind in ("", "code"):
            now = "code"
        elif line.lstrip().startswith("|"):
            now = "table"
        elif line.startswith("#"):
            now = "heading"
        else:
            now = "prose"
        entry = now == "prose" and re.match(r"\s*([-*]|\d+\.)\s", line)
        if lines and (now != kind or entry):
            yield kind, lines
            lines = []
        kind = now
        if now:
            lines.append(line)


def commands(text: str) -> list[list[str]]:
    """The words of each `snellen …` command in code blocks, without comments.

    Lines are joined by a backslash at the end, or where a quotation is open.
    """
    found = []
    for kind, lines in blocks(text):
        if kind != "code" or lines[0].strip() == "```python":
            continue
        rest = iter(re.sub(r"\\\n\s*", " ", "\n".join(lines)).split("\n"))
        for line in rest:
            words = line.strip().removeprefix("$ ")
            while words.startswith("snellen ") and (words.count("'") % 2 or words.count('"') % 2):
                words += " " + next(rest).strip()
            if words.startswith("snellen "):
                found.append(shlex.split(words, comments=True))
    return found
