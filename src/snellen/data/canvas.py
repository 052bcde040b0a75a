"""The canvas: the picture a model sees. Photos are put on it once; distortions happen there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from PIL import Image

from snellen.data.dataset import IGNORED, Photo

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"]
Fit = Literal["crop", "squash", "pad", "native"]
MOST_SCALED = 100_000_000  # pixels of a photo after scaling: a strip of 1 × 100,000 on 224 pixels would take gigabytes


class Unshowable(ValueError):
    """A photo that cannot be put on a canvas; what it says is the reason to list it with."""


@dataclass(frozen=True)
class Canvas:
    """Height and width in pixels and the rule by which a photo gets there.

    `crop` scales the shorter side to `scale` and takes the centre; `squash` scales both sides to `scale` (ignoring the
    aspect) and takes the centre; `pad` scales the longer side to fit and pads with black; `native` expects photos of
    this very size. Pillow resampling, so the pixels equal those of timm's and torchvision's PIL transforms.
    """

    height: int
    width: int
    fit: Fit = "crop"
    scale: int = 0
    interpolation: Interpolation = "bicubic"

    def __str__(self) -> str:
        rule = self.fit if self.fit in ("native", "pad") else f"{self.fit} {self.scale or max(self.height, self.width)}"
        return f"{self.height}x{self.width} {rule} {self.interpolation}"


@dataclass(frozen=True)
class Rendered:
    """A photo on a canvas: uint8 [3, H, W], with boxes and maps moved along."""

    image: np.ndarray
    boxes: np.ndarray | None = None
    maps: dict[str, np.ndarray] = field(default_factory=dict)


def render(photo: Photo, canvas: Canvas) -> Rendered:
    """Put a photo on the canvas; maps (of any resolution) move by nearest neighbour, boxes in pixels, clipped to the canvas.

    >>> import numpy as np
    >>> from snellen.data import Canvas, Photo, render
    >>> from snellen.data import Canvas, Photo
    >>> photo = Photo(np.zeros((40, 60, 3), np.uint8), checksum="")
    >>> render(photo, Canvas(32, 32, 32)).image.shape
    (3, 32, 32)
    """
    height, width = photo.size
    target, offset = placement(height, width, canvas)
    if target == (height, width) and offset == (0, 0) and target == (canvas.height, canvas.width):
        maps = {
            name: values if values.shape == target else _moved(name, values, target, offset, canvas)
            for name, values in photo.maps.items()
        }
        return Rendered(np.ascontiguousarray(photo.image.transpose(2, 0, 1)), photo.boxes, maps)
    filter = Image.Resampling[canvas.interpolation.upper()]
    image = Image.fromarray(photo.pixels) if isinstance(photo.pixels, np.ndarray) else photo.pixels
    if target != (height, width):
        image = image.resize((target[1], target[0]), filter)
    placed = np.asarray(_window(image, offset, canvas))
    maps = {name: _moved(name, values, target, offset, canvas) for name, values in photo.maps.items()}
    boxes = None
    if photo.boxes is not None:
        scale = np.array([target[1] / width, target[0] / height] * 2)
        shift = np.array([offset[1], offset[0]] * 2)
        limits = np.array([canvas.width, canvas.height] * 2)
        boxes = np.clip(photo.boxes * scale - shift, 0, limits)
    return Rendered(np.ascontiguousarray(placed.transpose(2, 0, 1)), boxes, maps)


def placement(height: int, width: int, canvas: Canvas) -> tuple[tuple[int, int], tuple[int, int]]:
    """The size a photo is scaled to, and the offset (top, left) of the canvas in it; negative offsets mean padding."""
    if canvas.fit == "native":
        if (height, width) != (canvas.height, canvas.width):
            raise Unshowable(f"expected a photo of {canvas.height}x{canvas.width} pixels, got {height}x{width}")
        return (height, width), (0, 0)
    scale = canvas.scale or max(canvas.height, canvas.width)
    if canvas.fit == "squash":
        longest = max(canvas.height, canvas.width)
        target = (canvas.height * scale // longest, canvas.width * scale // longest)
    elif canvas.fit == "pad":
        ratio = min(canvas.height / height, canvas.width / width)
        target = (max(1, round(height * ratio)), max(1, round(width * ratio)))
    elif height <= width:
        target = (scale, int(scale * width / height))
    else:
        target = (int(scale * height / width), scale)
    check_scaled((height, width), target)
    top = round((target[0] - canvas.height) / 2)
    left = round((target[1] - canvas.width) / 2)
    return target, (top, left)


def check_scaled(size: tuple[int, int], target: tuple[int, int]) -> None:
    """Refuse to scale a photo (height, width) to so many pixels that memory would not hold it."""
    if target[0] * target[1] > MOST_SCALED:
        raise Unshowable(
            f"is too long for its width: {size[0]}x{size[1]} pixels scaled to {target[0]}x{target[1]} are more than "
            f"{MOST_SCALED:,}"
        )


def _window(image: Image.Image, offset: tuple[int, int], canvas: Canvas) -> Image.Image:
    top, left = offset
    return image.crop((left, top, left + canvas.width, top + canvas.height))


def _moved(
    name: str, values: np.ndarray, target: tuple[int, int], offset: tuple[int, int], canvas: Canvas
) -> np.ndarray:
    """A map moved to the canvas; where that was padded the classes of pixels do not count."""
    if name != "labels":
        return _moved_map(values, target, offset, canvas)
    return _moved_map(values - IGNORED, target, offset, canvas) + IGNORED


def _moved_map(values: np.ndarray, target: tuple[int, int], offset: tuple[int, int], canvas: Canvas) -> np.ndarray:
    """A label map moved to the canvas by nearest neighbour; what was padded is 0."""
    rows = np.floor((np.arange(canvas.height) + offset[0] + 0.5) * values.shape[0] / target[0]).astype(np.int64)
    columns = np.floor((np.arange(canvas.width) + offset[1] + 0.5) * values.shape[1] / target[1]).astype(np.int64)
    inside = (rows >= 0) & (rows < values.shape[0])
    across = (columns >= 0) & (columns < values.shape[1])
    moved = values[np.clip(rows, 0, values.shape[0] - 1)[:, None], np.clip(columns, 0, values.shape[1] - 1)]
    return np.where(inside[:, None] & across, moved, np.zeros((), values.dtype))
