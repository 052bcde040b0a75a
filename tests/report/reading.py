"""Reading pages: all blocks of a page whatever they are inside of, the text of its HTML, and runs with other findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from html.parser import HTMLParser
from typing import Any, TypeVar

from snellen.engine.keep.run_folder import RunFolder
from snellen.report.blocks import NAMES, Chapter, Heading, Page, Row, Table

Kind = TypeVar("Kind")


class Reader(HTMLParser):
    """The tags, the addresses they point to and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "srcset")]

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def parts(value: Any) -> Iterator[Any]:
    """Blocks and all that is inside them, in order."""
    if isinstance(value, Page):
        yield from parts(value.blocks)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from parts(one)
    elif type(value) in NAMES:
        yield value
        for one in fields(value):
            if not one.metadata.get("plain"):
                yield from parts(getattr(value, one.name))


def every(kind: type[Kind], value: Any) -> list[Kind]:
    """All blocks of a kind."""
    return [one for one in parts(value) if isinstance(one, kind)]


def titles(value: Any) -> list[str]:
    """The texts of headings and the titles of chapters and charts."""
    return [
        getattr(one, "title", getattr(one, "text", ""))
        for one in parts(value)
        if NAMES[type(one)] in ("heading", "chapter", "chart")
    ]


def rows(table: Table) -> list[Row]:
    """The rows of a table without its groups."""
    return [row for row in table.rows if isinstance(row, Row)]


def under(page: Page, title: str) -> list[Any]:
    """The blocks of a chapter, or those from a heading, on the page or in a chapter, to the next of its level."""
    for chapter in every(Chapter, page):
        if chapter.title == title:
            return list(chapter.blocks)
    for blocks in (page.blocks, *(chapter.blocks for chapter in every(Chapter, page))):
        found = [place for place, one in enumerate(blocks) if isinstance(one, Heading) and one.text == title]
        if found:
            start = found[0]
            level = blocks[start].level
            ends = [
                place
                for place, one in enumerate(blocks)
                if place > start and (isinstance(one, Chapter) or (isinstance(one, Heading) and one.level <= level))
            ]
            return list(blocks[start + 1 : ends[0] if ends else len(blocks)])
    return []


class ChangedRun(RunFolder):
    """A stored run whose findings.json is read with every finding changed; the file stays as it is."""

    def __init__(self, run: RunFolder, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        super().__init__(run.path, run.store)
        self.change = change

    def results(self) -> dict[str, Any]:
        content = super().results()
        return {**content, "findings": [self.change(finding) for finding in content["findings"]]}
