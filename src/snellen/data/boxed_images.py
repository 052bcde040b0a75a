"""Images with boxes, however they are listed: one sample per image, with all its boxes and the class of the largest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.decode import decode_content, decode_file
from snellen.data.root import stamps
from snellen.errors import UserError
from snellen.files.plain import NotRead
from snellen.hashing import checksum, key_of

NO_BOXES = np.zeros((0, 4))


@dataclass(frozen=True)
class BoxedImage:
    """One image of a listing: its id and file, and the annotations of its objects.

    `boxes` are float [n, 4] as x0, y0, x1, y1 in pixels of the file, maximum exclusive, as they were given (an object may
    reach out of the image); `names` are their classes; `place` is the class where there is no box. `size` is the (width,
    height) that the annotation `source` states. `problem` says what is wrong with it; `mask` gives the mask of an object by
    its number, and `mask_mark` is what changes when these masks do. `annotated` is False where the image has no annotation at
    all. `content` gives the encoded image where it is no file; with `shares` boxes are shares of width and height.
    """

    id: str
    path: Path | None
    names: Sequence[str] = ()
    boxes: np.ndarray = field(default_factory=lambda: NO_BOXES)
    place: str | None = None
    size: tuple[int, int] | None = None
    source: str = ""
    problem: str = ""
    mask: Callable[[int], np.ndarray] | None = None
    mask_mark: Sequence[int] | str = ""
    annotated: bool = True
    content: Callable[[], bytes | NotRead] | None = None
    shares: bool = False

    @property
    def largest(self) -> int | None:
        """The number of the object with the largest box, the first of equals."""
        if not len(self.boxes):
            return None
        sides = np.maximum(self.boxes[:, 2:] - self.boxes[:, :2], 0)
        return int(sides.prod(1).argmax())

    @property
    def name(self) -> str | None:
        """The class of the image: of its only, or largest, object; None where it is not known."""
        return (self.place if self.largest is None else self.names[self.largest]) or None

    @property
    def _turned(self) -> str:
        """What is wrong with a box that ends before it begins; nothing where none does."""
        turned = np.flatnonzero((self.boxes[:, 2:] < self.boxes[:, :2]).any(1))
        if not len(turned):
            return ""
        written = ", ".join(f"{value:g}" for value in self.boxes[turned[0]])
        return f"its box {turned[0]} ends before it begins: x0, y0, x1, y1 are {written}"

    def _photo(self) -> Photo | Unreadable:
        if self.content is not None:
            return decode_content(self.content())
        return Unreadable("it has no file") if self.path is None else decode_file(self.path)

    def read(self) -> Photo | Unreadable:
        """The photo with its boxes and mask, or what is wrong with it."""
        if self.problem or self._turned:
            return Unreadable(self.problem or self._turned, "broken annotation")
        photo = self._photo()
        if isinstance(photo, Unreadable):
            return photo
        height, width = photo.size
        if self.size is not None and self.size != (width, height):
            stated = f"{self.size[0]}x{self.size[1]}"
            return Unreadable(f"{self.source} says {stated} pixels, the image has {width}x{height}", "size differs")
        photo = replace(photo, boxes=self.boxes * (width, height, width, height) if self.shares else self.boxes)
        if self.mask is None or self.largest is None:
            return photo
        try:
            mask = self.mask(self.largest)
        except UserError as error:
            return Unreadable(f"its mask cannot be read: {error}", "broken annotation")
        if mask.shape != (height, width):
            return Unreadable(
                f"its mask is {mask.shape[1]}x{mask.shape[0]}, the image {width}x{height}", "broken annotation"
            )
        return replace(photo, maps={"mask": mask})


def boxed_dataset(
    text: str,
    images: Sequence[BoxedImage],
    classes: Sequence[str] | None = None,
    columns: Mapping[str, np.ndarray] | None = None,
    conditions: Mapping[str, str] | None = None,
    state: Sequence[object] = (),
) -> Dataset:
    """The dataset of a listing; classes are those named, sorted, unless their order is given; an unknown one is −1.

    `state` is what changes when images do that are no files of their own.
    """
    if not images:
        raise UserError(f"{text} lists no images")
    repeated = [name for name, count in Counter(image.id for image in images).items() if count > 1]
    if repeated:
        raise UserError(f"{text} lists the image '{repeated[0]}' twice")
    names = [image.name for image in images]
    known = tuple(sorted({n for n in names if n is not None})) if classes is None else tuple(classes)
    if not known:
        raise UserError(f"{text}: no image has an object with a class; give annotations, or folders named by class")
    number = {name: label for label, name in enumerate(known)}
    labels = np.array([-1 if n is None else number.get(n, -1) for n in names], np.int64)
    counts = np.array([len(image.boxes) for image in images], np.int64)
    own: dict[str, np.ndarray] = {"objects": counts, "annotated": np.array([image.annotated for image in images])}
    samples = Samples(tuple(image.id for image in images), labels, {**own, **(columns or {})})
    stats = stamps([image.path for image in images])
    outlines = checksum(np.concatenate([image.boxes for image in images]).astype("<f8").tobytes())
    annotations = [(image.size, image.problem, list(image.names)) for image in images]
    masked = all(image.mask is not None for image in images)
    more: dict[str, object] = {name: list(map(str, values)) for name, values in (columns or {}).items()}
    if masked:
        more = {"columns": more, "masks": [image.mask_mark for image in images]}
    identity = ["boxed", samples.ids, labels.tolist(), counts.tolist(), stats, outlines, annotations, known, *state]
    fingerprint = key_of([*identity, more] if more else identity)
    facts = frozenset({"boxes", "masks"} if masked else {"boxes"})

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [_with_mask(images[p].read()) if masked else images[p].read() for p in positions]

    return filter_rows(Dataset(text, known, samples, fingerprint, read, facts=facts), conditions or {})


def switch(options: dict[str, str], name: str, allowed: Sequence[str], text: str) -> str:
    """Take the option `name` out of the options; the first of what is allowed is the default."""
    value = options.pop(name, allowed[0])
    if value not in allowed:
        raise UserError(f"{text}: expected ?{name}= one of {', '.join(allowed)}, got '{value}'")
    return value


def _with_mask(photo: Photo | Unreadable) -> Photo | Unreadable:
    """A photo in which nothing is outlined has an empty mask."""
    if isinstance(photo, Unreadable) or "mask" in photo.maps:
        return photo
    return replace(photo, maps={"mask": np.zeros(photo.size, bool)})
