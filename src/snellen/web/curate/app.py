"""The routes of the desk. All but the empty page, its script and the door itself are for reviewers who came by their link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from snellen.errors import UserError
from snellen.web.bodies import HANDLERS, Refusal, as_json, decoded, not_there
from snellen.web.curate.desk import Choosing, Deciding, Desk, Mending, Undoing
from snellen.web.pages import Pages
from snellen.web.pictures import picture
from snellen.web.tokens import Door, csrf_token, well_formed

COOKIE = "snellen_curate"
Body = TypeVar("Body")


class _Entering(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class CurateApp:
    """The desk as an app: `starlette` is what a server runs."""

    def __init__(self, desk: Desk, https: bool = False) -> None:
        self.desk, self.door = desk, Door(COOKIE, https)
        self.pages = Pages(Path(__file__).parent)
        post = ["POST"]
        routes = [
            Route("/", self._page),
            Route("/enter", self._enter, methods=post),
            Route("/leave", self._leave, methods=post),
            Route("/api/state", self._state),
            Route("/api/item/{address}", self._item),
            Route("/api/agreement", self._agreement),
            Route("/api/try", self._posted(Mending, desk.try_mending), methods=post),
            Route("/api/decide", self._posted(Deciding, desk.decide), methods=post),
            Route("/api/undo", self._posted(Undoing, lambda who, body: desk.undo(who, body.number)), methods=post),
            Route("/api/choose", self._posted(Choosing, desk.choose), methods=post),
            Route("/picture/{address}", self._picture),
            Route("/favicon.ico", _no_icon),
            self.pages.route,
        ]
        self.starlette = Starlette(routes=routes, exception_handlers={**HANDLERS, UserError: _unfit})

    async def _page(self, _: Request) -> Response:
        return self.pages.page("curate.html")

    async def _enter(self, request: Request) -> Response:
        token = well_formed((await decoded(request, _Entering)).token)
        reviewer = await run_in_threadpool(self.desk.store.reviewer, token) if token else None
        if reviewer is None:
            self.door.failed.count(request)
            not_there()
        return self.door.open(as_json({"reviewer": reviewer, "csrf": csrf_token(token)}), token)

    async def _leave(self, request: Request) -> Response:
        self.door.check_csrf(request)
        return self.door.close(as_json({}))

    async def _state(self, request: Request) -> Response:
        reviewer = await self._reviewer(request)
        state = await run_in_threadpool(self.desk.state, reviewer)
        return as_json({**state, "csrf": csrf_token(self.door.token(request))})

    async def _item(self, request: Request) -> Response:
        reviewer = await self._reviewer(request)
        return as_json(await run_in_threadpool(self.desk.item, reviewer, request.path_params["address"]))

    async def _agreement(self, request: Request) -> Response:
        return as_json(await run_in_threadpool(self.desk.agreement, await self._reviewer(request)))

    async def _picture(self, request: Request) -> Response:
        reviewer = await self._reviewer(request)
        return picture(await run_in_threadpool(self.desk.picture, reviewer, request.path_params["address"]))

    def _posted(self, kind: type[Body], answer: Callable[[str, Body], dict[str, Any]]) -> Callable[[Request], Any]:
        """An endpoint that changes something: it needs the session's CSRF token, and a body of this type."""

        async def endpoint(request: Request) -> Response:
            self.door.check_csrf(request)
            reviewer = await self._reviewer(request)
            return as_json(await run_in_threadpool(answer, reviewer, await decoded(request, kind)))

        return endpoint

    async def _reviewer(self, request: Request) -> str:
        """Who asks, by the cookie."""
        token = self.door.token(request)
        reviewer = await run_in_threadpool(self.desk.store.reviewer, token) if token else None
        if reviewer is None:
            if token:
                self.door.failed.count(request)
            raise Refusal(401, "open your personal link first")
        return reviewer


async def _no_icon(_: Request) -> Response:
    return Response(status_code=204)


async def _unfit(_: Request, error: Exception) -> Response:
    return as_json({"error": str(error)}, 422)
