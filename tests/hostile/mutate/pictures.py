"""Images: sizes that lie, formats and modes nobody expects, animations, bombs."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from random import Random

from PIL import Image

from .unfit import fitting

SIZES = ((60_000, 60_000), (1, 150_000_000), (0, 8), (2**31 - 1, 2**31 - 1), (100_000, 1), (1, 9000), (9000, 1))
MODES = ("1", "L", "LA", "P", "PA", "I;16", "I", "F", "CMYK", "YCbCr", "RGBA", "RGBX", "LAB", "HSV")
FORMATS = (
    "PNG",
    "JPEG",
    "GIF",
    "TIFF",
    "WEBP",
    "BMP",
    "PPM",
    "ICO",
    "EPS",
    "PDF",
    "TGA",
    "PCX",
    "SGI",
    "JPEG2000",
    "DDS",
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def sized_png(width: int, height: int, draw: Random) -> bytes:
    """A PNG that states a size; its pixels are few, or as many as stated where that is little."""
    depth, colour = draw.choice([(8, 2), (8, 6), (16, 2), (1, 0), (8, 3), (16, 0), (8, 4), (3, 7)])
    rows = zlib.compress(bytes(min(width * height * 3 + height, 3_000_000)))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, draw.choice([0, 0, 1]))
    profile = chunk(b"iCCP", b"x\0\0" + zlib.compress(b"x"))
    words = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(2_000_000)))
    extra = draw.choice([b"", profile, words])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def mutate(file: Path, draw: Random) -> str:
    how = draw.choice(["size", "mode", "format", "frames", "exif", "small", "svg"])
    if how == "size":
        file.write_bytes(sized_png(*draw.choice(SIZES), draw))
        return f"pictures: {how}"
    if how == "svg":
        file.write_bytes(SVG)
        return f"pictures: {how}"
    with fitting(), Image.open(io.BytesIO(file.read_bytes())) as opened:
        picture, format = opened.convert("RGB"), opened.format or "PNG"
    stream = io.BytesIO()
    more: dict[str, object] = {}
    if how == "mode":
        mode = draw.choice(MODES)
        picture, format = (
            (Image.new(mode, picture.size) if mode not in ("1", "L", "P", "CMYK") else picture.convert(mode)),
            "TIFF",
        )
    elif how == "format":
        format = draw.choice(FORMATS)
    elif how == "frames":
        format, more = draw.choice(["GIF", "TIFF", "WEBP", "PNG"]), {"save_all": True, "append_images": [picture] * 20}
    elif how == "exif":
        exif = Image.Exif()
        exif[0x0112] = draw.choice([0, 3, 6, 8, 9, 255, 65535])
        format, more = "JPEG", {"exif": exif}
    else:
        picture = picture.resize(draw.choice([(1, 1), (1, 40), (40, 1), (3, 3), (300, 200)]))
    with fitting():
        picture.save(stream, format, **more)
    file.write_bytes(stream.getvalue())
    return f"pictures: {how} {format}"
