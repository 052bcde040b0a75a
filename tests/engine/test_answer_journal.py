"""What services answered is on disk at once: a killed audit pays for no answer twice but those in flight."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.engine.keep import answer_journal
from snellen.engine.keep.answer_journal import AnswerJournal, journal_of
from snellen.engine.keep.request_tally import RequestTally
from snellen.errors import UserError
from snellen.models.adapters.ensemble import average
from snellen.models.adapters.tta import with_flip
from snellen.models.model import from_callable

from ..models.service import images_in, reply, serve, status

SCRIPT = """
import sys, snellen
snellen.audit(f"one={sys.argv[2]}", "phantom:test?size=16&n=60", "occlusion(areas=[0.3], fills=[black])",
    out=sys.argv[1], quiet=True, report=False)
"""


def by_pixel(body: bytes) -> Any:
    """Twelve classes by one pixel; the same body gets the same answer."""
    rows = [[float(image[3, 5, 0] % 12 == place) for place in range(12)] for image in images_in(body)]
    return reply({"probabilities": rows})


class Stuck:
    """A service that answers so many requests and then holds those that come, until it is let go."""

    def __init__(self, answers: int, flying: int) -> None:
        self.left, self.flying = answers, flying
        self.lock, self.all_held, self.gate = threading.Lock(), threading.Event(), threading.Event()
        self.answered: list[bytes] = []

    def __call__(self, body: bytes) -> Any:
        with self.lock:
            answered = self.left > 0
            self.left -= 1
            if answered:
                self.answered.append(body)
            elif self.left == -self.flying:
                self.all_held.set()
        if not answered:
            self.gate.wait(60)
        return by_pixel(body)


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 4])
def test_a_killed_audit_asks_again_only_for_what_was_in_flight(tmp_path: Path, parallel: int) -> None:
    stuck = Stuck(40, parallel)
    with serve(stuck) as server:
        text = f"{server.url}#size=16&batch=3&parallel={parallel}"
        words = [sys.executable, "-c", SCRIPT, str(tmp_path / "run"), text]
        process = subprocess.Popen(words, env=os.environ | {"SNELLEN_HOME": str(tmp_path / "home")})
        try:
            assert stuck.all_held.wait(120)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        stuck.gate.set()
        assert len(list(tmp_path.glob("run/requests/test/000000.jsonl"))) == 1
        server.behaviours, server.requests[:] = [by_pixel], []
        run = audit(text, tmp_path / "run")
        again = Counter(body for _, _, body in server.requests)
        probes = 16 // 3 + 1
        twice = again & Counter(stuck.answered[probes:])
        assert sum(twice.values()) <= probes  # the probe images, at each command
        whole = audit(text, tmp_path / "whole")
    assert not list(tmp_path.glob("run/requests/*/*.jsonl"))
    pd.testing.assert_frame_equal(run.predictions(), whole.predictions())


def audit(text: str, folder: Path) -> snellen.Run:
    return snellen.audit(
        f"one={text}",
        "phantom:test?size=16&n=60",
        "occlusion(areas=[0.3], fills=[black])",
        out=folder,
        quiet=True,
        report=False,
    )


def test_an_audit_that_ends_with_a_dead_service_keeps_what_was_answered(tmp_path: Path) -> None:
    with serve(by_pixel) as server:
        text = f"{server.url}#size=16&batch=10&retries=0"
        server.behaviours = [*[by_pixel] * 14, status(500)]
        with pytest.raises(UserError, match="answered 500"):
            audit(text, tmp_path / "run")
        kept = len(lines(next(tmp_path.glob("run/requests/test/*"))))
        assert 0 < kept < 14
        server.behaviours, server.requests[:] = [by_pixel], []
        audit(text, tmp_path / "run")
        probes, cells = 2, 3  # clean images, the yardstick and one occlusion, each of 6 requests
        assert len(server.requests) == probes + cells * 6 - kept


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_answers_come_back_in_their_order_and_once(tmp_path: Path) -> None:
    answers = [bytes(range(256)), "ü\x1b[31m".encode(), b""]
    with AnswerJournal(tmp_path / "a.jsonl") as journal:
        for answer in answers:
            journal.add("same", answer)
        journal.add("other", b"x")
        assert journal.take("same") is None  # what this command was told is its own
    with AnswerJournal(tmp_path / "a.jsonl") as journal:
        assert len(journal) == 4
        assert [journal.take("same") for _ in range(4)] == [*answers, None]
        assert (journal.take("other"), journal.take("third")) == (b"x", None)


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        (lambda content: content[:-5], [b"1", b"2"]),  # cut off in the last line
        (lambda content: content + b"\xff\n\n[]\n{", [b"1", b"2", b"3"]),
        (lambda content: content.replace(b'"2"', b'"7"', 1), [b"1", b"3"]),
        (lambda content: content[3:], [b"2", b"3"]),
        (lambda content: b"\0" * len(content), []),
        (lambda content: b"", []),
    ],
)
def test_what_is_damaged_is_asked_for_again(tmp_path: Path, damage: Any, left: list[bytes]) -> None:
    path = tmp_path / "a.jsonl"
    with AnswerJournal(path) as journal:
        for number in b"123":
            journal.add("k", bytes([number]))
    path.write_bytes(damage(path.read_bytes()))
    with AnswerJournal(path) as journal:
        journal.add("new", b"4")
        assert [journal.take("k") for _ in range(len(left) + 1)] == [*left, None]
    with AnswerJournal(path) as journal:
        assert journal.take("new") == b"4"  # it stands on a line of its own


def test_a_journal_that_is_too_large_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with AnswerJournal(tmp_path / "a.jsonl") as journal:
        journal.add("k", b"1")
    monkeypatch.setattr(answer_journal, "MOST", 10)
    with AnswerJournal(tmp_path / "a.jsonl") as journal:
        journal.add("k", b"2")
        assert journal.take("k") is None
        assert (tmp_path / "a.jsonl").stat().st_size < 100


def test_a_link_in_the_place_of_a_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match="cannot write"):
        AnswerJournal(tmp_path / "a.jsonl")
    assert (tmp_path / "mine").read_text() == "keep"


@pytest.mark.parametrize("kept", [AnswerJournal, RequestTally])
def test_a_pipe_or_a_folder_in_the_place_of_what_is_kept_is_refused(tmp_path: Path, kept: Any) -> None:
    """Into a pipe 65,536 requests would be counted, and forgotten; the next one would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, sort in (("pipe", "a device or a pipe"), ("folder", "a folder")):
        with pytest.raises(UserError, match=f"cannot write .*{name}: it is {sort}"):
            kept(tmp_path / name)


def test_a_key_stands_in_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_KEY", "s3cret")
    with serve(by_pixel) as server:
        model = snellen.load_model(f"{server.url}#size=16&token=SERVICE_KEY")
        with journal_of([model], tmp_path / "a.jsonl"):
            model.fleets[0].post_all([b'{"images": []}'])
    assert len(lines(tmp_path / "a.jsonl")) == 1
    assert b"s3cret" not in (tmp_path / "a.jsonl").read_bytes()


def test_the_services_of_an_ensemble_and_of_a_flipped_model_are_kept_too(tmp_path: Path) -> None:
    with serve(by_pixel) as server, serve(by_pixel) as other:
        one, two = (snellen.load_model(f"{url}#size=16") for url in (server.url, other.url))
        both = average([one, two], "ensemble:both")
        assert list(both.fleets) == [*one.fleets, *two.fleets]
        assert list(with_flip(one).fleets) == list(one.fleets)
        for _ in range(2):
            with journal_of([both], tmp_path / "a.jsonl"):
                both.fleets[1].post_all([b'{"images": []}'])
        assert len(other.requests) == 1 + 1
        with journal_of([one], tmp_path / "a.jsonl"):  # the same body to another URL is another request
            one.fleets[0].post_all([b'{"images": []}'])
        assert len(server.requests) == 1 + 1


def test_models_without_a_service_have_no_journal(tmp_path: Path) -> None:
    model = from_callable(lambda images: np.ones((len(images), 2)), size=8, version="1")
    with journal_of([model], tmp_path / "a.jsonl"):
        pass
    assert not (tmp_path / "a.jsonl").exists()
