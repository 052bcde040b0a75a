"""What a robust way does while a network learns: change each batch, and act after an update; and the precision it asks in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from snellen.lazy_torch import torch
from snellen.models.device import precision_on
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.processes import Team

if TYPE_CHECKING:
    from torch import Tensor, nn

Settle = Callable[["nn.Module", int], None]  # makes a network ready to answer after an update of a number


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What a hardening may know of its run: the images in memory, how they are normalised (`mean` is the colour 0…255 per
    channel), and the length of the training in updates. `settle` is called before it asks the network."""

    shown: ImagesInMemory
    normalise: Callable[[Tensor], Tensor]
    mean: tuple[float, float, float]
    seed: int
    steps: int
    per_epoch: int
    batch_size: int
    team: Team
    settle: Settle = lambda network, step: None


class Hardening(Protocol):
    """One run's."""

    def begin(self) -> None:
        """Called once before the first update, after `restore` where a run goes on."""
        ...

    def change(self, step: int, rows: np.ndarray, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The images of a batch as they are learnt from, before mirrors and crops, and their labels."""
        ...

    def after(self, step: int, network: nn.Module) -> None:
        """Act after an update."""
        ...

    def state(self) -> Any:
        """What a stopped run needs to go on."""
        ...

    def restore(self, state: Any) -> None:
        """Go on from a saved state."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the card says of it."""
        ...


def autocast(device: torch.device) -> Any:
    """bf16 on a GPU that has it, else float32: on a CPU bf16 crashes some machines."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision_on(device) == "bf16")
