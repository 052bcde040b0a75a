"""What tests of the study share: small studies, a server for them, and a browser that takes part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from snellen.web import background
from snellen.web.study import StudyFolder, StudyRequest, StudyStore, create_study, study_app
from snellen.web.study.folder import Item
from snellen.web.study.tables import ANSWERS, TRIALS
from snellen.web.tokens import new_token

PHANTOM = "phantom:test?size=32&n=30"


@dataclass(frozen=True)
class Running:
    """A study that is served: its store, its address, the tokens of its people and that of the experimenter."""

    store: StudyStore
    url: str
    links: dict[str, str]
    token: str

    def item_at(self, address: str) -> Item:
        """What a trial shows, which no page tells."""
        with self.store.database.reading() as connection:
            number = connection.execute(sa.select(TRIALS.c.item).where(TRIALS.c.address == address)).scalar_one()
        return self.store.study.items[number]

    def answers(self) -> list[dict[str, Any]]:
        """All rows of answers."""
        with self.store.database.reading() as connection:
            return [dict(row) for row in connection.execute(sa.select(ANSWERS, TRIALS.c.item).join(TRIALS)).mappings()]


def make(out: Path, source: str = PHANTOM, **settings: Any) -> tuple[StudyFolder, dict[str, str]]:
    """A small study with two links."""
    settings = {"participants": 2, "practice": 0, "catch": 0, "per_person": 4} | settings
    created = create_study(StudyRequest(source=source, out=out, **settings))
    return StudyFolder(out), created.links


@contextmanager
def running(out: Path, source: str = PHANTOM, **settings: Any) -> Iterator[Running]:
    """A small study, served."""
    folder, links = make(out, source, **settings)
    store, token = StudyStore(folder, settings.get("database")), new_token()
    try:
        with background(study_app(store, token)) as url:
            yield Running(store, url, links, token)
    finally:
        store.close()


@contextmanager
def participant(study: Running, name: str = "p001", consent: bool = True) -> Iterator[httpx.Client]:
    """Somebody who has come in by their link, and consented."""
    with httpx.Client(base_url=study.url) as client:
        state = client.post("/api/enter", json={"token": study.links[name]}).json()
        client.headers["x-csrf-token"] = state["csrf"]
        if consent:
            assert client.post("/api/consent", json={"agreed": True}).status_code == 200
        yield client


def answer_to(trial: str, answer: str, **more: Any) -> dict[str, Any]:
    """The body of an answer."""
    body = {"trial": trial, "key": "k", "answer": answer, "response_ms": 500.0, "onset_ms": 0.0, "late_frames": 0}
    return json.loads(json.dumps(body | {"away_ms": 0.0, "scale": 1.0, "shown_at": 1.7e12, "input": "mouse"} | more))
