"""What a participant's page calls: coming in, consent, the next picture, an answer, withdrawal."""

from __future__ import annotations

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from snellen.web.bodies import Refusal, as_json, decoded, not_there
from snellen.web.pages import Pages
from snellen.web.pictures import picture
from snellen.web.study.bodies import AnswerBody, Arrival, Consent, EntryBody, NextTrial, Screen, StudyState, Withdrawal
from snellen.web.study.consent import to_html
from snellen.web.study.store import INVITED, AssignedTrial, Person, StudyStore
from snellen.web.tokens import Door, csrf_token, same, well_formed

AHEAD = 2  # pictures that may be fetched: the one that is shown, and the next


class Participant:
    """The routes that participants call. Those without a person's cookie see the page's shell and nothing of the study."""

    def __init__(self, store: StudyStore, door: Door, pages: Pages) -> None:
        self.store, self.study, self.door, self.pages = store, store.study, door, pages
        self.arrivals = Door(f"{door.name}_arrival", door.https)

    @property
    def routes(self) -> list[Route]:
        """Pages and JSON by path."""
        return [
            Route("/", self.page, methods=["GET"]),
            Route("/api/enter", self.enter, methods=["POST"]),
            Route("/api/arrive", self.arrive, methods=["POST"]),
            Route("/api/state", self.state, methods=["GET"]),
            Route("/api/consent", self.consent, methods=["POST"]),
            Route("/api/screen", self.screen, methods=["POST"]),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/withdraw", self.withdraw, methods=["POST"]),
            Route("/picture/{address}/{number}", self.picture, methods=["GET"]),
        ]

    async def page(self, _: Request) -> Response:
        settings, question = self.study.settings, self.study.question
        facts = {
            "question": question.text,
            "nodes": question.nodes,
            "labels": question.labels,
            "click": question.click,
            "cross": question.cross,
            "captions": question.captions,
            "timed": settings["protocol"] == "forced",
            **{
                name: settings[name]
                for name in ("frames", "fixation_ms", "mask_ms", "scale", "breaks", "card", "recruit")
            },
            "id": self.study.id,
        }
        return self.pages.page(
            "study.html",
            title=settings["title"],
            retention=settings["retention"],
            consent=to_html(self.study.consent),
            instructions=to_html(self.study.instructions),
            facts=facts,
        )

    async def enter(self, request: Request) -> Response:
        token = well_formed((await decoded(request, EntryBody)).token)
        person = await run_in_threadpool(self.store.person, token) if token else None
        if person is None:
            self.door.failed.count(request)
            raise Refusal(404, "this link is not known; copy all of it into the address bar")
        return self.door.open(await self._state(person, token), token)

    async def arrive(self, request: Request) -> Response:
        arrival = await decoded(request, Arrival)
        if not self.study.settings["recruit"]:
            not_there()
        token = self.store.recruit_token(arrival)
        person = await run_in_threadpool(self.store.person, token)
        if person is None:
            await run_in_threadpool(self.store.check_room)
        response = self.door.open(await self._state(person or arrival, token), token)
        return response if person else self.arrivals.open(response, msgspec.json.encode(arrival).hex())

    async def state(self, request: Request) -> Response:
        token = self.door.token(request)
        return await self._state(await self._visitor(request, token), token)

    async def consent(self, request: Request) -> Response:
        token = self.door.check_csrf(request)
        visitor = await self._visitor(request, token)
        if not (await decoded(request, Consent)).agreed:
            raise Refusal(400, "without your consent there is nothing to do; you can close this page")
        await run_in_threadpool(self.store.consent, visitor)
        response = await self._state(await self._person(request, token), token)
        return self.arrivals.close(response) if isinstance(visitor, Arrival) else response

    async def screen(self, request: Request) -> Response:
        token = self.door.check_csrf(request)
        person = await self._person(request, token)
        screen = await decoded(request, Screen)
        await run_in_threadpool(self.store.screen, person, screen)
        return await self._state(await self._person(request, token), token)

    async def answer(self, request: Request) -> Response:
        token = self.door.check_csrf(request)
        person = await self._person(request, token)
        answer = await decoded(request, AnswerBody)
        await run_in_threadpool(self.store.answer, person, answer)
        return await self._state(person, token)

    async def withdraw(self, request: Request) -> Response:
        body = await decoded(request, Withdrawal)
        if not await run_in_threadpool(self.store.withdraw, body.code):
            self.door.failed.count(request)
            raise Refusal(404, "this code is not known")
        return self.door.close(as_json({"withdrawn": True}))

    async def picture(self, request: Request) -> Response:
        person = await self._person(request, self.door.token(request))
        trials = await run_in_threadpool(self.store.trials, person)
        open_trials = [trial for trial in trials if not trial.is_answered][:AHEAD]
        address, number = request.path_params["address"], request.path_params["number"]
        trial = next((trial for trial in open_trials if trial.address == address), None)
        files = self.store.item(trial).pictures if trial else ()
        if trial is not None and trial.flipped:
            files = files[::-1]
        file = next((file for place, file in enumerate(files) if str(place) == number), None)
        if file is None:
            not_there()
        return picture(await run_in_threadpool(self.store.folder.picture, file))

    async def _visitor(self, request: Request, token: str) -> Person | Arrival:
        """Whose token this is: a person, or somebody whom a recruiting site has sent and who has not consented yet."""
        person = await run_in_threadpool(self.store.person, token) if token else None
        visitor = person or self._arrival(request, token)
        if visitor is None:
            if token:
                self.door.failed.count(request)
            raise Refusal(401, "open your personal link first")
        return visitor

    async def _person(self, request: Request, token: str) -> Person:
        visitor = await self._visitor(request, token)
        if isinstance(visitor, Arrival):
            raise Refusal(409, "your consent comes first; load the page again")
        return visitor

    def _arrival(self, request: Request, token: str) -> Arrival | None:
        """What a recruiting site told of this visitor. Until they consent, it is in a cookie of their browser alone."""
        try:
            arrival = msgspec.json.decode(bytes.fromhex(request.cookies.get(self.arrivals.name, "")), type=Arrival)
        except (ValueError, msgspec.MsgspecError):
            return None
        return arrival if same(self.store.recruit_token(arrival), token) else None

    async def _state(self, visitor: Person | Arrival, token: str) -> Response:
        if isinstance(visitor, Arrival):
            return as_json(StudyState(csrf_token(token), "consent", 0, 0, "", False))
        person = visitor
        trials = await run_in_threadpool(self.store.trials, person)
        remaining = [trial for trial in trials if not trial.is_answered]
        upcoming = [self._next(trial) for trial in remaining[:AHEAD]] + [None, None]
        has_begun = person.state != INVITED
        state = StudyState(
            csrf=csrf_token(token),
            phase="trials" if remaining else "done" if has_begun else "consent",
            done=len(trials) - len(remaining),
            total=len(trials),
            withdrawal=self.store.withdrawal_code(person) if has_begun else "",
            screen_known=bool(person.screen),
            current=upcoming[0],
            following=upcoming[1],
            completion=str(self.study.settings["completion"] or "") if has_begun and not remaining else "",
        )
        return as_json(state)

    def _next(self, trial: AssignedTrial) -> NextTrial:
        item = self.store.item(trial)
        pictures = [f"/picture/{trial.address}/{number}" for number in range(len(item.pictures))]
        return NextTrial(trial.address, pictures, item.width, item.height, item.kind == "practice")
