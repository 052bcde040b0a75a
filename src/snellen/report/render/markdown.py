"""A page as Markdown: text and tables whole; of a chart its title, of a gallery the answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from snellen.errors import harmless
from snellen.report.blocks import (
    NAMES,
    Block,
    Bullets,
    CardBlock,
    Chapter,
    Chart,
    Command,
    Definitions,
    Details,
    FactLine,
    Gallery,
    Group,
    Heading,
    Line,
    Page,
    Panels,
    Picture,
    Prose,
    Published,
    Row,
    Span,
    Strip,
    Table,
    TableCell,
)


def markdown_of(page: Page) -> str:
    """The page as Markdown; values are escaped, so that a class name cannot break a table or add a tag.

    >>> from snellen.report import brief_page_of, markdown_of
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> markdown_of(brief_page_of(run)).splitlines()[0]
    '# Eye exam of texture'
    """
    return harmless(_joined([f"# {escaped(page.title)}", _all(page.blocks)])) + "\n"


def markdown_of_blocks(blocks: Sequence[Block]) -> str:
    """Blocks as Markdown, to stand inside another page."""
    return harmless(_all(blocks)) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", " ".join(text.split())).replace("\\<", "&lt;").replace("\\>", "&gt;")


def _all(blocks: Sequence[Block]) -> str:
    return _joined([_WRITERS[NAMES[type(block)]](block) for block in blocks])


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _words(line: Line) -> str:
    """A line; blanks at the ends of its parts stay."""
    return " ".join("".join(map(_part, line)).split())


def _part(part: str | Span) -> str:
    text, style = (part, "") if isinstance(part, str) else (part.text, part.style)
    inner = text.strip()
    if not inner:
        return " " if text else ""
    before, after = (" " if text[place].isspace() else "" for place in (0, -1))
    if style == "code":
        return f"{before}{_coded(inner)}{after}"
    return f"{before}**{escaped(inner)}**{after}" if style == "bold" else f"{before}{escaped(inner)}{after}"


def _coded(text: str) -> str:
    """Text as code in a line; what would end the code, a table's cell or be a tag is escaped as text instead."""
    return escaped(text) if re.search(r"[`|<>]", text) else f"`{' '.join(text.split())}`"


def _heading(block: Heading) -> str:
    named = f" {_coded(block.code)}" if block.code else ""
    return f"{'#' * block.level} {escaped(block.text)}{named}"


def _prose(block: Prose) -> str:
    return _words(block.line)


def _bullets(block: Bullets) -> str:
    return "\n".join(f"- {_words(item)}" for item in block.items)


def _facts(block: FactLine) -> str:
    return " · ".join(map(_words, block.items))


def _definitions(block: Definitions) -> str:
    lines = []
    for entry in block.entries:
        lines.append(f"- **{escaped(entry.term)}**: {_words(entry.line)}" if entry.term else f"- {_words(entry.line)}")
        lines += [f"  - {_words(item)}" for item in entry.items]
    return "\n".join(lines)


def _command(block: Command) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
    return f"{fence}\n{block.text}\n{fence}"


def _card(block: CardBlock) -> str:
    return _joined([f"{'#' * block.level} {escaped(block.title)}" if block.title else "", _all(block.blocks)])


def _details(block: Details) -> str:
    return _joined([f"**{escaped(block.summary)}**", _all(block.blocks)])


def _chapter(block: Chapter) -> str:
    headline = _words(block.headline)
    return _joined([f"## {escaped(block.title)}", f"*{headline}*" if headline else "", _all(block.blocks)])


def _strip(block: Strip) -> str:
    """A table with a row for each condition."""
    lines = ["| condition | accuracy | mark | this image |", "| --- | --- | --- | --- |"]
    for shot in block.shots:
        amount = escaped(shot.text) + (f" ({escaped(shot.interval)})" if shot.interval else "")
        lines.append(f"| {escaped(shot.words)} | {amount} | {_words(shot.mark)} | {_cell(shot.picture)} |")
    return "\n".join(lines)


def _published(block: Published) -> str:
    beware = "" if block.comparable else "**Not the same data:** "
    return _joined([f"{beware}{escaped(block.text)} ({escaped(block.paper)})", _all(block.blocks)])


def _panels(block: Panels) -> str:
    return _all(block.blocks)


def _chart(block: Chart) -> str:
    caption = "; ".join(filter(None, map(_words, block.caption)))
    title = f"*Chart: {escaped(block.title)}*" if block.spec else f"*{escaped(block.title)}*"
    return _joined([f"{title} ({caption})" if caption else title, _all(block.below)])


def _table(block: Table | Gallery) -> str:
    width = len(block.head) or max((row.width for row in block.rows if isinstance(row, Row)), default=1)
    lines = [[_cell(cell) for cell in block.head] or [""] * width, ["---"] * width]
    for row in block.rows:
        if isinstance(row, Group):
            line = [f"**{escaped(row.text)}**"]
        else:
            line = [_cell(row.head), *(_cell(cell, row.strong) for cell in row.cells)]
        lines.append(line + [""] * (width - len(line)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: TableCell | Picture, strong: bool = False) -> str:
    if isinstance(cell, Picture):
        return "; ".join(
            f"{'' if answer.right is None else '✓ ' if answer.right else '✗ '}{escaped(answer.text)}"
            + (f" ({escaped(answer.note)})" if answer.note else "")
            for answer in cell.answers
        )
    text = _coded(cell.text) if cell.tone == "code" else escaped(cell.text)
    parts = [f"**{text}**" if text and (cell.bold or strong) else text]
    parts += [f"({escaped(cell.interval)})"] if cell.interval else []
    parts += [f"({escaped(remark)})" for remark in (cell.more, cell.note) if remark]
    badge = cell.badge
    remarks = [escaped(badge.text), *([escaped(badge.note)] if badge.note else [])] if badge else []
    return " · ".join([" ".join(filter(None, parts)), *remarks])


_WRITERS: dict[str, Callable[[Any], str]] = {
    "heading": _heading,
    "prose": _prose,
    "bullets": _bullets,
    "facts": _facts,
    "definitions": _definitions,
    "command": _command,
    "table": _table,
    "gallery": _table,
    "chart": _chart,
    "panels": _panels,
    "card": _card,
    "details": _details,
    "published": _published,
    "strip": _strip,
    "chapter": _chapter,
}
