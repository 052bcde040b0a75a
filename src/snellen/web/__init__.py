"""Web apps for people, on one small core: the human study (`web.study`) and what else is shown in a browser.

The core, module by module:

- `server` runs an app: localhost unless told otherwise, Ctrl-C stops it, `background` runs it beside a test or a simulation.
- `guard` stands in front of every app: known host names alone, bounded bodies, headers that forbid what a page does not need.
- `tokens` makes the links that let people in, and knows them again: cookie, CSRF token, limit on wrong tokens.
- `bodies` decodes JSON into a declared type, and answers refusals in one line of JSON.
- `pages` renders templates and serves the scripts and styles of an app by name.
- `pictures` writes PNG files without metadata and hides what they are behind random addresses.
- `database` opens SQLite or PostgreSQL so that what is confirmed is on disk.

It needs the extra `web`: call `require` before importing a module that uses Starlette or SQLAlchemy.
"""

from __future__ import annotations

from snellen.extras import import_package
from snellen.lazy_names import finder, lister

_HOMES = {
    "Door": "snellen.web.tokens",
    "Guard": "snellen.web.guard",
    "ServeRequest": "snellen.web.serve_request",
    "background": "snellen.web.server",
    "curate": "snellen.web.curate",
    "serve": "snellen.web.server",
    "study": "snellen.web.study",
}

__all__ = [*_HOMES, "require"]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)


def require(use: str) -> None:
    """Refuse in one line, naming the extra `web`, where a package that every web app needs is missing.

    >>> from snellen.web import require
    >>> require("the study")  # nothing is missing
    """
    import_package("starlette", use)
    import_package("uvicorn", use)
    import_package("sqlalchemy", use)
