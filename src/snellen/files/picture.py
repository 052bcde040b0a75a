"""Image files opened with Pillow: only the formats we name, and refused by their size before a pixel is decoded."""

from __future__ import annotations

import functools
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.files.net import Damaged, reason_of
from snellen.files.plain import GIB, read_bytes

if TYPE_CHECKING:
    from PIL import Image

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF", "PPM")  # others start programs, or are read by no model's maker
MOST_PIXELS = 200_000_000  # a larger file is taken for a decompression bomb
LONGEST_SIDE = 100_000  # pixels


@contextmanager
def open_image(content: bytes, name: Path | str = "") -> Iterator[Image.Image]:
    """An encoded image, not yet decoded; any failure of Pillow's, also while it decodes inside, is a `Damaged`."""
    Image = _pillow()
    where = f"{name}: " if name else ""
    if not content:
        raise UserError(f"{where}the file is empty")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            check_size(image, where)
            yield image
    except UserError:
        raise
    except Image.UnidentifiedImageError:
        known = ", ".join(FORMATS)
        raise UserError(f"{where}cannot be decoded: it is not an image of a known format ({known})") from None
    except Image.DecompressionBombError:
        raise UserError(f"{where}has more than {MOST_PIXELS:,} pixels") from None
    except Exception as error:  # Pillow's decoders raise many kinds on damaged files
        raise Damaged(f"{where}cannot be decoded: {reason_of(error)}") from error


def read_image(path: Path | str, kind: str = "image", most: int = GIB) -> bytes:
    """The content of an image file, as `open_image` takes it."""
    return read_bytes(path, kind, most)


def check_size(image: Image.Image, where: str = "") -> None:
    """Refuse an image of too many pixels, or too long a side, by what its header states."""
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise UserError(f"{where}has {width}x{height} pixels, more than {MOST_PIXELS:,}")
    if max(width, height) > LONGEST_SIDE:
        raise UserError(f"{where}has {width}x{height} pixels; no side may be longer than {LONGEST_SIDE:,}")


@functools.cache
def _pillow() -> ModuleType:
    """Pillow's Image with our bound in place of its own: it only warns below twice its bound, and warnings of threads that
    decode at the same time cannot be switched off one by one."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
    return Image
