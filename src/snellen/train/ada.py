"""Adversarial data augmentation (Volpi et al. 2018), which Volpi & Murino (2019) compare with.

    --robust 'ada(phases=3, updates=100, steps=15, size=1, gamma=1)'

After every `updates` updates a phase makes of each training image a new one: gradient ascent in pixels on the loss, less `gamma`
times the distance from the image in the network's semantic space. The new images join the data under the old labels.

The semantic space is what enters the last layer with weights: the 1,024 units before the logits of the ConvNet, the pooled
features of a ResNet. The network answers as in `eval`, so that an image's ascent does not depend on its neighbours.

Way and settings are the published ones, but a training is so only with its network: `--recipe volpi2018` is the authors' code
(`convnet_slim`: pixels in 0…1, Glorot's first weights; 10,001 updates at 1e-4, 6 phases). All other networks see standardised
pixels, where a step of the ascent is another one, and begin with torch's first weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.notation import build, expect_at_most, read, text_form
from snellen.train.hardening import Lesson, autocast
from snellen.train.init_from import last_layer
from snellen.train.pgd import answering

if TYPE_CHECKING:
    from torch import Tensor, nn

LEVELS = 255.0
BATCH = 32  # images whose mean the published code ascends
_CHOICE, _START = 5, 6  # streams of one seed: which version a batch shows, which one an ascent begins at


@dataclass(frozen=True)
class Ada:
    """`phases` of ascent, one after every `updates` updates, of `steps` steps each; then the training goes on.

    A step is `size` times the gradient, with pixels in 0…1; `gamma` weighs the distance. `objective` says of what: `code`, the
    published one, ascends the mean loss of 32 images less gamma times the mean square of the differences of features;
    `paper` ascends each image's own loss less gamma times half the sum of squares. Pixels are not cut to 0…1, as there.
    """

    phases: int = 3
    updates: int = 100
    steps: int = 15
    size: float = 1.0
    gamma: float = 1.0
    objective: Literal["code", "paper"] = "code"

    def __post_init__(self) -> None:
        for name, least, most in (("phases", 0, 1000), ("updates", 1, 10**9), ("steps", 0, 10**6)):
            if getattr(self, name) < least:
                raise ValueError(f"expected {name} of at least {least}, got {getattr(self, name)}")
            expect_at_most(most, **{name: getattr(self, name)})
        for name in ("size", "gamma"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"expected {name} of at least 0, got {getattr(self, name)}")
            expect_at_most(1e6, **{name: getattr(self, name)})

    def __str__(self) -> str:
        return text_form(self)

    def ascend(
        self, network: nn.Module, normalise: Callable[[Tensor], Tensor], images: Tensor, labels: Tensor
    ) -> Tensor:
        """Images float32 [B, 3, H, W] in units of 0…255 after the ascent from `images`; no weight receives a gradient."""
        inside = _Features(network.get_submodule(last_layer(network)))
        start = images.detach().float() / LEVELS
        with answering(network), inside, torch.enable_grad():
            with torch.no_grad(), autocast(images.device):
                network(normalise(start * LEVELS))
            home, point = inside.values(), start
            for _ in range(self.steps):
                point = point.detach().requires_grad_(True)
                with autocast(images.device):
                    logits = network(normalise(point * LEVELS))
                losses = torch.nn.functional.cross_entropy(logits.float(), labels, reduction="none")
                squares = (inside.values() - home).square()
                if self.objective == "code":
                    value = (losses - self.gamma * squares.mean(1)).sum() / BATCH
                else:
                    value = (losses - self.gamma * squares.sum(1) / 2).sum()
                (slope,) = torch.autograd.grad(value, point)
                point = point.detach() + self.size * slope
        return point.detach() * LEVELS


def parse_ada(text: str) -> Ada:
    """The way that a text such as `ada(phases=3, updates=100)` names."""
    way: Ada = build(read(text), {"ada": Ada}, "way of training")
    return way


class _Features:
    """What entered a layer last, as float32 [B, features], while this is open."""

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer

    def __enter__(self) -> None:
        self.hook = self.layer.register_forward_pre_hook(self._keep)

    def __exit__(self, *failure: object) -> None:
        self.hook.remove()

    def _keep(self, layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self.last = inputs[0]

    def values(self) -> Tensor:
        return self.last.float().flatten(1)


@dataclass
class AdaHardening:
    """The new images of one run. A version is original + offset; of n images and k phases each batch shows the k + 1 versions
    of its images with equal chances, which draws uniformly from the data that grew."""

    way: Ada
    lesson: Lesson
    offsets: list[Tensor] = field(default_factory=list)  # of each phase, float16 [N, 3, H, W] in units of 0…255

    def begin(self) -> None:
        """Nothing is there yet."""

    def change(self, step: int, rows: np.ndarray, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The images of a batch, each in a version of its own, float32 from the first phase on."""
        return self._versions(rows, images, np.random.default_rng([self.lesson.seed, step, _CHOICE])), labels

    def after(self, step: int, network: nn.Module) -> None:
        """Make new images, where it is time after this update."""
        phase, rest = divmod(step + 1, self.way.updates)
        if rest or phase > self.way.phases:
            return
        team, shown = self.lesson.team, self.lesson.shown
        count = len(shown.images)
        share = -(-count // team.size)  # the last process's share is filled up: all gather the same shape
        mine = np.arange(team.rank * share, (team.rank + 1) * share) % count
        random = np.random.default_rng([self.lesson.seed, phase, _START])
        choices = random.integers(len(self.offsets) + 1, size=count)
        parts = []
        for rows in np.array_split(mine, max(1, -(-share // self.lesson.batch_size))):
            at = torch.from_numpy(rows).to(shown.images.device)
            start = self._chosen(rows, shown.images[at], choices[rows])
            new = self.way.ascend(network, self.lesson.normalise, start, shown.labels[at])
            parts.append((new - shown.images[at]).half())
        self.offsets.append(team.gather(torch.cat(parts))[:count])
        if shown.images.is_cuda:
            torch.cuda.synchronize(shown.images.device)  # the next batch is made on another stream

    def state(self) -> Any:
        """The offsets of every phase so far."""
        return self.offsets

    def restore(self, state: Any) -> None:
        """Go on from a saved state."""
        shape, device = self.lesson.shown.images.shape, self.lesson.shown.images.device
        if not isinstance(state, list) or any(getattr(offset, "shape", None) != shape for offset in state):
            raise UserError(f"expected the new images of each phase as {list(shape)}")
        self.offsets = [offset.to(device, torch.float16) for offset in state]

    def facts(self) -> dict[str, Any]:
        """For the card: how far each phase moved its images, as the root mean square of a pixel in 0…1."""
        lengths = [float((offset.float() / LEVELS).square().mean().sqrt()) for offset in self.offsets]
        return {"adversarial": [{"phase": number, "distance": length} for number, length in enumerate(lengths, 1)]}

    def _versions(self, rows: np.ndarray, images: Tensor, random: np.random.Generator) -> Tensor:
        return self._chosen(rows, images, random.integers(len(self.offsets) + 1, size=len(rows)))

    def _chosen(self, rows: np.ndarray, images: Tensor, choices: np.ndarray) -> Tensor:
        """The images in some versions: 0 is the original."""
        if not self.offsets:
            return images
        images = images.float()
        for number, offset in enumerate(self.offsets, 1):
            members = np.flatnonzero(choices == number)
            places = torch.from_numpy(members).to(images.device)
            images[places] += offset[torch.from_numpy(rows[members]).to(images.device)].float()
        return images
