"""How weights move: the schedules of the learning rate, the optimisers of the papers, and which weights decay.

A schedule is a small dataclass with a text form, from a step to a share of the peak rate:

parse_schedule("steps(at=[0.5], factor=0.01)")(step, steps, per_epoch)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.notation import build, expect_at_most, read

if TYPE_CHECKING:
    from torch import nn

    from snellen.train.recipe import Recipe

LARGEST = 1_000_000  # epochs, or what a rate is divided by

Schedule: TypeAlias = "Callable[[int, int, int], float]"


@dataclass(frozen=True)
class Onecycle:
    """Linear up over the first share `warmup` of the steps, then linear down to 0 after the last one."""

    warmup: float = 0.25

    def __post_init__(self) -> None:
        if not 0 <= self.warmup < 1:
            raise ValueError(f"expected warmup in [0, 1), got {self.warmup}")

    def __call__(self, step: int, steps: int, per_epoch: int) -> float:
        rise, at = self.warmup * steps, step + 1
        return at / rise if at < rise else (steps - step) / (steps - rise + 1)


@dataclass(frozen=True)
class Steps:
    """Multiplied by `factor` at each point of `at`: below 1 a share of the training, else a number of epochs."""

    at: tuple[float, ...] = (0.5,)
    factor: float = 0.1

    def __post_init__(self) -> None:
        if not self.at or min(self.at) <= 0:
            raise ValueError(f"expected points above 0 in 'at', got {list(self.at)}")
        expect_at_most(LARGEST, at=max(self.at))
        if not 0 < self.factor < 1:
            raise ValueError(f"expected factor between 0 and 1, got {self.factor}")

    def __call__(self, step: int, steps: int, per_epoch: int) -> float:
        passed = sum(step >= (point * steps if point < 1 else point * per_epoch) for point in self.at)
        return float(self.factor**passed)


@dataclass(frozen=True)
class Every:
    """Multiplied by `factor` every so many epochs."""

    epochs: int = 50
    factor: float = 0.1

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ValueError(f"expected epochs of at least 1, got {self.epochs}")
        if not 0 < self.factor < 1:
            raise ValueError(f"expected factor between 0 and 1, got {self.factor}")

    def __call__(self, step: int, steps: int, per_epoch: int) -> float:
        return float(self.factor ** (step // (self.epochs * per_epoch)))


@dataclass(frozen=True)
class Cosine:
    """Half a cosine from the peak to 0, after a linear rise over the share `warmup` of the steps."""

    warmup: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.warmup < 1:
            raise ValueError(f"expected warmup in [0, 1), got {self.warmup}")

    def __call__(self, step: int, steps: int, per_epoch: int) -> float:
        rise = self.warmup * steps
        if step + 1 < rise:
            return (step + 1) / rise
        return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(steps - rise, 1)))


@dataclass(frozen=True)
class Inverse:
    """Divided by 1 + `decay` · step: the `decay` of optimisers that shrink the rate at every update."""

    decay: float = 0.001

    def __post_init__(self) -> None:
        if not self.decay >= 0:
            raise ValueError(f"expected decay of at least 0, got {self.decay}")
        expect_at_most(LARGEST, decay=self.decay)

    def __call__(self, step: int, steps: int, per_epoch: int) -> float:
        return 1 / (1 + self.decay * step)


@dataclass(frozen=True)
class AfterSearches(Steps):
    """The full rate while `rsda` or `esda` searches, and for one period more; from there multiplied by `factor` at each point of
    `at`: 0 at once, below 1 a share of the training that is left, else a number of epochs (Volpi & Murino 2019, section 5.2).
    """

    at: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        if self.at and not min(self.at) >= 0:
            raise ValueError(f"expected points of at least 0 in 'at', got {list(self.at)}")
        Steps(tuple(point or 1.0 for point in self.at), self.factor)  # all else is checked as there


@dataclass(frozen=True)
class Late:
    """The full rate before the update `start`, then a schedule that begins there."""

    schedule: Schedule
    start: int

    def __call__(self, step: int, steps: int, per_epoch: int) -> float:
        return 1.0 if step < self.start else self.schedule(step - self.start, steps - self.start, per_epoch)


@dataclass(frozen=True)
class Constant:
    """The same rate throughout."""

    def __call__(self, step: int, steps: int, per_epoch: int) -> float:
        return 1.0


SCHEDULES: dict[str, type] = {
    "onecycle": Onecycle,
    "steps": Steps,
    "every": Every,
    "cosine": Cosine,
    "inverse": Inverse,
    "constant": Constant,
    "after_searches": AfterSearches,
}


def parse_schedule(text: str) -> Schedule:
    """The schedule a text names: `onecycle(warmup=0.25)`, `steps(at=[0.5], factor=0.01)`, `every(50)`, `constant`.

    >>> from snellen.train import parse_schedule
    >>> parse_schedule("onecycle(warmup=0.25)")
    Onecycle(warmup=0.25)
    """
    if not text.strip():
        raise UserError(f"expected a schedule, got nothing; one of {', '.join(SCHEDULES)}")
    schedule: Schedule = build(read(text), SCHEDULES, "schedule")
    return schedule


def make_optimiser(recipe: Recipe, network: nn.Module) -> torch.optim.Optimizer:
    """SGD with momentum, Adam or RMSprop over a network's weights, as a recipe says."""
    groups = decay_groups(network, recipe.weight_decay, recipe.decay)
    on_gpu = all(weight.is_cuda for weight in network.parameters())
    options: dict[str, Any] = {"lr": recipe.lr}
    if recipe.optimiser == "adam":
        return torch.optim.Adam(groups, **options, fused=on_gpu)
    if recipe.optimiser == "rmsprop":
        return torch.optim.RMSprop(groups, **options, momentum=recipe.momentum)
    return torch.optim.SGD(groups, **options, momentum=recipe.momentum, nesterov=recipe.nesterov, fused=on_gpu)


def decay_groups(network: nn.Module, decay: float, which: str) -> list[dict[str, Any]]:
    """Parameter groups: all weights decay (`all`), or biases and normalisation scales do not (`weights`)."""
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    if which == "all":
        return [{"params": weights, "weight_decay": decay}]
    # What has fewer than two dimensions is a bias or the scale of a normalisation.
    kernels = [weight for weight in weights if weight.ndim > 1]
    rest = [weight for weight in weights if weight.ndim <= 1]
    return [{"params": kernels, "weight_decay": decay}, {"params": rest, "weight_decay": 0.0}]
