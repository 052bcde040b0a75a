"""Trials: packed into full batches, the same whatever the batch, kept as they end, continued after a kill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import snellen
from snellen.audits import Audit, Exam, Finding
from snellen.data import Dataset, from_arrays
from snellen.engine import Answers, Cell
from snellen.engine.keep.store import Store
from snellen.engine.requests.trial import HostCopy, Reply, Stage, Trial, TrialSteps, play_round
from snellen.errors import UserError
from snellen.models import Model, from_callable
from snellen.notation import text_form
from snellen.search import EveryBackground
from snellen.search.deletion import OrderedDeletion
from snellen.search.hue import HueShift


class Halving:
    """Toy trials: find a number in 0 … 255 by asking whether pixels are below it; the model answers with the pixel itself.

    `wide` of them ask as much as there is room for, the others one image at a time.
    """

    def __init__(self, secrets: Sequence[int], wide: Sequence[bool] = ()) -> None:
        self.secrets, self.wide = secrets, wide or [False] * len(secrets)

    def start(self, row: int, room: int) -> TrialSteps:
        low, high, steps = 0, 255, 0
        while low < high:
            middle = (low + high) // 2
            question = [(self.secrets[row], middle)] * (room if self.wide[row] else 1)
            reply = yield question
            assert len(reply.pred) == len(question)
            assert len(set(reply.pred.tolist())) == 1
            low, high = (low, middle) if reply.pred[0] else (middle + 1, high)
            steps, room = steps + 1, reply.room
        return {"found": low, "steps": steps}

    def show(self, questions: Sequence[Any]) -> torch.Tensor:
        pairs = [pair for question in questions for pair in question]
        return torch.tensor(pairs, dtype=torch.uint8)[:, :, None, None]


def asking(sizes: list[int], secrets: list[int], broken: int = -1) -> Any:
    """Answers whether the first pixel is at most the second; fails where the first is `broken`."""

    def ask(pixels: torch.Tensor, of_rows: np.ndarray) -> tuple[Reply, dict[int, str]]:
        sizes.append(len(pixels))
        assert (pixels[:, 0, 0, 0].numpy() == np.array(secrets)[of_rows]).all()  # it is told whose images these are
        pred = (pixels[:, 0, 0, 0] <= pixels[:, 1, 0, 0]).long()
        bad = {row: "ValueError: no" for row in range(len(pixels)) if int(pixels[row, 0, 0, 0]) == broken}
        return Reply(torch.zeros(len(pixels), 2), *(pred.numpy() for _ in range(3))), bad

    return ask


@given(st.lists(st.tuples(st.integers(0, 255), st.booleans()), max_size=40), st.integers(1, 50))
def test_what_comes_out_does_not_depend_on_the_batch_and_no_batch_is_larger(held: list, batch: int) -> None:
    sizes: list[int] = []
    sitting = Halving([secret for secret, _ in held], [wide for _, wide in held])
    ended = list(play_round(sitting, range(len(held)), asking(sizes, sitting.secrets), lambda: batch))
    assert sorted(end.row for end in ended) == list(range(len(held)))
    assert {end.row: end.columns["found"] for end in ended} == dict(enumerate(secret for secret, _ in held))
    assert sum(end.images for end in ended) == sum(sizes)
    assert all(size <= batch for size in sizes)


def test_batches_are_full_while_there_are_enough_trials_and_the_oldest_end_first() -> None:
    sizes: list[int] = []
    ended, when = [], []
    for end in play_round(
        Halving(list(range(0, 200, 2))), range(100), asking(sizes, list(range(0, 200, 2))), lambda: 16
    ):
        ended.append(end.row)
        when.append(len(sizes))
    assert when[0] == 8  # after its own eight questions, not after everybody's
    assert sum(size == 16 for size in sizes) >= len(sizes) - 8  # only the last 16 trials, of 8 steps, leave room
    assert ended[:16] == sorted(ended[:16])
    assert max(ended[:16]) < 20


def test_a_trial_that_takes_all_the_room_runs_alone_and_one_batch_after_the_other_is_full() -> None:
    sizes: list[int] = []
    ended = [
        end.row
        for end in play_round(Halving([3, 77, 200], [True] * 3), range(3), asking(sizes, [3, 77, 200]), lambda: 10)
    ]
    assert ended == [0, 1, 2]
    assert set(sizes) == {10}


def test_a_failure_ends_its_own_trial_alone() -> None:
    ended = {
        end.row: end for end in play_round(Halving([5, 6, 7]), range(3), asking([], [5, 6, 7], broken=6), lambda: 2)
    }
    assert ended[1].error == "ValueError: no"
    assert not ended[1].columns
    assert [ended[row].columns["found"] for row in (0, 2)] == [5, 7]


@dataclass(frozen=True)
class Brighten(Trial):
    """How much brighter each image must become before the model's answer changes, in steps of a grey level."""

    most_steps: int = 60
    version: ClassVar[int] = 1
    needs: ClassVar[frozenset[str]] = frozenset({"labels"})
    __str__ = text_form

    def rounds(self, samples: int) -> list[range]:
        return [range(start, min(start + 20, samples)) for start in range(0, samples, 20)]

    def most(self, samples: int, donors: int) -> int:
        return samples * self.most_steps

    def begin(self, stage: Stage) -> Brightening:
        return Brightening(self, stage)


class Brightening:
    def __init__(self, trial: Brighten, stage: Stage) -> None:
        self.trial, self.images = trial, stage.images
        self.known = len(stage.earlier)

    def start(self, row: int, room: int) -> TrialSteps:
        reply = yield [(row, 0)]
        before = reply.pred[0]
        for step in range(1, self.trial.most_steps):
            reply = yield [(row, step)]
            if reply.pred[0] != before:
                return {"step": step, "known": self.known, "path": np.arange(step, dtype=np.int16)}
        return {"step": None, "known": self.known, "path": np.arange(0, dtype=np.int16)}

    def show(self, questions: Sequence[Any]) -> torch.Tensor:
        rows, steps = torch.tensor([pair for question in questions for pair in question]).T
        return (self.images[rows].int() + steps[:, None, None, None]).clamp(max=255).to(torch.uint8)


@dataclass(frozen=True)
class Brightness(Audit):
    """An audit of one trial and no cells of its own."""

    trial: Brighten = Brighten()

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.clean()]

    def trials(self, exam: Exam) -> list[Cell]:
        return [exam.trial(self.trial)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        (ended,) = answers.trials(exam.trial(self.trial))
        steps = [row["step"] for row in ended.rows if row and row.get("step") is not None]
        return [
            Finding("brightness", "steps", answers.model, float(np.mean(steps)), np.nan, np.nan, len(steps), "steps")
        ]


def threshold(name: str = "threshold", **how: Any) -> Model:
    """Answers which of four bands of 40 grey levels the first pixel is in."""
    return from_callable(lambda images: np.eye(7)[images[:, 0, 0, 0] // 40], size=4, name=name, version="1", **how)


@pytest.fixture
def greys() -> Dataset:
    images = np.repeat(np.arange(90, dtype=np.uint8)[:, None, None, None] * 2, 4, 1).repeat(4, 2).repeat(3, 3)
    held = {"images": images, "labels": np.arange(90) * 2 // 40, "classes": np.array(list("abcdefg"))}
    return from_arrays(held, "memory:greys", "g")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the batches that trials ask."""
    from snellen.engine.ask import trials

    sizes: list[int] = []
    before = trials._reply_to

    def replied(bound: Any, pixels: torch.Tensor, *more: Any) -> Any:
        sizes.append(len(pixels))
        return before(bound, pixels, *more)

    monkeypatch.setattr(trials, "_reply_to", replied)
    return sizes


@pytest.fixture(autouse=True)
def written_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials are written when there are enough of them, never because a busy machine took long."""
    monkeypatch.setattr("snellen.engine.ask.trials.KEEP_SECONDS", float("inf"))


def ask(data: Any, out: Path, model: Any = None, **how: Any) -> pd.DataFrame:
    """The table of trials of one model without its bookkeeping, by sample."""
    run = snellen.audit(model or threshold(), data, [Brightness()], out=out, quiet=True, report=False, **how)
    held = run.sql("select t.* from trials t join cells c using (cell) order by t.sample")
    return held.drop(columns=["cell"])


def test_the_engine_gives_what_arithmetic_says_in_any_batch_size(greys: Dataset, tmp_path: Path) -> None:
    first = ask(greys, tmp_path / "7", batch_size=7)
    grey = first["sample"].map({sample: 2 * i for i, sample in enumerate(greys.samples.ids)})
    assert (first["step"] == 40 - grey % 40).all()
    assert (first["asked"] == first["step"] + 1).all()
    assert [len(path) for path in first["path"]] == first["step"].tolist()
    for batch in (1, 64):
        pd.testing.assert_frame_equal(first, ask(greys, tmp_path / str(batch), batch_size=batch))
    number = {sample: i for i, sample in enumerate(greys.samples.ids)}
    assert (first["known"] == first["sample"].map(number) // 20 * 20).all()  # each round knows all rows before it


def test_a_killed_run_keeps_what_had_ended_and_comes_to_the_same_table(
    greys: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: list[int]
) -> None:
    whole = ask(greys, tmp_path / "whole", batch_size=8)
    all_images = sum(counted)
    monkeypatch.setattr("snellen.engine.ask.trials.KEEP_ROWS", 7)
    write, kept = Store.add_trials, []

    def dying(self: Store, key: str, rows: Sequence[Any]) -> None:
        if len(kept) >= 35:
            raise KeyboardInterrupt
        kept.extend(rows)
        write(self, key, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add_trials", dying)
        with pytest.raises(KeyboardInterrupt):
            ask(greys, tmp_path / "killed", batch_size=8)
    counted.clear()
    resumed = ask(greys, tmp_path / "killed")
    pd.testing.assert_frame_equal(whole, resumed)
    assert sum(counted) == all_images - sum(row["asked"] for row in kept)
    counted.clear()
    pd.testing.assert_frame_equal(whole, ask(greys, tmp_path / "killed"))
    assert not counted


def test_a_damaged_file_is_asked_again(
    greys: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: list[int]
) -> None:
    monkeypatch.setattr("snellen.engine.ask.trials.KEEP_SECONDS", float("inf"))  # one file, however slow the machine
    whole = ask(greys, tmp_path / "r")
    (file,) = (tmp_path / "r" / "trials").glob("*/*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    counted.clear()
    pd.testing.assert_frame_equal(whole, ask(greys, tmp_path / "r"))
    assert sum(counted) == whole["asked"].sum()


def test_several_models_have_trials_of_their_own(greys: Dataset, tmp_path: Path) -> None:
    models = {"a": threshold("a"), "b": from_callable(lambda x: np.eye(7)[x[:, 0, 0, 0] // 50], size=4, version="2")}
    run = snellen.audit(models, greys, [Brightness()], out=tmp_path / "r", quiet=True, report=False)
    held = run.sql("select c.model, avg(t.step) as mean from trials t join cells c using (cell) group by 1 order by 1")
    grey = np.arange(90) * 2
    assert held["mean"].tolist() == pytest.approx([np.mean(40 - grey % 40), np.mean(50 - grey % 50)])
    found = [one["value"] for one in run.results()["findings"] if one["name"] == "steps"]
    assert found == pytest.approx(held["mean"].tolist())


def moody(disliked: int) -> Model:
    """Fails on one grey level."""

    def answer(images: np.ndarray) -> np.ndarray:
        if (images[:, 0, 0, 0] == disliked).any():
            raise ValueError("not in the mood")
        return np.eye(7)[images[:, 0, 0, 0] // 40]

    return from_callable(answer, size=4, name="moody", version=str(disliked))


def test_trials_that_fail_are_listed_and_too_many_stop_the_run(greys: Dataset, tmp_path: Path) -> None:
    held = ask(greys, tmp_path / "few", moody(161)).set_index("sample")  # on the way of the image of grey 160 alone
    assert held["error"][held["error"] != ""].to_dict() == {greys.samples.ids[80]: "ValueError: not in the mood"}
    assert held["step"].isna().sum() == 1
    told = (
        r"'moody' failed in 5 of 90 trials of brighten\(most_steps=60\), more than 5% \(first '.*': ValueError: not in"
    )
    with pytest.raises(UserError, match=told):  # on the way of ten
        ask(greys, tmp_path / "many", moody(199))
    kept = [pd.read_parquet(file) for file in (tmp_path / "many" / "trials").glob("*/*.parquet")]
    assert not any(part["error"].astype(bool).any() for part in kept)


def test_parts_that_are_kept_after_a_failure_stay_when_more_are_added(tmp_path: Path) -> None:
    """A part in the middle is removed; the next one must not take the number, and so the place, of the last."""
    store = Store(tmp_path)
    for part, error in enumerate(["", "ValueError: no", ""]):
        store.add_trials("key", [{"sample": f"{part}{place}", "asked": 1, "error": error} for place in "ab"])
    store.discard_failed_trials("key")
    store.add_trials("key", [{"sample": f"1{place}", "asked": 2, "error": ""} for place in "ab"])
    rows = {row["sample"]: row["asked"] for row in store.trials("key")}
    assert rows == {"0a": 1, "0b": 1, "1a": 2, "1b": 2, "2a": 1, "2b": 1}
    assert store.ended_trials("key") == 6


@dataclass(frozen=True)
class Thrice(Brighten):
    """Asks about three grey levels at once, whatever room there is: 0, 1 and 2 more."""

    __str__ = text_form

    def begin(self, stage: Stage) -> Brightening:
        sitting = Brightening(self, stage)

        def start(row: int, room: int) -> TrialSteps:
            reply = yield [(row, step) for step in range(3)]
            return {"step": int(reply.pred[2])}

        sitting.start = start  # type: ignore[method-assign]
        return sitting


def test_a_failure_behind_the_first_batch_of_a_question_is_that_of_its_own_trial(
    greys: Dataset, tmp_path: Path
) -> None:
    """Two trials of three images are asked together, four images and then two: the sixth fails, of the second trial."""
    audit = Brightness(Thrice())
    run = snellen.audit(moody(84), greys, [audit], out=tmp_path / "r", quiet=True, report=False, batch_size=4)
    failed = run.sql("select sample, error from trials where error != ''").set_index("sample")["error"].to_dict()
    on_the_way = [sample for sample, grey in zip(greys.samples.ids, range(0, 180, 2)) if 84 - grey in range(3)]
    assert failed == dict.fromkeys(on_the_way, "ValueError: not in the mood")
    others = run.sql("select sample, step from trials where error = ''").set_index("sample")["step"]
    grey = {sample: 2 * place for place, sample in enumerate(greys.samples.ids)}
    assert all((grey[sample] + 2) // 40 == step for sample, step in others.items())


def test_recorded_answers_are_refused(greys: Dataset, tmp_path: Path) -> None:
    listed = tmp_path / "answers.csv"
    pd.DataFrame({"sample": greys.samples.ids, "pred": 1}).to_csv(listed, index=False)
    with pytest.raises(UserError, match="asks as it goes, which 'answers', a file of recorded answers, cannot follow"):
        snellen.audit(f"predictions:{listed}", greys, [Brightness()], out=tmp_path / "r", quiet=True)


def test_fresh_throws_trials_away(greys: Dataset, tmp_path: Path, counted: list[int]) -> None:
    ask(greys, tmp_path / "r")
    first = sum(counted)
    ask(greys, tmp_path / "r", fresh=True)
    assert sum(counted) == 2 * first


@pytest.mark.parametrize("batch", [None, HostCopy(torch.arange(24.0).view(8, 3))])
def test_a_part_of_a_reply_has_its_own_rows_of_the_batch(batch: HostCopy | None) -> None:
    """A reply to six images, which begins at the third of its batch; then the last four of them, and of those two."""
    start = 0 if batch is None else 2
    whole = torch.arange(24.0).view(8, 3)[2:]
    reply = Reply(whole, np.arange(6), np.arange(6), np.ones(6), 9, batch, start)
    assert reply.on_host().tolist() == whole.tolist()
    part = reply.rows(2, 6)
    assert part.on_host().tolist() == part.probabilities.tolist() == whole[2:].tolist()
    assert part.rows(1, 3).on_host().tolist() == whole[3:5].tolist()
    assert (part.pred.tolist(), part.room) == ([2, 3, 4, 5], 0)


def test_trials_speak_of_things_only_where_they_list_some() -> None:
    assert [trial.speaks_of_things for trial in (HueShift(), OrderedDeletion(), EveryBackground())] == [
        False,
        False,
        True,
    ]
