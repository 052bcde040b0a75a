"""Several requests in flight to one service: what they share, what each has for itself, and what a failure costs."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.data import Photo
from snellen.errors import UserError
from snellen.models.adapters.http import from_address
from snellen.models.remote.address import Address, parse_address
from snellen.models.remote.client import Declined, UnreadableAnswer
from snellen.models.remote.fleet import Fleet, fleet_of
from snellen.models.remote.turns import Turns

from .service import Server, Time, bodies, brightness, images_in, reply, serve, status

IMAGES = torch.randint(0, 256, (40, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(2))


def fleet(server: Server, parallel: int, time: Time | None = None, **settings: Any) -> Fleet:
    time = time or Time()
    return fleet_of(Address(server.url, parallel=parallel, **settings), time.clock, time.sleep)


def echo(body: bytes) -> Any:
    return reply(body)


def numbered(count: int) -> list[bytes]:
    return [str(number).encode() for number in range(count)]


class Together:
    """A service that answers nobody until so many requests are in flight."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties)

    def __call__(self, body: bytes) -> Any:
        self.barrier.wait(60)
        return reply(body)


@pytest.mark.parametrize("parallel", [1, 4, 16])
def test_so_many_requests_are_in_flight_and_answers_come_in_order(parallel: int) -> None:
    with serve(Together(parallel)) as server:
        assert fleet(server, parallel).post_all(numbered(3 * parallel)) == numbered(3 * parallel)


def test_bodies_are_made_side_by_side() -> None:
    together = threading.Barrier(4)

    def body_of(number: int) -> bytes:
        together.wait(60)
        return b"%d" % number

    with serve(reply) as server:
        bodies = [functools.partial(body_of, number) for number in range(8)]
        assert fleet(server, 4).post_all(bodies) == numbered(8)


def test_what_goes_wrong_while_a_body_is_made_is_raised() -> None:
    def broken() -> bytes:
        raise ValueError("no picture")

    with serve(reply) as server, pytest.raises(ValueError, match="no picture"):
        fleet(server, 2).post_all([b"0", broken])


def test_bodies_are_made_while_others_are_in_flight_and_one_ahead_for_each_connection() -> None:
    """Nothing is answered until as many more bodies are made as requests are in flight; then no more are."""
    made, lock, ready = 0, threading.Lock(), threading.Event()

    def body_of(number: int) -> bytes:
        nonlocal made
        with lock:
            made += 1
            if made == 2 * 5:
                ready.set()
        return b"%d" % number

    def answer(body: bytes) -> Any:
        assert ready.wait(60)
        return reply(body)

    with serve(answer) as server:
        bodies = [functools.partial(body_of, number) for number in range(40)]
        assert fleet(server, 5).post_all(bodies) == numbered(40)


def test_no_more_bodies_are_made_ahead_than_requests_are_in_flight() -> None:
    alive = most = 0
    lock = threading.Lock()

    def body_of() -> Iterator[bytes]:
        nonlocal alive, most
        for body in numbered(60):
            with lock:
                alive += 1
                most = max(most, alive)
            yield body

    def answer(body: bytes) -> Any:
        nonlocal alive
        with lock:
            alive -= 1
        return reply(body)

    with serve(answer) as server:
        assert len(fleet(server, 4).post_all(body_of())) == 60
    assert most <= 4 + 4 + 4  # an answered request may have been followed before its answer was counted here


def failing_first(times: int) -> Callable[[bytes], Any]:
    """A service that fails so often on each body before it answers it."""
    seen: dict[bytes, int] = {}
    lock = threading.Lock()

    def behave(body: bytes) -> Any:
        with lock:
            seen[body] = seen.get(body, 0) + 1
        return reply(b"out of order", 500) if seen[body] <= times else reply(body)

    return behave


def test_each_request_is_sent_again_by_itself() -> None:
    with serve(failing_first(2)) as server:
        assert fleet(server, 4).post_all(numbered(20)) == numbered(20)
        assert len(server.requests) == 60  # three for each body: one that failed made no other one fail


def test_a_request_that_fails_for_good_ends_the_work_and_those_in_flight_are_waited_for() -> None:
    together, ended = threading.Barrier(3), []

    def behave(body: bytes) -> Any:
        if int(body) < 3:
            together.wait(60)
        if body == b"1":
            return reply(b"no", 404)
        ended.append(body)
        return reply(body)

    with serve(behave) as server:
        with pytest.raises(UserError, match="answered 404"):
            fleet(server, 3).post_all(numbered(5000))
        assert {b"0", b"2"} <= set(ended)
        assert len(server.requests) < 5000  # nothing new was begun after the failure


def test_declined_requests_are_values_and_cost_only_themselves() -> None:
    with serve(lambda body: reply(b"odd", 422) if int(body) % 2 else reply(body)) as server:
        outcomes = fleet(server, 4).post_all(numbered(10))
        assert len(server.requests) == 10
    assert outcomes[::2] == numbered(10)[::2]
    assert all(isinstance(outcome, Declined) and "answered 422" in str(outcome) for outcome in outcomes[1::2])


def test_an_answer_that_is_not_accepted_is_asked_for_again() -> None:
    def read(number: int, content: bytes) -> tuple[int, bytes]:
        if content == b"<html>":
            raise UnreadableAnswer("answered HTML")
        return number, content

    with serve(lambda body: reply(b"<html>"), echo) as server:
        assert fleet(server, 1).post_all([b"a"], read) == [(0, b"a")]
        server.behaviours = [lambda body: reply(b"<html>" if body == b"bad" else body)]
        good, bad = fleet(server, 1, retries=2).post_all([b"good", b"bad"], read)
        assert len(server.requests) == 2 + 1 + 3
    assert (good, str(bad)) == ((0, b"good"), f"{server.url} answered HTML (3 tries)")
    assert isinstance(bad, UnreadableAnswer)


def test_all_wait_where_the_service_asks_one_to_wait() -> None:
    time = Time()
    turns = Turns(2.0, time.clock, time.sleep)
    starts = []
    turns.take()
    turns.pause(30)
    for _ in range(3):
        turns.take()
        starts.append(time.now)
    assert starts == [30, 30.5, 31]


def test_one_that_waits_for_its_turn_waits_out_a_pause_that_comes_meanwhile() -> None:
    time = Time()

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        if len(time.naps) == 1:
            turns.pause(10)  # another request was put off

    turns = Turns(0.25, time.clock, sleep)
    turns.take()
    turns.take()
    assert time.naps == [4, 10]


def test_a_request_that_is_put_off_while_others_are_answered_has_had_no_try() -> None:
    """With one retry, a request is put off nine times; each time another one has been answered."""
    time = Time()
    with serve() as server:
        one, other = (Fleet([client]) for client in fleet(server, 2, time, retries=1).clients)

        def busy(body: bytes) -> Any:
            if body == b"unlucky" and len(server.requests) < 18:
                other.post_all([b"lucky"])
                return reply(b"", 429, Retry_After="1")
            return reply(body)

        server.behaviours = [busy]
        assert one.post_all([b"unlucky"]) == [b"unlucky"]
        assert len(server.requests) == 19
        server.behaviours = [status(429, Retry_After="1")]
        with pytest.raises(UserError, match=r"answered 429 Too Many Requests \(2 tries\)"):
            one.post_all([b"alone"])


def test_a_key_stands_in_no_error_of_a_connection(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("SERVICE_KEY", "s3cret")
    with serve(status(401)) as server:
        with pytest.raises(UserError) as caught:
            fleet(server, 4, token="SERVICE_KEY").post_all(numbered(8))
        assert server.requests[0][1]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in str(caught.value) + repr(caught.value.__dict__) + "".join(capfd.readouterr())


def test_a_service_answers_the_same_with_many_requests_in_flight() -> None:
    with serve() as server:
        one, many = (from_address(parse_address(f"{server.url}#size=8&batch=3{more}")) for more in ("", "&parallel=8"))
        assert one(IMAGES).equal(many(IMAGES))
    assert one.card.fingerprint == many.card.fingerprint
    assert (one.card.at_once, many.card.at_once) == (0, 8 * 3 * 8)


def test_of_a_declined_request_each_image_is_asked_once_more_and_of_the_others_none() -> None:
    dark = IMAGES[5].float().mean()

    def picky(body: bytes) -> Any:
        images = images_in(body)
        return reply(b"too dark", 422) if any(abs(image.mean() - dark) < 1e-4 for image in images) else brightness(body)

    with serve() as server:
        model = from_address(parse_address(f"{server.url}#size=8&batch=8&parallel=2"))
        server.behaviours, server.requests[:] = [picky], []
        assert model.by_row is not None
        answers, errors = model.by_row(IMAGES)
        assert sorted(bodies(server.requests)) == [1] * 8 + [8] * 5
        server.requests.clear()
        with pytest.raises(Declined, match="too dark"):
            model(IMAGES)
    assert list(errors) == [5]
    assert errors[5].startswith("Declined: http")
    assert answers.isnan().all(1).nonzero().flatten().tolist() == [5]
    expected = IMAGES.float().mean((1, 2, 3)) / 255
    assert answers[[0, 39], 1].tolist() == pytest.approx(expected[[0, 39]].tolist(), abs=1e-6)


def test_an_audit_pays_for_no_good_answer_twice_where_an_image_is_declined(tmp_path: Path) -> None:
    data = snellen.load_data("phantom:test?size=16&n=40")
    means = [float(photo.image.mean()) for photo in data.read(range(40)) if isinstance(photo, Photo)]
    highest = sorted(means)[-1] - 0.01  # shuffled images have the same mean

    taken: list[str] = []

    def picky(body: bytes) -> Any:
        images = images_in(body)
        if any(image.mean() > highest for image in images):
            return reply(b"too bright", 422)
        taken.extend(json.loads(body)["images"])
        return reply({"probabilities": [[1.0] + [0.0] * 11] * len(images)})

    with serve(lambda body: reply({"probabilities": [[1.0] + [0.0] * 11] * len(images_in(body))})) as server:
        model = snellen.load_model(f"{server.url}#size=16&batch=10&parallel=4")
        server.behaviours = [picky]
        run = snellen.audit(model, data, ["interference([shuffle(2)])"], out=tmp_path / "run", quiet=True)
    rows = run.predictions()
    assert rows.groupby("distortion").size()[["none()", "shuffle(grid=2)"]].tolist() == [39, 39]
    assert len(taken) <= len(rows) + 40  # a first look shows the images once before


def test_a_detector_has_no_box_where_its_service_declines(tmp_path: Path) -> None:
    def detect(body: bytes) -> Any:
        images = images_in(body)
        return reply(b"", 413) if len(images) == 2 else reply({"boxes": [[[0, 0, 2, 2], [1, 1, 3, 3]]] * len(images)})

    with serve(detect) as server:
        model = from_address(parse_address(f"{server.url}#size=8&task=detection&batch=4"))
        server.behaviours = [lambda body: detect(body) if len(images_in(body)) > 1 else reply(b"", 413)]
        assert model.by_row is not None
        answers, errors = model.by_row(IMAGES[:6])
    assert answers.shape == (6, 2, 4)
    assert sorted(errors) == [4, 5]
    assert answers[:, :, 0].isnan().all(1).tolist() == [False] * 4 + [True] * 2


def test_an_image_of_which_nothing_is_known_is_nan_in_all_classes() -> None:
    with serve() as server:
        model = from_address(parse_address(f"{server.url}#size=8"))
        server.behaviours = [status(400)]
        assert model.by_row is not None
        answers, errors = model.by_row(IMAGES[:3])
    assert answers.shape == (3, 2)
    assert np.isnan(answers.numpy()).all()
    assert sorted(errors) == [0, 1, 2]
