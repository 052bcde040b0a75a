"""The files of one accepted image: every variant, by the very distortion that makes them on the fly."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from snellen.atomic import write_atomic
from snellen.build.content import content_key
from snellen.build.in9.pool import read_image
from snellen.build.in9.request import In9Request
from snellen.data.in9.layout import MASKS, VARIANTS, mixed_name
from snellen.distort.background import MIXED, Background
from snellen.distort.view import Donors, View
from snellen.errors import UserError
from snellen.files import read_bytes
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

ENDINGS = {"png": "png", "jpeg": "JPEG"}


@dataclass(frozen=True)
class Portrait:
    """An accepted image on the canvas: uint8 [1, 3, S, S], its mask bool [1, S, S] and its box int [1, 4]."""

    image: Tensor
    mask: Tensor
    box: np.ndarray


@dataclass(frozen=True)
class Order:
    """What to write of one image: its name, its class folder and which image lends the background of each mixed variant.

    `content` is a key of the image and of those that lend it a background.
    """

    name: str
    folder: str
    box: tuple[int, ...]
    lenders: Mapping[str, tuple[str, tuple[int, ...]]]  # variant → name and box
    content: str = ""


def files_of(order: Order, request: In9Request) -> dict[str, str]:
    """The file of each variant, by its path in the set."""
    ending = ENDINGS[request.format]
    names = {kind: mixed_name(order.name, order.lenders[kind][0]) for kind in MIXED if kind in order.lenders}
    return {
        kind: f"{kind}/{request.split}/{order.folder}/{names.get(kind, order.name)}.{ending}"
        for kind in (("original",) if request.all_images else VARIANTS)
        if kind not in MIXED or kind in names
    }


def write_files(order: Order, request: In9Request, pool: Path, out: Path) -> list[str]:
    """Write the files of an image, unless an earlier run has written them of the same images; their paths in the set."""
    files = files_of(order, request)
    mask = None if request.all_images else f"{MASKS}/{request.split}/{order.folder}/{order.name}.npy"
    names = [*files.values(), *([mask] if mask else [])]
    mark, written = pool / f"{order.name}.written", content_key(order, names).encode()
    if _is_written(mark, written) and all((out / name).exists() for name in names):
        return names
    own = portrait(pool, order.name, order.box)
    for kind, file in files.items():
        write_atomic(out / file, encode_variant(variant(kind, own, order, request, pool), request))
    if mask is not None:
        content = io.BytesIO()
        np.save(content, own.mask[0].numpy().astype(np.uint8))
        write_atomic(out / mask, content.getvalue())
    write_atomic(mark, written)
    return names


def _is_written(mark: Path, content: bytes) -> bool:
    """Whether a mark says that files were written of this content."""
    try:
        return mark.exists() and read_bytes(mark, "mark") == content
    except UserError:
        return False


def portrait(pool: Path, name: str, box: tuple[int, ...]) -> Portrait:
    """An accepted image as it was kept when it was judged."""
    image, mask = read_image(pool, name)
    return Portrait(torch.from_numpy(image)[None], torch.from_numpy(mask)[None], np.array([box], np.int64))


def variant(kind: str, own: Portrait, order: Order, request: In9Request, pool: Path) -> Tensor:
    """uint8 [3, S, S]: one variant of an image; mixed ones borrow from the lender that was drawn for them."""
    lender = None
    if kind in MIXED:
        name, box = order.lenders[kind]
        lender = portrait(pool, name, box)
    return edited(kind, own, lender, order.name, request)


def edited(kind: str, own: Portrait, lender: Portrait | None, name: str, request: In9Request) -> Tensor:
    """uint8 [3, S, S]: one variant of the image of this name; mixed ones have the background of the lender."""
    if kind == "original":
        return own.image[0]
    known: dict[str, object] = {
        "masks": own.mask,
        "boxes": list(own.box[:, None].astype(float)),
        "labels": np.zeros(1, int),
    }
    if lender is not None:
        known["donors"] = Donors(lender.image, ("lender",), "lender", np.zeros(1, int), [lender.box.astype(float)])
        kind = "mixed_rand"  # of a pool of one
    distortion = Background(kind, request.sigma, request.inpaint)  # type: ignore[arg-type]
    return distortion(own.image, View.of([name], request.seed, **known))[0]


def encode_variant(image: Tensor, request: In9Request) -> bytes:
    """An image uint8 [3, S, S] as the set's files hold it."""
    content = io.BytesIO()
    picture = Image.fromarray(image.permute(1, 2, 0).contiguous().numpy())
    if request.format == "png":
        picture.save(content, "PNG")
    else:
        picture.save(content, "JPEG", quality=request.quality)
    return content.getvalue()
