"""A small set of variants with true masks, and desks on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from snellen.build.in9 import build
from snellen.build.in9.building import In9Built
from snellen.web import background
from snellen.web.curate.app import CurateApp
from snellen.web.curate.request import CurateRequest
from snellen.web.curate.session import Session

WORLD = "phantom:test?size=48&n=24&object_size=0.4..0.6"
SIZE = 48


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> In9Built:
    """A set of 24 images in 12 classes."""
    out = tmp_path_factory.mktemp("curated") / "set"
    return build(WORLD, out, "all", size=SIZE, scale=SIZE, masks="data", segment_size=96, balance=False, workers=1)


@dataclass(frozen=True)
class Visitor:
    """A reviewer who has come in: a client with their cookie and CSRF token, and their link."""

    client: httpx.Client
    link: str

    def get(self, path: str, status: int = 200) -> dict:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    def post(self, path: str, body: object, status: int = 200) -> dict:
        answer = self.client.post(path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def items(self) -> list[str]:
        """The addresses of all images."""
        return [item[0] for item in self.get("/api/state")["items"]]

    def decide(self, item: str, decision: str = "accept", status: int = 200, **more: object) -> dict:
        body = {"item": item, "attempt": f"{item}{decision}{more}"[:60], "decision": decision, **more}
        return self.post("/api/decide", body, status)


@dataclass(frozen=True)
class Served:
    """A desk that is served."""

    session: Session
    address: str

    def visitor(self, name: str) -> Visitor:
        """Somebody who comes by their link."""
        token = self.session.store.link(name)
        client = httpx.Client(base_url=self.address)
        client.headers["x-csrf-token"] = client.post("/enter", json={"token": token}).json()["csrf"]
        return Visitor(client, f"{self.address}/#{token}")


@pytest.fixture
def session(made: In9Built, tmp_path: Path) -> Iterator[Session]:
    opened = Session(CurateRequest(dataset=f"in9:{made.out}", out=tmp_path / "reviews", reviewers=("ann", "ben")))
    yield opened
    opened.store.close()


@pytest.fixture
def served(session: Session) -> Iterator[Served]:
    with background(CurateApp(session.desk).starlette) as address:
        yield Served(session, address)
