"""Renderers: any page of blocks as HTML, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.report.blocks import Page
from snellen.report.render.html import html_of
from snellen.report.render.markdown import markdown_of
from snellen.terminal import json_text


def json_of(page: Page) -> str:
    """The page as JSON: its title and blocks.

    >>> from snellen.report import brief_page_of, json_of
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> import json
    >>> sorted(json.loads(json_of(brief_page_of(run))))
    ['blocks', 'title']
    """
    return json_text(page.to_json(), allow_nan=False) + "\n"


RENDERINGS: dict[str, Callable[[Page], str]] = {".html": html_of, ".md": markdown_of, ".json": json_of}


def check_suffix(path: Path) -> None:
    """Refuse a name whose suffix no renderer writes."""
    if path.suffix not in RENDERINGS:
        raise UserError(f"expected a report name ending in {', '.join(RENDERINGS)}, got '{path}'")


def write_page(page: Page, path: Path) -> None:
    """Write the page in the form that the name's suffix asks for."""
    check_suffix(path)
    write_atomic(path, RENDERINGS[path.suffix](page).encode())


__all__ = ["RENDERINGS", "check_suffix", "html_of", "json_of", "markdown_of", "write_page"]
