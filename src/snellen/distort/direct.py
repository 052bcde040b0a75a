"""One call from text and images to distorted images, for notebooks and training loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from PIL import Image

from snellen.data.occluders import Occluders, from_images, read_occluders
from snellen.distort.chain import changed_by
from snellen.distort.distortion import Distortion
from snellen.distort.language import parse
from snellen.distort.salient import as_bytes
from snellen.distort.view import KNOWN, Donors, View
from snellen.hashing import checksum
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

Images = TypeVar("Images", "Tensor", np.ndarray, Image.Image, list[Image.Image])


def apply(
    distortion: str | Distortion, images: Images, ids: Sequence[str] | None = None, seed: int = 0, **known: object
) -> Images:
    """Distorted images of the kind that came in: uint8 tensor [B, 3, H, W], NumPy [B, H, W, 3] (or one [H, W, 3]), PIL.

    `ids` name the samples, so that each has its own draws (default "0", "1", …). `known` gives what the distortion
    needs: labels, masks (bool [B, H, W]), boxes, mean (RGB in 0…255), donors (images of the same kind and size, or
    `Donors` with labels and boxes to borrow backgrounds from),
    saliency (maps [B, H, W] in 0…1, or bytes), occluders (a folder of cut-outs, or RGBA images of any size).

    >>> import numpy as np
    >>> from snellen.distort import apply
    >>> images = np.full((2, 8, 8, 3), 200, np.uint8)
    >>> float(apply("occlude(0.25, black)", images).mean())  # a quarter of the pixels is black
    150.0
    """
    distortion = parse(distortion)
    batch = _as_batch(images)
    ids = [str(i) for i in range(len(batch))] if ids is None else list(ids)
    if len(ids) != len(batch):
        raise ValueError(f"expected one id per image ({len(batch)}), got {len(ids)}")
    for name in known:
        if name not in KNOWN:
            raise ValueError(f"unknown fact '{name}'; a distortion may know: {', '.join(KNOWN)}")
    missing = sorted(distortion.needs - set(known))
    if missing:
        raise ValueError(f"{distortion} needs {missing[0]} ({KNOWN[missing[0]]}); pass {missing[0]}=…")
    facts = {name: _as_fact(name, value, batch.device) for name, value in known.items()}
    return _as_kind(changed_by(distortion, batch, View.of(ids, seed, device=batch.device, **facts)), images)


def _as_fact(name: str, value: object, device: torch.device) -> object:
    """What a View knows under this name, of what may be given for it."""
    if name == "donors" and not isinstance(value, Donors):
        pool = _as_batch(value).to(device)
        return Donors(pool, tuple(str(i) for i in range(len(pool))), checksum(pool.cpu().numpy().tobytes()))
    if name == "occluders" and not isinstance(value, Occluders):
        if isinstance(value, str | Path):
            return read_occluders(value)
        return from_images(cast("Iterable[Image.Image]", value))
    if name == "masks":
        return torch.as_tensor(value).to(device).bool()
    if name == "saliency":
        return as_bytes(torch.as_tensor(value).to(device))
    return value


def _as_batch(images: object) -> Tensor:
    """uint8 [B, 3, H, W] of a tensor, an array, a PIL image or a list of PIL images."""
    if isinstance(images, Image.Image):
        images = [images]
    if isinstance(images, list | tuple) and images and isinstance(images[0], Image.Image):
        images = np.stack([np.asarray(image.convert("RGB")) for image in images])
    if isinstance(images, np.ndarray):
        images = torch.from_numpy(images if images.ndim == 4 else images[None]).permute(0, 3, 1, 2).contiguous()
    if not isinstance(images, torch.Tensor) or images.dtype != torch.uint8 or images.ndim != 4 or images.shape[1] != 3:
        got = f"{images.dtype} {list(images.shape)}" if isinstance(images, torch.Tensor) else type(images).__name__
        raise ValueError(f"expected uint8 images [B, 3, H, W], NumPy [B, H, W, 3] or PIL, got {got}")
    return images


def _as_kind(batch: Tensor, like: Images) -> Images:
    """The batch as the kind that came in."""
    if isinstance(like, torch.Tensor):
        return batch
    arrays = batch.permute(0, 2, 3, 1).contiguous().numpy()
    if isinstance(like, np.ndarray):
        return arrays if like.ndim == 4 else arrays[0]
    pictures = [Image.fromarray(array) for array in arrays]
    return pictures[0] if isinstance(like, Image.Image) else pictures
