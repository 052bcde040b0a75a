"""What a network is shown: batches drawn, augmented and mixed on the device that learns from them, one batch ahead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.lazy_torch import torch
from snellen.train.augment import Augment
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.draws import TrainDraws
from snellen.train.groupdro import Groupdro, Grouped, balanced_rows
from snellen.train.hardening import Hardening
from snellen.train.mixing import IGNORE, of_run, parse_mix
from snellen.train.normalise import Units
from snellen.train.recipe import Recipe
from snellen.train.robust import parse_robust

if TYPE_CHECKING:
    from torch import Tensor

RESIZED = (0.08, 1.0)  # the share of the area that a resized crop keeps, as in torchvision
NumberedBatch = tuple[int, "Tensor", Any]


@dataclass(frozen=True)
class Feed:
    """The batches of a recipe over images in memory; `mean` is the colour (0…255 per channel) mixes may fill with.

    `partner` holds the second images of the reformulated objective; without it they come from the same images in
    another order. `units` restates them where they are normalised by statistics of their own: such batches are floats.
    `hardening` changes the images before they are mirrored and cropped, where searches show them too; not the partners.
    """

    recipe: Recipe
    shown: ImagesInMemory
    mean: list[float]
    partner: ImagesInMemory | None = None
    units: Units | None = None
    hardening: Hardening | None = None

    @property
    def per_epoch(self) -> int:
        """Steps per epoch; images left over may come in another epoch, whose order differs."""
        return max(1, len(self.shown.labels) // self.recipe.batch_size)

    @property
    def steps(self) -> int:
        """Steps of the whole training."""
        return self.recipe.updates or self.recipe.epochs * self.per_epoch

    @property
    def epochs(self) -> int:
        """Epochs begun, the last of which may be cut short."""
        return -(-self.steps // self.per_epoch)

    def epoch(self, epoch: int, draws: TrainDraws) -> Iterator[tuple[int, Tensor, Any]]:
        """Step, images [B, 3, H, W] (0…255) and targets of each batch of one epoch."""
        recipe, device = self.recipe, self.shown.images.device
        resized = RESIZED if recipe.resized else None
        augment = Augment(flip=recipe.flip, padding=recipe.padding, resized=resized, jitter=recipe.jitter)
        mix = of_run(parse_mix(recipe.mix), recipe.seed)
        reformulated = recipe.objective == "reformulated"
        second = (self.partner or self.shown).images if reformulated else None
        order = self._order(draws)
        rows = order.to(device)
        others = None if second is None else _rows_of(len(second), len(rows), draws.partner).to(device)
        first = epoch * self.per_epoch
        for step in range(first, min(first + self.per_epoch, self.steps)):
            at = slice((step - first) * recipe.batch_size, (step - first + 1) * recipe.batch_size)
            images, labels = self.shown.images[rows[at]], self.shown.labels[rows[at]]
            if self.hardening is not None:
                images, labels = self.hardening.change(step, order[at].numpy(), images, labels)
            if labels.ndim > 1:
                images, labels = augment(images, draws.order, maps=labels, ignore=IGNORE)
                labels = labels.long()
            else:
                images = augment(images, draws.order)
            partners = None
            if second is not None and others is not None:
                partners = augment(second[others[at]], draws.partner)
                if self.units is not None:
                    images, partners = images.float(), self.units(partners)
            mixed, targets = mix(
                images, labels, draws.mixing, partners=partners, reformulated=reformulated, mean=self.mean, step=step
            )
            groups = self.shown.groups
            yield step, mixed, targets if groups is None else Grouped(*targets, groups[rows[at]])

    def _order(self, draws: TrainDraws) -> Tensor:
        """The rows of an epoch: each image once, or from all groups alike where the training asks for that."""
        way = parse_robust(self.recipe.robust)
        if isinstance(way, Groupdro) and way.balanced and self.shown.groups is not None:
            return balanced_rows(self.shown.groups.cpu(), draws.order)
        return torch.randperm(len(self.shown.labels), generator=draws.order)


def _rows_of(count: int, wanted: int, generator: torch.Generator) -> Tensor:
    """`wanted` rows of `count`, shuffled, and shuffled again each time all were taken."""
    rounds = -(-wanted // count)
    return torch.cat([torch.randperm(count, generator=generator) for _ in range(rounds)])[:wanted]


def ahead(batches: Iterator[NumberedBatch], device: torch.device) -> Iterator[NumberedBatch]:
    """The same batches in the same order; on a GPU each is made on a stream of its own, one ahead.

    Draws come from the CPU, and copying them over waits for the stream they go to: on this one that is a few small
    kernels, on the stream that learns it would be the whole step.
    """
    if device.type != "cuda":
        yield from batches
        return
    side = torch.cuda.Stream(device, priority=-1)
    side.wait_stream(torch.cuda.current_stream(device))  # the images may still be on their way

    def make() -> NumberedBatch | None:
        with torch.cuda.stream(side):
            return next(batches, None)

    coming = make()
    while coming is not None:
        main = torch.cuda.current_stream(device)
        main.wait_stream(side)
        _, images, targets = coming
        for part in (images, *targets):
            if part.is_cuda:
                part.record_stream(main)  # so that their memory is not reused before they were learnt from
        yield coming
        coming = make()
