"""Maps: what matters to a model in the images of a shard, made once for all that need it, kept and read back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.canvas import Canvas
from snellen.distort import View, show
from snellen.distort.salient import as_bytes, ranks_of
from snellen.engine.ask.memory import within_memory
from snellen.engine.keep.failures import Failure, describe_error, listed_in, with_failures
from snellen.engine.keep.store import Store
from snellen.engine.requests.map import BoundMap
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    import pyarrow as pa
    from torch import Tensor


@dataclass(frozen=True)
class Drawn:
    """One model's maps of a shard, uint8 [n, H, W], and the rows it failed on with what it said.

    `excluded` are the rows that their distortion could not be applied to; `new` says that the maps are not stored yet.
    """

    maps: Tensor
    failed: dict[int, str] = field(default_factory=dict)
    excluded: Sequence[int] = ()
    new: bool = True

    @functools.cached_property
    def ranks(self) -> Tensor:
        """int32 [n, H, W]: each pixel's place in the order of its map; made once for all shares that hide by it."""
        return ranks_of(self.maps)


@dataclass(frozen=True)
class Maps:
    """Maps uint8 [samples, H, W] and the `ids` of their samples; an image that could not be shown or mapped has none."""

    ids: np.ndarray
    maps: np.ndarray

    def of(self, ids: Sequence[str]) -> np.ndarray:
        """The maps of some samples, uint8 [len(ids), H, W], in their order; a KeyError names one that has none."""
        row = {sample: number for number, sample in enumerate(self.ids)}
        return self.maps[[row[sample] for sample in ids]]


def drawn(asked: BoundMap, model: Model, images: Tensor, view: View, batch: dict[Canvas, int]) -> Drawn:
    """Maps of images uint8 [n, 3, H, W] as the request shows them, in batches of the size that memory allows.

    A model that fails on a batch is asked image by image, as for its answers.
    """
    from snellen.explain.gradcam import gradcam

    def bytes_of(pixels: Tensor) -> Tensor:
        return as_bytes(gradcam(model, pixels, layer=asked.request.layer)).to(pixels.device)

    parts: list[Tensor] = []
    failed: dict[int, str] = {}
    excluded: list[int] = []
    stop = 0
    while stop < len(images):
        start, stop = stop, min(stop + batch[asked.canvas], len(images))
        part = view.rows(start, stop)
        pixels, _ = show(asked.distortion, images[start:stop], part)
        excluded += [start + int(row) for row in np.flatnonzero(part.notes.get("excluded", []))]
        try:
            parts.append(within_memory(bytes_of, model, pixels, batch, asked.canvas))
        except UserError:
            raise
        except Exception:  # whatever somebody's model raises
            maps, wrong = _one_by_one(bytes_of, pixels)
            parts.append(maps)
            failed |= {start + row: error for row, error in wrong.items()}
    return Drawn(torch.cat(parts), failed, excluded)


def _one_by_one(bytes_of: Callable[[Tensor], Tensor], pixels: Tensor) -> tuple[Tensor, dict[int, str]]:
    maps = torch.zeros((len(pixels), *pixels.shape[2:]), dtype=torch.uint8, device=pixels.device)
    failed: dict[int, str] = {}
    for row in range(len(pixels)):
        try:
            maps[row] = bytes_of(pixels[row : row + 1])[0]
        except UserError:
            raise
        except Exception as error:  # whatever somebody's model raises
            failed[row] = describe_error(error)
    return maps, failed


def table_of(maps: np.ndarray, ids: Sequence[str], given: np.ndarray, failures: Sequence[Failure] = ()) -> pa.Table:
    """Maps uint8 [n, H, W] as a table: sample, height, width, map; null but for the `given` rows."""
    import pyarrow as pa

    count, height, width = maps.shape
    pixels = pa.py_buffer(np.ascontiguousarray(maps))
    there = pa.py_buffer(np.packbits(given, bitorder="little"))
    table = pa.table(
        {
            "sample": pa.array(ids, pa.string()),
            "height": pa.array(np.full(count, height, np.int32)),
            "width": pa.array(np.full(count, width, np.int32)),
            "map": pa.FixedSizeBinaryArray.from_buffers(pa.binary(height * width), count, [there, pixels]),
        }
    )
    return with_failures(table, failures)


def drawn_in(table: pa.Table, device: torch.device | str = "cpu") -> Drawn:
    """The maps of such a table, 0 where there is none."""
    rows = {sample: row for row, sample in enumerate(table["sample"].to_pylist())}
    failed = {rows[one.sample]: one.error for one in listed_in(table.schema)}
    return Drawn(torch.from_numpy(_pixels(table)).to(device), failed, new=False)


def maps_in(table: pa.Table) -> Maps:
    """The maps of such a table, without the rows that have none."""
    given = table["map"].is_valid().to_numpy()
    return Maps(np.array(table["sample"].to_pylist(), object)[given], _pixels(table)[given])


def stored_maps(store: Store, key: str) -> Iterator[Maps]:
    """The maps of a key, shard by shard, so that no more than one has to be in memory."""
    for shard in store.map_shards(key):
        table = store.maps(key, shard)
        assert table is not None
        yield maps_in(table)


def together(parts: Iterator[Maps]) -> Maps:
    """All maps of a request at once."""
    held = list(parts)
    return Maps(np.concatenate([one.ids for one in held]), np.concatenate([one.maps for one in held]))


def _pixels(table: pa.Table) -> np.ndarray:
    height, width = table["height"][0].as_py(), table["width"][0].as_py()
    blank = bytes(height * width)
    held = bytearray().join(blank if one is None else one for one in table["map"].to_pylist())
    return np.frombuffer(held, np.uint8).reshape(-1, height, width)
