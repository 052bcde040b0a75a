"""What a stranger, a curious participant or a broken client can do to a study: nothing but what is theirs."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from typing import Any

import httpx
import hypothesis
import numpy as np
import pytest
import schemathesis
import sqlalchemy as sa
from PIL import Image
from tests.web.participants import Running, answer_to, participant, running

from snellen.web.study.consent import to_html
from snellen.web.study.openapi import describe_api
from snellen.web.study.progress import progress_of
from snellen.web.study.store import DONE, WITHDRAWN
from snellen.web.study.tables import PEOPLE, RECRUITS
from snellen.web.tokens import new_token

CHECKS = list(hypothesis.HealthCheck)
RELAXED = hypothesis.settings(
    max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=CHECKS
)
HOSTILE = [
    "'; drop table answers; --",
    '" or 1=1 --',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "../../etc/passwd",
    "\u202e\u0000"[:1],
    "é" * 50,
    "{{ 7 * 7 }}",
]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    out = tmp_path_factory.mktemp("study") / "study"
    texts = {"consent": out.parent / "consent.md", "title": "<b>A & B</b>"}
    texts["consent"].write_text("# <script>alert(1)</script>\n\n- **bold** <i>x</i>\n- two\n\n[a](javascript:alert(1))")
    with running(
        out, protocol="kassaw2024", tree="data", participants=40, recruit=True, most_people=2, **texts
    ) as study:
        yield study


def current(client: httpx.Client) -> dict[str, Any]:
    return client.get("/api/state").json()["current"]


def test_the_picture_of_another_person_is_not_there_nor_are_later_ones(study):
    with participant(study, "p001") as first, participant(study, "p002") as second:
        path = current(first)["pictures"][0]
        assert first.get(path).status_code == 200
        assert second.get(path).status_code == 404
        assert httpx.get(study.url + path).status_code == 401
        trials = study.store.trials(study.store.person(study.links["p001"]))
        statuses = [first.get(f"/picture/{trial.address}/0").status_code for trial in trials]
        assert statuses == [200, 200, 404, 404]  # this one, and the next, which is preloaded
        assert first.get(f"{path[:-1]}1").status_code == 404
        assert first.get(f"{path[:-1]}-1").status_code == 404


def test_nobody_answers_for_another_or_out_of_turn(study):
    with participant(study, "p003") as first, participant(study, "p004") as second:
        mine, following = first.get("/api/state").json()["current"], first.get("/api/state").json()["following"]
        body = answer_to(mine["trial"], "disc", x=1.0, y=1.0)
        before = len(study.answers())
        assert second.post("/api/answer", json=body).status_code == 404
        assert first.post("/api/answer", json=answer_to(following["trial"], "disc", x=1.0, y=1.0)).status_code == 409
        assert len(study.answers()) == before
        assert first.post("/api/answer", json=body, headers={"x-csrf-token": ""}).status_code == 403
        assert (
            first.post("/api/answer", json=body, headers={"x-csrf-token": second.headers["x-csrf-token"]}).status_code
            == 403
        )
        assert first.post("/api/answer", json=body, headers={"origin": "http://evil.example"}).status_code == 403
        assert first.post("/api/answer", json=body).status_code == 200
        assert len(study.answers()) == before + 1


def test_the_same_answer_again_is_the_same_row_and_another_one_does_not_replace_it(study):
    with participant(study, "p005") as client:
        body = answer_to(current(client)["trial"], "disc", x=1.0, y=1.0)
        before = len(study.answers())
        replies = [client.post("/api/answer", json=body) for _ in range(3)]
        replies.append(client.post("/api/answer", json=body | {"answer": "ring", "key": "other"}))
        assert [reply.status_code for reply in replies] == [200] * 4
        assert len({reply.json()["current"]["trial"] for reply in replies}) == 1
        rows = study.answers()
        assert len(rows) == before + 1
        assert rows[-1]["answer"] == "disc"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"answer": "submarine"}, 400),
        ({"answer": ""}, 400),
        ({"x": 32.0}, 400),
        ({"x": -1.0}, 400),
        ({"x": None, "y": None}, 400),
        ({"x": None}, 400),
        ({"response_ms": -1}, 400),
        ({"late_frames": 2**70}, 400),
        ({"scale": 0}, 400),
        ({"shown_at": 1e300}, 400),
        ({"input": "thought"}, 400),
        ({"trial": "x" * 101}, 400),
        ({"steps": ["a"] * 41}, 400),
        ({"key": ""}, 400),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_in_one_line(study, change, status):
    with participant(study, "p006") as client:
        body = answer_to(current(client)["trial"], "disc", x=1.0, y=1.0)
        reply = client.post("/api/answer", json=body | change)
        assert reply.status_code == status
        assert reply.json().keys() == {"error"}


def test_hostile_text_in_every_field_is_stored_or_refused_and_breaks_nothing(study):
    with participant(study, "p007") as client, httpx.Client(base_url=study.url) as stranger:
        visitors = {True: client, False: stranger}
        body = answer_to(current(client)["trial"], "disc", x=1.0, y=1.0)
        before = len(study.answers())
        bodies = {
            "/api/enter": {"token": ""},
            "/api/arrive": {"PROLIFIC_PID": "a", "STUDY_ID": "b", "SESSION_ID": "c"},
            "/api/withdraw": {"code": ""},
            "/api/answer": body,
        }
        texts = {
            path: [name for name, value in content.items() if isinstance(value, str)]
            for path, content in bodies.items()
        }
        statuses = {
            visitors[path == "/api/answer"].post(path, json=bodies[path] | {name: text}).status_code
            for path, names in texts.items()
            for name in names
            for text in HOSTILE
            if not (path == "/api/answer" and name == "key")
        }
        assert statuses <= {200, 400, 404, 409, 429}
        assert len(study.answers()) == before
        assert client.post("/api/answer", json=body | {"key": HOSTILE[0], "steps": HOSTILE[:3]}).status_code == 200
    (row,) = [row for row in study.answers() if row["key"] == HOSTILE[0]]
    assert json.loads(row["steps"]) == HOSTILE[:3]


def test_texts_of_the_experimenter_are_escaped(study):
    page = httpx.get(study.url).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<title>&lt;b&gt;A &amp; B&lt;/b&gt;</title>" in page
    assert "<li><strong>bold</strong> &lt;i&gt;x&lt;/i&gt;</li>" in page
    assert 'href="javascript' not in page


def test_markdown_becomes_headings_paragraphs_and_lists():
    text = "# A\nline one\nline **two**\n\n1. x\n2. y\n   more\n\n* z"
    assert to_html(text) == (
        "<h1>A</h1>\n<p>line one line <strong>two</strong></p>\n<ol><li>x</li><li>y more</li></ol>\n<ul><li>z</li></ul>"
    )


def arrival(pid: str) -> dict[str, str]:
    return {"PROLIFIC_PID": pid, "STUDY_ID": "s", "SESSION_ID": f"session of {pid}"}


def test_a_recruiting_site_sends_a_person_once_and_no_more_than_wanted(tmp_path):
    with running(tmp_path / "study", recruit=True, most_people=2, participants=0) as study:

        def take_part(pid: str) -> list[int]:
            with httpx.Client(base_url=study.url) as client:
                reply = client.post("/api/arrive", json=arrival(pid))
                client.headers["x-csrf-token"] = reply.json().get("csrf", "")
                return [reply.status_code, client.post("/api/consent", json={"agreed": True}).status_code]

        assert [take_part(pid) for pid in ("rosa", "emma", "rosa")] == [[200, 200]] * 3
        assert take_part("clara") == [409, 401]
        with study.store.database.reading() as connection:
            assert connection.execute(sa.select(RECRUITS.c.pid)).scalars().all() == ["rosa", "emma"]
    with running(tmp_path / "closed", participants=0) as study:  # people come by their links alone
        assert httpx.post(f"{study.url}/api/arrive", json=arrival("rosa")).status_code == 404


def test_nothing_is_stored_of_whom_a_recruiting_site_sends_before_they_consent(tmp_path):
    with (
        running(tmp_path / "study", recruit=True, most_people=1, participants=0) as study,
        httpx.Client(base_url=study.url) as client,
        httpx.Client(base_url=study.url) as other,
    ):
        for visitor, pid in ((client, "rosa1871"), (other, "emma1869")):
            visitor.headers["x-csrf-token"] = visitor.post("/api/arrive", json=arrival(pid)).json()["csrf"]
        assert client.get("/api/state").json()["phase"] == "consent"  # also after a reload
        assert client.post("/api/consent", json={"agreed": False}).status_code == 400
        assert client.post("/api/screen", json={"width": 1, "height": 1, "pixel_ratio": 1}).status_code == 409
        assert set(progress_of(study.store).states.values()) == {0}
        files = [file.read_bytes() for file in study.store.folder.path.glob("study.sqlite*")]
        assert not any(b"rosa1871" in content for content in files)
        assert other.post("/api/consent", json={"agreed": True}).json()["phase"] == "trials"
        assert client.post("/api/consent", json={"agreed": True}).status_code == 409  # the other was the last
        client.cookies.set(
            "snellen_study_arrival", b'{"PROLIFIC_PID":"emma1869"}'.hex()
        )  # not what came with the token
        assert client.get("/api/state").status_code == 401
        with study.store.database.reading() as connection:
            assert connection.execute(sa.select(RECRUITS.c.pid)).scalars().all() == ["emma1869"]


def test_guessing_tokens_finds_nothing_and_is_slowed_down(study):
    tokens = [new_token() for _ in range(30)]
    statuses = [httpx.post(f"{study.url}/api/enter", json={"token": token}).status_code for token in tokens]
    assert set(statuses) <= {404, 429}
    assert statuses[-1] == 429
    cookie = {"cookie": f"snellen_study={new_token()}"}  # a guess by cookie is one too
    assert httpx.get(f"{study.url}/api/state", headers=cookie).status_code == 429
    assert httpx.post(f"{study.url}/api/enter", json={"token": study.links["p008"]}).status_code == 200
    stored = (study.store.folder.path / "study.sqlite").read_bytes()
    assert all(token.encode() not in stored for token in study.links.values())


@pytest.mark.parametrize("path", ["/experimenter/progress", "/experimenter/answers.csv"])
def test_the_experimenters_pages_are_for_the_experimenter(study, path):
    assert httpx.get(study.url + path).status_code == 401
    with participant(study, "p009") as client:
        assert client.get(path).status_code == 401
        cookie = {"cookie": f"snellen_experimenter={study.links['p009']}"}
        assert client.get(path, headers=cookie).status_code in (401, 429)
    with httpx.Client(base_url=study.url) as client:
        assert client.post("/experimenter/enter", json={"token": study.links["p009"]}).status_code in (404, 429)
        client.post("/experimenter/enter", json={"token": study.token})
        assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/picture/..%2f..%2fstudy.json/0", "/picture/%2e%2e/0", "/static/..%2f..%2fstudy.json", "/masks/000000.png"),
        *(
            "/study.json",
            "/study.sqlite",
            "/pictures/000000.png",
            "/static/study.html",
            "//etc/passwd",
            "/picture/x/" + "9" * 5000,  # more digits than Python makes a number of
            "/api",
            "/docs",
        ),
    ],
)
def test_no_path_leads_to_a_file(study, path):
    with participant(study, "p010") as client:
        reply = client.get(path)
        assert reply.status_code in (404, 405)
        assert "secret" not in reply.text


def test_nothing_that_a_participant_can_fetch_tells_what_a_picture_is(study):
    """Every page, script, header and picture up to the end of the study, searched for labels, levels, samples and sources."""
    with participant(study, "p011") as client:
        shell = client.get("/").text
        seen: list[str] = []
        for _ in range(4):
            trial = current(client)
            item = study.item_at(trial["trial"])
            picture = client.get(trial["pictures"][0])
            image = Image.open(io.BytesIO(picture.content))
            assert image.info == {}
            everything = [
                str(picture.headers),
                str(picture.url),
                client.get("/api/state").text,
                str(dict(client.cookies)),
            ]
            facts = {item.label, item.sample, item.source, item.distortion, f"{item.number:06d}", "phantom", "test-s0"}
            facts |= {item.level} - {"none"}  # which the policy of contents says too
            told = [fact for fact in facts for text in everything if fact in text.lower()]
            assert told == []
            assert all(fact not in shell for fact in (item.sample, item.source, "phantom", "none()"))
            stored = np.asarray(Image.open(io.BytesIO(study.store.folder.picture(item.number))))
            assert (np.asarray(image) == stored).all()  # the very pixels
            seen.append(trial["trial"])
            reply = client.post("/api/answer", json=answer_to(trial["trial"], "disc", x=1.0, y=1.0))
            assert "on_target" not in reply.text
        for name in ("study.js", "picture.js", "timing.js", "web.js", "study.css", "web.css"):
            script = client.get(f"/static/{name}").text
            assert all(label not in script for label in ("crescent", "sparkle", "hexagram"))
        addresses = [trial.address for trial in study.store.trials(study.store.person(study.links["p011"]))]
        assert len(set(addresses)) == len(seen) == 4
        assert all(len(address) == 24 for address in addresses)


def test_withdrawal_erases_the_answers_and_the_link(study):
    def on_disk(text: str) -> bool:
        return any(text.encode() in file.read_bytes() for file in study.store.folder.path.glob("study.sqlite*"))

    with participant(study, "p012") as client:
        client.post("/api/screen", json={"width": 1, "height": 1, "pixel_ratio": 1})
        for _ in range(4):
            body = answer_to(current(client)["trial"], "disc", x=1.0, y=1.0, key="key of p012")
            state = client.post("/api/answer", json=body).json()
        assert on_disk("key of p012")
        person = study.store.person(study.links["p012"])
        assert person.state == DONE
        before = len(study.answers())
        with httpx.Client(base_url=study.url) as other:  # the code is enough
            assert other.post("/api/withdraw", json={"code": state["withdrawal"]}).json() == {"withdrawn": True}
        assert client.get("/api/state").status_code in (401, 429)
    assert len(study.answers()) == before - 4
    with study.store.database.reading() as connection:  # what is left is that there was somebody
        row = connection.execute(sa.select(PEOPLE).where(PEOPLE.c.id == person.id)).mappings().one()
    assert dict(row) == {
        "id": person.id,
        "name": "p012",
        "token": f"withdrawn {person.id}",
        "state": WITHDRAWN,
        "consent_at": None,
        "seen_at": 0,
        "done_at": None,
        "screen": "",
    }
    assert not on_disk("key of p012")  # nor in the log of SQLite, while the server runs
    assert study.store.trials(person) == []
    assert httpx.post(f"{study.url}/api/enter", json={"token": study.links["p012"]}).status_code in (404, 429)


def test_no_request_that_fits_the_description_makes_a_server_error(study):
    """schemathesis draws the bodies; half of them come from somebody who has come in."""

    schema = schemathesis.openapi.from_dict(describe_api())
    with participant(study, "p013") as client, httpx.Client(base_url=study.url) as stranger:
        statuses: set[int] = set()
        for operation in (result.ok() for result in schema.get_all_operations()):

            @RELAXED
            @hypothesis.given(case=operation.as_strategy())
            def attempt(case: Any) -> None:
                body = case.body if isinstance(case.body, dict | list | str | int | float | None) else None
                for visitor in (client, stranger):
                    reply = visitor.request(case.method, case.path, json=body if case.method != "GET" else None)
                    statuses.add(reply.status_code)
                    assert reply.status_code < 500
                    assert reply.headers["content-type"].startswith("application/json")

            attempt()
    assert {200, 400} <= statuses


def test_random_bytes_make_no_server_error(study):
    rng = random.Random(0)
    with participant(study, "p014") as client:
        for path in describe_api()["paths"]:
            for _ in range(10):
                body = rng.randbytes(rng.randrange(200))
                reply = client.post(path, content=body, headers={"content-type": "application/json"})
                assert reply.status_code in (400, 404, 405, 429)
