"""The store: four tables as Parquet shards in a run folder, each shard there whole or not at all.

    run.json                              which models were asked what, and the settings
    cells.parquet                         key → model, run, data, distortion, seed, canvas …
    samples/<on>/<shard>-<sum>.parquet    id → label, size, checksum, decode error, dataset columns
    shown/<pass>/<shard>-<sum>.parquet    distortion × sample → covered, object_covered, donor, excluded
    answers/<pass>/<shard>-<sum>.parquet  cell × sample → pred, raw, score, confidence, label_prob
    maps/<map>/<shard>-<sum>.parquet      sample → map: what mattered to a model, bytes of the canvas's size
    maps/<map>/map.json                   whose maps these are: model, data, method, layer, distortion
    trials/<cell>/<part>-<sum>.parquet    sample → what came of its trial, in the order they ended; asked, error
    things/<cell>/000000-<sum>.parquet    what the columns of its trials speak of
    thumbs/<shown>/<position>.png         up to 24 small pictures per distortion

A pass is the set of cells that one command found missing; which cells a shard already has is known from file names.
<sum> is a checksum of the file, so that one rename brings both; `snellen.engine.keep.repair` removes what does not fit its own.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.hashing import checksum, key_of

if TYPE_CHECKING:
    import pyarrow as pa


THUMBNAIL_SIDE = 112  # pixels


@dataclass(frozen=True)
class Present:
    """What is stored of one shard: its cells as cell key → shown key, and the shown keys whose rows are there."""

    cells: dict[str, str] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class ShardTables:
    """What answering one shard yields; `thumbs` are images uint8 [3, H, W] by (shown key, position), `maps` are by key."""

    answers: pa.Table
    shown: pa.Table
    samples: pa.Table
    thumbs: Mapping[tuple[str, int], np.ndarray]
    maps: Mapping[str, pa.Table] = field(default_factory=dict)


class Store:
    """The tables of one run folder."""

    def __init__(self, folder: Path, ignored: bool = False) -> None:
        self.folder = folder
        self.ignored = ignored  # the folder's answers are about to be thrown away

    # -- run.json ---------------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The content of run.json; empty where there is none yet."""
        path = self.folder / "run.json"
        if not path.exists():
            return {}
        try:
            return json.loads(path.read_text())
        except ValueError as error:
            raise UserError(f"{path} is not JSON ({error}); choose another --out or pass --fresh") from None

    def write_facts(self, facts: Mapping[str, Any]) -> None:
        write_atomic(self.folder / "run.json", (json.dumps(facts, indent=1) + "\n").encode())

    # -- passes -----------------------------------------------------------------------------------------------------

    def present(self, on: str) -> dict[int, Present]:
        """Shard → what is stored of it for dataset `on`."""
        shards: dict[int, Present] = {}
        if self.ignored:
            return shards
        for record in sorted((self.folder / "answers").glob("*/pass.json")):
            content = read_pass(record)
            if content is None or content["on"] != on:
                continue
            for file in record.parent.glob("*.parquet"):
                shards.setdefault(shard_of(file), Present()).cells.update(content["cells"])
            for file in (self.folder / "shown" / record.parent.name).glob("*.parquet"):
                shards.setdefault(shard_of(file), Present()).shown.update(content["shown"])
        return shards

    def begin_pass(self, on: str, cells: Mapping[str, str], new: Iterable[str] = ()) -> str:
        """The name of the pass that will hold these cells (cell key → shown key) and the rows of the `new` shown keys."""
        content = {"on": on, "cells": dict(cells), "shown": sorted(new)}
        name = key_of(content)
        write_atomic(
            self.folder / "answers" / name / "pass.json", json.dumps(content, indent=1, sort_keys=True).encode()
        )
        return name

    def write_shard(self, name: str, on: str, shard: int, tables: ShardTables) -> None:
        """Keep one shard's tables; the answers come last, so that a shard with answers is complete."""
        if samples := shard_file(self.folder / "samples" / on, shard):
            self._check_unchanged(samples, tables.samples)
        else:
            _write_table(self.folder / "samples" / on, shard, tables.samples)
        for (shown, position), picture in tables.thumbs.items():
            if not (path := self.thumbnail(shown, position)).exists():
                write_atomic(path, _thumbnail(picture))
        for key, table in tables.maps.items():
            _write_table(self.folder / "maps" / key, shard, table)
        if "covered" in tables.shown.column_names:
            _write_table(self.folder / "shown" / name, shard, tables.shown)
        if "pred" in tables.answers.column_names:  # a pass may be for maps alone
            _write_table(self.folder / "answers" / name, shard, tables.answers)

    # -- maps -------------------------------------------------------------------------------------------------------

    def begin_map(self, key: str, facts: Mapping[str, Any]) -> None:
        """Keep whose maps a key is for."""
        content = json.dumps(facts, indent=1, sort_keys=True).encode()
        path = self.folder / "maps" / key / "map.json"
        if not path.exists() or path.read_bytes() != content:
            write_atomic(path, content)

    def map_keys(self, **facts: Any) -> list[str]:
        """The keys of the maps whose facts include these."""
        keys = sorted(path.parent.name for path in (self.folder / "maps").glob("*/map.json"))
        return [key for key in keys if self.map_facts(key).items() >= facts.items()]

    def map_facts(self, key: str) -> dict[str, Any]:
        """Whose maps a key is for; empty where that is damaged, since the command that made it writes it again."""
        try:
            return dict(json.loads((self.folder / "maps" / key / "map.json").read_text()))
        except (OSError, ValueError, TypeError):
            return {}

    def map_shards(self, key: str) -> list[int]:
        """The shards whose maps are there, in order."""
        return [] if self.ignored else sorted(map(shard_of, (self.folder / "maps" / key).glob("*.parquet")))

    def thumbnail(self, shown: str, position: int) -> Path:
        """Where the small picture of a sample, as shown, is or would be."""
        return self.folder / "thumbs" / shown / f"{position:06d}.png"

    def add_thumbnail(self, shown: str, position: int, picture: np.ndarray) -> None:
        """Keep a small picture, uint8 [3, H, W], beyond those of the first images."""
        write_atomic(self.thumbnail(shown, position), _thumbnail(picture))

    def maps(self, key: str, shard: int) -> pa.Table | None:
        """The maps of a shard, if they are there."""
        file = shard_file(self.folder / "maps" / key, shard)
        return None if file is None else read_rows(file)

    def add_trials(self, key: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep what came of some trials: their columns by name."""
        folder = self.folder / "trials" / key
        parts = [shard_of(file) for file in folder.glob("*.parquet")]
        _write_table(folder, max(parts, default=-1) + 1, _columns([{"cell": key, **row} for row in rows]))

    def trials(self, key: str) -> list[dict[str, Any]]:
        """What came of the trials of a key so far, one row per sample; lists are arrays."""
        if self.ignored:
            return []
        return [row for file in sorted((self.folder / "trials" / key).glob("*.parquet")) for row in _rows(file)]

    def ended_trials(self, key: str) -> int:
        """How many trials of a key are there."""
        files = [] if self.ignored else (self.folder / "trials" / key).glob("*.parquet")
        return sum(len(read_rows(file, ["sample"])) for file in files)

    def add_things(self, key: str, things: Mapping[str, Sequence[Any]]) -> None:
        """Keep what the columns of some trials speak of."""
        import pyarrow as pa

        _write_table(self.folder / "things" / key, 0, pa.table(dict(things)))

    def things(self, key: str) -> dict[str, list[Any]] | None:
        """What the columns of some trials speak of, by column; None where it is not there."""
        file = None if self.ignored else shard_file(self.folder / "things" / key, 0)
        return None if file is None else read_rows(file).to_pydict()

    def discard_failed_trials(self, key: str) -> None:
        """Remove the files in which a trial failed, so that the same command asks again once the model is fixed."""
        for file in (self.folder / "trials" / key).glob("*.parquet"):
            if any(read_rows(file, ["error"])["error"].to_pylist()):
                file.unlink(missing_ok=True)

    # -- tables -----------------------------------------------------------------------------------------------------

    def files(self, table: str) -> list[Path]:
        """The Parquet files of one table."""
        if table == "cells":
            return [p for p in [self.folder / "cells.parquet"] if p.exists()]
        return sorted((self.folder / table).glob("*/*.parquet"))

    def add_cells(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Bring the `cells` table up to date."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.folder / "cells.parquet"
        rows_before = pq.read_table(path, page_checksum_verification=True).to_pylist() if path.exists() else []
        known = {row["cell"]: row for row in rows_before} | {row["cell"]: dict(row) for row in rows}
        write_atomic(path, _parquet(pa.Table.from_pylist(list(known.values()))))

    # -- internals --------------------------------------------------------------------------------------------------

    def _check_unchanged(self, path: Path, now: pa.Table) -> None:
        before = read_rows(path, ["sample", "checksum"])
        if before["checksum"].equals(now["checksum"]):
            return
        for sample, old, new in zip(
            *(column.to_pylist() for column in (before["sample"], before["checksum"], now["checksum"]))
        ):
            if old != new:
                raise UserError(
                    f"image '{sample}' changed on disk since {self.folder} was made; choose another --out or pass --fresh"
                )


def _thumbnail(pixels: np.ndarray) -> bytes:
    """A small PNG of one image uint8 [3, H, W]."""
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
    if max(picture.size) > THUMBNAIL_SIDE:
        picture.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Image.Resampling.BOX)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def read_pass(record: Path) -> dict[str, Any] | None:
    """The content of a pass.json, or None where it does not fit the pass's name."""
    try:
        content = json.loads(record.read_text())
    except (OSError, ValueError):
        return None
    return content if key_of(content) == record.parent.name else None


def shard_of(file: Path) -> int:
    """The number of the shard that a file holds; −1 where its name tells none."""
    number = file.stem.partition("-")[0]
    return int(number) if number.isdecimal() else -1


def shard_file(folder: Path, shard: int) -> Path | None:
    """The file of a shard, if it is there."""
    return next(folder.glob(f"{shard:06d}-*.parquet"), None)


def is_whole(file: Path) -> bool:
    """Whether a shard's file holds what its name says."""
    try:
        return checksum(file.read_bytes()) == file.stem.partition("-")[2]
    except OSError:
        return False


def read_rows(path: Path, columns: Sequence[str] | None = None, **how: Any) -> pa.Table:
    """The rows of one of our Parquet files; a damaged one is named, with how to repair it."""
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, columns=columns, **how)
    except (OSError, ValueError):
        raise UserError(
            f"{path} is damaged or missing; run the `snellen audit` command that made it again to repair it"
        ) from None


def _write_table(folder: Path, shard: int, table: pa.Table) -> None:
    """Write a shard's table; an older file of the same shard, which a killed run may have left, goes first."""
    content = _parquet(table)
    path = folder / f"{shard:06d}-{checksum(content)}.parquet"
    for older in folder.glob(f"{shard:06d}-*.parquet"):
        older.unlink(missing_ok=True)
    write_atomic(path, content)


def _columns(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table of rows that need not have the same columns."""
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; a list in one is an array."""
    table = read_rows(file)
    columns = [column.to_pylist() if not _is_list(column) else list(_arrays(column)) for column in table.columns]
    for values in zip(*columns):
        yield dict(zip(table.column_names, values))


def _is_list(column: pa.ChunkedArray) -> bool:
    import pyarrow.types as types

    return types.is_list(column.type)


def _arrays(column: pa.ChunkedArray) -> Iterator[np.ndarray | None]:
    return (one.values.to_numpy() if one.is_valid else None for one in column)


def _parquet(table: pa.Table) -> memoryview:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    # Maps are most of what a run writes: lz4 keeps up with a fast GPU, where zstd would be waited for.
    how = {"compression": "lz4", "use_dictionary": False} if "map" in table.column_names else {"compression": "zstd"}
    pq.write_table(table, buffer, write_page_checksum=True, **how)
    return memoryview(buffer.getvalue())
