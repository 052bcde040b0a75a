"""The experimenter's pages: who is how far, and the answers as a file; for those who have the token that the server printed."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from snellen.web.bodies import Refusal, as_json, decoded
from snellen.web.pages import Pages
from snellen.web.study.bodies import EntryBody
from snellen.web.study.export import answers_frame
from snellen.web.study.progress import progress_of
from snellen.web.study.store import StudyStore
from snellen.web.tokens import Door, csrf_token, fingerprint, same


class Experimenter:
    """The routes of experimenters; `token` is the hash of theirs."""

    def __init__(self, store: StudyStore, door: Door, pages: Pages, token: str) -> None:
        self.store, self.door, self.pages, self.token = store, door, pages, token

    @property
    def routes(self) -> list[Route]:
        """Pages and JSON by path."""
        return [
            Route("/experimenter", self.page, methods=["GET"]),
            Route("/experimenter/enter", self.enter, methods=["POST"]),
            Route("/experimenter/progress", self.progress, methods=["GET"]),
            Route("/experimenter/answers.csv", self.answers, methods=["GET"]),
        ]

    async def page(self, _: Request) -> Response:
        return self.pages.page("experimenter.html", title=self.store.study.settings["title"])

    async def enter(self, request: Request) -> Response:
        token = (await decoded(request, EntryBody)).token
        if not same(fingerprint(token), self.token):
            self.door.failed.count(request)
            raise Refusal(404, "this link is not known; take the one that the server printed when it started")
        return self.door.open(as_json({"csrf": csrf_token(token)}), token, days=1)

    async def progress(self, request: Request) -> Response:
        self._check(request)
        return as_json(await run_in_threadpool(progress_of, self.store))

    async def answers(self, request: Request) -> Response:
        self._check(request)
        frame = await run_in_threadpool(answers_frame, self.store)
        headers = {"content-disposition": 'attachment; filename="answers.csv"'}
        return Response(frame.to_csv(index=False), media_type="text/csv", headers=headers)

    def _check(self, request: Request) -> None:
        token = self.door.token(request)
        if not same(fingerprint(token), self.token):
            if token:
                self.door.failed.count(request)
            raise Refusal(401, "open the link that the server printed when it started")
