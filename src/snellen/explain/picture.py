"""Pictures of maps: an overlay of where a model looked, beside the photo."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.atomic import check_place, write_atomic
from snellen.data.canvas import Unshowable, render
from snellen.data.dataset import Dataset, Unreadable
from snellen.data.decode import decode_file
from snellen.data.folder import EXTENSIONS
from snellen.errors import UserError
from snellen.explain.captions import Caption, with_captions
from snellen.explain.methods import Method, methods_of
from snellen.explain.overlays import overlay
from snellen.explain.reference import estimate, few_images, load_statistics
from snellen.explain.statistics import FeatureStatistics
from snellen.files import expand_home
from snellen.lazy_torch import torch
from snellen.models.model import Model


@dataclass(frozen=True)
class Explanation:
    """One image, explained: where its picture is, the class it was taken for and how surely (0 to 1)."""

    image: Path
    picture: Path
    said: str
    confidence: float


def explain_images(
    model: Model,
    images: Sequence[Path | str],
    layer: int | str | None = None,
    out: Path | str | None = None,
    method: str | Sequence[str] = "gradcam",
    *,
    data: Dataset | str | None = None,
    notice: Callable[[str], object] = warnings.warn,
) -> list[Explanation]:
    """Write for each image file a PNG with what the model sees and where it looks for its answer, side by side.

    It lies beside the image as `NAME.METHOD.png`, or in the folder `out`. `layer` is as for `gradcam`; a whole number may
    be given as text. `method` is a name of `explain.methods.METHODS` or `captum:NAME`, or several (`gradcam,iba`), whose
    maps follow each other from left to right; captions below name method, class and scale. `data` are usual images, for
    methods that compare with them; without it the images themselves are. `notice` is told where these are too few.
    """
    methods, layer = methods_of(method), as_layer(layer)
    folder = None if out is None else expand_home(out)
    if folder is not None:
        check_place(folder)
    paths = list(map(expand_home, images))
    usual = {name: _usual(method, model, paths, layer, data) for name, method in methods.items()}
    for count in {statistics.count for statistics in usual.values() if statistics is not None}:
        if (text := few_images(count)) is not None:
            notice(text)
    explained = []
    for path in paths:
        pixels = torch.from_numpy(_shown(path, model)[None])
        answer = model(pixels)[0]
        best = int(answer.argmax())
        heats = [
            method.make(model, pixels, [best], layer, statistics=usual[name])[0] for name, method in methods.items()
        ]
        row = np.concatenate([pixels[0].permute(1, 2, 0).numpy(), *(overlay(pixels[0], heat) for heat in heats)], 1)
        picture = (folder or path.parent) / f"{path.stem}.{'+'.join(methods).replace(':', '-')}.png"
        name = model.classes[best] if model.classes else str(best)
        said = f"{name} ({100 * float(answer[best]):.0f}%)"
        captions = [
            Caption(("as the model sees it", path.name)),
            *(Caption((way, f"for {said}"), scale=True) for way in methods),
        ]
        write_atomic(picture, as_png(with_captions(enlarged(row), captions)))
        explained.append(Explanation(path, picture, name, float(answer[best])))
    return explained


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
