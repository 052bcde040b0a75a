"""Chat endpoints that behave badly: what is measured is what the observer behind them says when it is asked directly."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.data.canvas import Canvas
from snellen.data.phantom import World, export
from snellen.models import Model, from_labels

from .chat_service import answering, completion, image_in, serve_chat
from .service import Behaviour, Reply, Server, reply, status

SILENT = 0.25  # planted: the share of pictures, by their pixels, about which no class is named
TROUBLE = 0.04  # the share of questions that fail at the first time


def coin(content: bytes) -> float:
    """A number in 0…1 that hangs on bytes."""
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big") / 2**64


def named_by(observer: Model) -> Callable[[np.ndarray], str]:
    def named(image: np.ndarray) -> str:
        probabilities = observer(torch.from_numpy(np.array(image)).permute(2, 0, 1)[None])
        assert observer.classes is not None
        return observer.classes[int(probabilities.argmax())]

    return named


class Failing:
    """A service some of whose questions fail at the first time, each in one of some ways, and are answered at the second."""

    def __init__(self, well: Behaviour, *ways: Callable[[bytes], Reply]) -> None:
        self.well, self.ways, self.lock = well, ways, threading.Lock()
        self.seen: set[bytes] = set()

    def __call__(self, body: bytes) -> Reply:
        with self.lock:
            new = body not in self.seen
            self.seen.add(body)
            number = len(self.seen)
        return self.ways[number % len(self.ways)](body) if new and coin(body) < TROUBLE else self.well(body)


def cut_in_the_middle(body: bytes) -> Reply:
    """An answer of which a part comes, then the connection ends."""
    number, headers, content = completion("I think that it is")
    return number, {**headers, "Content-Length": str(len(content)), "Connection": "close"}, content[: len(content) // 2]


def services(named: Callable[[np.ndarray], str]) -> Iterator[tuple[str, Behaviour]]:
    """Endpoints in front of one observer by the trouble that they make; those of `silent` name no class of some pictures."""
    well = answering(named)

    def slow(body: bytes) -> Reply:
        time.sleep(0.2 * coin(body) ** 4)
        return well(body)

    def silent(words: str) -> Behaviour:
        return lambda body: completion(words) if coin(image_in(body).tobytes()) < SILENT else well(body)

    yield "slow", slow
    yield "flaky", Failing(well, status(500), status(503))
    yield "busy", Failing(well, status(429, Retry_After="0"), status(503, Retry_After="0"))
    yield "html", Failing(well, lambda body: reply(b"<html><body>Bad gateway</body></html>"))
    yield "cut", Failing(well, cut_in_the_middle)
    yield (
        "verbose",
        answering(named, "<think>a disc, or a star?</think>Sure! Let me look at it.\n\nAnswer: **{}**.".format),
    )
    yield "refusing", silent("I'm sorry, but I can't help with identifying this.")
    yield "foreign", silent("Das ist wohl eine Scheibe.")


HONEST = ("slow", "flaky", "busy", "html", "cut", "verbose")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The findings about the observer and about one that says nothing of some pictures, asked directly and behind endpoints."""
    folder = tmp_path_factory.mktemp("cue")
    export(World("test", n=48, size=32), "cue-conflict", folder / "set")
    observer = snellen.load_model("observer:mixture(shape(), texture())")
    named = named_by(observer)
    assert observer.classes is not None

    def partly(images: np.ndarray) -> list[str | None]:
        return [None if coin(np.ascontiguousarray(image).tobytes()) < SILENT else named(image) for image in images]

    models: list[Any] = [
        replace(observer, card=replace(observer.card, name="direct", canvas=Canvas(32, 32, "crop", 32))),
        from_labels(partly, observer.classes, 32, name="partly", version="1"),
    ]
    servers: dict[str, Server] = {}
    with ExitStack() as stack:
        for name, behaviour in services(named):
            servers[name] = stack.enter_context(serve_chat(behaviour))
            models.append(f"{name}=chat:{servers[name].url}#model=m&size=32&parallel=16")
        run = snellen.audit(
            models, f"cue:{folder / 'set'}", "shape, interference([occlude(0.4, grey)])", tmp_path_factory.mktemp("run") / "run",
            quiet=True, limit=100,
        )  # fmt: skip
    found: dict[str, Any] = {}
    for f in run.results()["findings"]:
        own = found.setdefault(f["model"], {})
        own[(f["audit"], f["name"], *f["distortions"])] = (f["value"], f["low"], f["high"], f["n"])
    return {**found, "requests": {name: len(server.requests) for name, server in servers.items()}, "run": run}


@pytest.mark.parametrize(
    ("name", "direct"), [*((name, "direct") for name in HONEST), ("refusing", "partly"), ("foreign", "partly")]
)
def test_accuracy_interference_and_shape_bias_are_those_of_the_observer(measured: Any, name: str, direct: str) -> None:
    shared = {key: value for key, value in measured[direct].items() if key in measured[name]}
    assert {"accuracy", "noisy_accuracy", "interference", "shape_bias"} <= {key[1] for key in shared}
    assert {key: measured[name][key] for key in shared} == shared
    assert measured[direct]["baseline", "accuracy", "none()"][0] > 0.1


def test_troubles_were_met(measured: Any) -> None:
    """Each of them was sent again, and nothing else."""
    sent = measured["requests"]
    assert sent["slow"] == sent["verbose"] == sent["refusing"]
    for name in ("flaky", "busy", "html", "cut"):
        assert sent["slow"] < sent[name] < 1.1 * sent["slow"]


def test_pictures_of_which_nothing_was_said_are_in_their_states(measured: Any) -> None:
    for name, state, other in (("refusing", "refused", "outside"), ("foreign", "outside", "refused")):
        share = measured[name]["replies", f"{state}_replies", "none()"]
        assert share[1] <= SILENT <= share[2]
        assert measured[name]["replies", f"{other}_replies", "none()"][0] == 0


@pytest.mark.parametrize("planted", [0.1, 0.3])
def test_planted_drift_of_a_chat_model_is_measured_and_stays_reported(tmp_path: Path, planted: float) -> None:
    def drifting(body: bytes) -> Reply:
        image = image_in(body).tobytes()
        return completion("star" if now and coin(image) < planted else "disc")

    def audit(audits: Any, **how: Any) -> Any:
        text = f"m=chat:{server.url}#model=m"
        return snellen.audit(
            text, "phantom:test?size=16&n=140", audits, tmp_path / "run", quiet=True, report=False, **how
        )

    now = False
    with serve_chat(drifting) as server:
        audit([])
        now, before = True, len(server.requests)
        with pytest.raises(snellen.UserError, match="nothing was asked: the service behind 'm' takes"):
            audit("occlusion(areas=[0.3], fills=[black])", strict=True)
        assert len(server.requests) == before + 100  # those that show it
        run = audit("occlusion(areas=[0.3], fills=[black])")
    (seen,) = (entry["text"] for entry in run.results()["warnings"] if entry["name"] == "drift_of_answers")
    match = re.search(r"takes (\d+) of 100 \(\d+%, (\d+)% to (\d+)%\)", seen)
    assert match is not None
    low, high = int(match[2]) / 100, int(match[3]) / 100
    assert low - 0.01 <= planted <= high + 0.01  # as they are printed


def test_planted_noise_of_a_chat_model_is_its_noise_floor(tmp_path: Path) -> None:
    draws, lock = np.random.default_rng(4), threading.Lock()

    def moody(body: bytes) -> Reply:
        with lock:
            return completion("star" if draws.random() < 0.2 else "disc")

    with serve_chat(moody) as server:
        text = f"m=chat:{server.url}#model=m&temperature=1&repeats=3"
        run = snellen.audit(text, "phantom:test?size=16&n=120", [], tmp_path / "run", quiet=True, report=False)
    (floor,) = (found for found in run.results()["findings"] if found["name"] == "noise_floor")
    assert floor["low"] <= 2 * 0.2 * 0.8 <= floor["high"]


def test_an_error_of_a_content_filter_is_a_refusal_and_another_one_a_failure() -> None:
    """As Azure answers: 400, with the code behind a long message."""
    images = torch.tensor([10, 120, 240], dtype=torch.uint8).view(3, 1, 1, 1).expand(3, 3, 8, 8)

    def picky(body: bytes) -> Reply:
        shown = int(image_in(body)[0, 0, 0])
        error = {"message": "The prompt was filtered. " * 20, "code": "content_filter" if shown == 10 else "bad_image"}
        return completion("b") if shown == 240 else reply({"error": error}, 400)

    with serve_chat(picky) as server:
        model = snellen.load_model(f"chat:{server.url}#model=m&classes=a,b&retries=0")
        assert model.by_row is not None
        answers, errors = model.by_row(images)
        assert len(server.requests) == 3
    assert answers[0].argmax() == 3  # nan, as where nothing is known of the probability
    assert answers[2].argmax() == 1
    assert list(errors) == [1]


def test_what_a_service_says_stands_in_the_report_as_text(tmp_path: Path) -> None:
    def declining(body: bytes) -> Reply:
        if image_in(body).tobytes() == first:
            return reply(b"<script>alert(1)</script>\x1b[2J" + b"x" * 10_000_000, 400)
        return completion("disc")

    data = snellen.load_data("phantom:test?size=16&n=60")
    (photo,) = data.read(range(1))
    first = np.ascontiguousarray(photo.image).tobytes()  # type: ignore[union-attr]
    with serve_chat(declining) as server:
        run = snellen.audit(f"m=chat:{server.url}#model=m&retries=0", data, [], tmp_path / "run", quiet=True)
    pages = [(run.path / name).read_text() for name in ("report.html", "report.md", "run.json", "findings.json")]
    assert any("alert(1)" in page for page in pages)
    assert not any("<script>alert" in page or "\x1b" in page for page in pages[:2])
    assert sum(map(len, pages)) < 5_000_000


def test_failures_in_a_search_cost_only_themselves(tmp_path: Path) -> None:
    """A hundred evaluations of 20 images, of whose requests one in 25 fails at the first time."""

    def audit(folder: str) -> Any:
        text = f"m=chat:{server.url}#model=m&parallel=16"
        search = "shift(length=1, random=40, evaluations=100, population=10, restarts=1, images=20)"
        run = snellen.audit(text, "phantom:test?size=16&n=24", search, tmp_path / folder, quiet=True, report=False)
        return {(f["name"], *f["distortions"]): f["value"] for f in run.results()["findings"]}

    def well(body: bytes) -> Reply:
        return completion("star" if coin(image_in(body).tobytes()) < 0.5 else "disc")

    with serve_chat(well) as server:
        expected = audit("well")
        asked = len(server.requests)
    failing = Failing(well, status(500), lambda body: reply(b"<html>"), cut_in_the_middle)
    with serve_chat(failing) as server:
        assert audit("failing") == expected
        failed = len(server.requests) - asked
    assert 0.5 * TROUBLE * len(failing.seen) < failed < 2 * TROUBLE * len(failing.seen)
