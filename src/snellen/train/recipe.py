"""The settings of a training run."""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from snellen.errors import UserError, unknown
from snellen.models.zoo import check_name
from snellen.train.groupdro import Groupdro
from snellen.train.mixing import parse_mix
from snellen.train.optimiser import OPTIMISERS
from snellen.train.robust import parse_robust
from snellen.train.schedule import parse_schedule

OBJECTIVES = ("classic", "reformulated")
DECAYS = ("all", "weights")


@dataclass(frozen=True)
class Recipe:
    """What decides a run besides its data. The defaults suit `smallnet` on the phantom world (see loop.py).

    `mix` and `schedule` are texts (`cutmix(alpha=1)`, `steps(at=[0.5], factor=0.01)`); `lr` is the schedule's peak;
    `updates`, where given, is the length in steps instead of `epochs`; `batch_size` is that of all processes together.
    `decay` says which weights `weight_decay` shrinks: `all`, or `weights` alone (no biases, no normalisation).
    `padding` is the largest shift of a crop in pixels, `resized` a random resized crop, `jitter` the strength of colour
    jitter (0 for none); `flip` mirrors half the images. `objective` is `classic`, or `reformulated` (paper 000: the
    partner comes from another shuffled loader and its label does not count); a smaller partner is padded with zeros unless
    `resize_partner`. `robust` names an attack trained against, or `groupdro`;
    `ignore` the value of label maps that does not count.
    """

    arch: str = "smallnet"
    mix: str = "none"
    objective: str = "classic"
    resize_partner: bool = False
    robust: str = "none"
    epochs: int = 10
    updates: int | None = None
    batch_size: int = 64
    optimiser: str = "sgd"
    lr: float = 0.2
    schedule: str = "onecycle(warmup=0.25)"
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 5e-4
    decay: str = "all"
    smoothing: float = 0.0
    flip: bool = True
    padding: int = 2
    resized: bool = False
    jitter: float = 0.0
    ignore: int = -100
    seed: int = 0

    def __post_init__(self) -> None:
        check_name(self.arch)
        parse_mix(self.mix)
        parse_schedule(self.schedule)
        parse_robust(self.robust)
        for name, known in (("optimiser", OPTIMISERS), ("objective", OBJECTIVES), ("decay", DECAYS)):
            if getattr(self, name) not in known:
                raise unknown(name, str(getattr(self, name)), known)
        for name, least in (("epochs", 1), ("batch_size", 2), ("padding", 0), ("seed", 0)):
            if getattr(self, name) < least:
                raise UserError(f"expected {name} of at least {least}, got {getattr(self, name)}")
        if self.updates is not None and self.updates < 1:
            raise UserError(f"expected updates of at least 1, got {self.updates}")
        if not self.lr > 0:
            raise UserError(f"expected lr above 0, got {self.lr}")
        for name in ("momentum", "weight_decay", "smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"expected {name} in [0, 1), got {getattr(self, name)}")
        if not self.jitter >= 0:
            raise UserError(f"expected jitter of at least 0, got {self.jitter}")
        if self.objective == "reformulated" and name_in(self.mix) == "none":
            raise UserError("the reformulated objective needs a mix; for example --mix cutmix")
        if isinstance(parse_robust(self.robust), Groupdro) and name_in(self.mix) != "none":
            raise UserError(f"groupdro weighs groups, but images of '{self.mix}' belong to two; leave --mix out")
        if self.nesterov and not (self.optimiser == "sgd" and self.momentum > 0):
            raise UserError("nesterov needs the optimiser sgd and a momentum above 0")

    @property
    def name(self) -> str:
        """What its checkpoint is called: network, mix, attack where there is one, seed."""
        words = [self.arch, name_in(self.mix), *([] if self.robust == "none" else [name_in(self.robust)])]
        return "-".join(re.sub(r"[^\w.]+", "-", word).strip("-") for word in (*words, str(self.seed)))

    def rate(self, step: int, steps: int, per_epoch: int = 1) -> float:
        """The learning rate of a step."""
        return self.lr * parse_schedule(self.schedule)(step, steps, per_epoch)


def recipe_of(settings: Mapping[str, Any]) -> Recipe:
    """A recipe of settings as people write them: numbers may be texts (`1e-3` is one in YAML)."""
    kinds = typing.get_type_hints(Recipe)
    made = {}
    for name, value in settings.items():
        if name not in kinds:
            raise unknown("setting", name, kinds)
        made[name] = _fit(name, value, kinds[name])
    return Recipe(**made)


def differing(made: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first setting in which two recipes differ, as `lr 0.1 ≠ 0.2`; a setting not kept then had its default."""
    defaults = {field.name: field.default for field in fields(Recipe)}
    for name, value in wanted.items():
        if made.get(name, defaults.get(name)) != value:
            return f"{name} {made.get(name, defaults.get(name))} ≠ {value}"
    return None


def name_in(text: str) -> str:
    """The bare name of a text such as `cutmix(alpha=1)`; names of a chain are joined."""
    return "-".join(re.findall(r"[A-Za-z_][\w.]*", re.sub(r"\([^()]*\)", "", text)))


def _fit(name: str, value: Any, kind: Any) -> Any:
    options = typing.get_args(kind) or (kind,)
    if value is None and type(None) in options:
        return None
    if bool in options:
        known = {"true": True, "false": False, "yes": True, "no": False}
        found = value if isinstance(value, bool) else known.get(str(value).lower())
        if found is not None:
            return found
        raise UserError(f"expected {name} to be true or false, got '{value}'")
    if str in options:
        return "none" if value is None else str(value)  # YAML reads a bare null as nothing
    try:
        number = float(value)
        if isinstance(value, bool) or (int in options and number != int(number)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        wanted = "a whole number" if int in options else "a number"
        raise UserError(f"expected {name} to be {wanted}, got '{value}'") from None
    return int(number) if int in options else number
