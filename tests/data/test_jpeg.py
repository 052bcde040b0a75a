"""JPEG files give the very pixels that Pillow gives, whatever decodes them; what is damaged or unusual is Pillow's."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from PIL import Image

from snellen.data import jpeg
from snellen.data.dataset import Photo, Unreadable
from snellen.data.decode import decode_bytes
from snellen.data.jpeg import JpegDecoder, decode_jpeg, jpeg_decoder

pytest.importorskip("simplejpeg")

SHARED = Path(os.environ.get("SNELLEN_SHARED", Path(__file__).parents[3] / "shared")) / "data"
FOLDERS = ("imagenet_samples/images", "voc_boxes/images", "cue_conflict/images", "camvid", "davis", "pets/images")
PILLOW = JpegDecoder("pillow", "")


def scene(width=61, height=45) -> Image.Image:
    random = np.random.default_rng(width)
    small = Image.fromarray(random.integers(0, 256, (9, 9, 3), dtype=np.uint8)).resize((width, height))
    noise = random.integers(-20, 21, (height, width, 3))
    return Image.fromarray(np.clip(np.asarray(small).astype(int) + noise, 0, 255).astype(np.uint8))


def encoded(image: Image.Image | None = None, **settings) -> bytes:
    file = io.BytesIO()
    (image or scene()).save(file, "JPEG", **settings)
    return file.getvalue()


def by_cv2(*flags: int) -> bytes:
    return cv2.imencode(".jpg", np.asarray(scene()), list(flags))[1].tobytes()


def turned(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(exif=exif)


def turned_by_xmp() -> bytes:
    return encoded(xmp=b'<x:xmpmeta><rdf:Description tiff:Orientation="6"/></x:xmpmeta>')


def patched(content: bytes, marker: bytes, offset: int, value: int) -> bytes:
    """The content with one byte behind a marker replaced."""
    place = content.index(marker) + offset
    return content[:place] + bytes([value]) + content[place + 1 :]


CMYK = encoded(scene().convert("CMYK"))
USUAL = {
    "4:4:4": encoded(subsampling=0, quality=95),
    "4:2:2": encoded(subsampling=1),
    "4:2:0": encoded(subsampling=2),
    "4:1:1": by_cv2(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411),
    "4:4:0": by_cv2(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440),
    "progressive": encoded(progressive=True),
    "progressive grey": encoded(scene().convert("L"), progressive=True),
    "optimised": encoded(optimize=True, quality=20),
    "restart markers": encoded(restart_marker_blocks=3),
    "restart markers, progressive": by_cv2(cv2.IMWRITE_JPEG_RST_INTERVAL, 4, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "grey": encoded(scene().convert("L")),
    "rgb, not YCbCr": encoded(keep_rgb=True),
    "1x1": encoded(scene(1, 1)),
    "1x1 grey": encoded(scene(1, 1).convert("L")),
    "one row": encoded(scene(300, 1)),
    "with a comment and a profile": encoded(comment=b"x" * 60_000, icc_profile=b"p" * 100_000),
    "bytes behind the end": encoded() + b"more",
    **{f"turned {number}": turned(number) for number in range(1, 9)},
    "turned by XMP": turned_by_xmp(),
}
UNUSUAL = {
    "cmyk": CMYK,
    "ycck": patched(CMYK, b"Adobe", 11, 2),
    "arithmetic": patched(encoded(), b"\xff\xc0", 1, 0xC9),
    "lossless": patched(encoded(), b"\xff\xc0", 1, 0xC3),
    "12 bits": patched(encoded(), b"\xff\xc0", 4, 12),
    "two channels": patched(encoded(), b"\xff\xc0", 9, 2),
    "no height": patched(patched(encoded(), b"\xff\xc0", 5, 0), b"\xff\xc0", 6, 0),
    "truncated": encoded()[:-400],
    "truncated, progressive": encoded(progressive=True)[:-400],
    "no end": encoded()[:-2],
    "header alone": encoded()[:300],
    "two bytes": b"\xff\xd8",
}


def outcome(content: bytes) -> tuple[str, object]:
    photo = decode_bytes(content)
    if isinstance(photo, Unreadable):
        return photo.reason, photo.sort
    assert isinstance(photo, Photo)
    return photo.checksum, photo.image.tobytes() + str(photo.image.shape).encode()


def by_pillow(content: bytes, monkeypatch) -> tuple[str, object]:
    with monkeypatch.context() as patch:
        patch.setattr(jpeg, "jpeg_decoder", lambda: PILLOW)
        return outcome(content)


def decoded_fast(content: bytes) -> bool:
    with Image.open(io.BytesIO(content)) as opened:
        return decode_jpeg(opened, content) is not None


def test_this_process_decodes_with_simplejpeg_and_says_which_versions():
    decoder = jpeg_decoder()
    assert decoder.name == "simplejpeg"
    assert decoder.reason == ""
    assert "libjpeg-turbo" in decoder.pillow


@pytest.mark.parametrize("kind", USUAL)
def test_usual_files_are_decoded_by_simplejpeg_to_the_same_pixels(kind, monkeypatch):
    assert decoded_fast(USUAL[kind])
    assert outcome(USUAL[kind]) == by_pillow(USUAL[kind], monkeypatch)


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_and_damaged_files_are_left_to_pillow(kind, monkeypatch):
    with contextlib.suppress(OSError, SyntaxError):  # where Pillow does not even open it
        assert not decoded_fast(UNUSUAL[kind])
    assert outcome(UNUSUAL[kind]) == by_pillow(UNUSUAL[kind], monkeypatch)


def test_files_with_changed_bytes_give_what_pillow_gives(monkeypatch):
    random, different, fast = np.random.default_rng(0), [], 0
    sources = [USUAL[kind] for kind in ("4:2:0", "progressive", "grey", "restart markers", "turned 6")]
    for number in range(300):
        content = bytearray(sources[number % len(sources)])
        for place in random.integers(2, len(content), random.integers(1, 4)):
            content[place] = random.integers(256)
        content = bytes(content[: random.integers(len(content) // 2, len(content))] if number % 3 == 0 else content)
        if outcome(content) != by_pillow(content, monkeypatch):
            different.append(number)
        with contextlib.suppress(OSError, SyntaxError):
            fast += decoded_fast(content)
    assert different == []
    assert fast > 30  # else this compares Pillow with Pillow


def test_real_photos_have_the_same_pixels(monkeypatch):
    files = [file for folder in FOLDERS for file in sorted((SHARED / folder).rglob("*.jpg"))[:60]]
    if not files:
        pytest.skip(f"no photos in {SHARED}")
    contents = [file.read_bytes() for file in files]
    assert all(map(decoded_fast, contents))
    assert [file for file, content in zip(files, contents) if outcome(content) != by_pillow(content, monkeypatch)] == []


def test_a_build_with_other_pixels_is_not_used(monkeypatch):
    real = jpeg._simplejpeg()

    def off_by_one(content, colours):
        return real.decode_jpeg(content, colours) ^ 1

    odd = SimpleNamespace(__version__="9", decode_jpeg_header=real.decode_jpeg_header, decode_jpeg=off_by_one)
    monkeypatch.setattr(jpeg, "_simplejpeg", lambda: odd)
    decoder = jpeg.jpeg_decoder.__wrapped__()
    assert decoder.name == "pillow"
    assert decoder.reason == "other pixels than Pillow's (4:4:4)"


def test_without_simplejpeg_or_with_one_that_fails_pillow_decodes(monkeypatch):
    monkeypatch.setattr(jpeg, "_simplejpeg", lambda: None)
    assert jpeg.jpeg_decoder.__wrapped__().reason == "simplejpeg is not installed"
    monkeypatch.setattr(jpeg, "_simplejpeg", lambda: SimpleNamespace(__version__="9"))
    assert jpeg.jpeg_decoder.__wrapped__().reason == "it fails: AttributeError"


def test_the_header_of_a_picture_decides_its_size_for_both(monkeypatch):
    """A decoder that saw another size than Pillow's check of it would get round the bound on pixels."""
    content = encoded()
    real = jpeg._simplejpeg()
    odd = SimpleNamespace(decode_jpeg_header=lambda _: (9000, 9000, "YCbCr", "420"), decode_jpeg=real.decode_jpeg)
    monkeypatch.setattr(jpeg, "_simplejpeg", lambda: odd)
    assert not decoded_fast(content)
