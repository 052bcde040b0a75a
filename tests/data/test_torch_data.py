"""Datasets and loaders of torch: the same images and answers as from arrays, and one line for what cannot be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset
from torchvision.transforms import v2

import snellen
from snellen.data import as_data, from_arrays
from snellen.data.dataset import Photo
from snellen.errors import UserError


class Pictures:
    """A map-style dataset without being one of torch's."""

    def __init__(self, images: np.ndarray, labels: list[Any], show: Any = Image.fromarray, classes: Any = None) -> None:
        self.images, self.labels, self.show = images, labels, show
        if classes is not None:
            self.classes = classes

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, position: int) -> tuple[Any, Any]:
        return self.show(self.images[position]), self.labels[position]


def tensor(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image).permute(2, 0, 1)


LABELS = [0, 1, 2] * 4
SHOWN = {
    "pillow": Image.fromarray,
    "array": lambda image: image,
    "tensor": tensor,
    "floats": lambda image: tensor(image).float() / 255,
    "halves": lambda image: (image / 255).astype(np.float32),
}


@pytest.mark.parametrize("form", SHOWN)
def test_every_form_of_an_image_gives_the_same_pixels(form: str, photos: np.ndarray) -> None:
    data = as_data(Pictures(photos, LABELS, SHOWN[form], ["cat", "dog", "cow"]))
    read = data.read([5, 0])
    assert all(isinstance(photo, Photo) for photo in read)
    np.testing.assert_array_equal(read[0].image, photos[5])
    np.testing.assert_array_equal(read[1].image, photos[0])
    assert (data.size, data.classes, data.samples.labels.tolist()) == ((32, 32), ("cat", "dog", "cow"), LABELS)
    assert data.samples.ids[:2] == ("000000", "000001")


def test_an_audit_of_a_loader_equals_that_of_arrays(photos: np.ndarray) -> None:
    stack = TensorDataset(torch.stack([tensor(image) for image in photos]), torch.tensor(LABELS))
    loader = DataLoader(stack, batch_size=5, shuffle=True)
    arrays = from_arrays({"images": photos, "labels": np.array(LABELS)}, "arrays", "x")
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 3))
    first, second = (
        snellen.audit(network, data, "interference([shuffle(2)])", report=False, quiet=True).predictions()
        for data in (loader, arrays)
    )
    columns = ["distortion", "sample", "label", "pred", "label_prob"]
    assert first[columns].equals(second[columns])
    assert len(first)


def test_pixels_and_labels_are_in_the_fingerprint(photos: np.ndarray) -> None:
    first = as_data(Pictures(photos, LABELS)).fingerprint
    assert as_data(Pictures(photos.copy(), LABELS)).fingerprint == first
    assert as_data(DataLoader(Pictures(photos, LABELS))).fingerprint == first  # type: ignore[arg-type]
    other = photos.copy()
    other[11, 31, 31, 2] ^= 1
    assert as_data(Pictures(other, LABELS)).fingerprint != first
    assert as_data(Pictures(photos, [*LABELS[:-1], 0])).fingerprint != first
    assert as_data(Subset(Pictures(photos, LABELS), range(6))).fingerprint != first  # type: ignore[arg-type]


def test_grey_images_mappings_and_unknown_labels(photos: np.ndarray) -> None:
    class Rows(Pictures):
        def __getitem__(self, position: int) -> Any:
            return {"image": self.images[position, :, :, 0], "label": torch.tensor(self.labels[position])}

    data = as_data(Rows(photos, [-1, *LABELS[1:]]))
    np.testing.assert_array_equal(data.read([3])[0].image, photos[3, :, :, :1].repeat(3, 2))
    assert data.samples.labels[0] == -1


def test_an_image_that_fails_is_listed_and_not_dropped(photos: np.ndarray) -> None:
    class Holed(Pictures):
        def __getitem__(self, position: int) -> Any:
            if position == 7:
                raise OSError("no such file")
            return super().__getitem__(position)

    data = as_data(Holed(photos, LABELS))
    assert len(data) == 12
    assert data.samples.labels[7] == -1
    assert data.read([7])[0].reason == "cannot be read: no such file"


def normalised(image: np.ndarray) -> torch.Tensor:
    return v2.functional.normalize(tensor(image).float() / 255, [0.5] * 3, [0.25] * 3)


class Stream(IterableDataset):
    def __iter__(self) -> Any:
        return iter(())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: Pictures(x, LABELS, normalised), "image 0 has values from .*: give .* without Normalize"),
        (lambda x: Pictures(x, LABELS, lambda i: i.astype(np.int32)), "expected uint8 or floats in 0…1, got int32"),
        (lambda x: Pictures(x, LABELS, lambda i: i[:, :, :2]), r"expected \[H, W, 3\] or \[H, W\], got \[32, 32, 2\]"),
        (lambda x: Pictures(x, LABELS, lambda i: tensor(i)[None]), r"expected \[3, H, W\] or \[H, W\], got \[1, 3, 32, 32\]"),
        (lambda x: Pictures(x, ["cat"] * 12), "expected a label as the number of its class, got str 'cat'"),
        (lambda x: Pictures(x, [0.5] * 12), "expected a label as the number of its class, got float '0.5'"),
        (lambda x: Pictures(x, [3] * 12, classes=["a", "b"]), "label 3 of image 0 is outside the 2 classes"),
        (lambda x: TensorDataset(torch.zeros(2, 3, 4, 4)), r"expected items as \(image, label\)"),
        (lambda x: Pictures(x[:0], []), "torch:Pictures holds no images"),
        (lambda x: Pictures(x, LABELS, lambda i: np.random.permutation(i)), "gives another image each time it is read"),
        (lambda x: DataLoader(Stream()), "torch:Stream has no length or no positions"),
        (lambda x: 3, "expected data as text, a Dataset or one of torch's, got int"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_one_line(make: Any, message: str, photos: np.ndarray) -> None:
    with pytest.raises(UserError, match=message):
        as_data(make(photos))
