"""How many pages and words the documentation has, and where a reader gets stuck.

    python benchmarks/pages.py [CHECKOUT]

A *dead end* is a page without a link to another page. A page is *lost* if no path of links leads from the home page to it, *far*
if it takes more than three clicks. The home page is docs/index.md, else README.md. Code, tables and prose all count as words.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

CLICKS = 3
LINK = re.compile(r"\]\(([^)#\s:]+\.md)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Survey:
    """What a reader meets: pages by their path, and those that lead nowhere or that nothing leads to."""

    pages: tuple[str, ...]
    words: int
    dead_ends: tuple[str, ...]
    lost: tuple[str, ...]
    far: tuple[str, ...]


def links(page: Path) -> set[Path]:
    """The pages that this one leads to, itself left out."""
    return {(page.parent / target).resolve() for target in LINK.findall(page.read_text())} - {page.resolve()}


def survey(checkout: Path) -> Survey:
    docs = checkout.resolve() / "docs"
    pages = sorted(docs.rglob("*.md"))
    home = docs / "index.md" if (docs / "index.md").exists() else checkout.resolve() / "README.md"
    clicks, edge = {home: 0}, [home]
    while edge:
        page = edge.pop(0)
        for target in links(page) if page.exists() else ():
            if target not in clicks:
                clicks[target] = clicks[page] + 1
                edge.append(target)

    def names(chosen: list[Path]) -> tuple[str, ...]:
        return tuple(page.relative_to(docs).as_posix() for page in chosen)

    return Survey(
        names(pages),
        sum(len(page.read_text().split()) for page in pages),
        names([page for page in pages if not links(page)]),
        names([page for page in pages if page not in clicks]),
        names([page for page in pages if clicks.get(page, 0) > CLICKS]),
    )


if __name__ == "__main__":
    found = survey(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]))
    print(f"{len(found.pages)} pages, {found.words:,} words")
    for what in ("dead_ends", "lost", "far"):
        print(f"{what}: {len(getattr(found, what))} {' '.join(getattr(found, what))}")
