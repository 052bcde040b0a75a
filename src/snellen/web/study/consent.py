"""The texts that people read, from a small part of Markdown: headings, paragraphs, lists and bold; all else is plain text.

HTML is escaped, so a text can hold nothing that acts; links and pictures are not made, so nothing comes from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

CONSENT = """\
# Before you begin

- You will see pictures and say what is in them. There is no right or wrong way to do this.
- Taking part is **voluntary**. You can stop at any time by closing the page.
- Your answers, their times and the size of your window are stored. Your name and your network address are **not**.
- You receive a **withdrawal code**. With it you can have your answers erased.
"""
INSTRUCTIONS = {
    "kassaw2024": """\
# What to do

- Look at the object at the cross in the middle of the picture.
- Answer the questions below it, from general to particular. **Back** undoes one step.
- Then click on the object that you meant.

You can use the mouse, touch, or the keys that the answers show.
""",
    "forced": """\
# What to do

- Look at the cross. A picture follows for a short time, then a pattern of noise.
- Choose what you saw. If you are not sure, choose what seems most likely.

You can use the mouse, touch, or the keys that the answers show.
""",
    "better-map": """\
# What to do

- You see a picture twice. Bright regions show what two computer programs looked at.
- Choose the side that better explains what is in the picture.
""",
    "trust-map": """\
# What to do

- You see a picture. Bright regions show what a computer program looked at when it named the picture.
- Say whether you think that the program named it right.
""",
}


def to_html(text: str) -> Markup:
    """A Markdown text as HTML: `#` headings, paragraphs, `-` and `1.` lists, `**bold**`; the rest is text as it stands."""
    return Markup("\n").join(_blocks(text.replace("\r\n", "\n")))


def _blocks(text: str) -> Iterator[Markup]:
    for block in re.split(r"\n\s*\n", text.strip()):
        run: list[str] = []
        for line in block.split("\n"):
            if match := re.match(r"(#{1,3})\s+(.*)", line):
                yield from _run(run)
                run = []
                level = len(match[1])
                yield Markup(f"<h{level}>{{}}</h{level}>").format(_inline(match[2]))
            else:
                run.append(line)
        yield from _run(run)


def _run(lines: list[str]) -> Iterator[Markup]:
    """Lines without a heading: a list where the first of them is an entry, else a paragraph."""
    if not lines or not "".join(lines).strip():
        return
    entry = re.compile(r"\s*(?:[-*]|\d{1,3}\.)\s+(.*)")
    if not entry.match(lines[0]):
        yield Markup("<p>{}</p>").format(_inline(" ".join(line.strip() for line in lines)))
        return
    entries: list[str] = []
    for line in lines:
        match = entry.match(line)
        if match:
            entries.append(match[1])
        else:
            entries[-1] += " " + line.strip()
    tag = "ol" if lines[0].strip()[0].isdigit() else "ul"
    inside = Markup("").join(Markup("<li>{}</li>").format(_inline(each)) for each in entries)
    yield Markup(f"<{tag}>{{}}</{tag}>").format(inside)


def _inline(text: str) -> Markup:
    parts = re.split(r"\*\*(.+?)\*\*", text)
    return Markup("").join(
        Markup("<strong>{}</strong>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )
