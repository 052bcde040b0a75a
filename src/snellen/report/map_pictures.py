"""Pictures of stored maps: the thumbnail of an image under a model's map, with the object's boxes and the suggested one."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.audits.alignment_facts import BoxEdges, MapExample
from snellen.engine.keep.thumbnail_file import read_thumbnail
from snellen.errors import UserError
from snellen.explain.overlays import frame, overlay
from snellen.files.picture import open_image
from snellen.report.answers import (
    Replies,
    answered_class,
    cell_rows,
    model_card,
    model_classes,
    sample_places,
    stored_answers,
)
from snellen.report.blocks import Answer
from snellen.report.pictures import address_of
from snellen.report.results import Results
from snellen.report.table import CLEAN

if TYPE_CHECKING:
    from PIL import Image

SIDE = 208  # pixels of a picture's shorter side, at least
OBJECT, SUGGESTED = (255, 255, 255), (255, 64, 214)  # the colours of the boxes: white and magenta
OverlayColour = tuple[int, int, int]


@dataclass(frozen=True)
class MapPictures:
    """What is stored of some samples: by model the key of what its first run was shown and its cell, their places in the
    listing, and the answers."""

    results: Results
    shown: Mapping[str, str]
    cells: Mapping[str, str]
    places: Mapping[str, int]
    answers: Replies

    @classmethod
    def of(cls, results: Results, samples: Sequence[str]) -> MapPictures:
        """What there is of the samples, as every model saw them without distortion."""
        rows = [row for row in cell_rows(results) if (row.on, row.distortion) == ("test", CLEAN)]
        first = {row.model: row for row in reversed(rows)}
        places = {sample: place for (on, sample), place in sample_places(results, samples).items() if on == "test"}
        return cls(
            results,
            {model: row.shown for model, row in first.items()},
            {model: row.cell for model, row in first.items()},
            places,
            stored_answers(results.folder.store.files("answers"), samples),
        )

    def photo(self, model: str, example: MapExample) -> str | None:
        """The image with the object's boxes, as a data address."""
        return self._draw(model, example, None, [(box, OBJECT) for box in example.boxes])

    def pixels(self, model: str, sample: str) -> np.ndarray | None:
        """uint8 [H, W, 3]: the image as the model saw it, enlarged to SIDE at least; None where it is not stored."""
        store, place = self.results.folder.store, self.places.get(sample)
        content = None if place is None else read_thumbnail(store.thumbnail(self.shown.get(model, ""), place))
        if content is None:
            return None
        try:
            with open_image(content) as image:
                picture = image.convert("RGB")
        except UserError:
            return None
        times = max(1, -(-SIDE // min(picture.size)))
        return np.asarray(picture.resize((picture.width * times, picture.height * times), _filter(times)))

    def map(self, model: str, example: MapExample, method: str, layer: int | str | None) -> str | None:
        """The image under the map of the model's first run by an attribution method, with the object's boxes and the one that
        WSOL suggests; None where the map or the image is not stored."""
        heat = self.heat(model, example.sample, method, layer)
        boxes = [(example.suggested, SUGGESTED), *((box, OBJECT) for box in example.boxes)]
        return None if heat is None else self._draw(model, example, heat, boxes)

    def answer(self, model: str, sample: str, label: str) -> Answer | None:
        """What the model's first run answered."""
        answer = self.answers.get((self.cells.get(model, ""), sample))
        if answer is None:
            return None
        classes = self.results.data["test"].classes
        name = answered_class(answer, classes, model_classes(self.results, model))
        return Answer(name, name == label if label else None, hue=self.results.own_hue(model))

    def label(self, sample: str) -> str:
        """The class of a sample; empty where it has none."""
        place, size = self.places.get(sample), self.results.facts.settings.shard
        return "" if place is None else _label(self.results, place, size)

    def heat(self, model: str, sample: str, method: str, layer: int | str | None) -> np.ndarray | None:
        """[H, W] as it is stored: the map of the model's first run by an attribution method at a layer; None where none is."""
        from snellen.engine.ask.maps import maps_in

        store, place = self.results.folder.store, self.places.get(sample)
        card = model_card(self.results, model)
        facts = {"on": "test", "distortion": CLEAN, "model_fingerprint": card.fingerprint if card else None}
        keys = store.map_keys(**facts, method=method, layer=layer)
        shard = -1 if place is None else place // self.results.facts.settings.shard
        for key in keys:
            if (table := store.maps(key, shard)) is not None:
                maps = maps_in(table)
                return maps.of([sample])[0] if sample in maps.ids else None
        return None

    def _draw(
        self, model: str, example: MapExample, heat: np.ndarray | None, boxes: Sequence[tuple[BoxEdges, OverlayColour]]
    ) -> str | None:
        pixels = self.pixels(model, example.sample)
        if pixels is None:
            return None
        canvas, size = example.canvas, (pixels.shape[1], pixels.shape[0])
        if heat is not None:
            pixels = overlay(pixels, resized(heat, size))
        for box, colour in boxes:
            scaled = [edge * size[axis % 2] / canvas[1 - axis % 2] for axis, edge in enumerate(box)]
            pixels = frame(frame(pixels, scaled, (20, 20, 20), 4), _smaller(scaled), colour, 2)
        return jpeg_address(pixels)


def _label(results: Results, place: int, size: int) -> str:
    from snellen.engine.keep.shard_file import read_rows, shard_file

    file = shard_file(results.folder.path / "samples" / "test", place // size)
    return "" if file is None else str(read_rows(file, ["class"])["class"][place % size].as_py() or "")


def _smaller(box: Sequence[float]) -> list[float]:
    """A box a pixel inside another, so that a dark line stays around its own."""
    return [box[0] + 1, box[1] + 1, box[2] - 1, box[3] - 1]


def _filter(times: int) -> Image.Resampling:
    from PIL import Image

    return (
        Image.Resampling.BICUBIC if times < 3 else Image.Resampling.NEAREST
    )  # of tiny images one wants to see the pixels


def resized(heat: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A stored map at a size, width and height, in 8 bits."""
    from PIL import Image

    if heat.dtype == np.uint16:
        heat = (heat // 257).astype(np.uint8)
    return np.asarray(Image.fromarray(heat).resize(size, Image.Resampling.BILINEAR))


def jpeg_address(pixels: np.ndarray) -> str:
    """A picture uint8 [H, W, 3] as a data address."""
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "JPEG", quality=82, subsampling=0)
    return address_of(content.getvalue(), "jpeg")
