"""A model without an image size of its own, on photos that state none: the message says what their sizes are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.data import load_data
from snellen.data.dataset import some_sizes
from snellen.engine.requests.cell import canvas_for
from snellen.errors import UserError
from snellen.models import from_torch
from snellen.models.subject import Subject


def photos(root: Path, sizes: list[tuple[int, int]]) -> str:
    """A folder of one class with a photo of each (height, width)."""
    (root / "cat").mkdir(parents=True)
    for number, (height, width) in enumerate(sizes):
        Image.new("RGB", (width, height)).save(root / "cat" / f"{number:03d}.png")
    return f"folder:{root}"


@pytest.fixture
def sizeless() -> Subject:
    model = from_torch(torch.nn.Flatten(), name="mine", classes=["cat"])
    return Subject("mine", "mine", model.card, model, by_text=False)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([(32, 32)] * 40, "states none for its photos; those looked at are 32x32; give it one: .*size=32\\)"),
        ([(24, 32)] * 3, "states none for its photos; those looked at are 24x32; give it one: .*size=\\(24, 32\\)\\)"),
        (
            [(32, 32), (24, 32), (32, 32)],
            "holds photos of several, such as 24x32 and 32x32; give it one: .*size=224\\)",
        ),
    ],
)
def test_a_model_without_a_size_is_told_what_is_known_of_the_photos(
    sizes: list[tuple[int, int]], message: str, tmp_path: Path, sizeless: Subject
) -> None:
    with pytest.raises(UserError, match=f"model 'mine' names no image size and folder:.* {message}"):
        canvas_for(sizeless, load_data(photos(tmp_path / "data", sizes)))


def test_photos_that_cannot_be_read_have_no_size(tmp_path: Path, sizeless: Subject) -> None:
    data = load_data(photos(tmp_path / "data", [(8, 8)]))
    (tmp_path / "data" / "cat" / "000.png").write_bytes(b"no picture")
    assert some_sizes(data) == []
    with pytest.raises(UserError, match="names no image size and none is known of the photos of folder:"):
        canvas_for(sizeless, data)


def test_a_few_photos_of_the_whole_listing_are_looked_at(tmp_path: Path) -> None:
    data = load_data(photos(tmp_path / "data", [(8, 8)] * 99 + [(8, 9)]))
    assert some_sizes(data, most=3) == [(8, 8), (8, 9)]
    assert some_sizes(data.at(np.array([], int))) == []
