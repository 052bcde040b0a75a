"""Preprocessing that does not fit: the same images, normalised as other networks want them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.checks.doubt import FEWEST, Doubt
from snellen.data.dataset import Dataset, limited
from snellen.engine.cell import canvas_for
from snellen.engine.settings import Settings
from snellen.engine.slides import slides
from snellen.lazy import torch
from snellen.measure import compare
from snellen.models.card import IMAGENET_MEAN, IMAGENET_STD
from snellen.models.labels import LabelMap
from snellen.models.model import Model
from snellen.models.subject import Subject

if TYPE_CHECKING:
    from torch import Tensor

IMAGES = 256
SCREENED = 64  # of these decide whether another way is worth asking about the rest
GAIN = 0.05  # what another way must bring, as a share

Triple = tuple[float, float, float]
NORMALISATIONS: dict[str, tuple[Triple, Triple]] = {
    "plain pixels in 0…1": ((0, 0, 0), (1, 1, 1)),
    "pixels in 0…255": ((0, 0, 0), (1 / 255, 1 / 255, 1 / 255)),
    "ImageNet's mean and std": (IMAGENET_MEAN, IMAGENET_STD),
    "mean and std of 0.5": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "CIFAR-10's mean and std": ((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)),
}


@dataclass(frozen=True)
class Way:
    """Another way to prepare images: `pixels` maps uint8 images to what the model's own normalisation turns into it."""

    name: str
    advice: str
    pixels: Callable[[Tensor], Tensor]


def preprocessing(subject: Subject, data: Dataset, labels: LabelMap, settings: Settings) -> Doubt | None:
    """Whether a torch model is clearly more often right (5 points, p < 0.001) on up to 256 images prepared otherwise."""
    model = subject.model(settings.device)
    known = data.at(np.flatnonzero(data.samples.labels >= 0)) if (data.samples.labels < 0).any() else data
    if model.module is None or model.predict is None or len(known) < FEWEST:
        return None
    chosen, canvas = limited(known, IMAGES), canvas_for(subject, data)
    (slide,) = slides(chosen, [range(len(chosen))], [canvas], settings.decoders)
    # A listing is often sorted by class: 64 of these images must not be of one class only.
    rows = np.argsort(chosen.samples.keys, kind="stable")
    rows = rows[[not slide.errors[row] for row in rows]]
    if len(rows) < FEWEST:
        return None
    images, truth = slide.images[canvas][rows], torch.from_numpy(chosen.samples.labels[rows])

    def right(way: Way | None, part: slice) -> np.ndarray:
        pixels = images[part] if way is None else way.pixels(images[part])
        answers = torch.cat([model(some) for some in pixels.split(settings.batch_for(canvas))])
        return (labels.read(answers.cpu(), truth[part]).pred == truth[part]).numpy().astype(np.float64)

    own = right(None, slice(SCREENED))
    if own.mean() > 1 - GAIN:
        return None
    screened = {way: right(way, slice(SCREENED)) for way in ways(model)}
    promising = {way: scores for way, scores in screened.items() if scores.mean() > own.mean()}
    if not promising:
        return None
    rest = slice(SCREENED, None) if len(rows) > SCREENED else None
    if rest is not None:
        own = np.concatenate([own, right(None, rest)])
        promising = {way: np.concatenate([scores, right(way, rest)]) for way, scores in promising.items()}
    return fits_better(subject.name, own, promising)


def fits_better(model: str, own: np.ndarray, others: Mapping[Way, np.ndarray]) -> Doubt | None:
    """The doubt that the best of the other ways raises, from 0/1 scores on the same images; None where none is clear."""
    best = max(others, key=lambda way: others[way].mean())
    if others[best].mean() - own.mean() < GAIN or not compare(others[best], own).p < 0.001:
        return None
    return Doubt(
        "preprocessing",
        f"'{model}' is right on {100 * others[best].mean():.1f} % of {len(own)} images given {best.name}, as it is asked on "
        f"{100 * own.mean():.1f} %",
        best.advice,
        model,
    )


def ways(model: Model) -> list[Way]:
    """The common normalisations that are not the model's own, and its own with red and blue exchanged."""
    mean, std = model.card.mean or (0.0, 0.0, 0.0), model.card.std or (1.0, 1.0, 1.0)
    others = [
        Way(name, _advice(*wanted), _through((mean, std), wanted))
        for name, wanted in NORMALISATIONS.items()
        if not np.allclose(wanted, (mean, std), rtol=1e-3, atol=1e-4)
    ]
    turned = "it seems to expect blue first; give it such: wrap the module so that it calls network(x[:, [2, 1, 0]])"
    return [*others, Way("red and blue exchanged (BGR)", turned, lambda images: images.flip(1))]


def _advice(mean: Triple, std: Triple) -> str:
    if (mean, std) == NORMALISATIONS["plain pixels in 0…1"]:
        return "it seems to normalise by itself; leave mean and std out of from_torch"
    numbers = [f"[{', '.join(f'{value:.4g}' for value in triple)}]" for triple in (mean, std)]
    return f"it seems trained on these; pass them: from_torch(module, mean={numbers[0]}, std={numbers[1]})"


def _through(own: tuple[Triple, Triple], wanted: tuple[Triple, Triple]) -> Callable[[Tensor], Tensor]:
    """uint8 images → float pixels that the own normalisation makes what the wanted one would make of the images."""
    (mean, std), (other_mean, other_std) = (
        tuple(torch.tensor(triple).view(1, 3, 1, 1) for triple in pair) for pair in (own, wanted)
    )
    scale = std / other_std
    return lambda images: images.float() * scale + 255 * (mean - other_mean * scale)
