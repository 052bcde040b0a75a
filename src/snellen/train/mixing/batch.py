"""A batch on its way into a mix: its images, its partners and its draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from snellen.distort.draws import on_device
from snellen.lazy_torch import torch
from snellen.notation import expect_at_most, text_form
from snellen.train.mixing.pair import Pair
from snellen.train.mixing.partners import like
from snellen.train.mixing.targets import Targets, whole

if TYPE_CHECKING:
    from torch import Tensor

LARGEST = 1_000_000  # parameter of a mix


@runtime_checkable
class BatchMix(Protocol):
    """A way of showing two images in one: a frozen dataclass with a text form, called on a batch."""

    name: ClassVar[str]

    def __call__(
        self,
        images: Tensor,
        labels: Tensor,
        draws: torch.Generator,
        partners: Tensor | None = None,
        *,
        reformulated: bool = False,
        mean: Tensor | Sequence[float] | None = None,
        step: int = 0,
    ) -> tuple[Tensor, Targets]: ...

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]: ...


def mixed(
    self: BatchMix,
    images: Tensor,
    labels: Tensor,
    draws: torch.Generator,
    partners: Tensor | None = None,
    *,
    reformulated: bool = False,
    mean: Tensor | Sequence[float] | None = None,
    step: int = 0,
) -> tuple[Tensor, Targets]:
    """The mixed images, new ones, and their targets.

    `images` [B, 3, H, W] are uint8 or floats in 0 to 255, on any device; `labels` int64 [B], or label maps [B, H, W],
    which move with the pixels where a mix copies them. `draws` is a generator on the CPU: the same state gives the same
    draws whatever the images' type and device. `partners` [≥ B, 3, h, w] are images of another dataset, used in their
    order and padded to size; without them an image's partner is another of the batch, by a permutation. The target is
    the own label alone (weight 1) with partners of another dataset, whose classes mean nothing here, and in the
    `reformulated` objective, which also draws weights from Beta(α + 1, α); label maps then hold −100, which losses
    ignore, where pixels are the partner's. `mean` [3] in 0 to 255 is what a removed or padded pixel becomes, 0 if
    None. `step` is the number of the batch.
    """
    if draws.device.type != "cpu":
        raise ValueError(f"expected a generator on the cpu, got one on {draws.device}")
    return self.mix(Batch(images, labels, draws, partners, reformulated, mean, step))


def mix_text(mix: Any) -> str:
    """`name(all fields)`, which parses back; the names are the papers' own spelling, run together."""
    return mix.name + text_form(mix)[text_form(mix).index("(") :]


@dataclass(frozen=True)
class Batch:
    """What a mix was called with (see `mixed`)."""

    images: Tensor
    labels: Tensor
    draws: torch.Generator
    partners: Tensor | None = None
    reformulated: bool = False
    mean: Any = None
    step: int = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        """Images, rows, columns."""
        count, _, height, width = self.images.shape
        return count, height, width

    def weights(self, alpha: float, count: int) -> np.ndarray:
        """float64 [count] from Beta(α, α), or Beta(α + 1, α) if reformulated."""
        return beta(alpha + self.reformulated, alpha, count, self.draws)

    def weight(self, alpha: float) -> float:
        """One weight for the whole batch."""
        return float(self.weights(alpha, 1)[0])

    def integers(self, count: int, below: int) -> np.ndarray:
        """int64 [count], uniform over 0 … below − 1."""
        return torch.randint(below, (count,), generator=self.draws).numpy()

    def send(self, values: np.ndarray) -> Tensor:
        """The values on the images' device; the copy does not wait for a GPU."""
        return on_device(values, self.images.device)

    def pair(self) -> Pair:
        """The batch with its partners; draws the permutation, if it takes one."""
        if self.partners is not None:
            return Pair(self.images, self.labels, like(self.partners, self.images, self.mean), None, True)
        order = torch.randperm(len(self.images), generator=self.draws)
        return Pair(self.images, self.labels, self.images, self.send(order.numpy()), self.reformulated)

    def alone(self) -> Targets:
        """Targets of the own labels, whole."""
        return whole(self.labels)


def beta(first: float, second: float, count: int, draws: torch.Generator) -> np.ndarray:
    """float64 [count] of Beta(first, second); torch's own takes no generator, so NumPy draws from a seed out of it."""
    seed = int(torch.randint(2**62, (), generator=draws))
    return np.random.default_rng(seed).beta(first, second, count)


def expect_above_zero(**values: float) -> None:
    """Raise unless every value is above 0 and no more than a million."""
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"expected {name} above 0, got {value:g}")
    expect_at_most(LARGEST, **values)
