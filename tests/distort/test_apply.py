"""One call for tensors, arrays and PIL images."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.distort import apply


def test_every_kind_of_input_gives_the_same_pixels_back_in_its_own_kind(photos: np.ndarray) -> None:
    text = "occlude(0.3, noise) | shuffle(4)"
    arrays = apply(text, photos, seed=2)
    tensor = apply(text, torch.from_numpy(photos).permute(0, 3, 1, 2), seed=2)
    pictures = apply(text, [Image.fromarray(p) for p in photos], seed=2)
    assert isinstance(arrays, np.ndarray)
    assert arrays.shape == photos.shape
    assert np.array_equal(arrays, tensor.permute(0, 2, 3, 1).numpy())
    assert all(np.array_equal(a, np.asarray(p)) for a, p in zip(arrays, pictures))


def test_one_image_equals_itself_in_a_batch(photos: np.ndarray) -> None:
    batch = apply("shuffle(4)", photos, ids=[f"p{i}" for i in range(12)])
    assert np.array_equal(apply("shuffle(4)", photos[3], ids=["p3"]), batch[3])
    assert np.array_equal(np.asarray(apply("shuffle(4)", Image.fromarray(photos[3]), ids=["p3"])), batch[3])


def test_fills_paint_what_they_say(photos: np.ndarray) -> None:
    assert (apply("occlude(1, black)", photos) == 0).all()
    assert (apply("occlude(1, white)", photos) == 255).all()
    assert (apply("occlude(1, grey)", photos) == 127).all()
    assert (apply("occlude(1, mean)", photos, mean=(10.2, 20, 30.9)) == [10, 20, 31]).all()
    expected = np.rint(photos.reshape(12, -1, 3).mean(1))
    assert (apply("occlude(1, image_mean)", photos)[:, 5, 5] == expected).all()
    stripes = apply("occlude(1, stripes)", photos)
    assert (stripes[:, 0, :4, 0] == [0, 0, 255, 255]).all()
    donors = photos[:2]
    pasted = apply("occlude(1, donor)", photos, donors=donors)
    assert all(any(np.array_equal(p, d) for d in donors) for p in pasted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"images": np.zeros((2, 8, 8, 3), np.float32)}, r"expected uint8 images .* got torch.float32"),
        ({"images": "photo.jpg"}, "got str"),
        ({"ids": ["a"]}, r"expected one id per image \(2\), got 1"),
        ({"distortion": "occlude(0.2, mean)"}, "needs mean .* pass mean="),
        ({"colour": 3}, "unknown fact 'colour'"),
    ],
)
def test_wrong_calls_are_told(arguments: dict, message: str) -> None:
    held = {"distortion": "occlude(0.2)", "images": np.zeros((2, 8, 8, 3), np.uint8)} | arguments
    with pytest.raises(ValueError, match=message):
        apply(held.pop("distortion"), held.pop("images"), **held)
