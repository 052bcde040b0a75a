"""Pictures of image files: what a model sees of each, and where it looks for its answer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from snellen.atomic import check_place, write_atomic
from snellen.errors import UserError, option
from snellen.exam.explain_request import ExplainRequest
from snellen.explain.methods import methods_of
from snellen.explain.picture import as_layer, as_png, picture_of, usual_images
from snellen.explain.reference import few_images
from snellen.files import expand_home
from snellen.files.remote.remote_path import RemotePath
from snellen.models import load_model
from snellen.models.model import as_model
from snellen.settings_file import door


@dataclass(frozen=True)
class Explanation:
    """One image, explained: where its picture is, the class it was taken for and how surely (0 to 1)."""

    image: Path
    picture: Path
    said: str
    confidence: float


def explain_files(request: ExplainRequest, *, notice: Callable[[str], object] = warnings.warn) -> list[Explanation]:
    """Write for each image file a PNG with what the model sees and where it looks for its answer, side by side.

    It lies beside the image as `NAME.METHOD.png`, or in the folder `out`. `model` is a text, a model or a torch module;
    `layer` is as for `gradcam`, and a whole number may be given as text. `method` is a name of `explain.methods.METHODS` or
    `captum:NAME`, or several (`gradcam,iba`), whose maps follow each other from left to right; captions below name method,
    class and scale. `data` are usual images, for methods that compare with them; without it the images themselves are.
    `notice` is called where these are too few, and where the model's preprocessing had to be guessed.

    >>> from snellen.explain import explain_images
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from snellen.train import preset, train
    >>> (path,) = train(preset(None, arch="smallnet", epochs=1), "phantom:train?size=32&n=24", "nets", quiet=True)
    >>> Image.new("RGB", (32, 32), "red").save("red.png")
    >>> written = explain_images(str(path), ["red.png"], out="maps")
    >>> [str(one.picture) for one in written]
    ['maps/red.gradcam.png']
    """
    if request.limit is not None:
        raise UserError(f"{option('limit')} is for models side by side; name fewer image files instead")
    methods, layer = methods_of(request.method), as_layer(request.layer)
    if request.out is not None:
        check_place(request.out)
    paths = list(map(expand_home, request.images))
    if request.out is None and (remote := [path for path in paths if isinstance(path, RemotePath)]):
        raise UserError(f"'{remote[0]}' is an address, beside which nothing is written; give {option('out')}")
    named = isinstance(request.model, str)
    model = load_model(str(request.model), request.device) if named else as_model(request.model)
    usual = usual_images(model, paths, methods, layer, request.data)
    counts = {statistics.count for statistics in usual.values() if statistics is not None}
    for text in [*model.card.notices, *filter(None, map(few_images, counts))]:
        notice(text)
    explained = []
    for path in paths:
        pixels, label, confidence = picture_of(model, path, methods, layer, usual)
        picture = (request.out or path.parent) / f"{path.stem}.{'+'.join(methods).replace(':', '-')}.png"
        write_atomic(picture, as_png(pixels))
        explained.append(Explanation(path, picture, label, confidence))
    return explained


explain_images = door(explain_files, ExplainRequest, "model", "images", "layer", "out", "method", name="explain_images")
