"""Slides: what cannot be read is black; a run that ends early leaves its decoding threads without joining them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.data import Canvas, load_data
from snellen.data.dataset import Dataset, Photo, Unreadable
from snellen.engine.ask import local
from snellen.engine.ask.slides import slides
from snellen.errors import UserError
from snellen.models import Model

from ..gates import PATIENCE


def test_what_cannot_be_read_is_black_whatever_was_in_its_memory(levels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, canvas = load_data(levels), Canvas(16, 16, "native")
    other_size = replace(photo_of(data, 5), pixels=np.ones((9, 9, 3), np.uint8))
    bad = {2: Unreadable("is damaged"), 5: other_size}

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [bad.get(position, photo_of(data, position)) for position in positions]

    monkeypatch.setattr(torch, "empty", lambda size, *, dtype, pin_memory: torch.full(size, 77, dtype=dtype))
    (slide,) = slides(replace(data, read=read, read_together=None), [range(10)], [canvas], threads=2)
    assert [row for row, error in enumerate(slide.errors) if error] == list(bad)
    assert not slide.images[canvas][list(bad)].any()
    whole = [row for row in range(10) if row not in bad]
    expected = np.stack([photo_of(data, row).image.transpose(2, 0, 1) for row in whole])
    np.testing.assert_array_equal(slide.images[canvas][whole].numpy(), expected)


def photo_of(data: Dataset, row: int) -> Photo:
    (photo,) = data.read([row])
    assert isinstance(photo, Photo)
    return photo


def test_closing_does_not_wait_for_a_photo_that_is_being_read(levels: str) -> None:
    data, free, begun = load_data(levels), threading.Event(), threading.Event()

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        if positions[0] >= 20:  # the second shard, which is read ahead
            begun.set()
            free.wait()
        return data.read(positions)

    slow = replace(data, read=read, read_together=None)
    decoded = slides(slow, [range(20), range(20, 40)], [Canvas(16, 16, "native")], threads=2)
    try:
        next(decoded)
        assert begun.wait(PATIENCE), "the second shard was never read"
        closing = threading.Thread(target=decoded.close, daemon=True)
        closing.start()
        closing.join(PATIENCE)
        assert not closing.is_alive(), "closing waits for the photo"
    finally:
        free.set()


def test_a_run_that_fails_closes_its_slides_itself(
    levels: str, corner: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left to the garbage collector they would be closed in any thread, at any moment."""
    opened: list[Any] = []

    def open_slides(*args: Any, **how: Any) -> Any:
        opened.append(slides(*args, **how))
        return opened[-1]

    def full(*_: Any) -> None:
        raise UserError("cannot write: no space left on device")

    monkeypatch.setattr(local, "slides", open_slides)
    monkeypatch.setattr(local, "store_shard", full)
    with pytest.raises(UserError, match="no space left"):
        snellen.audit(corner, levels, [], tmp_path / "run", quiet=True, report=False, shard=20)
    assert opened
    assert all(one.gi_frame is None for one in opened)
