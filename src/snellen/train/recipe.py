"""The settings of a training run."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.errors import UserError, unknown
from snellen.models.zoo import NETWORKS
from snellen.train.mixing import MIXES


@dataclass(frozen=True)
class Recipe:
    """What decides a run besides its data: SGD with momentum, the rate rising to `lr` and falling to 0 (one cycle).

    `alpha` is the mixing weight's Beta(α, α); `warmup` the share of steps in which the rate rises; `padding` the
    largest shift of a crop in pixels, 0 for none; `flip` mirrors half the images. The defaults suit `smallnet` on the
    phantom world: what they reach is at the top of loop.py.
    """

    arch: str = "smallnet"
    mix: str = "none"
    alpha: float = 1.0
    epochs: int = 10
    batch_size: int = 64
    lr: float = 0.2
    momentum: float = 0.9
    weight_decay: float = 5e-4
    warmup: float = 0.25
    flip: bool = True
    padding: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.arch not in NETWORKS:
            raise unknown("network", self.arch, NETWORKS)
        if self.mix not in MIXES:
            raise unknown("mix", self.mix, MIXES)
        for name, least in (("epochs", 1), ("batch_size", 2), ("padding", 0), ("seed", 0)):
            if getattr(self, name) < least:
                raise UserError(f"expected {name} of at least {least}, got {getattr(self, name)}")
        for name in ("alpha", "lr"):
            if not getattr(self, name) > 0:
                raise UserError(f"expected {name} above 0, got {getattr(self, name)}")
        for name in ("momentum", "weight_decay", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"expected {name} in [0, 1), got {getattr(self, name)}")

    @property
    def name(self) -> str:
        """What its checkpoint is called."""
        return f"{self.arch}-{self.mix}-{self.seed}"

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step: linear up over the warm-up, then linear down to 0 after the last one."""
        rise, at = self.warmup * steps, step + 1
        return self.lr * (at / rise if at < rise else (steps - step) / (steps - rise + 1))
