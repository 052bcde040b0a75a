"""What was confirmed is there: after SIGKILL, from many people at once, in a backup, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pandas as pd
import pytest
import sqlalchemy as sa
from tests.web import postgres
from tests.web.participants import answer_to, make, participant, running

from snellen.errors import UserError
from snellen.web import ServeRequest, background
from snellen.web.study import (
    ExportRequest,
    SimulateRequest,
    StudyFolder,
    StudyStore,
    export_study,
    simulate_study,
    study_app,
)
from snellen.web.study.bodies import AnswerBody
from snellen.web.study.folder import VARIABLE
from snellen.web.study.store import STALE_SECONDS
from snellen.web.study.tables import ANSWERS, PEOPLE, TRIALS

NEEDS_POSTGRES = pytest.mark.skipif(
    postgres.programs() is None, reason="needs PostgreSQL (initdb and postgres) and setpriv"
)
SERVERS = """
import os, sys
from snellen.web import ServeRequest
from snellen.web.server import serve
from snellen.web.study import StudyFolder, StudyStore, study_app

for _ in sys.stdin:  # each line asks for a server
    if os.fork() == 0:
        store = StudyStore(StudyFolder(sys.argv[1]), sys.argv[2] or None)
        serve(study_app(store, "t" * 32), ServeRequest(port=0), lambda url: print(os.getpid(), url, flush=True))
        os._exit(1)
"""


@contextmanager
def killed_servers(folder: Path, database: str) -> Iterator[subprocess.Popen[str]]:
    """A process that starts a server for each line."""
    command = [sys.executable, "-c", SERVERS, str(folder), database]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def kill_after_replies(folder: StudyFolder, token: str, times: int, database: str = "") -> None:
    """Answer one picture per server, and kill it as soon as its reply is there; every confirmed answer must be found."""
    with killed_servers(folder.path, database) as servers:
        assert servers.stdin is not None
        assert servers.stdout is not None
        for number in range(times):
            servers.stdin.write("one\n")
            servers.stdin.flush()
            process, url = servers.stdout.readline().split()
            with httpx.Client(base_url=url, timeout=60) as client:
                state = client.post("/api/enter", json={"token": token}).json()
                assert state["done"] == number  # all that were confirmed before
                client.headers["x-csrf-token"] = state["csrf"]
                if number == 0:
                    state = client.post("/api/consent", json={"agreed": True}).json()
                body = answer_to(state["current"]["trial"], "disc", key=f"answer {number}")
                reply = client.post("/api/answer", json=body)
                os.kill(int(process), signal.SIGKILL)
            assert reply.status_code == 200
    store = StudyStore(StudyFolder(folder.path), database or None)
    person = store.person(token)
    assert person is not None
    trials = store.trials(person)
    assert [trial.is_answered for trial in trials] == [True] * times + [False] * (len(trials) - times)
    store.close()


@pytest.mark.slow
def test_fifty_kills_right_after_the_reply_lose_nothing(tmp_path):
    folder, links = make(tmp_path / "study", "phantom:test?size=32&n=60", per_person=60)
    kill_after_replies(folder, links["p001"], 50)
    with sqlite3.connect(folder.path / "study.sqlite") as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.slow
@NEEDS_POSTGRES
def test_a_study_on_postgresql_survives_kills_and_many_people(tmp_path, monkeypatch):
    with postgres.server() as url:
        settings = {"per_person": 60, "database": url}
        folder, links = make(tmp_path / "study", "phantom:test?size=32&n=60", **settings)
        kill_after_replies(folder, links["p001"], 50, url)
        simulated = simulate_study(SimulateRequest(study=folder.path, people=5, twice=0.5, database=url))
        assert simulated.answers == 300
        with pytest.raises(UserError, match=f"in a PostgreSQL database; give it with database or in {VARIABLE}"):
            StudyFolder(folder.path).store_place(None)
        monkeypatch.setenv(VARIABLE, url)
        exported = export_study(ExportRequest(study=folder.path, out=tmp_path / "answers"))
        assert exported.answers == 350
        store = StudyStore(StudyFolder(folder.path))
        with pytest.raises(UserError, match="back it up by its own: pg_dump --format=custom"):
            store.database.backup(tmp_path / "copy")
        assert store.withdraw(store.withdrawal_code(store.person(links["p001"])))
        store.close()
        assert export_study(ExportRequest(study=folder.path, out=tmp_path / "answers")).answers == 300
        with pytest.raises(UserError, match="this snellen reads 'study"):
            make(tmp_path / "other", database=url)  # one database has one study


def test_a_backup_while_people_answer_is_whole(tmp_path):
    with running(tmp_path / "study") as study, participant(study) as client:
        state = client.get("/api/state").json()
        client.post("/api/answer", json=answer_to(state["current"]["trial"], "disc"))
        command = [
            sys.executable,
            "-m",
            "snellen",
            "study",
            "backup",
            tmp_path / "study",
            "--out",
            tmp_path / "copy.sqlite",
        ]
        subprocess.run(command, check=True, capture_output=True)
        assert client.post(
            "/api/answer", json=answer_to(client.get("/api/state").json()["current"]["trial"], "ring")
        ).is_success
    with sqlite3.connect(tmp_path / "copy.sqlite") as connection:
        assert connection.execute("select answer from answers").fetchall() == [("disc",)]
    connection.close()


def test_serve_prints_where_it_is_and_stops_on_ctrl_c(tmp_path):
    folder, links = make(tmp_path / "study")
    command = [sys.executable, "-m", "snellen", "study", "serve", folder.path, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        url = lines[0].split()[1].partition("/#")[0]
        assert httpx.post(f"{url}/api/enter", json={"token": links["p001"]}).status_code == 200
        page, token = lines[1].split()[1].split("#")
        with httpx.Client() as client:
            assert client.post(f"{page}/enter", json={"token": token}).status_code == 200
            assert client.get(f"{page}/progress").json()["states"]["invited"] == 2
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "127.0.0.1" not in errors  # who came is not written down


def test_people_who_consent_at_the_same_moment_share_the_images_evenly(tmp_path):
    folder, links = make(tmp_path / "study", participants=16, per_person=10)
    stores = [StudyStore(StudyFolder(folder.path)) for _ in range(2)]
    gate = threading.Barrier(len(links))

    def consent(number: int, token: str) -> None:
        store = stores[number % 2]
        person = store.person(token)
        gate.wait()
        store.consent(person)

    with ThreadPoolExecutor(len(links)) as pool:
        list(pool.map(consent, range(len(links)), links.values()))
    shown = Counter(trial.item for token in links.values() for trial in stores[0].trials(stores[0].person(token)))
    assert sum(shown.values()) == 160
    assert {shown[item.number] for item in folder.study.items} <= {5, 6}
    for store in stores:
        store.close()


def test_a_simulation_is_the_same_again_however_its_people_take_turns(tmp_path):
    def answers(name: str, think_ms: float) -> list[list[object]]:
        folder, _ = make(tmp_path / name, participants=0, per_person=6, catch=1)
        simulate_study(SimulateRequest(study=folder.path, people=6, bad=2, think_ms=think_ms, seed=3))
        export_study(ExportRequest(study=folder.path, out=tmp_path / f"{name}-answers"))
        table = pd.read_csv(tmp_path / f"{name}-answers" / "answers.csv")
        return table[["observer", "sample", "answer", "place"]].to_numpy().tolist()

    assert answers("first", 0.0) == answers("second", 5.0)


def test_behind_a_reverse_proxy_wrong_links_are_counted_by_the_address_that_it_states(tmp_path):
    folder, links = make(tmp_path / "study")
    store = StudyStore(folder)
    for proxy, last in (("127.0.0.1", 404), (None, 429)):  # without one anybody could state any address
        at = ServeRequest(https=True, proxy=proxy, port=0)
        with background(study_app(store, "t" * 32, at.https), at) as url, httpx.Client() as client:
            enter = f"{url.replace('https', 'http')}/api/enter"
            for number in range(25):
                headers = {"x-forwarded-for": f"203.0.113.{number}", "x-forwarded-proto": "https"}
                reply = client.post(enter, json={"token": "A" * 32}, headers=headers)
            assert reply.status_code == last
            reply = client.post(enter, json={"token": links["p001"]}, headers=headers)
            assert reply.status_code == 200
            assert "; Secure" in reply.headers["set-cookie"]
    store.close()


def test_what_people_who_went_away_left_open_is_given_to_others_and_ratings_stay_balanced(tmp_path):
    """Six of 21 people stop half-way; those who come a day later fill the gaps, at the same moment."""
    folder, links = make(tmp_path / "study", participants=21, per_person=10)
    store = StudyStore(folder)
    tokens = list(links.values())
    for number, token in enumerate(tokens[:12]):
        store.consent(store.person(token))
        take_part(store, token, 5 if number < 6 else 10)
    ratings = ratings_of(store)
    assert max(ratings) - min(ratings) > 1  # of what was to be balanced, some was not answered
    with store.database.writing() as connection:
        connection.execute(PEOPLE.update().values(seen_at=time.time() - STALE_SECONDS - 1))
    gate = threading.Barrier(9)

    def come(token: str) -> None:
        gate.wait()
        store.consent(store.person(token))
        take_part(store, token, 10)

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(come, tokens[12:]))
    ratings = ratings_of(store)
    assert sum(ratings) == 6 * 5 + 6 * 10 + 9 * 10
    assert max(ratings) - min(ratings) <= 1
    store.close()


def take_part(store: StudyStore, token: str, count: int) -> None:
    """Answer the first pictures of a person."""
    person = store.person(token)
    for trial in store.trials(person)[:count]:
        store.answer(person, msgspec.convert(answer_to(trial.address, "disc"), AnswerBody))


def ratings_of(store: StudyStore) -> list[int]:
    """How many answers each image has."""
    with store.database.reading() as connection:
        rows = connection.execute(sa.select(TRIALS.c.item).select_from(TRIALS.join(ANSWERS))).scalars().all()
    counts = Counter(rows)
    return [counts[item.number] for item in store.study.of_kind("main")]
