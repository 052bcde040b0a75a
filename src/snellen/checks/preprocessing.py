"""Preprocessing that does not fit: the same images, normalised as other networks want them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.checks.doubt import GAIN, Doubt, clearly_better
from snellen.lazy_torch import torch
from snellen.models.card import IMAGENET_MEAN, IMAGENET_STD
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.checks.first_look import Look

FEW = 16  # images that the model gets wrong, and as many that it gets right, on which other ways are tried first

Triple = tuple[float, float, float]
NORMALISATIONS: dict[str, tuple[Triple, Triple]] = {
    "plain pixels in 0…1": ((0, 0, 0), (1, 1, 1)),
    "pixels in 0…255": ((0, 0, 0), (1 / 255, 1 / 255, 1 / 255)),
    "ImageNet's mean and std": (IMAGENET_MEAN, IMAGENET_STD),
    "mean and std of 0.5": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "CIFAR-10's mean and std": ((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)),
}


@dataclass(frozen=True)
class Preprocessing:
    """Another way to prepare images: `pixels` maps uint8 images to what the model's own normalisation turns into it."""

    name: str
    advice: str
    pixels: Callable[[Tensor], Tensor]


def preprocessing(name: str, model: Model, look: Look, own: np.ndarray) -> Doubt | None:
    """Whether a torch model is clearly more often right (5 points, p < 0.001) on the images prepared otherwise.

    `own` are its 0/1 scores on the first images as it is asked. Only ways that seem better on these are asked about the rest.
    """
    if own.mean() > 1 - GAIN:
        return None
    others = promising_ways(ways(model), look, own)
    if not others:
        return None
    rest = look.rest()
    own = np.concatenate([own, look.right(rest.images, rest.labels)])
    scores = {
        way: np.concatenate([first, look.right(way.pixels(rest.images), rest.labels)]) for way, first in others.items()
    }
    groups = None if look.first.groups is None or rest.groups is None else np.append(look.first.groups, rest.groups)
    return fits_better(name, own, scores, groups)


def promising_ways(ways: Sequence[Preprocessing], look: Look, own: np.ndarray) -> dict[Preprocessing, np.ndarray]:
    """The ways that are more often right than `own` on the first images, with their 0/1 scores on them.

    They are tried on some images that the model gets wrong, then on some that it gets right, then on the others. A way is given
    up where what it gains on the wrong ones is not more than what it loses on the right ones: most are after the first step.
    """
    tried = {way: np.full(len(own), np.nan) for way in ways}
    steps = [np.flatnonzero(own == 0), np.flatnonzero(own == 1)]
    others = np.sort(np.concatenate([rows[FEW:] for rows in steps]))
    for rows in (*(rows[:FEW] for rows in steps), others):
        if tried and len(rows):
            pixels = torch.cat([way.pixels(look.first.images[rows]).float() for way in tried])
            right = look.right(pixels, look.first.labels[rows].repeat(len(tried)))
            for scores, part in zip(tried.values(), np.split(right, len(tried))):
                scores[rows] = part
            tried = {way: scores for way, scores in tried.items() if expected_gain(own, scores) > 0}
    return tried


def expected_gain(own: np.ndarray, scores: np.ndarray) -> float:
    """How many points another way gains over all images, by those that it was tried on (the others are NaN)."""
    gains = 0.0
    for level in (0, 1):
        tried = scores[(own == level) & ~np.isnan(scores)]
        if len(tried):
            gains += (own == level).mean() * (tried.mean() - level)
    return round(gains, 9)  # what is lost and gained alike is 0


def fits_better(
    model: str, own: np.ndarray, others: Mapping[Preprocessing, np.ndarray], groups: np.ndarray | None = None
) -> Doubt | None:
    """The doubt that the best of the other ways raises, from 0/1 scores on the same images; None where none is clear."""
    best = max(others, key=lambda way: others[way].mean())
    if not clearly_better(others[best], own, groups):
        return None
    return Doubt(
        "preprocessing",
        f"'{model}' is right on {100 * others[best].mean():.1f}% of {len(own)} images given {best.name}, as it is asked on "
        f"{100 * own.mean():.1f}%",
        best.advice,
        model,
    )


def ways(model: Model) -> list[Preprocessing]:
    """The common normalisations that are not the model's own, and its own with red and blue exchanged."""
    mean, std = model.card.mean or (0.0, 0.0, 0.0), model.card.std or (1.0, 1.0, 1.0)
    others = [
        Preprocessing(name, _advice(*usual, from_file=model.module is None), _through((mean, std), usual))
        for name, usual in NORMALISATIONS.items()
        if not np.allclose(usual, (mean, std), rtol=1e-3, atol=1e-4)
    ]
    how = "export" if model.module is None else "wrap"
    advice = f"it seems to expect blue first; give it such: {how} the module so that it calls network(x[:, [2, 1, 0]])"
    return [*others, Preprocessing("red and blue exchanged (BGR)", advice, lambda images: images.flip(1))]


def _advice(mean: Triple, std: Triple, from_file: bool) -> str:
    """What to change: of a network in a file the settings of its text, of a module the arguments of from_torch."""
    if from_file:
        settings = "&".join(
            f"{name}={','.join(f'{value:.4g}' for value in triple)}" for name, triple in (("mean", mean), ("std", std))
        )
        return f"it seems trained on these; write them behind its text: #{settings}"
    if (mean, std) == NORMALISATIONS["plain pixels in 0…1"]:
        return "it seems to normalise by itself; leave mean and std out of from_torch"
    numbers = [f"[{', '.join(f'{value:.4g}' for value in triple)}]" for triple in (mean, std)]
    return f"it seems trained on these; pass them: from_torch(module, mean={numbers[0]}, std={numbers[1]})"


def _through(own: tuple[Triple, Triple], other: tuple[Triple, Triple]) -> Callable[[Tensor], Tensor]:
    """uint8 images → float pixels that the own normalisation makes what the other one would make of the images."""
    (mean, std), (other_mean, other_std) = (
        tuple(torch.tensor(triple).view(1, 3, 1, 1) for triple in pair) for pair in (own, other)
    )
    scale = std / other_std
    return lambda images: images.float() * scale + 255 * (mean - other_mean * scale)
