"""The harness sees what it is there to see: each sort of failure is made on purpose."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

import msgspec
import pytest

from snellen.errors import UserError
from snellen.files import decode_json, reading
from snellen.files.table import Column, read_table

from . import worker
from .documents import Schemas, document_of, gather
from .harness import Harness, cases_of
from .mutate.payload import VARIABLE, pickled
from .mutations import OWN, mutate
from .outcome import Different, Outcome
from .patience import POLL, Patience, look_at
from .readers import READERS, Reader
from .report import distinct_failures, table_of
from .sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    sandbox = Sandbox(tmp_path / "sandbox")
    for folder in (sandbox.canary, sandbox.case.parent, tmp_path / "corpus" / "toys"):
        folder.mkdir(parents=True)
    (tmp_path / "corpus" / "toys" / "toy.txt").write_text("a toy\n")
    monkeypatch.chdir(sandbox.root)
    monkeypatch.setenv(VARIABLE, str(sandbox.canary))
    monkeypatch.setattr(worker, "limit_memory", lambda room: None)
    return sandbox


def outcome_of(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, call: Callable[[Path], object]) -> Outcome:
    """What comes of an input of a reader that does `call` once its file is damaged."""
    reader = Reader("toys", ("*.txt",), lambda case: ((case / "toy.txt").is_file() and _intact(case)) or call(case))
    monkeypatch.setitem(worker.READERS, "toys", reader)  # type: ignore[arg-type]
    one = worker.Worker(sandbox, sandbox.root.parent / "corpus", seed=0)
    return one.attempt("toys", 1)


def _intact(case: Path) -> bool:
    return (case / "toy.txt").read_bytes() == b"a toy\n"


def refuse(case: Path) -> None:
    raise UserError(f"{case / 'toy.txt'} line 1: expected 'a toy'")


def refuse_without_a_name(case: Path) -> None:
    raise UserError("something is wrong")


def refuse_at_length(case: Path) -> None:
    raise UserError(f"{case / 'toy.txt'}: {'very ' * 100}long")


def fall_into_the_net(case: Path) -> None:
    with reading(case / "toy.txt", "a toy"):
        raise KeyError("toy")


def fail(case: Path) -> None:
    raise KeyError("toy")


def use_memory(case: Path) -> None:
    raise MemoryError


def leave_a_file(case: Path) -> None:
    (case / "left.txt").touch()


def write_elsewhere(case: Path) -> None:
    (case / ".." / "elsewhere.txt").touch()


def run_code(case: Path) -> None:
    pickle.loads(pickled(case / "toy.txt"))


def stop(case: Path) -> None:
    sys.exit(0)


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (lambda case: None, "accepted"),
        (refuse, "refused"),
        (refuse_without_a_name, "vague"),
        (refuse_at_length, "vague"),
        (fall_into_the_net, "net"),
        (fail, "traceback"),
        (stop, "traceback"),
        (use_memory, "memory"),
        (leave_a_file, "left behind"),
        (write_elsewhere, "wrote outside"),
        (run_code, "code run"),
    ],
)
def test_each_sort_of_failure_is_told_apart(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, call: Callable[[Path], object], result: str
) -> None:
    outcome = outcome_of(sandbox, monkeypatch, call)
    assert outcome.result == result
    assert outcome.change.startswith("toy.txt: ")
    assert not sandbox.has_run()


def test_a_reader_that_refuses_the_undamaged_file_is_a_failure_of_every_input(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(worker.READERS, "toys", Reader("toys", ("*.txt",), refuse))  # type: ignore[arg-type]
    outcome = worker.Worker(sandbox, sandbox.root.parent / "corpus", seed=0).attempt("toys", 5)
    assert (outcome.result, outcome.change) == ("unfit", "nothing")


@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("import time\nwhile True: time.sleep(9)", "hang"),
        ("while True: pass", "hang"),
        ("import os\nos.abort()", "crash"),
        ("import os\nos._exit(0)", "crash"),
    ],
)
def test_a_process_that_hangs_or_crashes_is_started_again(tmp_path: Path, script: str, result: str) -> None:
    (tmp_path / "script.py").write_text(script)
    with Harness(patience=1, corpus=tmp_path, worker=tmp_path / "script.py") as harness:
        assert [one.result for one in harness.run([("toys", 1), ("toys", 2)])] == [result, result]


def test_an_exception_outside_the_reader_is_a_defect_of_the_harness(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("raise KeyError('toy')")
    with Harness(corpus=tmp_path, worker=tmp_path / "script.py") as harness, pytest.raises(RuntimeError, match="toy"):
        harness.attempt("toys", 1)


def test_inputs_are_shared_out_and_every_reader_has_some() -> None:
    cases = cases_of(1000)
    assert {name for name, _ in cases} == set(READERS)
    assert 900 < len(cases) < 1200
    assert [number for name, number in cases_of(3, ["ids"])] == [0, 1, 2, 3]


def test_counts_by_reader_and_distinct_failures() -> None:
    outcomes = [Outcome("ids", n, "traceback", "cut", "KeyError: 1", f"a.py:{n // 2} f") for n in range(4)]
    table = table_of([*outcomes, Outcome("ids", 9, "accepted")])
    assert table.splitlines()[-1].split() == ["all", "5", "1", "0", "0", "0", "0", "4", *["0"] * 7]
    assert [count for _, count in distinct_failures(outcomes).values()] == [2, 2]


@pytest.mark.parametrize("ending", sorted(OWN))
def test_the_same_draw_damages_a_file_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    for number in range(12):
        said, left = [], []
        for folder in (tmp_path / "first", tmp_path / "second"):
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "in").mkdir(parents=True)
            (folder / "in" / f"a{ending}").write_bytes(b"some, text\n1, 2\n" * 20)
            said.append(mutate(folder / "in" / f"a{ending}", Random(number), names=True))
            left.append([os.fsencode(file.relative_to(folder)) for file in sorted(folder.rglob("*"))])
        assert said[0] == said[1]
        assert left[0] == left[1]


class Toy(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=5)]
    sort: Literal["soft", "hard"]
    parts: list[tuple[int, float]] | None = None
    age: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0
    notes: dict[str, bool] = {}


def test_documents_of_a_schema_fit_it() -> None:
    made = gather(document_of(list[Toy]), 0)
    assert len(made) > 10
    assert made == gather(document_of(list[Toy]), 0)
    assert any(msgspec.convert(one, list[Toy]) for one in made)


def test_schemas_are_learnt_while_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_text('{"name": "ball", "sort": "soft"}')
    (tmp_path / "toys.csv").write_text("id,age\n01,3\n")
    schemas: Any = Schemas()
    with schemas.watch(tmp_path):
        decode_json((tmp_path / "toy.json").read_bytes(), Toy, tmp_path / "toy.json")
        read_table(tmp_path / "toys.csv", {"id": Column(filled=True), "age": Column("int", least=0, most=9)})
    schemas.write(tmp_path / "toy.json", Random(0))
    assert decode_json((tmp_path / "toy.json").read_bytes(), Toy, "toy").sort in ("soft", "hard")
    schemas.write(tmp_path / "toys.csv", Random(0))
    assert (tmp_path / "toys.csv").read_text().startswith("id,age\n")
    assert set(schemas.of_file) == {tmp_path / "toy.json", tmp_path / "toys.csv"}


def test_only_processor_time_and_waiting_count_not_the_clock() -> None:
    """A process that is ready to run but gets no processor is not hanging, however long it takes."""
    patience = Patience(most=60)
    patience.start(used=1000)
    assert not any(patience.is_over(used=1000, ready=True) for _ in range(10_000))
    assert not any(patience.is_over(used=1000 + look / 100, ready=False) for look in range(1, 6000))
    assert patience.is_over(used=1060.5, ready=True)
    patience.start(used=2000)
    looks = [patience.is_over(used=2000, ready=False) for _ in range(round(61 / POLL))]
    assert looks.index(True) == round(60 / POLL)


def test_what_a_process_has_used_is_counted_with_those_below_it(tmp_path: Path) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
        try:
            while look_at(process.pid)[0] < 0.3:
                pass
            assert look_at(process.pid)[1]
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def give_another_answer(case: Path) -> None:
    raise Different("toy.txt says something else")


def test_an_answer_that_is_another_is_a_failure(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome_of(sandbox, monkeypatch, give_another_answer).result == "different"
