"""Scores of classification, segmentation and detection, as on search.md: worked by hand, and against torchvision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torchvision.ops import box_iou as torchvision_iou

from snellen.distort import View
from snellen.distort.distortion import Moving
from snellen.measure import segmentation
from snellen.models.box_match import box_iou
from snellen.models.labels import LabelMap
from snellen.search import confusion, correct, finds, image_fitness, pixel_accuracy
from snellen.search.image_fitness import ImageFitness

ROWS = torch.arange(3)


def brightest(images: Tensor) -> Tensor:
    """A segmentation model: the class of a pixel is its brightest channel, −1 where it is black."""
    return torch.where(images.sum(1) == 0, -1, images.argmax(1))


def painted(maps: list[list[list[int]]]) -> Tensor:
    """Images whose pixels show a class: red, green or blue; −1 is black."""
    classes = torch.tensor(maps)
    return (
        (torch.nn.functional.one_hot(classes.clamp(min=0), 3) * (classes >= 0)[..., None] * 200)
        .byte()
        .permute(0, 3, 1, 2)
    )


@dataclass(frozen=True)
class Slide(Moving):
    """Two columns to the right; what comes in is black, and 0 in maps."""

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return self.move(images, view)

    def move(self, maps: Tensor, view: View) -> Tensor:
        after = torch.zeros_like(maps)
        after[..., 2:] = maps[..., :-2]
        return after


@pytest.fixture
def slide(monkeypatch: pytest.MonkeyPatch) -> None:
    """`slide()` among the edits."""
    real = image_fitness._parsed
    monkeypatch.setattr(image_fitness, "_parsed", lambda text: Slide() if text == "slide()" else real(text))


def test_a_right_class_scores_one_and_an_unknown_label_never_does() -> None:
    answers = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.7, 0.1]])
    score = correct(lambda images: answers[images[:, 0, 0, 0].long()], np.array([0, 1, -1]))
    images = torch.tensor([0, 1, 2], dtype=torch.uint8).view(3, 1, 1, 1).expand(3, 3, 2, 2)
    assert score(images, ROWS).tolist() == [1, 0, 0]
    assert score(images[[2, 1, 0]], torch.tensor([2, 1, 0])).tolist() == [0, 0, 1]
    mapped = correct(lambda images: answers, [0, 1, 0], LabelMap(2, "argmax", (0, -1, 1)))
    assert mapped(images, ROWS).tolist() == [1, 1, 0]


def test_pixel_accuracy_of_three_pictures_worked_by_hand() -> None:
    truth = [[[0, 1], [2, 0]], [[0, 0], [-1, 255]], [[1, 2], [7, 2]]]
    shown = painted([[[0, 1], [2, 1]], [[0, 1], [1, 1]], [[1, 2], [-1, -1]]])
    score = pixel_accuracy(brightest, np.array(truth), ignore=[255, 7])
    assert score(shown, ROWS).tolist() == pytest.approx([3 / 4, 1 / 2, 2 / 3])
    assert score.weights.tolist() == [4, 2, 3]
    view = View.of(["a", "b", "c"])
    assert ImageFitness(shown, score, view)(()) == pytest.approx((3 / 4 + 1 / 2 + 2 / 3) / 3)
    pooled = ImageFitness(shown, score, view, batch=2, weights=score.weights)
    assert pooled.many([(), ("none()",)]) == pytest.approx([6 / 9, 6 / 9])
    assert pooled.many([()], np.array([2, 0])) == pytest.approx([5 / 7])
    counts = confusion(pooled)
    assert counts.shape == (3, 3, 4)
    assert counts.sum((1, 2)).tolist() == [4, 2, 3]
    assert counts[2].tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    measured = segmentation(counts)
    assert measured.pixel_accuracy.value == pytest.approx(6 / 9)
    assert measured.tp.tolist() == [2, 2, 2]
    assert measured.fp.tolist() == [0, 2, 0]
    assert measured.fn.tolist() == [2, 0, 1]


def test_classes_of_a_segmentation_model_become_those_of_the_data() -> None:
    shown = painted([[[0, 1], [2, 0]]])
    score = pixel_accuracy(brightest, [[[1, 0], [0, 1]]], label_map=LabelMap(2, "argmax", (1, 0, -1)))
    assert score(shown, ROWS[:1]).tolist() == [3 / 4]
    assert score.confusion(shown, ROWS[:1])[0].tolist() == [[1, 0, 1], [0, 2, 0]]


def test_an_image_without_a_labelled_pixel_is_refused() -> None:
    with pytest.raises(ValueError, match="labelled pixels in every image, got none in number 1"):
        pixel_accuracy(brightest, [[[0, 1]], [[-1, 3]]], ignore=3)


@pytest.mark.usefixtures("slide")
def test_label_maps_move_with_the_pixels_and_what_comes_in_counts_nowhere() -> None:
    truth = torch.randint(0, 3, (5, 4, 6), generator=torch.Generator().manual_seed(2))
    score = pixel_accuracy(brightest, truth)
    fitness = ImageFitness(painted(truth.tolist()), score, View.of(list("abcde")), batch=7, weights=score.weights)
    tuples = [("slide()",), ("slide()", "brightness(0.9)", "slide()"), ("brightness(0.9)",)]
    assert fitness.many(tuples) == [1, 1, 1]
    assert fitness.many(tuples, np.array([4, 0])) == [1, 1, 1]
    assert fitness(("slide()", "invert()")) < 0.6
    assert confusion(fitness, ("slide()",)).sum() == 5 * 4 * 4
    assert fitness(("slide()",) * 3) == 1  # all labels have left the picture: nothing is left to get wrong


def test_maps_of_another_size_are_refused() -> None:
    score = pixel_accuracy(lambda images: images[:, 0, :1].long(), torch.zeros(1, 2, 2))
    with pytest.raises(ValueError, match=r"expected class maps \[1, 2, 2\], got \[1, 1, 2\]"):
        score(torch.zeros(1, 3, 2, 2, dtype=torch.uint8), ROWS[:1])


NAN = [float("nan")] * 4


def test_an_object_counts_as_detected_where_a_box_matches() -> None:
    answers = torch.tensor([[[0.0, 0, 10, 10], [50, 50, 60, 60]], [[0, 0, 10, 4.9], NAN], [NAN, NAN]])
    boxes = [np.array([[0.0, 0, 10, 10]])] * 3
    shown = torch.zeros(3, 3, 64, 64, dtype=torch.uint8)
    assert finds(lambda images: answers, boxes)(shown, ROWS).tolist() == [1, 0, 0]
    assert finds(lambda images: answers, boxes, 0.49)(shown, ROWS).tolist() == [1, 1, 0]
    assert finds(lambda images: answers)(shown, ROWS).tolist() == [1, 1, 0]
    several = [np.array([[0.0, 0, 1, 1], [50, 50, 60, 60]]), *boxes[1:]]
    assert finds(lambda images: answers, several)(shown, ROWS).tolist() == [1, 0, 0]
    assert finds(lambda images: torch.zeros(3, 0, 4), boxes)(shown, ROWS).tolist() == [0, 0, 0]


def test_true_boxes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 1 to 60 boxes in every image, got 0 in number 1"):
        finds(brightest, [np.ones((1, 4)), np.ones((0, 4))])
    with pytest.raises(ValueError, match="expected an IoU above 0 and up to 1, got 0"):
        finds(brightest, None, 0)


@given(st.integers(0, 2**30))
def test_overlaps_are_those_of_torchvision(seed: int) -> None:
    random = np.random.default_rng(seed)
    boxes = np.sort(random.integers(0, 20, (2, 4, 2, 2)), axis=2).reshape(2, 4, 4)
    boxes[..., 2:] += 1
    one, other = torch.from_numpy(boxes).double()
    assert torch.allclose(box_iou(one[None], other[None])[0], torchvision_iou(one, other))


@pytest.mark.usefixtures("slide")
def test_true_boxes_move_with_the_pixels() -> None:
    shown = torch.zeros(2, 3, 12, 12, dtype=torch.uint8)
    shown[0, :, 3:6, 2:6] = shown[1, :, 0:4, 8:12] = 255
    boxes = [np.array([[2.0, 3, 6, 6]]), np.array([[8.0, 0, 12, 4], [0, 0, 1, 1]])]

    def detector(images: Tensor) -> Tensor:
        """The box around what is white."""
        outlines = []
        for image in images:
            rows, columns = (image[0] > 128).nonzero(as_tuple=True)
            outlines.append(
                [NAN] if not len(rows) else [[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]]
            )
        return torch.tensor(outlines, dtype=torch.float32)

    fitness = ImageFitness(shown, finds(detector, boxes, 0.99), View.of(["a", "b"]))
    assert fitness.many([(), ("slide()",), ("slide()", "slide()")]) == [
        1,
        1,
        0.5,
    ]  # one object has left, its other box not
    assert fitness(("slide()",) * 7) == 1
    assert fitness(("invert()",)) == 0
