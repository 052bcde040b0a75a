"""Pictures of maps: an overlay of where a model looks, beside the photo."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.data.canvas import Unshowable, render
from snellen.data.dataset import Dataset, Unreadable
from snellen.data.decode import decode_file
from snellen.data.folder import EXTENSIONS
from snellen.errors import UserError
from snellen.explain.captions import Caption, with_captions
from snellen.explain.feature_grid import peaked_maps
from snellen.explain.methods import Method
from snellen.explain.overlays import overlay
from snellen.explain.reference import estimate, load_statistics
from snellen.explain.statistics import FeatureStatistics
from snellen.lazy_torch import torch
from snellen.models.model import Model

UsualImages = Mapping[str, FeatureStatistics | None]  # by the name of a method


def picture_of(
    model: Model, path: Path, methods: Mapping[str, Method], layer: int | str | None, usual: UsualImages
) -> tuple[np.ndarray, str, float]:
    """uint8 [H, W, 3]: what the model sees of an image file and beside it where it looks, by each method, with captions that name
    method, class and scale; the class it takes it for and how surely (0 to 1)."""
    pixels = torch.from_numpy(_shown(path, model)[None])
    answer = model(pixels)[0]
    best = int(answer.argmax())
    heats = [
        peaked_maps(method.make(model, pixels, [best], layer, statistics=usual[name]))[0]
        for name, method in methods.items()
    ]
    photo, confidence = pixels[0].permute(1, 2, 0).numpy(), float(answer[best])
    row = np.concatenate([photo, *(overlay(pixels[0], heat) for heat in heats)], 1)
    label = model.classes[best] if model.classes else str(best)
    whose = {True: f"for {label} ({100 * confidence:.0f}%)", False: "of no class"}
    captions = [
        Caption(("as the model sees it", path.name)),
        *(Caption((name, whose[method.by_class]), scale=True) for name, method in methods.items()),
    ]
    return with_captions(enlarged(row), captions), label, confidence


def usual_images(
    model: Model,
    paths: Sequence[Path],
    methods: Mapping[str, Method],
    layer: int | str | None,
    data: Dataset | str | None,
) -> UsualImages:
    """What each method knows of usual images: those of the data, else the image files; None where it needs none."""
    return {name: _usual(method, model, paths, layer, data) for name, method in methods.items()}


def _usual(
    method: Method, model: Model, paths: Sequence[Path], layer: int | str | None, data: Dataset | str | None
) -> FeatureStatistics | None:
    """What a method that needs it knows of usual images: those of the data, else the image files."""
    if method.reference is None:
        return None
    if data is not None:
        return load_statistics(model, data, layer)
    return estimate(model, (torch.from_numpy(_shown(path, model)[None]) for path in paths), layer)


def is_image_name(name: str) -> bool:
    """Whether a name ends as image files do; no text of a model does."""
    return Path(name).suffix.lower() in EXTENSIONS


def as_layer(layer: int | str | None) -> int | str | None:
    """A layer as `gradcam` takes it: a whole number may be given as text."""
    return int(layer) if isinstance(layer, str) and re.fullmatch(r"[-+]?\d+", layer) else layer


def _shown(path: Path, model: Model) -> np.ndarray:
    """uint8 [3, H, W]: the image on the model's canvas, or as it is where the model names none."""
    photo = decode_file(path)
    if isinstance(photo, Unreadable):
        raise UserError(f"{path} {photo.reason}")
    if model.canvas is None:
        return np.ascontiguousarray(photo.image.transpose(2, 0, 1))
    try:
        return render(photo, model.canvas).image
    except Unshowable as error:
        raise UserError(f"{path} {error}") from None


def png(pixels: np.ndarray, smallest: int = 224) -> bytes:
    """A PNG of uint8 [H, W, 3]; small images are enlarged by whole pixels."""
    return as_png(enlarged(pixels, smallest))


def enlarged(pixels: np.ndarray, smallest: int = 224) -> np.ndarray:
    """uint8 [H, W, 3], repeated by whole pixels where it is less than `smallest` pixels high."""
    times = max(1, smallest // pixels.shape[0])
    return pixels.repeat(times, 0).repeat(times, 1)


def as_png(pixels: np.ndarray) -> bytes:
    """A PNG of uint8 [H, W, 3] as it is."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()
