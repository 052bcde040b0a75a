"""Images that could not be shown, or that a model failed on: a few are listed, too many stop the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from snellen.engine.keep.store import Store, read_rows
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.map import BoundMap
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.model import Model

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


def one_by_one(model: Model, pixels: Tensor, outputs: int) -> tuple[Tensor, dict[int, str]]:
    """Probabilities [B, outputs] of images asked singly, nan where the model fails; and row → what it said."""
    answers: list[Tensor | None] = []
    failed: dict[int, str] = {}
    for row in range(len(pixels)):
        try:
            answers.append(model(pixels[row : row + 1]))
        except UserError:
            raise
        except Exception as error:  # whatever somebody's model raises
            answers.append(None)
            failed[row] = describe_error(error)
    given = next((one for one in answers if one is not None), torch.empty((1, outputs), device=pixels.device))
    blank = torch.full_like(given, torch.nan)
    return torch.cat([blank if one is None else one for one in answers]), failed


def answered_nan(model: str, sample: str, distortion: object) -> UserError:
    """What to say of a model that answers no number."""
    return UserError(
        f"model '{model}' answered nan for sample '{sample}' under {distortion}; check its weights and preprocessing"
    )


def describe_error(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def with_failures(table: pa.Table, failures: Sequence[Failure]) -> pa.Table:
    """The answers, or maps, with a list of those that are missing."""
    return table.replace_schema_metadata({_ENTRY: json.dumps(failures)}) if failures else table


def listed_in(schema: pa.Schema) -> list[Failure]:
    """The failures that a table lists."""
    return [Failure(*one) for one in json.loads((schema.metadata or {}).get(_ENTRY, "[]"))]


def stored_failures(store: Store, table: str = "answers") -> list[Failure]:
    """The failures that the answers, or the maps, of a run list."""
    import pyarrow.parquet as pq

    return [one for file in store.files(table) for one in listed_in(pq.read_schema(file))]


def discard_failures(store: Store) -> None:
    """Remove the shards with failures, so that the same command asks them again once the model is mended."""
    import pyarrow.parquet as pq

    for file in (*store.files("answers"), *store.files("maps")):
        if _ENTRY in (pq.read_schema(file).metadata or {}):
            file.unlink(missing_ok=True)


def unreadable(store: Store, on: str) -> list[tuple[str, str]]:
    """The images of a dataset that could not be shown: id and reason."""
    bad: list[tuple[str, str]] = []
    for file in sorted((store.folder / "samples" / on).glob("*.parquet")):
        table = read_rows(file, ["sample", "error"])
        bad += [(s, e) for s, e in zip(table["sample"].to_pylist(), table["error"].to_pylist()) if e]
    return bad


def check_failures(store: Store, asked: Sequence[BoundCell | BoundMap], sizes: Mapping[str, int]) -> None:
    """Stop where too many images of a dataset (`sizes` by role) could not be shown, answered or mapped."""
    for on, size in sizes.items():
        check_unreadable(unreadable(store, on), on, size)
    failed: dict[str, list[Failure]] = {}
    for failure in (*stored_failures(store), *stored_failures(store, "maps")):
        failed.setdefault(failure.cell, []).append(failure)
    for one in asked:
        check_failed(failed.get(one.key, []), one, sizes[one.on])


def check_unreadable(bad: Sequence[tuple[str, str]], on: str, size: int) -> None:
    """Stop where more than 5 % of a dataset's images could not be shown."""
    if len(bad) > MOST * size:
        few = "; ".join(f"{sample}: {error}" for sample, error in bad[:3])
        raise UserError(
            f"{len(bad)} of {size} {on} images cannot be shown, more than {MOST:.0%} ({few}); mend or remove them"
        )


def check_failed(failed: Sequence[Failure], asked: BoundCell | BoundMap, size: int) -> None:
    """Stop where a model failed on more than 5 % of a cell's images."""
    if len(failed) > MOST * size:
        first = failed[0]
        raise TooManyFailures(
            f"model '{asked.subject.name}' failed on {len(failed)} of {size} images {asked.task}, more than {MOST:.0%} "
            f"(first '{first.sample}': {first.error}); mend it, and the same command continues"
        )
