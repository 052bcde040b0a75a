"""Simulated participants: they do over HTTP what a browser does, with known laws of answering."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np

from snellen.errors import UserError
from snellen.web.server import background
from snellen.web.study.app import study_app
from snellen.web.study.folder import Item, Question, StudyFolder
from snellen.web.study.request import SimulateRequest
from snellen.web.study.store import StudyStore
from snellen.web.tokens import CSRF_HEADER, new_token

Law = Callable[[Item, Question, np.random.Generator], str]  # what a person answers to an item


@dataclass(frozen=True)
class SimulatedStudy:
    """What came of a simulation: names of all and of the careless people, answers sent, seconds of each request for an answer."""

    observers: tuple[str, ...]
    bad: tuple[str, ...]
    answers: int
    seconds: tuple[float, ...]


class Refused(Exception):
    """A refusal of the server, with its status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Visitor:
    """A browser without a screen: one connection, a cookie, the CSRF token."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(parts.netloc, timeout=60)
        self.cookie, self.csrf = "", ""

    def call(self, path: str, body: Any = None) -> dict[str, Any]:
        """Send JSON, or fetch without a body; the JSON of the answer."""
        value: dict[str, Any] = msgspec.json.decode(self.fetch(path, body) or b"{}")
        self.csrf = str(value.get("csrf", self.csrf))
        return value

    def fetch(self, path: str, body: Any = None) -> bytes:
        """The same, as bytes."""
        content = None if body is None else msgspec.json.encode(body)
        try:
            response, answer = self._exchange(path, content)
        except (http.client.RemoteDisconnected, ConnectionError):  # a server ends connections that were idle
            self.connection.close()
            response, answer = self._exchange(path, content)
        if response.status != 200:
            raise Refused(response.status, answer[:200].decode(errors="replace"))
        if cookie := response.headers.get("set-cookie"):
            self.cookie = cookie.partition(";")[0]
        return answer

    def _exchange(self, path: str, content: bytes | None) -> tuple[http.client.HTTPResponse, bytes]:
        headers = {"cookie": self.cookie, CSRF_HEADER: self.csrf, "content-type": "application/json"}
        self.connection.request("GET" if content is None else "POST", path, content, headers)
        response = self.connection.getresponse()
        return response, response.read()

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


def right_with(accuracy: float) -> Law:
    """The law of people who name this share of images right, and err to any other answer alike."""

    def answer(item: Item, question: Question, rng: np.random.Generator) -> str:
        others = [name for name in question.answers if name != item.label]
        is_right = rng.random() < accuracy and item.label in question.answers
        return item.label if is_right else str(rng.choice(others))

    return answer


def at_random(item: Item, question: Question, rng: np.random.Generator) -> str:
    """The law of people who do not look."""
    return str(rng.choice(question.answers))


def simulate_study(request: SimulateRequest, law: Law | None = None) -> SimulatedStudy:
    """Let simulated people take part in a study through HTTP, all at once; by default a server runs for them meanwhile.

    They consent one after the other and then answer all at once, so that who sees what, and all answers, follow from the seeds.
    The last of them are the careless ones. Their answers are stored like those of people: simulate in a copy of a real study.

    >>> from snellen.web.study import SimulateRequest, StudyRequest, create_study, simulate_study
    >>> source = "phantom:test?size=32&n=24"
    >>> request = StudyRequest(source=source, out="tried", protocol="forced", participants=2, per_person=6)
    >>> _ = create_study(request)
    >>> found = simulate_study(SimulateRequest(study="tried", people=2, bad=0))
    >>> found.answers
    28
    """
    store = StudyStore(StudyFolder(request.study), request.database)
    try:
        links = store.add_links(request.people)
        laws = [law or right_with(request.accuracy)] * (request.people - request.bad) + [at_random] * request.bad
        with _server(store, request.url) as url, ThreadPoolExecutor(min(request.people, 256)) as pool:
            people = [
                _SimulatedPerson(store, request, url, number, token, person_law)
                for number, (token, person_law) in enumerate(zip(links.values(), laws))
            ]
            for person in people:
                person.come_in()
            timings = list(pool.map(lambda person: person.take_part(), people))
    finally:
        store.close()
    names = tuple(links)
    seconds = tuple(value for timing in timings for value in timing)
    return SimulatedStudy(names, names[request.people - request.bad :], len(seconds), seconds)


@contextmanager
def _server(store: StudyStore, url: str | None) -> Iterator[str]:
    if url is not None:
        yield url.rstrip("/")
        return
    with background(study_app(store, new_token())) as own:
        yield own


@dataclass(frozen=True)
class _SimulatedPerson:
    """One of them. What is shown they know from the store: no page tells."""

    store: StudyStore
    request: SimulateRequest
    url: str
    number: int
    token: str
    law: Law

    @cached_property
    def visitor(self) -> Visitor:
        return Visitor(self.url)

    def come_in(self) -> None:
        """Open the link and consent."""
        with self._served():
            self.visitor.fetch("/")
            self.visitor.call("/api/enter", {"token": self.token})
            self.visitor.call("/api/screen", {"width": 1280, "height": 720, "pixel_ratio": 1.0, "refresh_hz": 60.0})
            self.visitor.call("/api/consent", {"agreed": True})

    def take_part(self) -> list[float]:
        """Answer everything; the seconds of each answer's request."""
        with self._served():
            return self._answer_all(self.visitor, self.visitor.call("/api/state"))

    @contextmanager
    def _served(self) -> Iterator[None]:
        """Whatever the server does not do is one line."""
        try:
            yield
        except Refused as error:
            raise UserError(f"the server at {self.url} refused a simulated participant: {error}") from None
        except (OSError, http.client.HTTPException) as error:
            raise UserError(f"the server at {self.url} does not answer: {error}; is it running?") from None
        finally:
            self.visitor.close()

    def _answer_all(self, visitor: Visitor, state: dict[str, Any]) -> list[float]:
        rng, pace = (np.random.default_rng([self.request.seed, self.number, use]) for use in range(2))
        seconds = []
        person = self.store.person(self.token)
        assert person is not None
        items = {trial.address: self.store.item(trial) for trial in self.store.trials(person)}
        while trial := state["current"]:
            for path in trial["pictures"]:
                visitor.fetch(path)
            if self.request.think_ms:
                time.sleep(float(pace.exponential(self.request.think_ms)) / 1000)
            body = self._answer(trial["trial"], items[trial["trial"]], rng)
            begin = time.perf_counter()
            state = visitor.call("/api/answer", body)
            seconds.append(time.perf_counter() - begin)
            if rng.random() < self.request.twice:
                state = visitor.call("/api/answer", body)
        return seconds

    def _answer(self, address: str, item: Item, rng: np.random.Generator) -> dict[str, Any]:
        question = self.store.study.question
        click = {"x": item.width / 2, "y": item.height / 2} if question.click else {}
        return {
            "trial": address,
            "key": new_token(),
            "answer": self.law(item, question, rng),
            "response_ms": float(rng.gamma(4, 200)),
            "onset_ms": 500.0,
            "late_frames": 0,
            "away_ms": 0.0,
            "scale": 2.0,
            "shown_at": time.time() * 1000,
            "input": "keys",
            **click,
        }
