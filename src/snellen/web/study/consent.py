"""The texts that people read, from a small part of Markdown: headings, paragraphs, lists and bold; all else is plain text.

HTML is escaped, so a text can hold nothing that acts; links and pictures are not made, so nothing comes from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

_CONSENT = """\
# Before you begin

- You will see pictures and answer questions about them.
- Taking part is **voluntary**. You can stop at any time by closing the page.
- What is stored: your answers with their times, and of your screen its size, pixels, refresh rate and touch.{recruited}
- Your name and your network address are **not** stored.
- You receive a **withdrawal code**. With it you can have all of this erased.
"""
_RECRUITED = " Also the ids under which the site that sent you knows you."
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

- You see a picture twice. Colours show what counted for two computer programs: red most, blue little.
- Choose the side that better explains what is in the picture.
""",
    "trust-map": """\
# What to do

- You see a picture. Colours show what counted when a computer program named it: red most, blue little.
- Say whether you think that the program named it right.
""",
}


def default_consent(recruit: bool) -> str:
    """The text that people consent to; of those whom a recruiting site sends, more is stored."""
    return _CONSENT.format(recruited=_RECRUITED if recruit else "")


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
