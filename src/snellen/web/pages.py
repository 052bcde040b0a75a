"""Pages from templates, and the scripts and styles of an app, each served by its name alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from snellen.files import read_bytes
from snellen.web.bodies import not_there

_SHARED = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Pages:
    """The pages of an app from its folder: templates in `templates`, scripts and styles in `static`.

    Values are escaped, and a name that a template lacks is an error. `static/web.js` and `static/web.css` are shared by all apps.
    """

    def __init__(self, folder: Path) -> None:
        self._templates = Environment(
            loader=FileSystemLoader([folder / "templates", _SHARED.parent / "templates"]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        files = [file for place in (_SHARED, folder / "static") for file in place.glob("*") if file.suffix in _TYPES]
        self._statics = {file.name: (read_bytes(file), _TYPES[file.suffix]) for file in files}

    def page(self, name: str, status: int = 200, **facts: Any) -> HTMLResponse:
        """A page from a template."""
        return HTMLResponse(self._templates.get_template(name).render(**facts), status)

    @property
    def route(self) -> Route:
        """The route `/static/NAME`; nothing but the files that were there at the start is served."""
        return Route("/static/{name}", self._static, methods=["GET"])

    async def _static(self, request: Request) -> Response:
        file = self._statics.get(request.path_params["name"])
        if file is None:
            not_there()
        return Response(file[0], media_type=file[1], headers={"cache-control": "no-cache"})
