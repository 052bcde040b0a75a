"""The store: four tables as Parquet shards in a run folder, each shard there whole or not at all.

    run.json                              which models were asked what, and the settings
    cells.parquet                         key → model, run, data, distortion, seed, canvas …
    samples/<on>/<shard>-<sum>.parquet    id → label, size, checksum, decode error, dataset columns
    shown/<pass>/<shard>-<sum>.parquet    distortion × sample → covered, object_covered, donor, excluded
    answers/<pass>/<shard>-<sum>.parquet  cell × sample → pred, raw, score, confidence, label_prob; counts for segmentation
    maps/<map>/<shard>-<sum>.parquet      sample → map: what mattered to a model, one or two bytes per pixel
    maps/<map>/map.json                   whose maps these are: model, data, method, layer, distortion
    trials/<cell>/<part>-<sum>.parquet    sample → what came of its trial, in the order they ended; asked, error
    things/<cell>/000000-<sum>.parquet    what the columns of its trials speak of
    searches/<cell>/000000-<sum>.parquet  evaluation → edits, value; journal.jsonl beside it while it runs
    surveys/<cell>/000000-<sum>.parquet   what was counted of each unit; checkpoint.npz beside it while it runs
    requests/<on>/<shard>.jsonl           what web services have answered about a shard that is not written yet
    requests/<cell>/answers.jsonl         and about trials or a search that have not ended
    thumbs/<shown>/<position>.png         up to 24 small pictures per distortion
    thumbs/<cell>/<position>.png          the same of what a segmentation or detection model answered
    thumbs/<truth>/<position>.png         and of the label maps (`truth_key`)

A pass is the set of cells that one command found missing; which cells a shard already has is known from file names.
<sum> is a checksum of the file, so that one rename brings both; `snellen.engine.keep.repair` removes what does not fit its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.atomic import encode_json, write_atomic
from snellen.engine.keep.facts import read_facts, write_facts
from snellen.engine.keep.recent import RecentTables
from snellen.engine.keep.row_table import rows_in, table_of_rows
from snellen.engine.keep.shard_file import (
    damaged,
    encode,
    is_whole,
    read_rows,
    read_schema,
    shard_file,
    shard_of,
    write_table,
)
from snellen.engine.keep.thumbnail_file import encode_thumbnail
from snellen.engine.requests.survey import SurveyTable
from snellen.errors import UserError, option
from snellen.files import read_bytes, read_json
from snellen.hashing import checksum, key_of

if TYPE_CHECKING:
    import pyarrow as pa

# The folders of tables, each with folders of its own.
FOLDERS = ("samples", "shown", "answers", "maps", "trials", "things", "searches", "surveys", "thumbs", "requests")
CELLS = "cells.parquet"
_SUM = b"checksum"  # of the rows, in the header of cells.parquet


@dataclass(frozen=True)
class Present:
    """What is stored of one shard: its cells as cell key → shown key, and the shown keys whose rows are there."""

    cells: Mapping[str, str] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()


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

    def __init__(self, folder: Path, ignored: bool = False, recent: RecentTables | None = None) -> None:
        self.folder = folder
        self.ignored = ignored  # the folder's answers are about to be thrown away
        self.recent = recent  # what was just written, where it will be read soon

    # -- run.json ---------------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The content of run.json; empty where there is none yet."""
        return read_facts(self.folder)

    def write_facts(self, facts: Mapping[str, Any]) -> None:
        """Write run.json, whole or not at all."""
        write_facts(self.folder, facts)

    def inventory(self) -> dict[str, Any]:
        """What a complete run holds, for run.json: how many files, and the checksum of cells.parquet."""
        return {"files": self.count_files(), "checksums": {CELLS: checksum(read_bytes(self.folder / CELLS))}}

    def count_files(self) -> dict[str, int]:
        """How many files each folder of the tables holds."""
        counts: dict[str, int] = {}
        for table in FOLDERS:
            for file in (self.folder / table).glob("*/*"):
                if file.suffix in (".parquet", ".png"):
                    name = f"{table}/{file.parent.name}"
                    counts[name] = counts.get(name, 0) + 1
        return counts

    # -- passes -----------------------------------------------------------------------------------------------------

    def present(self, on: str) -> dict[int, Present]:
        """Shard → what is stored of it for dataset `on`."""
        cells: dict[int, dict[str, str]] = {}
        shown: dict[int, set[str]] = {}
        if self.ignored:
            return {}
        for record in sorted((self.folder / "answers").glob("*/pass.json")):
            content = read_pass(record)
            if content is None or content["on"] != on:
                continue
            for file in record.parent.glob("*.parquet"):
                cells.setdefault(shard_of(file), {}).update(content["cells"])
            for file in (self.folder / "shown" / record.parent.name).glob("*.parquet"):
                shown.setdefault(shard_of(file), set()).update(content["shown"])
        return {shard: Present(cells.get(shard, {}), frozenset(shown.get(shard, ()))) for shard in {**cells, **shown}}

    def begin_pass(self, on: str, cells: Mapping[str, str], new: Iterable[str] = ()) -> str:
        """The name of the pass that will hold these cells (cell key → shown key) and the rows of the `new` shown keys."""
        content = {"on": on, "cells": dict(cells), "shown": sorted(new)}
        name = key_of(content)
        write_atomic(self.folder / "answers" / name / "pass.json", encode_json(content))
        return name

    def write_shard(self, name: str, on: str, shard: int, tables: ShardTables) -> None:
        """Keep one shard's tables; the answers come last, so that a shard with answers is complete."""
        if samples := shard_file(self.folder / "samples" / on, shard):
            self._check_unchanged(samples, tables.samples)
        else:
            self._write("samples", on, shard, tables.samples)
        for (shown, position), picture in tables.thumbs.items():
            if not (path := self.thumbnail(shown, position)).exists():
                write_atomic(path, encode_thumbnail(picture))
        for key, table in tables.maps.items():
            write_table(self.folder / "maps" / key, shard, table)
        if "covered" in tables.shown.column_names:
            self._write("shown", name, shard, tables.shown)
        if "pred" in tables.answers.column_names:  # a pass may be for maps alone
            self._write("answers", name, shard, tables.answers)

    # -- maps -------------------------------------------------------------------------------------------------------

    def begin_map(self, key: str, facts: Mapping[str, Any]) -> None:
        """Keep whose maps a key is for."""
        if self.map_facts(key) != facts:
            write_atomic(self.folder / "maps" / key / "map.json", encode_json(facts))

    def map_keys(self, **facts: Any) -> list[str]:
        """The keys of the maps whose facts include these, those of most bits first."""
        known = {
            path.parent.name: self.map_facts(path.parent.name) for path in (self.folder / "maps").glob("*/map.json")
        }
        keys = [key for key, own in known.items() if own.items() >= facts.items()]
        return sorted(keys, key=lambda key: (-known[key].get("bits", 0), key))

    def map_facts(self, key: str) -> dict[str, Any]:
        """Whose maps a key is for; empty where that is damaged, since the command that made it writes it again."""
        from snellen.engine.keep.schemas import MapFacts

        try:
            facts: MapFacts = read_json(self.folder / "maps" / key / "map.json", MapFacts)
        except UserError:
            return {}
        return {name: getattr(facts, name) for name in facts.__struct_fields__}

    def map_shards(self, key: str) -> list[int]:
        """The shards whose maps are there, in order."""
        shards = [] if self.ignored else sorted(map(shard_of, (self.folder / "maps" / key).glob("*.parquet")))
        return [shard for shard in shards if shard >= 0]

    def thumbnail(self, shown: str, position: int) -> Path:
        """Where the small picture of a sample, as shown, is or would be."""
        return self.folder / "thumbs" / shown / f"{position:06d}.png"

    def add_thumbnail(self, shown: str, position: int, picture: np.ndarray) -> None:
        """Keep a small picture, uint8 [3, H, W], beyond those of the first images."""
        write_atomic(self.thumbnail(shown, position), encode_thumbnail(picture))

    def maps(self, key: str, shard: int) -> pa.Table | None:
        """The maps of a shard, if they are there."""
        file = shard_file(self.folder / "maps" / key, shard)
        return None if file is None else read_rows(file)

    def add_trials(self, key: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep what came of some trials: their columns by name."""
        folder = self.folder / "trials" / key
        parts = [shard_of(file) for file in folder.glob("*.parquet")]
        write_table(folder, max(parts, default=-1) + 1, table_of_rows([{"cell": key, **row} for row in rows]))

    def trials(self, key: str) -> list[dict[str, Any]]:
        """What came of the trials of a key so far, one row per sample; lists are arrays."""
        if self.ignored:
            return []
        return [row for file in sorted((self.folder / "trials" / key).glob("*.parquet")) for row in rows_in(file)]

    def ended_trials(self, key: str) -> int:
        """How many trials of a key are there."""
        files = [] if self.ignored else (self.folder / "trials" / key).glob("*.parquet")
        return sum(len(read_rows(file, ["sample"])) for file in files)

    def add_things(self, key: str, things: Mapping[str, Sequence[Any]]) -> None:
        """Keep what the columns of some trials speak of."""
        import pyarrow as pa

        write_table(self.folder / "things" / key, 0, pa.table(dict(things)))

    def things(self, key: str) -> dict[str, list[Any]] | None:
        """What the columns of some trials speak of, by column; None where it is not there."""
        file = None if self.ignored else shard_file(self.folder / "things" / key, 0)
        return None if file is None else read_rows(file).to_pydict()

    def discard_failed_trials(self, key: str) -> None:
        """Remove the files in which a trial failed, so that the same command asks again once the model is fixed."""
        for file in (self.folder / "trials" / key).glob("*.parquet"):
            if any(read_rows(file, ["error"])["error"].to_pylist()):
                file.unlink(missing_ok=True)

    def add_search(self, key: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep what a search tried: a row per evaluation."""
        write_table(self.folder / "searches" / key, 0, table_of_rows([{"cell": key, **row} for row in rows]))

    def search(self, key: str) -> list[dict[str, Any]] | None:
        """What a search tried; None where it has not ended."""
        file = None if self.ignored else shard_file(self.folder / "searches" / key, 0)
        return None if file is None else read_rows(file).to_pylist()

    def journal(self, key: str) -> Path:
        """Where a search that runs keeps what it has tried."""
        return self.folder / "searches" / key / "journal.jsonl"

    def add_survey(self, key: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep what a survey counted; what its lists speak of must be there already."""
        write_table(self.folder / "surveys" / key, 0, table_of_rows([{"cell": key, **row} for row in rows]))

    def survey(self, key: str) -> SurveyTable | None:
        """What a survey counted; None where it has not ended."""
        file = None if self.ignored else shard_file(self.folder / "surveys" / key, 0)
        things = None if file is None else shard_file(self.folder / "things" / key, 0)
        if file is None or things is None:
            return None
        for written in (file, things):
            if not is_whole(written):
                raise damaged(written)
        return SurveyTable(read_rows(file).to_pylist(), read_rows(things).to_pydict())

    def survey_checkpoint(self, key: str) -> Path:
        """Where a survey that runs keeps its sums."""
        return self.folder / "surveys" / key / "checkpoint.npz"

    # -- tables -----------------------------------------------------------------------------------------------------

    def files(self, table: str) -> list[Path]:
        """The Parquet files of one table."""
        if table == "cells":
            return [p for p in [self.folder / CELLS] if p.exists()]
        return sorted((self.folder / table).glob("*/*.parquet"))

    def answer_files(self, cells: Collection[str]) -> list[Path]:
        """The files with the answers of some cells, and those of passes whose record is damaged."""
        files: list[Path] = []
        for record in sorted((self.folder / "answers").glob("*/pass.json")):
            content = read_pass(record)
            if content is None or not content["cells"].keys().isdisjoint(cells):
                files += sorted(record.parent.glob("*.parquet"))
        return files

    def rows(self, file: Path, columns: Sequence[str], dictionaries: Sequence[str] = ()) -> pa.Table:
        """Columns of one of the Parquet files, from memory where it was just written; `dictionaries` come as such."""
        rows = None if self.recent is None else self.recent.rows(file, columns)
        return read_rows(file, columns, dictionaries=dictionaries) if rows is None else rows

    def schema(self, file: Path) -> pa.Schema:
        """What the columns of one of the Parquet files are and its header says."""
        schema = None if self.recent is None else self.recent.schema(file)
        return read_schema(file) if schema is None else schema

    def add_cells(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Bring the `cells` table up to date; its header carries a checksum of the rows."""
        known = {row["cell"]: row for row in (*self.cells(), *map(dict, rows))}
        table = table_of_rows(list(known.values()))
        header = {_SUM: key_of(table.to_pylist())}
        write_atomic(self.folder / CELLS, encode(table.replace_schema_metadata(header)))

    def cells(self) -> list[dict[str, Any]]:
        """The rows of the `cells` table, none where it is not there yet; one that does not fit its checksum is refused."""
        rows: list[dict[str, Any]] = []
        for path in self.files("cells"):
            whole = self.facts().get("checksums", {}).get(CELLS)  # that of the rows alone passes over the statistics
            table = read_rows(path)
            if whole is not None and whole != checksum(read_bytes(path)):
                raise damaged(path)
            rows = table.to_pylist()
            expected = (table.schema.metadata or {}).get(_SUM)
            if not {"cell", "shown", "model", "run", "on", "distortion", "seed"} <= set(table.column_names) or (
                expected is not None and expected != key_of(rows).encode()
            ):
                raise damaged(path)
        return rows

    # -- internals --------------------------------------------------------------------------------------------------

    def _write(self, table: str, name: str, shard: int, rows: pa.Table) -> None:
        path = write_table(self.folder / table / name, shard, rows)
        if self.recent is not None:
            self.recent.add(table, path, rows)

    def _check_unchanged(self, path: Path, now: pa.Table) -> None:
        before = read_rows(path, ["sample", "checksum"])
        if before["checksum"].equals(now["checksum"]):
            return
        for sample, old, new in zip(
            *(column.to_pylist() for column in (before["sample"], before["checksum"], now["checksum"]))
        ):
            if old != new:
                raise UserError(
                    f"image '{sample}' changed on disk since {self.folder} was made; "
                    f"choose another {option('out')} or pass {option('fresh')}"
                )


def truth_key(shown: str) -> str:
    """Where the small pictures of the label maps are, by the key of what was shown."""
    return key_of(["truth", shown])


def read_pass(record: Path) -> dict[str, Any] | None:
    """The content of a pass.json, or None where it does not fit the pass's name."""
    from snellen.engine.keep.schemas import PassFacts

    try:
        facts: PassFacts = read_json(record, PassFacts)
    except UserError:
        return None
    content = {"on": facts.on, "cells": facts.cells, "shown": facts.shown}
    return content if key_of(content) == record.parent.name else None
