"""Sources of concepts: who says what the pixels of an image show.

| text | source |
|---|---|
| `data` | the dataset's own masks (of the image's class), label maps, or all that the phantom world knows |
| `colours` | the eleven basic colour terms, from the pixels alone |
| `labels:DIR` | a folder of label images with `concepts.csv` |
| `model:TEXT` | a model of the task segmentation, shown the same images |

Classes are objects; `data?categories=FILE` and `model:TEXT?categories=FILE` name a table of those that are not (`categories`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.concepts.categories import MARK, CategoryTable, split_source
from snellen.concepts.label_folder import LabelFolder, read_label_folder
from snellen.data.colour_names import COLOURS, terms_of_channels
from snellen.data.concept_maps import MOST_CONCEPTS, Concept
from snellen.data.dataset import Dataset, Photo, Unreadable
from snellen.errors import UserError, unknown
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.card import Card
from snellen.models.device import Device
from snellen.models.model import Model
from snellen.models.subject import subjects_of

if TYPE_CHECKING:
    from torch import Tensor

KINDS = ("data", "colours", "labels:DIR", "model:TEXT")
NO_CONCEPT = frozenset({"", "background", "__background__", "void", "unlabelled", "unlabeled"})
MapsOfPhoto = Sequence[np.ndarray]  # those of one photo, integers [H, W]: place of a concept + 1, 0 for none


@dataclass(frozen=True)
class PhotoSource:
    """Concepts that are known of the photos: `read(positions, photos)` gives for each photo `maps` of them, or why not."""

    concepts: tuple[Concept, ...]
    maps: int
    read: Callable[[Sequence[int], Sequence[Photo]], Sequence[MapsOfPhoto | Unreadable]]


@dataclass(frozen=True)
class PixelSource:
    """Concepts that are seen in what the model is shown: `read` maps uint8 images [n, 3, H, W] to integers [n, h, w] on the same
    device, the place of a concept plus 1, 0 for none. One that is `pointwise` sees no more than the pixel itself."""

    concepts: tuple[Concept, ...]
    read: Callable[[Tensor], Tensor]
    pointwise: bool = False


Source = PhotoSource | PixelSource


def open_sources(texts: Sequence[str], data: Dataset, device: Device = None) -> list[Source]:
    """The sources of some texts, for one dataset; two that name the same concept are refused."""
    sources = [_open(text, data, device) for text in texts]
    owners: dict[Concept, int] = {}
    for number, source in enumerate(sources):
        for concept in source.concepts:
            if (owner := owners.setdefault(concept, number)) != number:
                raise UserError(f"'{texts[owner]}' and '{texts[number]}' both know {concept}; leave one of them out")
    if len(owners) > MOST_CONCEPTS:
        raise UserError(f"{len(owners):,} concepts are more than {MOST_CONCEPTS:,}; name fewer sources")
    return sources


def check_sources(texts: Sequence[str], data: Dataset) -> None:
    """Refuse what cannot be opened, without loading a model."""
    open_sources([text for text in texts if not text.startswith("model:")], data)
    for text in texts:
        if text.startswith("model:"):
            source, categories = split_source(text)
            categories.concepts(_segmenter_card(source).classes or (), source)


def fingerprint_of(text: str) -> str:
    """What stands for the content of a source in keys; that of the data has its own."""
    kind, _, place = text.partition(":")
    if kind == "labels":
        return read_label_folder(place).fingerprint
    source, categories = split_source(text)
    content = _segmenter_card(source).fingerprint if kind == "model" else "1"
    return key_of([content, categories.fingerprint]) if categories.path is not None else content


def default_sources(facts: frozenset[str]) -> tuple[str, ...]:
    """The sources where none is named: colours and, where a dataset with these facts knows something, the data."""
    return ("data", "colours") if facts & {"masks", "labels"} else ("colours",)


def _open(text: str, data: Dataset, device: Device) -> Source:
    kind, colon, place = text.partition(":")
    if text == "data" or text.startswith(f"data{MARK}"):
        return _own(data, split_source(text)[1])
    if kind == "colours" and not colon:
        return PixelSource(tuple(Concept("colour", name) for name in COLOURS), name_colours, pointwise=True)
    if kind == "labels" and place:
        return _labelled(read_label_folder(place), data)
    if kind == "model" and place:
        return _segmented(text, device)
    raise unknown("source of concepts", text, KINDS)


def name_colours(images: Tensor) -> Tensor:
    """Integers [n, H, W]: the colour term of each pixel of uint8 images [n, 3, H, W], its place in COLOURS plus 1."""
    red, green, blue = images.int().unbind(1)
    terms: Tensor = terms_of_channels(red, green, blue, torch.where)
    return terms


def _own(data: Dataset, categories: CategoryTable) -> PhotoSource:
    """What the dataset itself knows, the most detailed first."""
    known = data.concepts
    if known is not None:
        if categories.path is not None:
            raise UserError(f"{data.text} knows the categories of its concepts; leave out {MARK}{categories.path}")
        return PhotoSource(known.concepts, known.maps, lambda positions, photos: list(known.read(positions)))
    labels = data.samples.labels
    objects = tuple(
        Concept(concept.category, name)  # classes of data have no synonyms
        for concept, name in zip(categories.concepts(data.classes, data.text), data.classes)
    )
    if "labels" in data.facts:
        return PhotoSource(
            objects, 1, lambda positions, photos: [[photo.maps["labels"].clip(-1) + 1] for photo in photos]
        )
    if "masks" in data.facts:
        return PhotoSource(
            objects,
            1,
            lambda positions, photos: [
                [photo.maps["mask"] * np.int16(labels[position] + 1)] for position, photo in zip(positions, photos)
            ],
        )
    raise UserError(
        f"{data.text} has neither masks nor label maps, so it is no source of concepts; use others, such as colours, "
        "labels:DIR or model:TEXT"
    )


def _labelled(folder: LabelFolder, data: Dataset) -> PhotoSource:
    folder.check(data.samples.ids)
    ids = data.samples.ids
    return PhotoSource(
        folder.concepts,
        len(folder.maps),
        lambda positions, photos: [folder.read(ids[position]) for position in positions],
    )


def _segmented(text: str, device: Device) -> PixelSource:
    source, categories = split_source(text)
    concepts = categories.concepts(_segmenter_card(source).classes or (), source)
    model = subjects_of(source.removeprefix("model:"), device)[0].model(device)
    places = [number for number, concept in enumerate(concepts) if concept.name.lower() not in NO_CONCEPT]
    return PixelSource(tuple(concepts[place] for place in places), segmenter(model, len(concepts), places))


def _segmenter_card(text: str) -> Card:
    place = text.removeprefix("model:")
    cards = [subject.card for subject in subjects_of(place)]
    if len(cards) != 1 or cards[0].task != "segmentation" or not cards[0].classes:
        raise UserError(
            f"'{text}' is not one model of the task segmentation that names its classes; see snellen.models.from_torch and "
            "from_callable"
        )
    return cards[0]


def segmenter(model: Model, classes: int, places: Sequence[int]) -> Callable[[Tensor], Tensor]:
    """A function from uint8 images [n, 3, H, W] to integers [n, h, w]: the number among `places` of the model's class of each
    pixel plus 1, 0 where it is none of them."""
    numbers = torch.zeros(classes, dtype=torch.int64)
    numbers[list(places)] = torch.arange(1, len(places) + 1)

    def read(images: Tensor) -> Tensor:
        answers = model(_resized(images, model)).to(images.device)
        if len(answers) and not 0 <= int(answers.min()) <= int(answers.max()) < classes:
            raise UserError(
                f"model '{model.name}' answered class {int(answers.max())}, but names {classes}; name all of them"
            )
        return numbers.to(images.device)[answers]

    return read


def _resized(images: Tensor, model: Model) -> Tensor:
    """The images at the size of the model's own canvas, so that both models see the same part of a photo."""
    canvas = model.canvas
    if canvas is None or tuple(images.shape[2:]) == (canvas.height, canvas.width):
        return images
    scaled = torch.nn.functional.interpolate(
        images.float(), (canvas.height, canvas.width), mode="bilinear", antialias=True
    )
    return scaled.round().clamp(0, 255).to(torch.uint8)
