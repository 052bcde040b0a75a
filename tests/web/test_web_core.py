"""The core of the web apps: who is let in, what is refused before an app sees it, and what is on disk."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import msgspec
import numpy as np
import pytest
import sqlalchemy as sa
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from snellen.errors import UserError
from snellen.web import Door, ServeRequest, background
from snellen.web.bodies import HANDLERS, as_json, decoded, not_there
from snellen.web.database import Database
from snellen.web.guard import MOST_BYTES, SECURITY_HEADERS
from snellen.web.pages import Pages
from snellen.web.pictures import Addresses, plain_png
from snellen.web.tokens import FailedTokens, csrf_token, fingerprint, new_token, well_formed


class Word(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    times: int = 1


TOKEN = new_token()
DOOR = Door("visitor", failed=FailedTokens(most=3, seconds=3600))


async def enter(request: Request) -> Response:
    token = (await decoded(request, Word)).text
    if token != TOKEN:
        DOOR.failed.count(request)
        not_there()
    return DOOR.open(as_json({"csrf": csrf_token(token)}), token)


async def echo(request: Request) -> Response:
    DOOR.check_csrf(request)
    word = await decoded(request, Word)
    return as_json({"text": word.text * word.times})


async def broken(_: Request) -> Response:
    raise ValueError("a defect with /secret/path")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pages = Pages(tmp_path_factory.mktemp("pages"))
    routes = [
        Route("/enter", enter, methods=["POST"]),
        Route("/echo", echo, methods=["POST"]),
        Route("/broken", broken),
        pages.route,
    ]
    with background(Starlette(routes=routes, exception_handlers=HANDLERS)) as url:
        yield url


@pytest.fixture
def visitor(address: str) -> Iterator[httpx.Client]:
    """Somebody who has come in by the link."""
    with httpx.Client(base_url=address) as client:
        answer = client.post("/enter", json={"text": TOKEN})
        client.headers["x-csrf-token"] = answer.json()["csrf"]
        yield client


def test_who_has_come_in_by_the_link_is_answered_and_others_are_not(address, visitor):
    assert visitor.post("/echo", json={"text": "ab", "times": 2}).json() == {"text": "abab"}
    assert httpx.post(f"{address}/echo", json={"text": "ab"}).status_code == 401
    cookie = {"cookie": f"visitor={TOKEN}"}
    assert httpx.post(f"{address}/echo", json={"text": "ab"}, headers=cookie).status_code == 403  # no CSRF token
    wrong = cookie | {"x-csrf-token": csrf_token(new_token())}
    assert httpx.post(f"{address}/echo", json={"text": "ab"}, headers=wrong).status_code == 403


def test_the_cookie_is_for_this_site_and_not_for_scripts(address):
    cookie = httpx.post(f"{address}/enter", json={"text": TOKEN}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie
    behind_https = Door("visitor", https=True).open(Response(), TOKEN)
    assert "secure" in behind_https.headers["set-cookie"].lower()


def test_wrong_tokens_are_limited_and_right_ones_are_not(address):
    statuses = [httpx.post(f"{address}/enter", json={"text": new_token()}).status_code for _ in range(5)]
    assert statuses == [404, 404, 404, 429, 429]
    assert httpx.post(f"{address}/enter", json={"text": TOKEN}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "localhost@evil"]
)
def test_other_host_names_are_refused(address, host):
    answer = httpx.get(f"{address}/static/web.js", headers={"host": host})
    assert answer.status_code in (400, 421)
    assert "export" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
)
def test_requests_of_other_sites_are_refused(visitor, headers):
    assert visitor.post("/echo", json={"text": "a"}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b'{"text": 3}', "application/json", 400),
        (b'{"text": "a", "more": 1}', "application/json", 400),
        (b'{"text": "a\\u0000"}', "application/json", 400),
        (b'{"text": "\\ud800"}', "application/json", 400),
        (b"[" * 60_000, "application/json", 400),
        (b'{"text": "a", "times": 1e999}', "application/json", 400),
        (b'{"text": "a"}', "text/plain", 415),
        (b"text=a", "application/x-www-form-urlencoded", 415),
        (b'{"text": "' + b"a" * MOST_BYTES + b'"}', "application/json", 413),
    ],
)
def test_a_body_that_does_not_fit_is_one_line_of_json(visitor, body, kind, status):
    answer = visitor.post("/echo", content=body, headers={"content-type": kind})
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert "\n" not in answer.json()["error"]


def test_a_body_without_a_length_is_bounded_too(visitor):
    answer = visitor.post(
        "/echo", content=(b"a" * 1024 for _ in range(1024)), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413


def test_every_answer_has_the_security_headers_also_refusals_and_defects(address, visitor):
    answers = [
        visitor.get("/static/web.css"),
        visitor.get("/nowhere"),
        visitor.get("/echo"),
        visitor.get("/broken"),
        httpx.get(f"{address}/static/web.js", headers={"host": "evil.example"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 405, 500, 421]
    for answer in answers:
        assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert "server" not in answer.headers
        assert "cache-control" in answer.headers
    assert "secret" not in answers[3].text
    assert "unsafe" not in SECURITY_HEADERS["content-security-policy"]


@pytest.mark.parametrize(
    "name", ["../server.py", "..%2fserver.py", "%2e%2e/%2e%2e/version.py", "/etc/passwd", "web.js%00"]
)
def test_only_files_known_by_name_are_served(visitor, name):
    assert visitor.get(f"/static/{name}").status_code == 404
    assert visitor.get("/static/web.js").text.startswith("// What the pages")
    assert visitor.get("/static/icon.svg").headers["content-type"] == "image/svg+xml"


def test_tokens_are_long_random_and_stored_as_hashes():
    tokens = {new_token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(well_formed(token) == token for token in tokens)
    assert well_formed(TOKEN + "\n") == well_formed("") == well_formed("é" * 32) == ""
    assert TOKEN not in fingerprint(TOKEN) + csrf_token(TOKEN)


def test_the_names_answered_to_are_those_given():
    assert "study.example.org" in ServeRequest(names="Study.example.org").allowed
    assert "0.0.0.0" not in ServeRequest(host="0.0.0.0").allowed
    assert ServeRequest(names="study.example.org", https=True).url(8000) == "https://study.example.org"
    assert ServeRequest().url(8000) == "http://127.0.0.1:8000"


def test_a_port_that_is_taken_is_one_line(address):
    taken = background(Starlette(), ServeRequest(port=int(address.rpartition(":")[2])))
    with (
        pytest.raises(UserError, match=r"cannot listen on 127\.0\.0\.1:\d+: address already in use; choose another"),
        taken,
    ):
        pass


def test_a_picture_keeps_its_pixels_and_nothing_else():
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    png = plain_png(pixels)
    image = Image.open(io.BytesIO(png))
    assert (np.asarray(image) == pixels).all()
    assert image.info == {}
    assert all(chunk not in png for chunk in (b"tEXt", b"iTXt", b"zTXt", b"eXIf", b"tIME"))


def test_an_address_leads_its_own_person_alone_to_the_picture():
    addresses = Addresses()
    address = addresses.of("a", "cat-1")
    assert addresses.of("a", "cat-1") == address != addresses.of("b", "cat-1")
    assert (addresses.thing("a", address), addresses.thing("b", address)) == ("cat-1", None)


# --- the store


def numbers() -> sa.MetaData:
    tables = sa.MetaData()
    sa.Table("numbers", tables, sa.Column("number", sa.Integer, primary_key=True))
    return tables


def test_a_store_waits_for_the_disk(tmp_path):
    database = Database(tmp_path / "a.sqlite", numbers(), "numbers", 1)
    with database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA secure_delete").scalar() == 1


def test_a_store_and_its_copies_are_for_their_owner_alone(tmp_path):
    tables = numbers()
    database = Database(tmp_path / "a.sqlite", tables, "numbers", 1)
    with database.writing() as connection:
        connection.execute(tables.tables["numbers"].insert().values(number=1))
    database.backup(tmp_path / "copy.sqlite")
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert modes.keys() >= {"a.sqlite", "a.sqlite-wal", "copy.sqlite"}
    assert set(modes.values()) == {0o600}
    with pytest.raises(
        UserError, match=r"cannot write .*none/copy\.sqlite: unable to open database file; check its folder"
    ):
        database.backup(tmp_path / "none" / "copy.sqlite")


def test_what_is_erased_is_nowhere_in_the_files_while_the_store_is_open(tmp_path):
    tables = sa.MetaData()
    words = sa.Table("words", tables, sa.Column("word", sa.Text))
    database = Database(tmp_path / "a.sqlite", tables, "words", 1)
    with database.writing() as connection:
        connection.execute(words.insert().values(word="rosa1871"))
    database.forget()  # so that it stands in the file itself too
    assert b"rosa1871" in (tmp_path / "a.sqlite").read_bytes()
    with database.writing() as connection:
        connection.execute(words.delete())
    assert any(b"rosa1871" in file.read_bytes() for file in tmp_path.iterdir())
    database.forget()
    assert not any(b"rosa1871" in file.read_bytes() for file in tmp_path.iterdir())


def test_what_raises_leaves_nothing_and_many_writers_lose_nothing(tmp_path):
    tables = numbers()
    database, other = (Database(tmp_path / "a.sqlite", tables, "numbers", 1) for _ in range(2))
    with pytest.raises(sa.exc.IntegrityError), database.writing() as connection:
        connection.execute(tables.tables["numbers"].insert(), [{"number": 90}, {"number": 91}, {"number": 90}])
    gate = threading.Barrier(8)

    def write(part: int) -> None:
        gate.wait()
        for number in range(part * 10, part * 10 + 10):
            with (database, other)[number % 2].writing() as connection:
                connection.execute(tables.tables["numbers"].insert().values(number=number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    with database.reading() as connection:
        assert list(connection.execute(sa.select(tables.tables["numbers"].c.number)).scalars()) == list(range(80))


def test_a_store_of_another_version_or_kind_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "a.sqlite"
    Database(path, numbers(), "numbers", 1).close()
    with pytest.raises(UserError, match=r"a store 'numbers' of version 1, this snellen reads 'numbers' of version 2"):
        Database(path, numbers(), "numbers", 2)
    with pytest.raises(UserError, match=r"this snellen reads 'letters' of version 1"):
        Database(path, sa.MetaData(), "letters", 1)
    Database(path, numbers(), "numbers", 1).close()


def test_a_file_that_is_no_store_is_one_line(tmp_path):
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"these are no pages of a database" * 100)
    with pytest.raises(UserError, match=r"cannot open .*a\.sqlite: file is not a database"):
        Database(path, numbers(), "numbers", 1)
    with pytest.raises(UserError, match=r"cannot open .*: unable to open database file"):
        Database(tmp_path / "none" / "a.sqlite", numbers(), "numbers", 1)


def test_a_url_that_cannot_be_used_does_not_show_its_password():
    with pytest.raises(UserError, match=r"cannot open postgresql\+pg8000://me:\*\*\*@127.0.0.1:1/x") as error:
        Database("postgresql://me:geheim@127.0.0.1:1/x", numbers(), "numbers", 1)
    assert "geheim" not in str(error.value)
    with pytest.raises(UserError, match="expected a database as postgresql://user") as error:
        Database("mysql://me:geheim@127.0.0.1/x", numbers(), "numbers", 1)
    assert "geheim" not in str(error.value)


def test_a_backup_while_a_writer_writes_is_of_one_moment(tmp_path):
    tables = numbers()
    database = Database(tmp_path / "a.sqlite", tables, "numbers", 1)
    with database.writing() as connection:
        connection.execute(tables.tables["numbers"].insert().values(number=1))
        connection.execute(tables.tables["numbers"].insert().values(number=2))
        copy = tmp_path / "copy.sqlite"
        database.backup(copy)  # of what is confirmed
    with sqlite3.connect(copy) as connection:
        assert connection.execute("select count(*) from numbers").fetchone() == (0,)
    connection.close()
    with pytest.raises(UserError, match="is there already"):
        database.backup(copy)
    later = tmp_path / "later.sqlite"
    database.backup(Path(later))
    Database(later, numbers(), "numbers", 1).close()
