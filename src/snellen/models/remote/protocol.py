"""What is said to a remote model and what it answers: JSON, with images as base64 PNG files.

POST {"images": ["iVBORw0…", …]}
200  {"probabilities": [[0.1, 0.9], …], "classes": ["cat", "dog"]}     classes may be left out
200  {"labels": ["cat", …], "classes": ["cat", "dog"]}                with #answers=labels: a name, or null, per image
200  {"boxes": [[[x0, y0, x1, y1], …], …]}                             with #task=detection
200  {"maps": ["AAEB…", …], "classes": […]}                            with #task=segmentation: H · W bytes each, base64
"""

from __future__ import annotations

import base64
import binascii
import io
import json
from typing import Annotated, Any

import msgspec
import numpy as np
from PIL import Image

from snellen.errors import UserError
from snellen.files import decode_json
from snellen.models.card import MOST_CLASSES, Task
from snellen.models.tasks import MOST_BOXES
from snellen.models.text_answers import probabilities_of, with_other

MOST_IMAGES = 100_000  # of one request
NONE = 255  # a pixel of no class

_Row = Annotated[list[float], msgspec.Meta(min_length=1, max_length=MOST_CLASSES)]
_Box = tuple[float, float, float, float]
_Names = Annotated[list[Annotated[str, msgspec.Meta(max_length=1000)]], msgspec.Meta(max_length=MOST_CLASSES)]


class Classified(msgspec.Struct):
    """Per image the probability of each class."""

    probabilities: Annotated[list[_Row], msgspec.Meta(max_length=MOST_IMAGES)]
    classes: _Names | None = None


class Labelled(msgspec.Struct):
    """Per image the name of a class, null for no answer."""

    labels: Annotated[list[Annotated[str, msgspec.Meta(max_length=1000)] | None], msgspec.Meta(max_length=MOST_IMAGES)]
    classes: _Names


class Detected(msgspec.Struct):
    """Per image the boxes of what was detected, in pixels, maximum exclusive."""

    boxes: Annotated[
        list[Annotated[list[_Box], msgspec.Meta(max_length=MOST_BOXES)]], msgspec.Meta(max_length=MOST_IMAGES)
    ]
    classes: _Names | None = None


class Segmented(msgspec.Struct):
    """Per image the class of each pixel, row by row, a byte each, as base64; 255 is none."""

    maps: Annotated[list[str], msgspec.Meta(max_length=MOST_IMAGES)]
    classes: _Names | None = None


SCHEMAS: dict[Task, type[Classified | Detected | Segmented]] = {
    "classification": Classified,
    "detection": Detected,
    "segmentation": Segmented,
}


def read_labels(content: bytes, count: int, source: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """What a callable returns for n images that were answered in words, and the classes with that of no known word."""
    answer: Labelled = decode_json(content, Labelled, source, unique=True)
    _check_length(answer.labels, count, "labels", source)
    classes = with_other(answer.classes)
    return probabilities_of(answer.labels, classes[:-1]), classes


def request_of(images: np.ndarray) -> bytes:
    """The body of a request for images uint8 [n, H, W, 3]."""
    return json.dumps({"images": [base64.b64encode(_png(image)).decode() for image in images]}).encode()


def _png(image: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG", compress_level=1)
    return file.getvalue()


def read_answer(
    content: bytes, shape: tuple[int, int, int], task: Task, source: str
) -> tuple[Any, tuple[str, ...] | None]:
    """What a callable of the task returns for n images (n, H, W), and the names of the classes where they are told."""
    answer: Classified | Detected | Segmented = decode_json(content, SCHEMAS[task], source, unique=True)
    classes = None if answer.classes is None else tuple(answer.classes)
    if isinstance(answer, Classified):
        rows = answer.probabilities
        _check_length(rows, shape[0], "probabilities", source)
        width = len(classes) if classes is not None else len(rows[0]) if rows else 0
        for number, row in enumerate(rows):
            if len(row) != width:
                raise UserError(
                    f"{source}: probabilities[{number}] has {len(row)} numbers; expected {width}, one per class"
                )
        return np.array(rows, np.float64).reshape(len(rows), width), classes
    if isinstance(answer, Detected):
        _check_length(answer.boxes, shape[0], "boxes", source)
        return answer.boxes, classes
    _check_length(answer.maps, shape[0], "maps", source)
    return np.stack(
        [_map(text, shape, f"{source}: maps[{number}]") for number, text in enumerate(answer.maps)]
    ), classes


def _check_length(values: list[Any], count: int, field: str, source: str) -> None:
    if len(values) != count:
        raise UserError(f"{source}: {field} has {len(values)} entries for {count} images; expected one per image")


def _map(text: str, shape: tuple[int, int, int], source: str) -> np.ndarray:
    """int64 [H, W]: one class map; −1 where there is no class."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UserError(f"{source} is not base64") from None
    if len(content) != shape[1] * shape[2]:
        raise UserError(f"{source} has {len(content)} bytes; expected {shape[1]}x{shape[2]}, one per pixel")
    values = np.frombuffer(content, np.uint8).reshape(shape[1:]).astype(np.int64)
    return np.where(values == NONE, -1, values)
