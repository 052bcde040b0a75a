"""`arrays:file.npz`: `images` uint8 [N, H, W, 3] or [N, H, W], `labels` [N], optional `ids`, `classes`, `masks`, `boxes`."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset, Photos, Samples, filter_rows
from snellen.errors import UserError
from snellen.hashing import file_sha256, key_of, pixel_checksums


def arrays(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of an npz file; further arrays of the same length become columns."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise UserError(f"no file '{path}'")
    content = _load(file)
    for name in ("images", "labels"):
        if name not in content:
            raise UserError(f"{path} has no array '{name}'; it has: {', '.join(content)}")
    return filter_rows(from_arrays(content, f"arrays:{path}", key_of(["arrays", file_sha256(file)])), options)


def from_arrays(content: Mapping[str, np.ndarray], text: str, fingerprint: str) -> Dataset:
    """A dataset of arrays in memory (or mapped from disk): keys as in the file."""
    images = content["images"]
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] not in (1, 3)):
        raise UserError(
            f"{text}: expected images uint8 [N, H, W, 3] or [N, H, W], got {images.dtype} {list(images.shape)}"
        )
    labels = np.asarray(content["labels"])
    if labels.shape != (len(images),) or not np.issubdtype(labels.dtype, np.integer):
        raise UserError(f"{text}: expected {len(images)} whole-number labels, got {labels.dtype} {list(labels.shape)}")
    if len(images) == 0:
        raise UserError(f"{text} holds no images")
    if "classes" in content:
        classes = tuple(map(str, content["classes"]))
    else:
        if labels.max() >= 1_000_000:
            raise UserError(f"{text}: label {labels.max()} without 'classes'; name the classes, or number them from 0")
        classes = tuple(map(str, range(int(labels.max()) + 1)))
    outside = np.flatnonzero((labels < -1) | (labels >= len(classes)))  # −1 is an unknown label
    if len(outside):
        row = int(outside[0])
        raise UserError(f"{text}: label {labels[row]} of image {row} is outside the {len(classes)} classes")
    ids = tuple(map(str, content["ids"])) if "ids" in content else tuple(f"{i:06d}" for i in range(len(images)))
    if len(ids) != len(images) or len(set(ids)) < len(ids):
        raise UserError(f"{text}: expected {len(images)} different ids, got {len(set(ids))}")
    own = {"images", "labels", "classes", "ids", "masks", "boxes"}
    extra = {k: np.asarray(v) for k, v in content.items() if k not in own and v.ndim == 1 and len(v) == len(images)}

    def together(positions: Sequence[int]) -> Photos:
        rows = slice(positions[0], positions[-1] + 1) if _consecutive(positions) else list(positions)
        return _photos(content, rows)

    facts = frozenset(name for name in ("masks", "boxes") if name in content)
    size = (int(images.shape[1]), int(images.shape[2]))
    samples = Samples(ids, labels.astype(np.int64), extra)
    return Dataset(
        text,
        classes,
        samples,
        fingerprint,
        lambda positions: together(positions).apart(),
        size=size,
        chunk=256,
        facts=facts,
        read_together=together,
    )


def _photos(content: Mapping[str, np.ndarray], rows: slice | list[int]) -> Photos:
    images = np.asarray(content["images"][rows])
    if images.ndim == 3:
        images = images[..., None]
    rgb = np.ascontiguousarray(np.broadcast_to(images, (*images.shape[:3], 3)))
    boxes = [np.asarray(b, float).reshape(-1, 4) for b in content["boxes"][rows]] if "boxes" in content else None
    maps = {"mask": np.asarray(content["masks"][rows]) > 0} if "masks" in content else {}
    return Photos(rgb, pixel_checksums(rgb), boxes, maps)


def _consecutive(positions: Sequence[int]) -> bool:
    return len(positions) > 0 and list(positions) == list(range(positions[0], positions[-1] + 1))


def _load(file: Path) -> dict[str, np.ndarray]:
    """The arrays of an npz file; stored (uncompressed) ones are mapped, so memory does not grow with their size."""
    try:
        with zipfile.ZipFile(file) as archive, np.load(file, allow_pickle=False) as opened:
            content = {}
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                mapped = _mapped(file, info) if info.compress_type == zipfile.ZIP_STORED else None
                content[name] = opened[name] if mapped is None else mapped
            return content
    except UserError:
        raise
    except Exception as error:  # zip, zlib and npy readers raise many kinds on damaged files
        raise UserError(
            f"{file} cannot be read as npz: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        ) from None


def _mapped(file: Path, info: zipfile.ZipInfo) -> np.ndarray | None:
    """A stored member as a memory map, or None where it cannot be one."""
    with file.open("rb") as raw:
        raw.seek(info.header_offset + 26)
        name, extra = np.frombuffer(raw.read(4), "<u2")
        raw.seek(info.header_offset + 30 + int(name) + int(extra))
        version = np.lib.format.read_magic(raw)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = reader(raw)
        if dtype.hasobject or not np.prod(shape):
            return None
        return np.memmap(file, dtype, "r", raw.tell(), shape, "F" if fortran else "C")
