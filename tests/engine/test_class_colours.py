"""Pictures of answers: the colours of classes, and boxes in images."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from snellen.engine.keep.class_colours import NO_CLASS, class_colour, picture_of_boxes, picture_of_classes
from snellen.models.pixel_counts import class_counts, confusion_of
from snellen.models.tasks import join_answers


def test_classes_have_colours_of_their_own() -> None:
    colours = [class_colour(number) for number in range(60)]
    assert len({*colours, NO_CLASS}) == 61
    assert class_colour(3) == (0xE1, 0x57, 0x59)


def test_a_small_map_is_drawn_pixel_by_pixel_and_a_large_one_shrunk_without_new_colours() -> None:
    picture = picture_of_classes(np.array([[0, 1], [-1, 5]]))
    assert picture.shape == (3, 2, 2)
    assert [tuple(picture[:, row, column]) for row in (0, 1) for column in (0, 1)] == [
        class_colour(0), class_colour(1), NO_CLASS, class_colour(5),
    ]  # fmt: skip
    large = np.random.default_rng(0).integers(-1, 4, (300, 200))
    picture = picture_of_classes(large)
    assert picture.shape == (3, 112, 75)
    colours = {tuple(one) for one in picture.reshape(3, -1).T.tolist()}
    assert colours == {NO_CLASS, *map(class_colour, range(4))}


@pytest.mark.parametrize("right", [True, False])
def test_boxes_are_drawn_where_they_are(right: bool) -> None:
    image = np.zeros((3, 224, 112), np.uint8)
    truth, answer = np.array([[20, 40, 60, 80]]), np.array([[40.0, 40, 80, 80], [np.nan] * 4])
    picture = picture_of_boxes(image, truth, answer, right)
    assert picture.shape == (3, 112, 56)
    assert picture[:, 30, 10].tolist() == [255, 255, 255]  # the left edge of the true box, at half the size
    strong = picture[:, 30, 20].argmax()  # that of the detected one
    assert strong == (1 if right else 0)
    assert picture[:, -1, 0].argmax() == strong  # the mark in the corner


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_counts_are_sums_of_the_confusion(seed: int, classes: int) -> None:
    random = np.random.default_rng(seed)
    truth = torch.from_numpy(random.integers(0, classes + 1, (3, 4, 5)))
    answers = torch.from_numpy(random.integers(-2, classes + 2, (3, 4, 5)))
    table, counts = confusion_of(answers, truth, classes), class_counts(answers, truth, classes)
    right = table.diagonal(dim1=1, dim2=2)
    assert torch.equal(counts[:, :, 0], right)
    assert torch.equal(counts[:, :, 1], table[:, :, :classes].sum(1) - right)
    assert torch.equal(counts[:, :, 2], table.sum(2) - right)
    assert int(counts[:, :, [0, 2]].sum()) == int((truth > 0).sum())


def test_boxes_of_several_batches_are_padded_to_the_most() -> None:
    one, other = torch.zeros(2, 1, 4), torch.ones(1, 3, 4)
    joined = join_answers([one, other])
    assert joined.shape == (3, 3, 4)
    assert joined[:2, 1:].isnan().all()
    assert not joined[2].isnan().any()
