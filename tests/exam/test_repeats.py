"""A service that is asked several times about each image: repeats are runs, and their differences the noise floor."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.data import Photo
from snellen.engine.keep.answer_journal import journal_of
from snellen.models.subject import subjects_of
from snellen.models.text import expand_text

from ..models.service import Server, images_in, reply, serve

DATA = "phantom:test?size=16&n=200"
NOISE = 0.15


class Moody:
    """A service that knows the right class and answers the next one with a probability, by random numbers of its own."""

    def __init__(self, noise: float) -> None:
        self.noise, self.draws, self.lock = noise, np.random.default_rng(10), threading.Lock()
        data = snellen.load_data(DATA)
        photos = [photo for photo in data.read(range(200)) if isinstance(photo, Photo)]
        self.labels = {photo.image.tobytes(): int(label) for photo, label in zip(photos, data.samples.labels)}

    def __call__(self, body: bytes) -> Any:
        rows = []
        for image in images_in(body):
            right = self.labels.get(np.ascontiguousarray(image).tobytes(), 0)
            with self.lock:
                wrong = self.draws.random() < self.noise
            rows.append(np.eye(12)[(right + wrong) % 12].tolist())
        return reply({"probabilities": rows})


def audit(server: Server, folder: Path, settings: str, **how: Any) -> snellen.Run:
    return snellen.audit(f"one={server.url}#size=16{settings}", DATA, [], out=folder, quiet=True, **how)


def floor_of(run: snellen.Run) -> dict[str, Any]:
    (entry,) = (entry for entry in run.results()["findings"] if entry["name"] == "noise_floor")
    return dict(entry)


@pytest.mark.parametrize("repeats", [2, 3])
def test_planted_noise_is_measured_on_identical_pixels(tmp_path: Path, repeats: int) -> None:
    with serve(Moody(NOISE)) as server:
        run = audit(server, tmp_path / "run", f"&repeats={repeats}&batch=40")
    floor, truth = floor_of(run), 2 * NOISE * (1 - NOISE)
    assert floor["low"] <= truth <= floor["high"]
    assert floor["high"] - floor["low"] < 0.15
    answers = run.predictions().query("distortion == 'none()'")
    assert answers.groupby("sample").size().unique().tolist() == [repeats]
    (clean,) = (entry for entry in run.results()["findings"] if entry["name"] == "accuracy")
    assert clean["low"] <= 1 - NOISE <= clean["high"]
    assert len(clean["per_run"]) == repeats
    assert floor["facts"]["repeats"] == repeats
    expected = 1.96 * np.sqrt(truth / (repeats * 200))
    assert floor["facts"]["accuracy_noise"] == pytest.approx(expected, rel=0.3)


def test_the_report_and_the_first_screen_name_changes_within_the_noise(tmp_path: Path) -> None:
    with serve(Moody(NOISE)) as server:
        run = audit(server, tmp_path / "run", "&repeats=2")
    page = (run.path / "report.html").read_text()
    assert "Asked 2 times about the same pixels, it contradicts itself in" in page
    assert "by that alone." in page
    assert "Answers that differ when asked again" in page
    noise = 100 * floor_of(run)["facts"]["accuracy_noise"]
    assert page.count(f"up to {noise:.1f} points by noise alone") >= 2  # beside the clean and the noisy accuracy


def test_a_service_that_does_not_vary_has_a_floor_of_nought(tmp_path: Path) -> None:
    with serve(Moody(0)) as server:
        floor = floor_of(audit(server, tmp_path / "run", "&repeats=2"))
    assert (floor["value"], floor["low"], floor["facts"]["accuracy_noise"]) == (0, 0, 0)


def test_asked_once_it_is_said_that_the_floor_is_not_known(tmp_path: Path) -> None:
    with serve(Moody(0)) as server:
        once, twice = audit(server, tmp_path / "once", ""), audit(server, tmp_path / "twice", "&repeats=2")
    (notice,) = (text for text in once.facts["notices"] if "web service" in text)
    assert notice.startswith(
        "'one' is a web service, which may answer the same pixels differently each time; how often is not"
    )
    assert not any("web service" in text for text in twice.facts["notices"])
    assert "noise_floor" not in set(once.findings()["name"])


def test_repeats_can_be_added_and_nothing_is_asked_again(tmp_path: Path) -> None:
    with serve(Moody(NOISE)) as server:
        once = audit(server, tmp_path / "run", "")
        before = once.predictions()
        twice = audit(server, tmp_path / "run", "&repeats=2")
        after = twice.predictions()
        first = after[after["run"] == before["run"].iloc[0]].reset_index(drop=True)
        pd.testing.assert_frame_equal(first[before.columns], before.reset_index(drop=True))
    assert len(after) == 2 * len(before)
    assert floor_of(twice)["value"] > 0


def test_a_text_with_repeats_makes_runs_that_differ_in_their_number() -> None:
    name, texts = expand_text("one=http://h/x?repeats=9#size=8&repeats=3&rate=2")
    assert (name, [str(text) for text in texts]) == (
        "one",
        [f"http://h/x?repeats=9#size=8&repeat={number}&rate=2" for number in (1, 2, 3)],
    )
    with serve() as server:
        runs = subjects_of(f"{server.url}#size=8&repeats=3")
        (alone,) = subjects_of(f"{server.url}#size=8&repeats=1")
    prints = [run.card.fingerprint for run in runs]
    assert len(set(prints)) == 3
    assert alone.card.fingerprint == prints[0] == runs[2].card.service
    assert [run.run.partition("-repeat-")[2] for run in runs] == ["", "2", "3"]
    assert len({run.name for run in runs}) == 1


def test_a_stopped_command_gives_each_repeat_its_own_answers(tmp_path: Path) -> None:
    with serve() as server:
        one, two = (snellen.load_model(f"{server.url}#size=8&repeat={number}") for number in (1, 2))
        with journal_of([one, two], tmp_path / "a.jsonl"):
            two.fleets[0].post_all([b'{"images": []}'])
        server.requests.clear()
        with journal_of([one, two], tmp_path / "a.jsonl"):
            one.fleets[0].post_all([b'{"images": []}'])
            assert len(server.requests) == 1
            two.fleets[0].post_all([b'{"images": []}'])
        assert len(server.requests) == 1  # it has its answer from before
