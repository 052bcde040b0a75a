"""Images that could not be shown, or that a model failed on: a few are listed, too many stop the run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from snellen.data.dataset import Dataset
from snellen.engine.keep.shard_file import read_schema
from snellen.engine.keep.store import Store
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.map import BoundMap
from snellen.errors import UserError
from snellen.files import decode_json
from snellen.lazy_torch import torch
from snellen.models.model import Model
from snellen.models.tasks import join_answers, no_answer

if TYPE_CHECKING:
    import pyarrow as pa
    from torch import Tensor

MOST = 0.05  # the share of a dataset's images above which a number would no longer be about that dataset
_ENTRY = b"failed"  # where an answers file lists its failures: in its header, so that both appear at once


class Failure(NamedTuple):
    """One image that a model could not answer, or of which it gave no map; `cell` is the key of either."""

    cell: str
    sample: str
    error: str


class TooManyFailures(UserError):
    """A model that fails on so many images that the run stops."""


def ask_one_by_one(model: Model, pixels: Tensor, outputs: int) -> tuple[Tensor, dict[int, str]]:
    """Probabilities [B, outputs] of images asked singly, nan where the model fails, or what another task answers; and row →
    its error."""
    answers: list[Tensor | None] = []
    errors: dict[int, str] = {}
    for row in range(len(pixels)):
        try:
            answers.append(model(pixels[row : row + 1]))
        except UserError:
            raise
        except Exception as error:  # whatever a user's model raises
            answers.append(None)
            errors[row] = describe_error(error)
    if model.card.task != "classification":
        nothing = no_answer(model.card.task, (1, *pixels.shape[2:])).to(pixels.device)
        return join_answers([nothing if answer is None else answer.to(pixels.device) for answer in answers]), errors
    example = next(
        (answer for answer in answers if answer is not None), torch.empty((1, outputs), device=pixels.device)
    )
    blank = torch.full_like(example, torch.nan)
    return torch.cat([blank if answer is None else answer for answer in answers]), errors


def nan_error(model: str, sample: str, distortion: object, value: float = math.nan) -> UserError:
    """The error for a model that answers nan, or another `value` that is not finite."""
    return UserError(
        f"model '{model}' answered {value:g} for sample '{sample}' under {distortion}; check its weights and preprocessing"
    )


def describe_error(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def with_failures(table: pa.Table, failures: Sequence[Failure]) -> pa.Table:
    """The answers, or maps, with a list of those that are missing."""
    return table.replace_schema_metadata({_ENTRY: json.dumps(failures)}) if failures else table


def failures_in(schema: pa.Schema) -> list[Failure]:
    """The failures that a table lists."""
    entry = (schema.metadata or {}).get(_ENTRY, b"[]")
    rows: list[tuple[str, str, str]] = decode_json(entry, list[tuple[str, str, str]], "the list of failures")
    return [Failure(*row) for row in rows]


def stored_failures(store: Store, table: str = "answers") -> list[Failure]:
    """The failures that the answers, or the maps, of a run list."""
    return [failure for file in store.files(table) for failure in failures_in(store.schema(file))]


def discard_failures(store: Store) -> None:
    """Remove the shards with failures, so that the same command asks them again once the model is fixed."""
    for file in (*store.files("answers"), *store.files("maps")):
        if _ENTRY in (read_schema(file).metadata or {}):
            file.unlink(missing_ok=True)


def unreadable(store: Store, on: str) -> list[tuple[str, str]]:
    """The images of a dataset that could not be shown: id and reason."""
    import pyarrow.compute as pc

    bad: list[tuple[str, str]] = []
    for file in sorted((store.folder / "samples" / on).glob("*.parquet")):
        table = store.rows(file, ["sample", "error"])
        table = table.filter(pc.not_equal(table["error"].cast("string").fill_null(""), ""))
        bad += zip(table["sample"].to_pylist(), table["error"].to_pylist())
    return bad


def unlabelled(store: Store, on: str) -> list[str]:
    """The ids of a dataset's images whose label is not known; they count in no accuracy."""
    import pyarrow.compute as pc

    ids: list[str] = []
    for file in sorted((store.folder / "samples" / on).glob("*.parquet")):
        table = store.rows(file, ["sample", "label"])
        ids += table.filter(pc.less(table["label"], 0))["sample"].to_pylist()
    return ids


def check_failures(store: Store, requests: Sequence[BoundCell | BoundMap], data: Mapping[str, Dataset]) -> None:
    """Stop where too many images of a dataset (`data` by role) could not be shown, answered or mapped."""
    for on, dataset in data.items():
        check_unreadable(unreadable(store, on), on, dataset)
    failures: dict[str, list[Failure]] = {}
    for failure in (*stored_failures(store), *stored_failures(store, "maps")):
        failures.setdefault(failure.cell, []).append(failure)
    for request in requests:
        check_failed(failures.get(request.key, []), request, len(data[request.on]))


def check_unreadable(bad: Sequence[tuple[str, str]], on: str, data: Dataset) -> None:
    """Stop where more than 5% of a dataset's images could not be shown."""
    if len(bad) > MOST * len(data):
        few = "; ".join(f"{sample}: {error}" for sample, error in bad[:3])
        raise UserError(
            f"{len(bad)} of {len(data)} {on} images cannot be shown, more than {MOST:.0%} ({few}); fix or remove them in "
            f"{data.text}"
        )


def check_failed(failures: Sequence[Failure], request: BoundCell | BoundMap, size: int) -> None:
    """Stop where a model failed on more than 5% of a cell's images."""
    if len(failures) > MOST * size:
        first = failures[0]
        raise TooManyFailures(
            f"model '{request.subject.name}' failed on {len(failures)} of {size} images {request.task}, more than {MOST:.0%} "
            f"(first '{first.sample}': {first.error}); fix the model and run the same command again; it resumes"
        )
