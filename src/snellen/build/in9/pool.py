"""The pool of a build: what became of each image, kept in files until the set is complete, so that a stopped build goes on."""

from __future__ import annotations

import io
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from snellen.atomic import remove, write_atomic
from snellen.errors import UserError
from snellen.files import MIB, decode_json, read_bytes
from snellen.files.npz import open_npz
from snellen.hashing import checksum


@dataclass(frozen=True)
class In9Verdict:
    """What became of an image: the reason why it is not in the set ("" where it is) with details, and what is known of it.

    `box` is x0, y0, x1, y1 on the canvas in whole pixels, maximum exclusive; `mask_share` the object's share of the canvas;
    `seed` that of the GrabCut which made the mask, −1 for none; `content` a key of all that was read of the image.
    """

    source: str
    name: str
    reason: str = ""
    detail: str = ""
    box: tuple[int, ...] = ()
    mask_share: float = float("nan")
    seed: int = -1
    checksum: str = ""
    content: str = ""


def keep_refusal(pool: Path, verdict: In9Verdict) -> None:
    """Keep why an image is not taken, as NAME.json, with a checksum in the first line."""
    content = _encode(verdict).encode()
    write_atomic(pool / f"{verdict.name}.json", checksum(content).encode() + b"\n" + content)
    remove(pool / f"{verdict.name}.npz")  # of an earlier run, which read something else


def keep_image(pool: Path, verdict: In9Verdict, image: np.ndarray, mask: np.ndarray) -> None:
    """Keep an accepted image uint8 [3, S, S] and its mask bool [S, S] (or [0, 0] for none), as NAME.npz."""
    content = io.BytesIO()
    np.savez_compressed(content, image=image, mask=mask, facts=np.array(_encode(verdict)))
    write_atomic(pool / f"{verdict.name}.npz", content.getvalue())


def read_verdict(pool: Path, name: str) -> In9Verdict | None:
    """The verdict of an earlier run; None where there is none, or its file is damaged: then the image is judged again."""
    image, refusal = pool / f"{name}.npz", pool / f"{name}.json"
    try:
        if os.path.exists(image):
            read_image(pool, name)
            with open_npz(image) as archive:
                verdict: In9Verdict = decode_json(str(archive.read("facts")), In9Verdict, image)
        elif os.path.exists(refusal):
            first, _, content = read_bytes(refusal, "verdict", MIB).partition(b"\n")
            if checksum(content).encode() != first:
                return None
            verdict = decode_json(content, In9Verdict, refusal)
        else:
            return None
    except (UserError, KeyError):  # KeyError: an array is missing
        return None
    return verdict if verdict.name == name and len(verdict.box) in (0, 4) else None


def read_image(pool: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The image and the mask of an accepted image."""
    file = pool / f"{name}.npz"
    with open_npz(file, "image of the pool") as archive:
        if not {"image", "mask"} <= archive.headers.keys():
            raise UserError(f"{file} holds no image and mask; run the same command again")
        image, mask = archive.read("image"), archive.read("mask")
    square = image.shape[1:]
    if image.dtype != np.uint8 or image.ndim != 3 or len(image) != 3 or mask.dtype != bool:
        raise UserError(f"{file} holds {image.dtype} {list(image.shape)}, no image; run the same command again")
    if mask.shape not in (square, (0, 0)):
        raise UserError(f"{file} holds a mask of another size; run the same command again")
    return image, mask


def _encode(verdict: In9Verdict) -> str:
    """The verdict as JSON, without what is not known: JSON has no nan."""
    return json.dumps({name: value for name, value in asdict(verdict).items() if value == value})
