"""Models behind a web service: what is sent, what is accepted, and what happens when the service is slow, busy or wrong."""

from __future__ import annotations

import base64
import json
import math
import threading
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.data import Photo
from snellen.errors import UserError
from snellen.models.adapters.http import from_address
from snellen.models.model import Model
from snellen.models.remote import client as client_module
from snellen.models.remote.address import Address, parse_address
from snellen.models.remote.client import Client, Declined, retry_after
from snellen.models.remote.fleet import fleet_of
from snellen.models.remote.protocol import read_answer, request_of

from .service import Server, Time, bodies, brightness, images_in, reply, serve, status

IMAGES = torch.randint(0, 256, (5, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def ask(server: Server, settings: str = "size=8", time: Time | None = None) -> Model:
    address = parse_address(f"{server.url}#{settings}")
    return from_address(address, None if time is None else fleet_of(address, time.clock, time.sleep))


def client(server: Server, time: Time | None = None, **settings: Any) -> Client:
    time = time or Time()
    return Client(Address(server.url, **settings), time.clock, time.sleep)


def test_a_service_gets_the_pixels_and_its_probabilities_are_the_answer() -> None:
    with serve() as server:
        model = snellen.load_model(f"bright={server.url}#size=8&batch=2")
        answers = model(IMAGES)
        assert (model.name, model.classes) == ("bright", ("dark", "bright"))
        assert answers[:, 1].tolist() == pytest.approx((IMAGES.float().mean((1, 2, 3)) / 255).tolist(), abs=1e-6)
        path, headers, body = server.requests[-3]
        assert (path, headers["Content-Type"]) == ("/predict", "application/json")
        assert (np.stack(images_in(body)) == IMAGES[:2].permute(0, 2, 3, 1).numpy()).all()
        assert bodies(server.requests) == [2] * 8 + [2, 2, 1]  # 16 probe images, then the five


def test_answers_stand_for_a_service_as_for_a_callable() -> None:
    with serve() as server:
        first, again, larger = (ask(server, text) for text in ("size=8", "size=8&timeout=500&rate=1000", "size=16"))
        server.behaviours = [lambda body: reply({"probabilities": [[1, 0]] * len(images_in(body))})]
        other = ask(server)
    assert first.card.fingerprint == again.card.fingerprint != larger.card.fingerprint
    assert first.card.probes == again.card.probes != other.card.probes
    assert first.card.probes is not None
    assert len(first.card.probes) == 16
    assert (first.card.gradients, first.card.live, first.card.text) == (False, True, server.url)


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_errors_of_the_service_are_waited_out(version: str) -> None:
    time = Time()
    with serve(status(500), status(503), status(502), brightness, version=version) as server:
        assert json.loads(client(server, time).post(request_of(np.zeros((1, 4, 4, 3), np.uint8))))
        assert len(server.requests) == 4
    assert time.naps == [0.5, 1, 2]


def test_a_service_that_stays_out_of_order_is_named_with_its_status() -> None:
    time = Time()
    with serve(status(500)) as server:
        with pytest.raises(
            UserError, match=r"127.0.0.1:\d+/predict answered 500 Internal Server Error \(3 tries\); check"
        ):
            client(server, time, retries=2).post(b"{}")
        with pytest.raises(UserError, match="answered 500 Internal Server Error; check"):
            client(server, time, retries=0).post(b"{}")
        assert len(server.requests) == 4


def test_a_service_that_hangs_is_left_after_the_time_out_and_asked_again() -> None:
    gate, time = threading.Event(), Time()

    def hang(body: bytes) -> Any:
        gate.wait()
        return brightness(body)

    with serve(hang) as server:
        with pytest.raises(
            UserError, match=r"did not answer within 0.02 s, the time-out \(3 tries\); check the service"
        ):
            client(server, time, timeout=0.02, retries=2).post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
        gate.set()
    assert time.naps == [0.5, 1]


def test_an_answer_that_trickles_in_past_the_time_out_is_not_waited_for() -> None:
    class Jumping(Time):
        def clock(self) -> float:
            self.now += 40  # every look at the clock is 40 s after the last one
            return self.now

    with serve() as server, pytest.raises(UserError, match="did not answer within 30 s"):
        client(server, Jumping(), retries=0).post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))


def test_a_service_that_is_not_there_is_named() -> None:
    with serve() as server:
        pass
    time = Time()
    with pytest.raises(UserError, match=r"/predict cannot be reached: connection refused \(4 tries\)"):
        client(server, time).post(b"{}")
    assert time.naps == [0.5, 1, 2]


def test_waits_grow_to_a_bound() -> None:
    time = Time()
    with serve(*[status(500)] * 9, brightness) as server:
        client(server, time, retries=9).post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
    assert time.naps == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_a_busy_service_is_left_alone_for_as_long_as_it_asks() -> None:
    time = Time()
    with serve(status(429, Retry_After="7"), status(503, Retry_After="2.5"), status(429), brightness) as server:
        client(server, time).post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
        assert time.naps == [7, 2.5, 2]
        server.behaviours = [status(429, Retry_After="3600")]
        with pytest.raises(
            UserError, match="answered 429 Too Many Requests and asks to wait 3,600 s, more than the 300 s"
        ):
            client(server, time).post(b"{}")


def test_retry_after_may_be_a_date_or_nonsense() -> None:
    seconds = retry_after(formatdate(4_000_000_000, usegmt=True))
    assert seconds is not None
    assert seconds > 1e8
    assert retry_after(formatdate(0, usegmt=True)) == 0
    assert [retry_after(value) for value in ("soon", "nan", "", None, "-5")] == [None, None, None, None, 0]
    assert retry_after("inf") == math.inf


def test_no_more_requests_start_per_second_than_the_rate_allows() -> None:
    time = Time()
    starts = []

    def note(body: bytes) -> Any:
        starts.append(time.now)
        return brightness(body)

    with serve(note) as server:
        one = client(server, time, rate=4)
        for _ in range(4):
            one.post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
        time.now += 60  # a pause saves up nothing
        for _ in range(3):
            one.post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
    assert starts == [0, 0.25, 0.5, 0.75, 60.75, 61, 61.25]


def test_tries_count_towards_the_rate() -> None:
    time = Time()
    with serve(status(500), brightness) as server:
        client(server, time, rate=0.1).post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
    assert time.naps == [0.5, 9.5]


def test_a_connection_that_the_service_closed_meanwhile_costs_no_try() -> None:
    time = Time()
    with serve() as server:
        one = client(server, time, retries=0)
        for _ in range(2):
            assert one.post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
            assert one._connection is not None
            one._connection.sock.shutdown(2)  # as if the other side had gone
    assert time.naps == []


@pytest.mark.parametrize(
    ("number", "headers", "text"),
    [
        (
            302,
            {"Location": "http://elsewhere/x"},
            "answered 302 Found to 'http://elsewhere/x'; redirects are not followed",
        ),
        (404, {}, r"answered 404 Not Found \(out of order\); expected 200 with JSON"),
        (401, {}, "answered 401 Unauthorized"),
        (204, {}, "answered 204 No Content"),
    ],
)
def test_a_wrong_address_is_told_at_once(number: int, headers: dict[str, str], text: str) -> None:
    time = Time()
    with serve(status(number, **headers)) as server, pytest.raises(UserError, match=text):
        client(server, time).post(b"{}")
    assert (len(server.requests), time.naps) == (1, [])


def test_images_that_the_service_declines_are_a_failure_on_these_images() -> None:
    with serve(status(422)) as server, pytest.raises(Declined, match="answered 422"):
        client(server).post(b"{}")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"probabilities": [[0.5, 0.5]] * 4}, "probabilities has 4 entries for 5 images; expected one per image"),
        ({"probabilities": [[0.5, 0.5]] * 6}, "probabilities has 6 entries for 5 images"),
        ({"probabilities": [[0.5, 0.5]] * 4 + [[1]]}, r"probabilities\[4\] has 1 numbers; expected 2, one per class"),
        ({"probabilities": [[0.5, 0.5]] * 5, "classes": ["a"]}, r"probabilities\[0\] has 2 numbers; expected 1"),
        ({"probabilities": [0.5] * 5}, r"probabilities\[0\]: expected array, got float"),
        ({"probabilities": [["a", 0]] * 5}, "expected float, got str"),
        ({"probabilities": [[]] * 5}, "expected array of length >= 1"),
        ({"scores": []}, "object missing required field 'probabilities'"),
        ([], "expected object, got array"),
        (b"<html>hello</html>", "cannot be read as JSON: line 1: invalid character at '<html>hello</html>'"),
        (b"", "cannot be read as JSON"),
        (b'{"probabilities": [[NaN]]}', "cannot be read as JSON"),
        (b'{"probabilities": [[1]], "probabilities": [[0]]}', "has the key 'probabilities' twice"),
        (b"[" * 100_000, "expected object, got array"),
    ],
)  # fmt: skip
def test_an_answer_of_another_form_is_refused_in_one_line(content: Any, text: str) -> None:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    with pytest.raises(UserError, match=text) as caught:
        read_answer(body, (5, 8, 8), "classification", "the answer of x")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("the answer of x")


def test_a_service_that_answers_something_else_is_named() -> None:
    with (
        serve(lambda body: reply(b"hello")) as server,
        pytest.raises(UserError, match="cannot be read as JSON") as caught,
    ):
        ask(server)
    assert str(caught.value).startswith(f"the answer of {server.url}")
    assert "\n" not in str(caught.value)


def test_an_answer_larger_than_the_bound_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MOST_ANSWER", 1 << 20)
    message = "answered more than 1 MiB, the most that is read; ask for fewer images at once"
    with serve(lambda body: reply(b"[" * (3 << 20))) as server, pytest.raises(UserError, match=message):
        client(server).post(b"{}")


def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    time = Time()
    with serve(lambda body: reply(b'{"prob', Content_Length="600", Connection="close"), brightness) as server:
        server.behaviours[0] = lambda body: (200, {"Content-Length": "600", "Connection": "close"}, b'{"prob')
        client(server, time).post(request_of(np.zeros((1, 4, 4, 3), np.uint8)))
    assert time.naps == [0.5]


def test_a_service_that_changes_its_classes_is_refused() -> None:
    with serve() as server:
        model = ask(server)
        server.behaviours = [lambda body: reply({"probabilities": [[0.1, 0.9]] * 5, "classes": ["bright", "dark"]})]
        with pytest.raises(UserError, match="has other classes than its first one"):
            model(IMAGES)


def test_a_detector_behind_a_service_answers_boxes() -> None:
    boxes = [[[1, 2, 5, 6.5]], [], [[0, 0, 3, 3], [4, 4, 8, 8]]]

    def detect(body: bytes) -> Any:
        return reply({"boxes": (boxes * 6)[: len(images_in(body))]})

    with serve(detect) as server:
        answers = ask(server, "size=8&task=detection")(IMAGES[:3])
    assert answers.shape == (3, 2, 4)
    assert answers[0, 0].tolist() == [1, 2, 5, 6.5]
    assert answers[:, :, 0].isnan().tolist() == [[False, True], [True, True], [False, False]]


def test_a_segmentation_behind_a_service_answers_maps() -> None:
    def segment(body: bytes) -> Any:
        classes = [
            np.where(image[..., 0] > 200, 255, image[..., 0] // 64).astype(np.uint8) for image in images_in(body)
        ]
        return reply({"maps": [base64.b64encode(one.tobytes()).decode() for one in classes]})

    with serve(segment) as server:
        model = ask(server, "size=8&task=segmentation")
        answers = model(IMAGES)
        red = IMAGES[:, 0].long()
        assert (answers == torch.where(red > 200, -1, red // 64)).all()
        for content, text in (
            (["AA=="] * 5, "1 bytes; expected 8x8"),
            (["?"] * 5, "not base64"),
            ([], "0 entries for 5"),
        ):
            server.behaviours = [lambda body, content=content: reply({"maps": content})]  # type: ignore[misc]
            with pytest.raises(UserError, match=text):
                model(IMAGES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://", "expected a URL as http://host:port/path"),
        ("http:///path", "expected a URL"),
        ("http://h:99999/x", "is not a URL"),
        ("http://h:0/x", "expected a URL"),
        ("http://[::1/x", "is not a URL"),
        ("http://me:secret@h/x", "holds a password, which every report would show"),
        ("http://h/a b", "holds characters that no URL has"),
        ("http://h/x#timeout=0", "expected timeout from 0.001 to 86400, got '0'"),
        ("http://h/x#timeout=nan", "expected timeout from"),
        ("http://h/x#rate=fast", "expected rate from"),
        ("http://h/x#batch=0", "expected batch as a whole number from 1 to 100,000"),
        ("http://h/x#retries=-1", "expected retries as a whole number"),
        ("http://h/x#parallel=0", "expected parallel as a whole number from 1 to 256"),
        ("http://h/x#size=0", "expected size in pixels, as 224 or HEIGHTxWIDTH"),
        ("http://h/x#size=8x", "expected size in pixels"),
        ("http://h/x#token=a b", "expected token as the name of an environment variable"),
        ("http://h/x#task=dance", "expected task as one of classification, segmentation, detection"),
        ("http://h/x#time=1", "unknown setting of 'http://h/x' 'time'; did you mean 'timeout'"),
        ("http://h/x#batch=1&batch=2", "sets batch twice"),
        ("http://h/x#what", "unknown setting|cannot read"),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_read_is_told(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(text)
    assert "secret" not in str(caught.value)


def test_every_setting_of_an_address_is_read() -> None:
    text = (
        "https://h:81/a/b?key=1&x=2#timeout=2.5&rate=3&batch=7&retries=0&size=12x20&token=KEY&task=detection&parallel=4"
    )
    url = "https://h:81/a/b?key=1&x=2"
    address = parse_address(text)
    assert address == Address(url, 2.5, 3.0, 7, 0, (12, 20), "KEY", "detection", parallel=4)
    assert (address.target, address.name) == ("/a/b?key=1&x=2", "h-81-a-b")
    assert parse_address("http://h").target == "/"


def test_a_token_comes_from_the_environment_and_stands_in_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as server:
        monkeypatch.setenv("SERVICE_KEY", "s3cret")
        model = ask(server, "size=8&token=SERVICE_KEY")
        assert server.requests[0][1]["Authorization"] == "Bearer s3cret"
        assert "s3cret" not in str(model.card)
        for wrong in ("", "two\nlines"):
            monkeypatch.setenv("SERVICE_KEY", wrong)
            with pytest.raises(UserError, match="the environment variable 'SERVICE_KEY' holds no token"):
                model(IMAGES)


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve() as server:
        assert ask(server)(IMAGES).shape == (5, 2)


def test_an_image_that_the_service_declines_is_listed_and_the_others_are_answered(tmp_path: Path) -> None:
    declined = snellen.load_data("phantom:test?size=16&n=30")
    means = [float(photo.image.mean()) for photo in declined.read(range(30)) if isinstance(photo, Photo)]
    highest = sorted(means)[-1] - 0.01  # shuffled images have the same mean

    def picky(body: bytes) -> Any:
        images = images_in(body)
        if any(image.mean() > highest for image in images) and len(images) != 16:  # the probe images are taken
            return reply(b"too bright", 422)
        return reply({"probabilities": [[1.0] + [0.0] * 11] * len(images)})

    with serve(picky) as server:
        run = snellen.audit(
            ask(server, "size=16"), declined, ["interference([shuffle(2)])"], out=tmp_path / "run", quiet=True
        )
    rows = run.predictions()
    rows = rows[~rows["distortion"].str.startswith("noise")]
    assert rows.groupby("distortion").size().tolist() == [29, 29]


def test_an_audit_of_a_service_ends_to_end(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from snellen.cli import main

    def shapes(body: bytes) -> Any:
        return reply({"probabilities": [[float(np.mean(image)) / 255] + [0.05] * 11 for image in images_in(body)]})

    with serve(shapes) as server:
        words = ["audit", f"service={server.url}#size=16&batch=8", "--data", "phantom:test?size=16&n=12"]
        words += ["--audits", "occlusion(areas=[0.3], fills=[black])", "--out", str(tmp_path / "run"), "--quiet"]
        with pytest.raises(SystemExit) as ending:
            main(words)
        assert ending.value.code in (None, 0), capsys.readouterr().err
        assert max(bodies(server.requests)) <= 8
    run = snellen.load_run(tmp_path / "run")
    assert len(run.predictions()) == 12 * run.predictions()["distortion"].nunique()
