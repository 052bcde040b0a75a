"""A page as HTML: one file that needs nothing else."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import harmless
from snellen.report.blocks import NAMES, Block, Group, Page, Row
from snellen.report.charts import svg
from snellen.report.render.shared_pictures import shared_pictures
from snellen.version import __version__

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent


def html_of(page: Page) -> str:
    """The page through the templates; every value is escaped, only our own charts go in as they are.

    >>> from snellen.report import html_of, page_of
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> html_of(page_of(run))[:15]
    '<!doctype html>'
    """
    shared = shared_pictures(page)

    def show(block: Block) -> Markup:
        """A block by the macro of its kind."""
        return getattr(macros, NAMES[type(block)])(block)

    macros = environment().get_template("blocks.html").make_module({"show": show, "shared": shared})
    content = {"page": page, "show": show, "shared": shared, "snellen": __version__}
    return harmless(environment().get_template("page.html").render(content))


@functools.cache
def environment() -> jinja2.Environment:
    """The templates of this room; values are escaped, and a name that is not known is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"draw": _draw, "beside": _beside}
    return environment


def _draw(spec: Mapping[str, Any]) -> Markup:
    from markupsafe import Markup

    return Markup(svg(spec))


def _beside(rows: Sequence[Row | Group], across: int) -> list[Group | list[Row]]:
    """The rows of a gallery, `across` of them side by side; a group begins on a new line."""
    lines: list[Group | list[Row]] = []
    for row in rows:
        last = lines[-1] if lines else None
        if isinstance(row, Group):
            lines.append(row)
        elif isinstance(last, list) and len(last) < across:
            last.append(row)
        else:
            lines.append([row])
    return lines
