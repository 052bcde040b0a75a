"""Black boxes: they fail, hang or are made by others, and a search goes on where it was."""

from __future__ import annotations

import csv
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from snellen.data import from_arrays
from snellen.errors import UserError
from snellen.models import from_callable, load_model
from snellen.models.adapters.http import from_address
from snellen.models.remote.address import parse_address
from snellen.models.remote.client import Accept, Client
from snellen.models.remote.fleet import Fleet
from snellen.search import fitness_of
from snellen.search.algorithms import RandomSearch
from snellen.search.history import History
from snellen.search.run_search import Search
from snellen.search.spaces import SPACES

from ..models.service import Server, brightness, serve
from .toys import squares


class Moody:
    """A black box that fails at some of its calls."""

    def __init__(self, failures: Sequence[int]) -> None:
        self.failures, self.calls = set(failures), 0

    def __call__(self, images: np.ndarray) -> list[Any]:
        self.calls += 1
        if self.calls in self.failures:
            raise ConnectionError("the line is dead")
        return [[[0, 0, 1, 1]] if image.max(-1).argmax() % 24 < 7 or image.max() > 200 else [] for image in images]


def searched(box: Moody, history: History | None = None) -> Any:
    fitness = fitness_of(from_callable(box, task="detection", version="1"), squares(), metric="any", batch=8)
    return Search(SPACES["faces"], 3, RandomSearch(12), seed=2, at_once=1).run(fitness, history)


def test_a_black_box_that_fails_now_and_then_is_asked_again_and_the_search_is_the_same() -> None:
    calm, moody = Moody([]), Moody([2, 3, 7])
    assert searched(moody) == searched(calm)
    assert moody.calls == calm.calls + 3


def test_a_black_box_that_breaks_loses_nothing(tmp_path: Path) -> None:
    whole = searched(Moody([]))
    facts = {"search": "moody"}
    broken = Moody(range(5, 1000))
    with pytest.raises(
        UserError, match=r"failed 3 times \(ConnectionError: the line is dead\); fix the model and run the same"
    ):
        searched(broken, History(facts, tmp_path / "history.jsonl"))
    stored = History(facts, tmp_path / "history.jsonl").evaluations
    assert len(stored) == 4
    again = Moody([])
    resumed = searched(again, History(facts, tmp_path / "history.jsonl"))
    assert (resumed.best, resumed.value, resumed.history) == (whole.best, whole.value, whole.history)
    assert resumed.history[: len(stored)] == tuple(stored)
    assert again.calls == 12 - len(stored)


class Impatient(Client):
    """A client that waits for six answers (to 16 probe images and five evaluations), and then hardly at all."""

    posts = 0

    def post(self, body: bytes, accept: Accept = lambda content: None) -> bytes:
        self.posts += 1
        if self.posts == 7:
            self._close()
            self.address = replace(self.address, timeout=0.01)
        return super().post(body, accept)


def test_a_service_that_hangs_in_the_middle_of_a_search_loses_nothing(tmp_path: Path) -> None:
    gate, answers = threading.Event(), iter(range(6))

    def hang_later(body: bytes) -> Any:
        if next(answers, None) is None:
            gate.wait()
        return brightness(body)

    content = {"images": np.full((8, 8, 8, 3), 150, np.uint8), "labels": np.ones(8, np.int64)}
    data = from_arrays(content | {"classes": np.array(["dark", "bright"])}, "memory:grey", "g")

    def search(server: Server, kind: type[Client]) -> Any:
        address = parse_address(f"{server.url}#timeout=600&retries=0")
        fitness = fitness_of(from_address(address, Fleet([kind(address)])), data, batch=8)
        history = History({"data": "grey"}, tmp_path / "history.jsonl")
        return Search(SPACES["mnist"], 2, RandomSearch(9), seed=1, at_once=1, stop=-1).run(fitness, history)

    with serve(hang_later) as server:
        with pytest.raises(
            UserError, match="did not answer within 0.01 s, the time-out; check the service, then run the same"
        ):
            search(server, Impatient)
        gate.set()
    assert len(History({"data": "grey"}, tmp_path / "history.jsonl").evaluations) == 5
    with serve() as server:
        resumed = search(server, Client)
        assert len(server.requests) == 1 + 9 - 5
    assert len(resumed.history) == 9


def test_cat_faces_are_detected_and_hidden_by_edits(shared: Path, tmp_path: Path) -> None:
    """OpenCV's cascade on real cats: some faces are detected, edits hide them, and a search finds such edits."""
    with (shared / "pets" / "boxes.csv").open() as file:
        cats = [row for row in csv.DictReader(file) if row["species"] == "cat"]
    lines = [
        f"{row['file']},cat,{','.join(row[f'head_{end}'] for end in ('xmin', 'ymin', 'xmax', 'ymax'))}" for row in cats
    ]
    (tmp_path / "cats.csv").write_text("\n".join(["path,label,x0,y0,x1,y1", *lines]) + "\n")
    data = f"manifest:{tmp_path}/cats.csv?root={shared}/pets"
    fitness = fitness_of("opencv:frontalcatface#size=96&neighbours=1", data, metric="any")
    clean = fitness(())
    assert 0.1 < clean < 0.9
    assert fitness_of("opencv:frontalcatface#size=96&neighbours=1", data)(()) <= clean  # the box must fit as well
    result = Search(SPACES["faces"], 3, RandomSearch(4), seed=0).run(fitness)
    assert result.value < clean


def test_a_cascade_is_named_with_its_settings() -> None:
    model = load_model("cats=opencv:frontalcatface#size=48")
    assert (model.name, model.card.task, str(model.canvas)) == ("cats", "detection", "48x48 crop 48 bicubic")
    other = load_model("opencv:haarcascade_frontalcatface.xml#neighbours=0&scale=1.5")
    assert model.card.fingerprint != other.card.fingerprint
    assert model(torch.zeros(2, 3, 48, 48, dtype=torch.uint8)).shape == (2, 0, 4)
    for text, message in (
        ("opencv:frontalcatfase", "unknown OpenCV cascade 'frontalcatfase'; did you mean 'frontalcatface'"),
        ("opencv:frontalcatface#size=x", "'opencv:frontalcatface': expected size in pixels"),
        ("opencv:frontalcatface#grade=1", "unknown setting of 'opencv:frontalcatface' 'grade'"),
    ):
        with pytest.raises(UserError, match=message):
            load_model(text)
