"""The store: four tables as Parquet shards in a run folder, each shard there whole or not at all.

    run.json                            what was asked, of whom, with what
    cells.parquet                       key → model, run, data, distortion, seed, canvas …
    samples/<on>/<shard>.parquet        id → label, size, checksum, decode error, dataset columns
    shown/<pass>/<shard>.parquet        distortion × sample → covered, object_covered, donor, excluded
    answers/<pass>/<shard>.parquet      cell × sample → pred, raw, score, confidence, label_prob
    thumbs/<shown>/<position>.png       up to 24 small pictures per distortion

A pass is the set of cells that one command found missing; which cells a shard already has is known from file names.
"""

from __future__ import annotations

import io
import json
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import UserError
from snellen.hashing import key_of

if TYPE_CHECKING:
    import pyarrow as pa


THUMBNAIL_SIDE = 112  # pixels


@dataclass(frozen=True)
class ShardTables:
    """What answering one shard yields; `thumbs` are images uint8 [3, H, W] by (shown key, position)."""

    answers: pa.Table
    shown: pa.Table
    samples: pa.Table
    thumbs: Mapping[tuple[str, int], np.ndarray]


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
            raise UserError(f"{path} is not JSON ({error}); remove it or choose another --out") from None

    def write_facts(self, facts: Mapping[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        _write_bytes(self.folder / "run.json", (json.dumps(facts, indent=1) + "\n").encode())

    # -- passes -----------------------------------------------------------------------------------------------------

    def present(self, on: str) -> dict[int, dict[str, str]]:
        """Shard → the cells of dataset `on` whose answers it holds, as cell key → shown key."""
        held: dict[int, dict[str, str]] = {}
        if self.ignored:
            return held
        for record in sorted((self.folder / "answers").glob("*/pass.json")):
            told = json.loads(record.read_text())
            if told["on"] == on:
                for file in record.parent.glob("*.parquet"):
                    held.setdefault(int(file.stem), {}).update(told["cells"])
        return held

    def begin_pass(self, on: str, cells: Mapping[str, str]) -> str:
        """The name of the pass that will hold these cells (cell key → shown key)."""
        name = key_of([on, sorted(cells)])
        folder = self.folder / "answers" / name
        for stale in folder.glob("*.part"):
            stale.unlink(missing_ok=True)
        _write_bytes(
            folder / "pass.json", json.dumps({"on": on, "cells": dict(cells)}, indent=1, sort_keys=True).encode()
        )
        return name

    def write_shard(self, name: str, on: str, shard: int, tables: ShardTables) -> None:
        """Keep one shard's tables; the answers come last, so that a shard with answers is complete."""
        stem = f"{shard:06d}.parquet"
        samples = self.folder / "samples" / on / stem
        if samples.exists():
            self._check_unchanged(samples, tables.samples)
        else:
            _write_table(samples, tables.samples)
        for (shown, position), picture in tables.thumbs.items():
            path = self.folder / "thumbs" / shown / f"{position:06d}.png"
            if not path.exists():
                _write_bytes(path, _thumbnail(picture))
        if len(tables.shown):
            _write_table(self.folder / "shown" / name / stem, tables.shown)
        _write_table(self.folder / "answers" / name / stem, tables.answers)

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
        known = {row["cell"]: row for row in (pq.read_table(path).to_pylist() if path.exists() else [])}
        known.update({row["cell"]: dict(row) for row in rows})
        _write_table(path, pa.Table.from_pylist(list(known.values())))

    # -- internals --------------------------------------------------------------------------------------------------

    def _check_unchanged(self, path: Path, now: pa.Table) -> None:
        import pyarrow.parquet as pq

        before = pq.read_table(path, columns=["sample", "checksum"])
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
    held = io.BytesIO()
    picture.save(held, "PNG", compress_level=1)
    return held.getvalue()


def _half(path: Path) -> Path:
    """Where a file is written before it is whole; several machines may write into one folder."""
    return path.with_name(f"{path.name}.{socket.gethostname()}-{os.getpid()}.part")


def _write_table(path: Path, table: pa.Table) -> None:
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    half = _half(path)
    pq.write_table(table, half, compression="zstd")
    os.replace(half, path)


def _write_bytes(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = _half(path)
    half.write_bytes(content)
    os.replace(half, path)
