"""`--occluders DIR`: the user's own cut-outs, images whose transparency says what of them may stand before an object."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from snellen.data.keys import sample_keys
from snellen.data.names import different
from snellen.errors import UserError, option
from snellen.files import expand_home
from snellen.files.picture import open_image, read_image
from snellen.files.places import is_folder, list_below
from snellen.files.tree import files_below
from snellen.hashing import checksum, key_of

EXTENSIONS = {".png", ".webp"}
MOST = 256  # cut-outs of one pool
LONGEST = 512  # pixels: larger ones are kept at this size, so that a pool has at most 256 MiB
COVERS = 127  # an alpha above it covers


@dataclass(frozen=True, eq=False)
class Occluders:
    """A pool of cut-outs: RGBA uint8 [h, w, 4], cropped to what covers (alpha 255) and clear elsewhere (alpha 0)."""

    text: str
    ids: tuple[str, ...]
    cutouts: tuple[np.ndarray, ...]
    fingerprint: str
    total: int  # how many there were to choose from

    def reach(self, height: int, width: int) -> float:
        """The greatest share of an image of this size that one of the cut-outs can cover without leaving it."""
        return max(float(counts.max()) for counts in covering(self, height, width)) / (height * width)


def read_occluders(folder: str | Path) -> Occluders:
    """The cut-outs below a folder (PNG or WebP); of more than 256 those that a hash of their names chooses."""
    root = expand_home(folder)
    list_below(root)
    if not is_folder(root):
        raise UserError(
            f"no folder '{folder}' of cut-outs; give {option('occluders')} a folder of PNGs with transparency"
        )
    paths = files_below(root, EXTENSIONS)
    if not paths:
        raise UserError(f"folder '{folder}' holds no cut-outs; put PNGs with transparency into it")
    ids = different([file.relative_to(root).as_posix() for file in paths], f"folder '{folder}'", "name")
    files = dict(zip(ids, paths))
    names = sorted(files)
    if len(names) > MOST:
        names = sorted(names[row] for row in np.argsort(sample_keys(names), kind="stable")[:MOST])
    cutouts, sums = [], []
    for name in names:
        content = read_image(files[name], "cut-out")
        cutouts.append(_cutout(_decode(content, str(files[name])), str(files[name])))
        sums.append(checksum(content))
    return Occluders(str(folder), tuple(names), tuple(cutouts), key_of(["occluders", names, sums]), len(files))


def from_images(images: Iterable[np.ndarray | Image.Image]) -> Occluders:
    """A pool of RGBA images made in Python: uint8 arrays [h, w, 4] or PIL, named by their numbers."""
    cutouts = []
    for number, image in enumerate(images):
        rgba = image if isinstance(image, Image.Image) else Image.fromarray(np.asarray(image, np.uint8))
        cutouts.append(_cutout(rgba, str(number)))
    if not cutouts:
        raise UserError("expected at least one cut-out, got none")
    names = [str(number) for number in range(len(cutouts))]
    sums = [[*cutout.shape, checksum(cutout.tobytes())] for cutout in cutouts]
    return Occluders("cut-outs made in Python", tuple(names), tuple(cutouts), key_of(["cut-outs", sums]), len(cutouts))


def scaled_sides(shape: tuple[int, ...], height: int, width: int) -> np.ndarray:
    """int64 [n, 2]: every size (rows, columns) in which a cut-out fits into an image, by its longer side from 0 on."""
    rows, columns = shape[:2]
    longer = np.arange(max(height, width) + 1)
    shorter = (2 * longer * min(rows, columns) + max(rows, columns)) // (2 * max(rows, columns))
    shorter = np.where(longer > 0, np.maximum(shorter, 1), 0)  # however thin, a row of it stays
    sides = np.stack([longer, shorter] if rows >= columns else [shorter, longer], 1)
    return sides[(sides[:, 0] <= height) & (sides[:, 1] <= width)]


def nearest(side: int, length: int) -> np.ndarray:
    """int64 [side]: the source pixels (of `length`) nearest to the centres of `side` pixels."""
    return (2 * np.arange(side) + 1) * length // (2 * max(side, 1))


@functools.lru_cache(maxsize=8)
def covering(pool: Occluders, height: int, width: int) -> tuple[np.ndarray, ...]:
    """For each cut-out, int64 [n]: how many pixels it covers in each of its `scaled_sides`."""
    counts = []
    for cutout in fit_cutouts(pool, height, width):
        mask = cutout[:, :, 3] > COVERS
        sides = scaled_sides(mask.shape, height, width)
        counts.append(
            np.array([mask[nearest(r, mask.shape[0])][:, nearest(c, mask.shape[1])].sum() for r, c in sides], np.int64)
        )
    return tuple(counts)


@functools.lru_cache(maxsize=8)
def fit_cutouts(pool: Occluders, height: int, width: int) -> tuple[np.ndarray, ...]:
    """The cut-outs, those that are larger than the image made smaller: picking pixels of a large one would alias."""
    return tuple(_smaller(cutout, max(height, width)) for cutout in pool.cutouts)


def _smaller(cutout: np.ndarray, longest: int) -> np.ndarray:
    if max(cutout.shape[:2]) <= longest:
        return cutout
    rows, columns = scaled_sides(cutout.shape, longest, longest)[-1]
    size = int(columns), int(rows)
    # Pillow weights colours by alpha, so that what lies under the transparency does not bleed in.
    small = np.asarray(Image.fromarray(cutout).resize(size, Image.Resampling.BOX))
    hard = _harden(small)
    return hard if hard[:, :, 3].any() else _harden(np.asarray(Image.fromarray(cutout).resize(size, 0)))


def _decode(content: bytes, name: str) -> Image.Image:
    try:
        with open_image(content) as image:
            image.load()
    except UserError as error:
        reason = str(error).removeprefix("cannot be decoded: ")
        raise UserError(f"cut-out '{name}' cannot be decoded: {reason}") from None
    return image


def _cutout(image: Image.Image, name: str) -> np.ndarray:
    """RGBA uint8 [h, w, 4]: upright, cropped to what covers, its alpha 0 or 255."""
    image = ImageOps.exif_transpose(image)
    rgba = np.asarray(image.convert("RGBA"))
    if (rgba[:, :, 3] > COVERS).all():
        raise UserError(f"cut-out '{name}' has no transparency; save the object alone, on a transparent ground")
    if not (rgba[:, :, 3] > COVERS).any():
        raise UserError(f"cut-out '{name}' is wholly transparent; it would cover nothing, leave it out")
    hard = _harden(rgba)
    rows, columns = (np.flatnonzero(hard[:, :, 3].any(axis)) for axis in (1, 0))
    return _smaller(hard[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1], LONGEST)


def _harden(rgba: np.ndarray) -> np.ndarray:
    """The same with alpha 255 where it covers and 0 elsewhere."""
    alpha = np.where(rgba[:, :, 3:] > COVERS, np.uint8(255), np.uint8(0))
    return np.ascontiguousarray(np.concatenate([rgba[:, :, :3], alpha], 2))
