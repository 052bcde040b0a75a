"""Maps: what matters to a model in the images of a shard, made once for all that need it, kept and read back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.canvas import Canvas
from snellen.distort import View, moved, show
from snellen.distort.salient import as_bytes, ranks_of
from snellen.engine.ask.memory import within_memory
from snellen.engine.keep.failures import Failure, describe_error, failures_in, with_failures
from snellen.engine.keep.store import Store
from snellen.engine.requests.map import BoundMap
from snellen.engine.settings import COARSE
from snellen.errors import UserError
from snellen.explain.feature_grid import as_words
from snellen.explain.methods import method_of
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    import pyarrow as pa
    from torch import Tensor


@dataclass(frozen=True)
class ShardMaps:
    """One model's maps of a shard, uint8 or uint16 [n, H, W], and the rows it failed on with the errors.

    `excluded` are the rows that their distortion could not be applied to; `new` says that the maps are not stored yet.
    """

    maps: Tensor
    errors: dict[int, str] = field(default_factory=dict)
    excluded: Sequence[int] = ()
    new: bool = True

    @functools.cached_property
    def bytes(self) -> Tensor:
        """The maps as uint8, which distortions order pixels by."""
        return as_bytes(self.maps)

    @functools.cached_property
    def ranks(self) -> Tensor:
        """int32 [n, H, W]: each pixel's place in the order of its map; made once for all shares that hide by it."""
        return ranks_of(self.bytes)


@dataclass(frozen=True)
class Maps:
    """Maps uint16 [samples, H, W] and the `ids` of their samples; an image that could not be shown or mapped has none.

    The highest value of a map is 65,535. Those that `salient` orders pixels by, and those of old runs, may be uint8 with a peak
    below 255. `rows` counts the images without a map too.
    """

    ids: np.ndarray
    maps: np.ndarray
    rows: int = 0

    def of(self, ids: Sequence[str]) -> np.ndarray:
        """The maps of some samples, [len(ids), H, W], in their order; a KeyError names one that has none."""
        row = {sample: number for number, sample in enumerate(self.ids)}
        return self.maps[[row[sample] for sample in ids]]


def make_maps(
    twins: Sequence[BoundMap],
    model: Model,
    images: Tensor,
    view: View,
    batch: dict[Canvas, int],
    statistics: Any = None,
) -> list[ShardMaps]:
    """Maps of images uint8 [n, 3, H, W] as the request shows them, in batches of the size that memory allows.

    `twins` are one request in different bits; each has its maps in the list. A model that fails on a batch is asked image by
    image, as for its answers. `statistics` are what the method knows of usual images, where it needs that.
    """
    wanted = twins[0]
    method, layer = method_of(wanted.request.method), wanted.request.layer

    def maps_of(shown: Tensor) -> Tensor:
        masks = shown[:, 3] > 0 if shown.shape[1] > 3 else None
        maps = method.make(model, shown[:, :3], None, layer, masks=masks, statistics=statistics)
        return maps.to(shown.device)

    parts: list[list[Tensor]] = [[] for _ in twins]
    errors: dict[int, str] = {}
    excluded: list[int] = []
    stop = 0
    while stop < len(images):
        start, stop = stop, min(stop + batch[wanted.canvas], len(images))
        part = view.rows(start, stop)
        pixels, _ = show(wanted.distortion, images[start:stop], part)
        if method.masks and part.masks is not None:  # as a fourth channel, since memory may force to split a batch
            masks = moved(wanted.distortion, part.masks, part)
            pixels = torch.cat([pixels, masks[:, None].to(pixels.dtype)], 1)
        excluded += [start + int(row) for row in np.flatnonzero(part.notes.get("excluded", []))]
        try:
            maps = within_memory(maps_of, model, pixels, batch, wanted.canvas)
        except UserError:
            raise
        except Exception:  # whatever a user's model raises
            maps, wrong = _map_one_by_one(maps_of, pixels)
            errors |= {start + row: error for row, error in wrong.items()}
        for own, twin in zip(parts, twins):
            own.append((as_bytes if twin.bits == COARSE else as_words)(maps))
    return [ShardMaps(torch.cat(own), errors, excluded) for own in parts]


def _map_one_by_one(maps_of: Callable[[Tensor], Tensor], pixels: Tensor) -> tuple[Tensor, dict[int, str]]:
    maps = torch.zeros((len(pixels), *pixels.shape[2:]), device=pixels.device)
    errors: dict[int, str] = {}
    for row in range(len(pixels)):
        try:
            maps[row] = maps_of(pixels[row : row + 1])[0]
        except UserError:
            raise
        except Exception as error:  # whatever a user's model raises
            errors[row] = describe_error(error)
    return maps, errors


def table_of(maps: np.ndarray, ids: Sequence[str], present: np.ndarray, failures: Sequence[Failure] = ()) -> pa.Table:
    """Maps uint8 or uint16 [n, H, W] as a table: sample, height, width, map; null but for the `present` rows.

    Two bytes, the lower first, are how far a pixel is above its left neighbour, modulo 65,536: maps are smooth, so files are
    hardly larger than those of one byte.
    """
    import pyarrow as pa

    count, height, width = maps.shape
    if maps.itemsize == 2:
        maps = np.diff(maps, axis=2, prepend=maps.dtype.type(0)).astype("<u2", copy=False)
    pixels = pa.py_buffer(np.ascontiguousarray(maps))
    valid = pa.py_buffer(np.packbits(present, bitorder="little"))
    table = pa.table(
        {
            "sample": pa.array(ids, pa.string()),
            "height": pa.array(np.full(count, height, np.int32)),
            "width": pa.array(np.full(count, width, np.int32)),
            "map": pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(height * width * maps.itemsize), count, [valid, pixels]
            ),
        }
    )
    return with_failures(table, failures)


def shard_maps_in(table: pa.Table, device: torch.device | str = "cpu") -> ShardMaps:
    """The maps of such a table, 0 where there is none."""
    rows = {sample: row for row, sample in enumerate(table["sample"].to_pylist())}
    errors = {rows[failure.sample]: failure.error for failure in failures_in(table.schema)}
    return ShardMaps(torch.from_numpy(_pixels(table)).to(device), errors, new=False)


def maps_in(table: pa.Table) -> Maps:
    """The maps of such a table, without the rows that have none."""
    present = _present(table)
    return Maps(np.array(table["sample"].to_pylist(), object)[present], _pixels(table)[present], len(table))


def stored_maps(store: Store, key: str) -> Iterator[Maps]:
    """The maps of a key, shard by shard, so that no more than one has to be in memory."""
    for shard in store.map_shards(key):
        table = store.maps(key, shard)
        assert table is not None
        yield maps_in(table)


def maps_at(store: Store, key: str, positions: np.ndarray, shard: int, device: torch.device) -> ShardMaps:
    """The stored maps of the samples at some positions of the listing, `shard` of which make a file; 0 where there is none."""
    parts: list[Tensor] = []
    errors: dict[int, str] = {}
    order: list[np.ndarray] = []
    for number in np.unique(positions // shard):
        rows = np.flatnonzero(positions // shard == number)
        table = store.maps(key, int(number))
        assert table is not None  # maps are made before trials begin
        stored = shard_maps_in(table)
        places = positions[rows] - number * shard
        parts.append(stored.maps[torch.from_numpy(places)])
        missing = {int(row): "there is no map of this image" for row in places[~_present(table)[places]]}
        errors |= {int(row): (missing | stored.errors)[at] for row, at in zip(rows, places) if at in missing}
        order.append(rows)
    back = torch.from_numpy(np.argsort(np.concatenate(order), kind="stable"))
    return ShardMaps(torch.cat(parts)[back].to(device), errors, new=False)


def together(parts: Iterator[Maps]) -> Maps:
    """All maps of a request at once."""
    shards = list(parts)
    rows = sum(shard.rows for shard in shards)
    return Maps(np.concatenate([shard.ids for shard in shards]), np.concatenate([shard.maps for shard in shards]), rows)


def _present(table: pa.Table) -> np.ndarray:
    """bool [n]: the rows that have a map."""
    return table["map"].is_valid().to_numpy()


def _pixels(table: pa.Table) -> np.ndarray:
    height, width = table["height"][0].as_py(), table["width"][0].as_py()
    size = table.schema.field("map").type.byte_width
    blank = bytes(size)
    pixels = bytearray().join(blank if stored is None else stored for stored in table["map"].to_pylist())
    if size == height * width:
        return np.frombuffer(pixels, np.uint8).reshape(-1, height, width)
    steps = np.frombuffer(pixels, "<u2").reshape(-1, height, width)
    return np.cumsum(steps, axis=2, dtype=np.uint16)
