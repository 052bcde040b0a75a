"""Images that lie or are out of all proportion: listed with a reason, and never more memory than a bound."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.build.in9.judging import In9Candidate, judge
from snellen.build.in9.request import In9Request
from snellen.data import Canvas, Photo, Unreadable, load_data, render
from snellen.data.canvas import MOST_SCALED, Unshowable, placement
from snellen.data.decode import decode_bytes, decode_file
from snellen.engine.keep.map_reader import render_rows
from snellen.errors import UserError
from snellen.explain import explain_images
from snellen.models import from_callable


def thin(height: int = 100_000, width: int = 1) -> Photo:
    return Photo(
        np.zeros((height, width, 3), np.uint8), "", np.zeros((1, 4)), {"mask": np.zeros((height, width), bool)}
    )


def png(width: int, height: int, depth: int = 8) -> bytes:
    """The header of a PNG of this size, and nearly nothing behind it."""
    content = b"\x89PNG\r\n\x1a\n"
    for kind, data in (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"")),
        (b"IEND", b""),
    ):
        content += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return content


def gif(width: int, height: int) -> bytes:
    """A GIF of one pixel that says it has this size."""
    content = io.BytesIO()
    Image.new("L", (1, 1)).save(content, "GIF")
    return content.getvalue()[:6] + struct.pack("<HH", width, height) + content.getvalue()[10:]


@pytest.mark.parametrize(
    "canvas", [Canvas(224, 224, "crop", 256), Canvas(224, 224, "crop"), Canvas(64, 512, "crop", 600)]
)
@pytest.mark.parametrize("sides", [(100_000, 1), (1, 100_000), (100_000, 3)])
def test_a_photo_whose_scaled_size_is_enormous_is_not_scaled(canvas: Canvas, sides: tuple[int, int]) -> None:
    with pytest.raises(Unshowable, match=r"is too long for its width: \d+x\d+ pixels scaled to \d+x\d+ are more than"):
        render(thin(*sides), canvas)


def test_every_size_that_is_scaled_stays_below_the_bound() -> None:
    for canvas in (
        Canvas(224, 224, "crop", 256),
        Canvas(518, 518, "crop"),
        Canvas(8, 8, "squash"),
        Canvas(8, 9, "pad"),
    ):
        for sides in [(1, 1), (1, 99_999), (50_000, 7), (14_000, 14_000), (100_000, 100), (333, 100_000)]:
            try:
                target, _ = placement(*sides, canvas)
            except Unshowable:
                continue
            assert target[0] * target[1] <= MOST_SCALED
    assert render(thin(20_000, 20), Canvas(16, 16, "crop", 16)).image.shape == (3, 16, 16)  # long, and still shown
    assert render(thin(), Canvas(16, 16, "squash", 16)).image.shape == (3, 16, 16)
    assert render(thin(), Canvas(16, 16, "pad")).image.shape == (3, 16, 16)


def test_it_is_listed_by_an_audit_and_left_out_of_maps(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for name in ("a", "b"):
        (tmp_path / "data" / name).mkdir(parents=True)
        for number in range(15):
            pixels = random.integers(0, 256, (20, 24, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "data" / name / f"{number}.png")
    Image.new("L", (1, 100_000)).save(tmp_path / "data" / "a" / "thin.png")
    assert (tmp_path / "data" / "a" / "thin.png").stat().st_size < 1000

    def even(images: np.ndarray) -> np.ndarray:
        return np.full((len(images), 2), 0.5)

    model = from_callable(even, size=224, name="even", version="1")
    run = snellen.audit(
        model, f"folder:{tmp_path}/data", "interference([shuffle(4)])", out=tmp_path / "run", quiet=True
    )
    errors = run.sql("select sample, error from samples where error <> ''")
    assert errors["sample"].tolist() == ["a/thin.png"]
    assert "is too long for its width: 100000x1 pixels" in errors["error"][0]
    data = load_data(f"folder:{tmp_path}/data")
    ids = [sample for sample, _ in render_rows(data, Canvas(224, 224, "crop", 224), range(len(data)))]
    assert ids == [sample for sample in data.samples.ids if sample != "a/thin.png"]
    with pytest.raises(UserError, match="thin.png is too long for its width"):
        explain_images(model, [tmp_path / "data" / "a" / "thin.png"])


@pytest.mark.parametrize("settings", [{"all_images": True}, {"masks": "data"}])
def test_a_build_rejects_it_with_the_reason(tmp_path: Path, settings: dict[str, Any]) -> None:
    photo = Photo(np.zeros((100_000, 1, 3), np.uint8), "sum", np.array([[0.0, 0, 1, 50_000]]))
    verdict = judge(
        In9Candidate("thin.png", "thin", photo), In9Request(data="x", out="x", size=224, **settings), tmp_path
    )
    assert (verdict.reason, verdict.checksum) == ("unreadable", "sum")
    assert "is too long for its width" in verdict.detail


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (png(60_000, 60_000), "has more than 200,000,000 pixels"),
        (png(1, 150_000_000), "no side may be longer than 100,000"),
        (png(16_000, 16_000, 16), "more than 200,000,000"),
        (png(100, 100), "cannot be decoded"),
        (png(0, 5), "cannot be decoded"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "it is not an image of a known format"),
        (b"%PDF-1.4\n", "it is not an image of a known format"),
        (gif(65_535, 65_535), "more than 200,000,000"),
        (b"BM" + b"\0" * 60, "cannot be decoded"),
        (b"P6 99999 99999 255\n", "more than 200,000,000"),
        (b"", "the file is empty"),
    ],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_lying_headers_and_other_formats_are_refused_before_a_pixel_is_decoded(content: bytes, words: str) -> None:
    read = decode_bytes(content)
    assert isinstance(read, Unreadable)
    assert words in read.reason
    assert "\n" not in read.reason


def test_a_turned_image_and_the_first_of_several_frames_are_bounded_too(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[274] = 6
    Image.new("L", (100_000, 1)).save(tmp_path / "turned.png", exif=exif)
    turned = decode_file(tmp_path / "turned.png")
    assert isinstance(turned, Photo)
    assert turned.image.shape == (100_000, 1, 3)
    frames = [Image.new("L", (4, 6), level) for level in (10, 20, 30)]
    for name in ("a.gif", "a.tif", "a.webp"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:], lossless=True)
        first = decode_file(tmp_path / name)
        assert isinstance(first, Photo)
        assert first.image.shape == (6, 4, 3)
        assert (first.image == 10).all()


def test_deep_grey_is_scaled_in_parts_to_the_same_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).integers(0, 65_536, (50, 30)).astype(np.uint16)
    Image.fromarray(values).save(tmp_path / "a.png")
    expected = np.rint(values.astype(float) * 255 / 65_535).astype(np.uint8)
    for rows in (1, 100, 1 << 22):
        monkeypatch.setattr("snellen.data.decode._ROWS", rows)
        read = decode_file(tmp_path / "a.png")
        assert isinstance(read, Photo)
        np.testing.assert_array_equal(read.image[:, :, 1], expected)


def test_floats_that_are_no_numbers_are_black_and_infinite_ones_white(tmp_path: Path) -> None:
    values = np.array([[np.nan, 0, 0.5], [1, np.inf, -np.inf]], np.float32)
    for top, expected in ((1, [[0, 0, 128], [255, 0, 0]]), (np.inf, [[0, 0, 0], [0, 255, 0]])):
        shown = np.where(np.isposinf(values), np.float32(0 if top == 1 else np.inf), values)
        Image.fromarray(shown).save(tmp_path / "a.tif")
        read = decode_file(tmp_path / "a.tif")
        assert isinstance(read, Photo)
        assert read.image[:, :, 0].tolist() == expected
