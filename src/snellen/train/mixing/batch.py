"""A batch on its way into a mix: its images, its partners and its draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from snellen.distort.draws import on_device
from snellen.lazy import torch
from snellen.text import text_form
from snellen.train.mixing.partners import like
from snellen.train.mixing.select import paste_boxes, selected
from snellen.train.mixing.targets import IGNORE, Targets

if TYPE_CHECKING:
    from torch import Tensor

WHOLE = slice(None)


@runtime_checkable
class Mix(Protocol):
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
    self: Mix,
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
        """The values on the images' device; nobody waits for a GPU."""
        return on_device(values, self.images.device)

    def pair(self) -> Pair:
        """The batch with its partners; draws the permutation, if it takes one."""
        if self.partners is not None:
            return Pair(self.images, self.labels, like(self.partners, self.images, self.mean), None, True)
        order = torch.randperm(len(self.images), generator=self.draws)
        return Pair(self.images, self.labels, self.images, self.send(order.numpy()), self.reformulated)

    def alone(self) -> Targets:
        """Targets of the own labels, whole."""
        return Targets(self.labels, self.labels, torch.ones(len(self.images), device=self.images.device))


@dataclass(frozen=True)
class Pair:
    """Images [B, 3, H, W] and those they are mixed with: `source[order]`, or `source` itself.

    `first` is true if the first image alone has a target.
    """

    images: Tensor
    labels: Tensor
    source: Tensor
    order: Tensor | None
    first: bool

    def other(self, rows: slice = WHOLE, columns: slice = WHOLE) -> Tensor:
        """A new tensor (without `order`: a view) of that part of the partners' images."""
        part = self.source[:, :, rows, columns]
        return part if self.order is None else part.index_select(0, self.order)

    def first_other(self) -> Tensor:
        """[1, 3, H, W]: the partner of the first image."""
        return self.source[:1] if self.order is None else self.source.index_select(0, self.order[:1])

    def blended(self, share: float) -> tuple[Tensor, Targets]:
        """share · own + (1 − share) · partner in every pixel; bytes become float32."""
        return self._lerp(share), self._targets(share)

    def faded(self, mask: Tensor, share: Tensor) -> tuple[Tensor, Targets]:
        """mask · own + (1 − mask) · partner, mask float [1 or B, H, W]; bytes become float32."""
        if self.labels.dim() == 3:
            raise ValueError("a soft mask blends pixels, so label maps cannot follow it; use soft=0")
        return self._lerp(mask[:, None]), self._targets(share)

    def chosen(self, mine: Tensor, share: float | Tensor) -> tuple[Tensor, Targets]:
        """The own pixels where `mine`, bool [1 or B, H, W], is true, the partner's elsewhere."""
        images = selected(mine[:, None], self.images, self.other())
        if self.labels.dim() == 3:
            return images, self._moved(selected(mine, self.labels, self._other_labels()))
        return images, self._targets(share)

    def boxed(self, boxes: np.ndarray, share: float) -> tuple[Tensor, Targets]:
        """The own images, each with a box of its own (int [B, 4]: top, bottom, left, right) of its partner."""
        count, _, height, width = self.images.shape
        if self.images.device.type != "cpu":
            edges = on_device(boxes.T[:, :, None], self.images.device)
            down, across = (torch.arange(length, device=edges.device) for length in (height, width))
            rows, columns = ((at >= edges[side]) & (at < edges[side + 1]) for at, side in ((down, 0), (across, 2)))
            return self.chosen(~(rows[:, :, None] & columns[:, None, :]), share)
        images, order = self.images.clone(), list(range(count)) if self.order is None else self.order.tolist()
        paste_boxes(images, self.source, order, boxes)
        if self.labels.dim() == 3:
            labels = self.labels.clone()
            paste_boxes(labels, self._other_labels(), list(range(count)), boxes)
            return images, self._moved(labels)
        return images, self._targets(share)

    def pasted(self, rows: slice, columns: slice, share: float) -> tuple[Tensor, Targets]:
        """The own images with one and the same box of their partners."""
        images = self.images.clone()
        images[:, :, rows, columns] = self.other(rows, columns)
        if self.labels.dim() == 3:
            labels = self.labels.clone()
            labels[:, rows, columns] = self._other_labels()[:, rows, columns]
            return images, self._moved(labels)
        return images, self._targets(share)

    def _lerp(self, share: float | Tensor) -> Tensor:
        other = self.other() if self.order is not None else self.source.clone()
        own = self.images
        if not own.is_floating_point():
            own, other = own.float(), other.float()
        return other.lerp_(own, share.to(own.dtype) if isinstance(share, torch.Tensor) else share)

    def _targets(self, share: float | Tensor) -> Targets:
        count, device = len(self.images), self.images.device
        if self.first:
            return Targets(self.labels, self.labels, torch.ones(count, device=device))
        weight = share.float() if isinstance(share, torch.Tensor) else torch.full((count,), share, device=device)
        return Targets(self.labels, self._other_labels(), weight.expand(count).contiguous())

    def _other_labels(self) -> Tensor:
        if self.first or self.order is None:
            return torch.full_like(self.labels, IGNORE)
        return self.labels.index_select(0, self.order)

    def _moved(self, labels: Tensor) -> Targets:
        return Targets(labels, labels, torch.ones(len(labels), device=labels.device))


def beta(first: float, second: float, count: int, draws: torch.Generator) -> np.ndarray:
    """float64 [count] of Beta(first, second); torch's own takes no generator, so NumPy draws from a seed out of it."""
    seed = int(torch.randint(2**62, (), generator=draws))
    return np.random.default_rng(seed).beta(first, second, count)


def expect_above_zero(**values: float) -> None:
    """Raise unless every value is a finite number above 0."""
    for name, value in values.items():
        if not 0 < value < float("inf"):
            raise ValueError(f"expected {name} above 0, got {value:g}")
