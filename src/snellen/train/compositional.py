"""Begin a compositional network: kernels, part maps and clutter models from the features of a trained backbone.

    snellen train 'compositional(resnet20, kernels=128)' --init resnet20.safetensors --data DATA --epochs 10 --lr 0.01

As Kortylewski et al. (2020) do: kernels are clusters of directions of training features; the images of each class are clustered
by which kernels are active where, and each cluster gives a mixture, whose part maps are fitted by expectation and maximisation;
clutter models are the kernels of white images, of noise and of backgrounds. One class is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.data import load_data
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.compositional import Compositional, parse_compositional
from snellen.models.zoo import build
from snellen.train.device_dataset import ImagesInMemory, remember
from snellen.train.init_from import Start

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.models.compositional.network import CompositionalNet

MOST_DIRECTIONS = 50_000  # that kernels are clustered from
PER_IMAGE = 20  # directions of an image among them
MOST_PER_CLASS = 500  # images of a class that its mixtures are fitted to
FITTING_STEPS = 10
SMOOTHING = 1e-3  # of every share of a kernel: none is impossible
SYNTHETIC = 32  # white and noise images of the clutter models
_BATCH = 64


@dataclass(frozen=True)
class Beginning:
    """What a compositional network begins with: a trained backbone and the images it learns from."""

    start: Start | None
    shown: ImagesInMemory
    classes: tuple[str, ...]
    normalise: Callable[[Tensor], Tensor]
    seed: int

    def network(self, text: str, *, fitted: bool = True) -> CompositionalNet:
        """The network of a text, on the images' device; without `fitted` its head is left for a saved state."""
        from snellen.models.compositional.network import CompositionalNet, find_features

        settings = parse_compositional(text)
        if self.start is None:
            raise UserError(
                f"'{text}' explains the features of a trained {settings.backbone}; name its checkpoint with --init"
            )
        device = self.shown.images.device
        backbone = build(settings.backbone, self._outputs())
        self.start.into(backbone, tuple(self.start.card.get("classes") or self.classes))
        backbone = backbone.to(device).eval()
        first = self.normalise(self.shown.images[:2])
        network = (
            CompositionalNet(find_features(settings, backbone, first), backbone, len(self.classes)).to(device).eval()
        )
        if fitted:
            with torch.no_grad():
                self.fit(network)
        network.freeze_unused(first)
        return network

    def _outputs(self) -> int:
        """The classes of the backbone's own last layer, which is not used."""
        return len(self.start.card["classes"]) if self.start and self.start.card.get("classes") else len(self.classes)

    def fit(self, network: CompositionalNet) -> None:
        """Give a network its kernels, part maps, clutter models and scale; without gradients."""
        from snellen.models.compositional.clustering import cluster_directions, sample_rows

        settings, device = network.settings, self.shown.images.device
        random = torch.Generator().manual_seed(self.seed)
        rows = sample_rows(self._directions(network, random), MOST_DIRECTIONS, random)
        if len(rows) < settings.kernels:
            raise UserError(
                f"{len(self.shown.images)} images have {len(rows)} features, fewer than {settings.kernels} kernels; give more "
                f"images or fewer kernels, such as kernels={max(len(rows) // 4, 1)}"
            )
        network.kernels.copy_(cluster_directions(rows, settings.kernels, random).to(device))
        for number, name in enumerate(self.classes):
            images = self._of_class(number, name, settings, random)
            network.set_parts(number, self._parts(network, images, random))
        for number, images in enumerate(self._clutter(settings, random)):
            network.clutter_logits[number] = _shares(network, images, self.normalise).mean((0, 2, 3)).log()
        self._fit_scale(network)

    def _directions(self, network: CompositionalNet, random: torch.Generator) -> Iterator[Tensor]:
        """Some features of every image, [n, D] of a batch at a time."""
        places = network.settings.rows * network.settings.columns
        for images in self.shown.images.split(_BATCH):
            features = network.features(self.normalise(images)).flatten(2).transpose(1, 2)
            few = torch.rand(len(images), places, generator=random).argsort(1)[:, :PER_IMAGE].to(features.device)
            chosen = features.gather(1, few[:, :, None].expand(-1, -1, features.shape[2])).flatten(0, 1)
            yield chosen[chosen.norm(dim=1) > 0]

    def _of_class(self, number: int, name: str, settings: Compositional, random: torch.Generator) -> Tensor:
        """At most 500 images of a class."""
        rows = (self.shown.labels == number).nonzero()[:, 0].cpu()
        if not len(rows):
            raise UserError(f"class '{name}' has no images to learn its parts from; leave it out with ?without={name}")
        if len(rows) < settings.mixtures:
            raise UserError(
                f"class '{name}' has {len(rows)} images, fewer than the {settings.mixtures} mixtures of each class; leave the "
                f"class out, or write mixtures={len(rows)}"
            )
        chosen = rows[torch.randperm(len(rows), generator=random)[:MOST_PER_CLASS].sort().values]
        return self.shown.images[chosen.to(self.shown.images.device)]

    def _parts(self, network: CompositionalNet, images: Tensor, random: torch.Generator) -> Tensor:
        """Part maps [M, K, H, W] of the images of one class: clusters of images, each fitted by expectation and maximisation."""
        from snellen.models.compositional.clustering import cluster_directions

        active = _active(network, images, self.normalise)
        shares = active / active.sum(1, keepdim=True)
        coded = shares.flatten(1).cpu()
        centres = cluster_directions(coded, network.settings.mixtures, random)
        nearest = (torch.nn.functional.normalize(coded, dim=1) @ centres.T).argmax(1).to(active.device)
        parts = []
        for mixture in range(network.settings.mixtures):
            own = active[nearest == mixture] if bool((nearest == mixture).any()) else active
            part = _smooth(own.div(own.sum(1, keepdim=True)).mean(0))
            for _ in range(FITTING_STEPS):
                explained = part * own
                part = _smooth((explained / explained.sum(1, keepdim=True)).mean(0))
            parts.append(part)
        return torch.stack(parts)

    def _clutter(self, settings: Compositional, random: torch.Generator) -> Iterator[Tensor]:
        """Images of what may hide an object: white, noise, and backgrounds (without any, all that is shown)."""
        shape = (SYNTHETIC, *self.shown.images.shape[1:])
        device = self.shown.images.device
        yield torch.full(shape, 255, dtype=torch.uint8, device=device)
        yield torch.randint(0, 256, shape, dtype=torch.uint8, generator=random).to(device)
        if settings.backgrounds is not None:
            yield remember(load_data(settings.backgrounds), device, self.shown.size, labelled=False).images
        else:
            few = torch.randperm(len(self.shown.images), generator=random)[:MOST_PER_CLASS]
            yield self.shown.images[few.to(device)]

    def _fit_scale(self, network: CompositionalNet) -> None:
        """The scale of the logits under which the training labels are likeliest; its search is one-dimensional."""
        few = slice(0, 2000)
        scores = torch.cat(
            [network.scores(network.features(self.normalise(part))) for part in self.shown.images[few].split(_BATCH)]
        )
        places, labels = network.settings.rows * network.settings.columns, self.shown.labels[few]
        scales = torch.logspace(-2, 3, 101, device=scores.device)
        losses = [torch.nn.functional.cross_entropy(scale * scores / places, labels) for scale in scales]
        network.log_scale.copy_(scales[torch.stack(losses).argmin()].log())


def _active(network: CompositionalNet, images: Tensor, normalise: Callable[[Tensor], Tensor]) -> Tensor:
    from snellen.models.compositional.likelihood import activations

    parts = [network.features(normalise(part)) for part in images.split(_BATCH)]
    return torch.cat([activations(part, network.kernels, network.settings.concentration) for part in parts])


def _shares(network: CompositionalNet, images: Tensor, normalise: Callable[[Tensor], Tensor]) -> Tensor:
    """Which kernels explain each place, [B, K, H, W] that sum to 1."""
    active = _active(network, images, normalise)
    return active / active.sum(1, keepdim=True)


def _smooth(shares: Tensor) -> Tensor:
    """Shares [K, H, W] of the kernels, none of them 0."""
    kernels = shares.shape[0]
    return (shares + SMOOTHING / kernels) / (1 + SMOOTHING)
