"""Readers: what other processes read is what this one reads, whatever becomes of them, and only where it pays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.data import Canvas, Dataset, limited, load_data
from snellen.data import readers as module
from snellen.data.readers import LEAST, MOST_THREADS, ReaderProcesses, readers_for
from snellen.data.sheet import PhotoSheet, Wanted, bytes_of, fill, sheet_in
from snellen.engine.ask.slides import slides

from ..gates import PATIENCE

CANVASES = (Canvas(16, 16, "crop", 18), Canvas(24, 20, "pad"))


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    """Twelve photos of different sizes with masks, one of them damaged."""
    random = np.random.default_rng(0)
    rows = ["id,path,label,mask,x0,y0,x1,y1"]
    for number in range(12):
        size = (20 + number, 31 - number)
        values = random.integers(0, 256, (*size, 3), dtype=np.uint8)
        Image.fromarray(values).save(tmp_path / f"{number}.png")
        Image.fromarray(random.integers(0, 2, size, dtype=np.uint8) * 255).save(tmp_path / f"mask{number}.png")
        rows.append(f"{number},{number}.png,class {number % 3},mask{number}.png,1,2,{9 + number / 2},11")
    (tmp_path / "7.png").write_bytes(b"no picture")
    (tmp_path / "list.csv").write_text("\n".join(rows))
    return f"manifest:{tmp_path}/list.csv"


def blank_sheet(wanted: Wanted, count: int) -> PhotoSheet:
    return sheet_in(bytearray(bytes_of(wanted, count)), wanted, count)


def wanted_of(data: Dataset) -> Wanted:
    return Wanted(CANVASES, "masks" in data.facts, "boxes" in data.facts)


def one_reader(data: Dataset) -> ReaderProcesses:
    """A reader of these data; when it has said that it is up, or has ended, that can be read."""
    readers = ReaderProcesses(data.elsewhere, wanted_of(data), 8, 1)
    assert readers.all[0].line.poll(PATIENCE), "the reader neither came up nor ended"
    return readers


def read_here(data: Dataset, positions: Sequence[int]) -> PhotoSheet:
    sheet = blank_sheet(wanted_of(data), len(positions))
    fill(data, positions, sheet)
    return sheet


def assert_same(one: PhotoSheet, other: PhotoSheet) -> None:
    assert len(list(one.arrays())) == len(list(other.arrays())) == 4
    for mine, theirs in zip(one.arrays(), other.arrays()):
        np.testing.assert_array_equal(mine, theirs)
    assert one.facts.checksums == other.facts.checksums
    assert one.facts.sizes == other.facts.sizes
    assert one.facts.errors == other.facts.errors
    for canvas, boxes in one.facts.boxes.items():
        for mine, theirs in zip(boxes, other.facts.boxes[canvas], strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_reader_gives_what_is_read_here_of_every_row_that_was_chosen(manifest: str) -> None:
    data = load_data(manifest).at(np.array([11, 7, 3, 5, 2])).at(np.array([4, 1, 0]))  # samples 2, 7 and 11
    assert {"masks", "boxes"} <= data.facts
    expected = read_here(data, [0, 1, 2])
    assert [bool(error) for error in expected.facts.errors] == [False, True, False]
    with closing(one_reader(data)) as readers:
        for _ in range(2):  # it serves more than once
            sheet = blank_sheet(wanted_of(data), 3)
            assert readers.fill(range(3), sheet)
            assert_same(sheet, expected)
        (reader,) = readers.all
    assert not reader.process.is_alive()


def test_slides_that_readers_fill_are_those_of_threads(manifest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = replace(load_data(manifest), chunk=2)
    (expected,) = slides(data, [range(12)], CANVASES, threads=2)
    readers = one_reader(data)
    monkeypatch.setattr("snellen.engine.ask.slides.readers_for", lambda *_: readers)
    monkeypatch.setattr("snellen.engine.ask.slides.fill", lambda *_: pytest.fail("read here"))
    (slide,) = slides(data, [range(12)], CANVASES, threads=1)
    assert (slide.checksums, slide.sizes, slide.errors) == (expected.checksums, expected.sizes, expected.errors)
    assert slide.errors[7]
    for canvas in CANVASES:
        np.testing.assert_array_equal(slide.images[canvas].numpy(), expected.images[canvas].numpy())
        np.testing.assert_array_equal(slide.masks[canvas].numpy(), expected.masks[canvas].numpy())
        for mine, theirs in zip(slide.boxes[canvas], expected.boxes[canvas], strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert not readers.all[0].process.is_alive(), "it outlives what it was started for"


def test_a_reader_that_is_killed_is_not_asked_again_and_leaves_nothing_half_done(manifest: str) -> None:
    data = load_data(manifest)
    with closing(one_reader(data)) as readers:
        sheet = blank_sheet(wanted_of(data), 3)
        assert readers.fill(range(3), sheet)
        readers.all[0].process.kill()
        readers.all[0].process.join()
        sheet = blank_sheet(wanted_of(data), 3)
        assert not readers.fill(range(3), sheet)
        assert not any(array.any() for array in sheet.arrays())
        assert sheet.facts.checksums == [""] * 3
        assert not readers.fill(range(3), sheet)


def test_a_reader_that_finds_other_files_ends_and_is_not_asked(manifest: str) -> None:
    data = load_data(manifest)
    file = Path(manifest.removeprefix("manifest:"))
    file.write_text(file.read_text().replace("class 2", "class two"))
    with closing(one_reader(data)) as readers:
        assert not readers.fill(range(3), blank_sheet(wanted_of(data), 3))


def test_data_that_read_otherwise_than_their_text_says_have_no_origin(manifest: str) -> None:
    data = load_data(manifest)
    assert data.elsewhere is not None
    assert data.elsewhere.positions([3, 1]) == [3, 1]
    some = limited(data, 5)
    assert some.elsewhere is not None
    assert [data.samples.ids[row] for row in some.elsewhere.positions(range(5))] == list(some.samples.ids)
    other = replace(data, read=lambda positions: data.read(positions)[::-1])
    assert other.elsewhere is None
    assert other.at(np.arange(3)).elsewhere is None


@pytest.mark.parametrize("text", ["phantom:test?size=16&n=12", "{arrays}", "{code}"])
def test_what_needs_no_decoding_or_is_made_by_code_has_no_origin(text: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", images=np.zeros((4, 8, 8, 3), np.uint8), labels=np.arange(4))
    (tmp_path / "own.py").write_text(
        "import torch\ndata = torch.utils.data.TensorDataset(torch.zeros(4, 3, 8, 8), torch.arange(4))\n"
    )
    text = text.format(arrays=f"arrays:{tmp_path}/a.npz", code=f"python:{tmp_path}/own.py:data")
    assert load_data(text).elsewhere is None


def test_readers_are_started_only_where_they_pay(manifest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_data(manifest)
    monkeypatch.setattr(module, "_started", lambda origin, wanted, chunk, most: [object()] * most)

    def count(threads: int, photos: int, data: Dataset = data) -> int:
        return len(readers_for(data, wanted_of(data), threads, photos).all)

    assert count(MOST_THREADS + 1, LEAST) == MOST_THREADS + 1
    assert count(MOST_THREADS, LEAST) == 0
    assert count(MOST_THREADS + 1, LEAST - 1) == 0
    assert count(MOST_THREADS + 1, LEAST, load_data("phantom:test?size=16&n=12")) == 0
    monkeypatch.setattr(module, "MOST", len(data) - 1)
    assert count(MOST_THREADS + 1, LEAST) == 0


def test_without_readers_the_threads_are_bounded() -> None:
    assert ReaderProcesses().threads(64) == MOST_THREADS
    assert ReaderProcesses().threads(3) == 3


def test_a_reader_ends_with_its_parent(manifest: str) -> None:
    """The line ends when the parent does; a reader that waits for work sees that."""
    readers = one_reader(load_data(manifest))
    (reader,) = readers.all
    reader.line.close()
    reader.process.join(PATIENCE)
    assert not reader.process.is_alive()
    assert reader.process.exitcode == 0
    assert reader.process.pid != os.getpid()
