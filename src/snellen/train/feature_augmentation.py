"""Deep feature augmentation (Cen et al. 2021): learn from features as if objects were hidden, without showing hidden objects.

    snellen train resnet20 --init resnet20.safetensors --robust 'dfa(cutouts, probability=0.9, weight=1)' --data DATA --epochs 20

A difference vector is what cut-outs of `occluders` before an image do to the network's features: f(occluded) − f(clean), taken
with the weights that the training begins with, of many images. While it learns, such vectors are added to the features that
enter the last layer. Both images of a pair are normalised (in the published code of Kassaw et al. 2024 the occluded one is not).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.occluders import Occluders, read_occluders
from snellen.distort import parse
from snellen.distort.view import View
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.notation import build, expect_at_most, read, text_form
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.init_from import last_layer
from snellen.train.pgd import answering

if TYPE_CHECKING:
    from torch import Tensor, nn

_IMAGES, _COIN, _VECTORS = 11, 12, 13  # streams of one seed
_BATCH = 64


@dataclass(frozen=True)
class Dfa:
    """Add difference vectors to a batch's features with a `probability`, `weight` times, another one for each image.

    `occluders` is a folder of cut-outs (PNGs with transparency), which cover a share from `least` to `most` of an image;
    `vectors` are made, each of an image of its own where there are as many. Of the published code are probability 0.9 and weight
    1, and one coin for a whole batch.
    """

    occluders: str
    probability: float = 0.9
    weight: float = 1.0
    vectors: int = 1000
    least: float = 0.1
    most: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise ValueError(f"expected probability from 0 to 1, got {self.probability}")
        if not 0 <= self.weight < float("inf"):
            raise ValueError(f"expected weight of at least 0, got {self.weight}")
        expect_at_most(1000, weight=self.weight)
        if self.vectors < 1:
            raise ValueError(f"expected at least 1 vector, got {self.vectors}")
        expect_at_most(10**6, vectors=self.vectors)
        if not 0 < self.least <= self.most <= 1:
            raise ValueError(f"expected 0 < least ≤ most ≤ 1, got {self.least} and {self.most}")

    def __str__(self) -> str:
        return text_form(self)

    @property
    def pool(self) -> Occluders:
        """The cut-outs of its folder."""
        return read_occluders(self.occluders)


def parse_dfa(text: str) -> Dfa:
    """The way that a text such as `dfa(cutouts, weight=0.5)` names."""
    way: Dfa = build(read(text), {"dfa": Dfa}, "way of training")
    return way


def own_classes(pool: Occluders, classes: tuple[str, ...]) -> list[str]:
    """The classes of the data that have cut-outs of their own in the pool: folders, or names of files up to a number."""
    parts = {part.lower() for name in pool.ids for part in PurePosixPath(name).with_suffix("").parts}
    words = parts | {part.rstrip("0123456789").rstrip("-_ ") for part in parts}
    return [name for name in classes if name.lower() in words]


def difference_vectors(
    way: Dfa, network: nn.Module, normalise: Callable[[Tensor], Tensor], shown: ImagesInMemory, seed: int
) -> Tensor:
    """f(occluded) − f(clean) [vectors, features] of images of the training, as the network answers now; float32.

    An image on which no cut-out can cover the drawn share is left out.
    """
    count = len(shown.images)
    random = np.random.default_rng([seed, _IMAGES])
    rows = np.concatenate([random.permutation(count) for _ in range(-(-way.vectors // count))])[: way.vectors]
    cutouts, pool = parse(f"cutouts(uniform({way.least}, {way.most}))"), way.pool
    differences = []
    with answering(network), torch.no_grad(), _Entering(network) as entering:
        for start in range(0, len(rows), _BATCH):
            part = rows[start : start + _BATCH]
            images = shown.images[torch.from_numpy(part).to(shown.images.device)]
            names = [f"{row}/{start + place}" for place, row in enumerate(part)]
            view = View.of(names, seed, device=images.device, occluders=pool)
            covered = cutouts(images, view)
            features = [entering.features_of(normalise(batch)) for batch in (covered, images)]
            changed = (covered != images).flatten(1).any(1)
            differences.append((features[0] - features[1])[changed])
    vectors = torch.cat(differences)
    if not len(vectors):
        raise UserError(
            f"no cut-out of '{way.occluders}' covers {way.least:.0%} to {way.most:.0%} of an image; lower least"
        )
    return vectors


class _Entering:
    """What enters the last layer of a network, while this is open."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network

    def __enter__(self) -> _Entering:
        layer = self.network.get_submodule(last_layer(self.network))
        self.hook = layer.register_forward_pre_hook(self._keep)
        return self

    def __exit__(self, *failure: object) -> None:
        self.hook.remove()

    def _keep(self, layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self.last = inputs[0]

    def features_of(self, images: Tensor) -> Tensor:
        self.network(images)
        return self.last.float()


@dataclass(frozen=True)
class FeatureShifts:
    """The vectors of one run, [vectors, features]."""

    way: Dfa
    vectors: Tensor
    seed: int

    @contextmanager
    def of_step(self, step: int, network: nn.Module) -> Iterator[None]:
        """Add vectors to what enters the network's last layer in this step, if its coin says so."""
        if np.random.default_rng([self.seed, step, _COIN]).random() >= self.way.probability:
            yield
            return
        random = np.random.default_rng([self.seed, step, _VECTORS])

        def shift(layer: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            features: Tensor = inputs[0]
            rows = torch.from_numpy(random.integers(len(self.vectors), size=len(features))).to(features.device)
            vectors = self.vectors[rows].to(features.dtype).reshape(features.shape)
            return (features + self.way.weight * vectors, *inputs[1:])

        hook = network.get_submodule(last_layer(network)).register_forward_pre_hook(shift)
        try:
            yield
        finally:
            hook.remove()
