"""Answers to several cells put together: each sample where it counts, each cache entry under all that it hangs on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from snellen.data.canvas import Canvas
from snellen.distort import parse
from snellen.engine import Answers, Cell
from snellen.engine.ask import pass_state
from snellen.engine.ask.pass_state import PassState
from snellen.engine.keep.complete import Completeness
from snellen.engine.keep.failures import Failure, with_failures
from snellen.engine.keep.read_back import AnswerBlock
from snellen.engine.keep.shard_file import write_table
from snellen.engine.keep.store import Store
from snellen.engine.keep.stored_parts import stored_parts
from snellen.errors import UserError


def block(score: list[list[float]], valid: list[bool]) -> AnswerBlock:
    scores = np.array(score)
    zeros, ids = np.zeros_like(scores), np.array([f"s{place}" for place in range(len(valid))], object)
    return AnswerBlock(zeros, zeros, scores, zeros, zeros, np.zeros(len(valid)), zeros[0], np.array(valid), ids)


CELLS = [Cell(parse("occlude(0.3)")), Cell(parse("occlude(0.6)"))]


@pytest.mark.parametrize("order", [CELLS, CELLS[::-1]])
def test_a_sample_counts_in_a_mean_over_cells_where_it_counts_in_all_of_them(order: list[Cell]) -> None:
    """The second sample is left out of one cell and the third of the other; both runs are averaged cell by cell."""
    blocks = {
        CELLS[0]: block([[1, 1, 0, 1], [0, 1, 1, 0]], [True, False, True, True]),
        CELLS[1]: block([[0, 1, 0, 1], [0, 0, 1, 1]], [True, True, False, True]),
    }
    answers = Answers("model", ["a", "b"], blocks, {"test": ("x", "y")})
    np.testing.assert_array_equal(answers.mean_score(order), [[0.5, np.nan, np.nan, 1], [0, np.nan, np.nan, 0.5]])
    assert [one.ids.tolist() for one in answers.together(*order)] == [["s0", "s3"]] * 2


def test_what_is_usual_is_estimated_once_for_each_model_layer_method_and_canvas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    estimates: list[tuple[Any, ...]] = []

    def method_of(name: str) -> Any:
        def estimate(model: str, data: Any, layer: Any, canvas: Canvas) -> tuple[Any, ...]:
            estimates.append((name, model, layer, canvas))
            return estimates[-1]

        return SimpleNamespace(reference=None if name == "plain" else SimpleNamespace(estimate=estimate))

    def wanted(method: str, model: str, layer: Any, canvas: Canvas) -> Any:
        card = SimpleNamespace(fingerprint=model)
        request = SimpleNamespace(method=method, layer=layer)
        return SimpleNamespace(request=request, subject=SimpleNamespace(card=card), canvas=canvas)

    monkeypatch.setattr(pass_state, "method_of", method_of)
    models: Any = {"m": "m", "n": "n"}
    work = PassState("test", SimpleNamespace(), [], models, {}, "cpu")  # type: ignore[arg-type]
    small, large = Canvas(8, 8, "native"), Canvas(16, 16, "native")
    every = [("iba", "m", None, small), ("iba", "m", -2, small), ("iba", "m", "stage3", small), ("iba", "n", None, small),
             ("iba", "m", None, large), ("other", "m", None, small)]  # fmt: skip
    for one in (*every, *every):
        assert work.statistics_for(wanted(*one)) == one
    assert estimates == every
    assert work.statistics_for(wanted("plain", "m", None, small)) is None


def answers_table(cell: str, samples: list[str], failures: list[Failure]) -> pa.Table:
    return with_failures(
        pa.table({"cell": [cell] * len(samples), "sample": samples, "pred": range(len(samples))}), failures
    )


def test_an_image_that_a_model_failed_on_is_excused_in_that_cell_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write_table(
        tmp_path / "answers" / "pass", 0, answers_table("a", ["s0", "s2"], [Failure("a", "s1", "ValueError: no")])
    )
    data: Any = {"test": SimpleNamespace(samples=SimpleNamespace(ids=["s0", "s1", "s2"]))}
    complete, present = Completeness(store, data), np.array([True, False, True])

    def cell(key: str) -> Any:
        return SimpleNamespace(key=key, on="test", distortion="none()", subject=SimpleNamespace(name="net", run="0"))

    complete.check_answers(cell("a"), present)
    with pytest.raises(
        UserError, match=r"1 of 3 answers of 'net' \(0\) under none\(\) on test are missing \(first 's1'\)"
    ):
        complete.check_answers(cell("b"), present)


@pytest.mark.parametrize("samples", [["s0", "s2"], ["s2", "s0"], ["s1", "s0", "s3", "s2"], ["s1", "s2"]])
def test_rows_come_to_the_places_of_their_samples_whatever_their_order_and_gaps(
    tmp_path: Path, samples: list[str]
) -> None:
    file = write_table(tmp_path / "answers" / "pass", 0, answers_table("a", samples, []))
    listing = {"test": {f"s{place}": place for place in range(4)}}
    found = {}
    for _, start, stop, columns, at in stored_parts(Store(tmp_path), [file], ("pred",), {"a": "test"}, listing):
        found |= dict(zip(np.arange(4)[at].tolist(), columns["pred"][start:stop].tolist()))
    assert found == {int(sample[1]): row for row, sample in enumerate(samples)}
