"""JPEG files decoded by simplejpeg where it is installed and gives the very pixels that Pillow gives; else by Pillow.

Both decode with libjpeg-turbo, each with a build of its own. So a process first decodes a few pictures with both and leaves
simplejpeg alone where a bit differs. Files that the two might take differently (by their header: four channels, arithmetic or
lossless coding, other depths) and those that simplejpeg warns about are Pillow's: it decides what is damaged.
"""

from __future__ import annotations

import functools
import io
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image, features
from PIL import __version__ as pillow_version

from snellen.extras import import_package
from snellen.files.picture import open_image

_BASELINE, _EXTENDED, _PROGRESSIVE = 0xC0, 0xC1, 0xC2  # Huffman-coded frames
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # markers that begin with size and channels
_BARE = frozenset((0x01, *range(0xD0, 0xD9)))  # markers without a length
_SUBSAMPLINGS = {"4:4:4": 0, "4:2:2": 1, "4:2:0": 2}
_SIZES = ((37, 29), (16, 16), (1, 1))  # width, height


@dataclass(frozen=True)
class JpegDecoder:
    """What decodes JPEG files in this process, with the versions of both, and why it is not simplejpeg."""

    name: str
    pillow: str
    simplejpeg: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)


@functools.cache
def jpeg_decoder() -> JpegDecoder:
    """The decoder of this process; the first call tries it."""
    pillow = f"{pillow_version} (libjpeg-turbo {features.version('libjpeg_turbo') or 'unknown'})"
    module = _simplejpeg()
    if module is None:
        return JpegDecoder("pillow", pillow, reason="simplejpeg is not installed")
    version = str(module.__version__)
    if not hasattr(Image, "fromarrow"):
        return JpegDecoder("pillow", pillow, version, "Pillow is older than 11.2 and cannot take pixels over")
    try:
        different = next((name for name, content in _trial_pictures() if not _same(module, content)), "")
    except Exception as error:  # whatever a library of another version raises, pixels must not depend on it
        return JpegDecoder("pillow", pillow, version, f"it fails: {type(error).__name__}")
    if different:
        return JpegDecoder("pillow", pillow, version, f"other pixels than Pillow's ({different})")
    return JpegDecoder("simplejpeg", pillow, version)


def decode_jpeg(opened: Image.Image, content: bytes) -> Image.Image | None:
    """The picture that Pillow has opened, decoded by simplejpeg; None where Pillow is to decode it."""
    if opened.format != "JPEG" or jpeg_decoder().name != "simplejpeg" or not _is_usual(content, opened.size):
        return None
    module = _simplejpeg()
    if module is None:
        return None
    try:
        image = _decode(module, content, opened.size)
    except Exception:  # also where the file is damaged: Pillow refuses it, or reads what there is
        return None
    if image is not None:
        image.info = opened.info
    return image


def _decode(module: ModuleType, content: bytes, size: tuple[int, int]) -> Image.Image | None:
    """The pixels, taken over without a copy; None where the decoder reads another size from the header than Pillow."""
    import pyarrow as pa

    width, height = size
    if module.decode_jpeg_header(content)[:2] != (height, width):
        return None
    pixels = module.decode_jpeg(content, "RGBX")
    if pixels.shape != (height, width, 4):
        return None
    values = pa.Array.from_buffers(pa.uint8(), pixels.size, [None, pa.py_buffer(pixels)])
    rows = pa.FixedSizeListArray.from_arrays(values, 4)
    fromarrow: Any = Image.fromarrow
    image: Image.Image = fromarrow(rows, "RGB", size)
    return image


def _is_usual(content: bytes, size: tuple[int, int]) -> bool:
    """Whether the header is that of 8-bit grey or colour, Huffman-coded, of the size that Pillow read."""
    place = 2
    while place + 10 <= len(content) and content[place] == 0xFF:
        marker = content[place + 1]
        if marker == 0xFF or marker in _BARE:
            place += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAMES:
            depth, channels = content[place + 4], content[place + 9]
            height, width = (int.from_bytes(content[place + at : place + at + 2], "big") for at in (5, 7))
            usual = marker in (_BASELINE, _EXTENDED, _PROGRESSIVE) and depth == 8 and channels in (1, 3)
            return usual and (width, height) == size
        place += 2 + int.from_bytes(content[place + 2 : place + 4], "big")
    return False


@functools.cache
def _simplejpeg() -> ModuleType | None:
    try:
        return import_package("simplejpeg", "decoding JPEG files faster")
    except Exception:  # not there, or built for other libraries than these
        return None


def _trial_pictures() -> list[tuple[str, bytes]]:
    """Small files of every usual kind, made by Pillow's encoder: names and contents."""
    files = []
    for size in _SIZES:
        values = np.random.default_rng(size).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        smooth = Image.fromarray(values[::4, ::4].copy()).resize(size, Image.Resampling.BICUBIC)
        for pixels in (Image.fromarray(values), smooth):
            for name, number in _SUBSAMPLINGS.items():
                for progressive in (False, True):
                    kind = f"{name}{', progressive' if progressive else ''}"
                    files.append((kind, _encode(pixels, quality=75, subsampling=number, progressive=progressive)))
            files.append(("restart markers", _encode(pixels, quality=30, restart_marker_blocks=1)))
            files.append(("rgb", _encode(pixels, keep_rgb=True)))
            files.append(("grey", _encode(pixels.convert("L"), quality=95)))
    return files


def _encode(image: Image.Image, **settings: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", **settings)
    return file.getvalue()


def _same(module: ModuleType, content: bytes) -> bool:
    with open_image(content) as image:
        expected = np.asarray(image.convert("RGB"))
    decoded = _decode(module, content, (expected.shape[1], expected.shape[0]))
    return decoded is not None and np.array_equal(np.asarray(decoded), expected)
