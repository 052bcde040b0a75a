"""Maps: what matters to a model in the clean images of a shard, made once for all distortions that need it, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort import Saliency
from snellen.distort.salient import as_bytes
from snellen.engine.failures import told
from snellen.errors import UserError
from snellen.lazy import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    import pyarrow as pa
    from torch import Tensor


@dataclass(frozen=True)
class Drawn:
    """One model's maps of a shard, uint8 [n, H, W], and the rows it failed on with what it said.

    `new` says that they are not in the store yet; those with failures are never kept, so that they are tried again.
    """

    maps: Tensor
    failed: dict[int, str] = field(default_factory=dict)
    new: bool = True


def drawn(model: Model, wanted: Saliency, images: Tensor, ask: Callable[[Callable, Tensor], Tensor]) -> Drawn:
    """Maps of images uint8 [n, 3, H, W]. `ask` calls a function on one batch after the other within the memory there is.

    A model that fails is asked image by image, as for its answers.
    """
    from snellen.explain.gradcam import gradcam

    def bytes_of(pixels: Tensor) -> Tensor:
        return as_bytes(gradcam(model, pixels, layer=wanted.layer)).to(pixels.device)

    try:
        return Drawn(ask(bytes_of, images))
    except UserError:
        raise
    except Exception:  # whatever somebody's model raises
        return _one_by_one(bytes_of, images)


def _one_by_one(bytes_of: Callable[[Tensor], Tensor], images: Tensor) -> Drawn:
    maps = torch.zeros((len(images), *images.shape[2:]), dtype=torch.uint8, device=images.device)
    failed: dict[int, str] = {}
    for row in range(len(images)):
        try:
            maps[row] = bytes_of(images[row : row + 1])[0]
        except UserError:
            raise
        except Exception as error:  # whatever somebody's model raises
            failed[row] = told(error)
    return Drawn(maps, failed)


def table_of(maps: np.ndarray, ids: Sequence[str]) -> pa.Table:
    """Maps uint8 [n, H, W] as a table: sample, height, width, map."""
    import pyarrow as pa

    count, height, width = maps.shape
    pixels = pa.py_buffer(np.ascontiguousarray(maps))
    return pa.table(
        {
            "sample": pa.array(ids, pa.string()),
            "height": pa.array(np.full(count, height, np.int32)),
            "width": pa.array(np.full(count, width, np.int32)),
            "map": pa.FixedSizeBinaryArray.from_buffers(pa.binary(height * width), count, [None, pixels]),
        }
    )


def maps_in(table: pa.Table) -> np.ndarray:
    """uint8 [n, H, W] of such a table."""
    height, width = table["height"][0].as_py(), table["width"][0].as_py()
    return np.frombuffer(bytearray().join(table["map"].to_pylist()), np.uint8).reshape(-1, height, width)
