"""Several processes that train one network, through accelerate: `accelerate launch -m snellen train …`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from snellen.extras import import_package
from snellen.lazy_torch import torch
from snellen.models.device import choose_device

if TYPE_CHECKING:
    from torch import Tensor, nn


T = TypeVar("T")
PURPOSE = "training in several processes"


@dataclass(frozen=True)
class Team:
    """This process among `size`; alone by default.

    Every process draws, augments and mixes the same global batch and learns from its share of it: the curve is that of
    one process with the whole batch.
    """

    device: Any
    rank: int = 0
    size: int = 1
    accelerator: Any = None

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files and prints."""
        return self.rank == 0

    def join(self, network: nn.Module) -> nn.Module:
        """The network with its gradients averaged over the team, and its BatchNorm's statistics where that is possible."""
        if self.size == 1:
            return network
        if self.device.type == "cuda":  # on CPUs torch cannot: there each process normalises by its own share
            network = torch.nn.SyncBatchNorm.convert_sync_batchnorm(network)
        joined: nn.Module = self.accelerator.prepare_model(network)
        return joined

    def share(self, images: Tensor, targets: Any) -> tuple[Tensor, Any]:
        """This process's part of a batch."""
        if self.size == 1:
            return images, targets
        mine = slice(self.rank * len(images) // self.size, (self.rank + 1) * len(images) // self.size)
        return images[mine], type(targets)(*(part[mine] for part in targets))

    def mean(self, values: Tensor) -> Tensor:
        """The mean of each number over the team."""
        if self.size == 1:
            return values
        averaged: Tensor = self.accelerator.reduce(values, "mean")
        return averaged

    def gather(self, values: Tensor) -> Tensor:
        """The values [n, …] of all processes, as many of each, one after the other."""
        if self.size == 1:
            return values
        together: Tensor = self.accelerator.gather(values.contiguous())
        return together

    def from_leader(self, make: Callable[[], T]) -> T:
        """What `make` gives in the process that leads, in all of them: small things, carried as bytes."""
        if self.size == 1:
            return make()
        parcel = [make() if self.leads else None]
        import_package("accelerate", PURPOSE).utils.broadcast_object_list(parcel)
        (value,) = parcel
        return cast(T, value)


def assemble(device: str | None) -> Team:
    """The team this process was launched in."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return Team(choose_device(device))
    accelerate = import_package("accelerate", PURPOSE)
    on_cpu = device == "cpu" or not torch.cuda.is_available()
    accelerator = accelerate.Accelerator(cpu=on_cpu, mixed_precision="no")
    return Team(accelerator.device, accelerator.process_index, accelerator.num_processes, accelerator)
