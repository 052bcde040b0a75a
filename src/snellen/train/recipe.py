"""The settings of a training run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from snellen.errors import UserError
from snellen.request import Request, setting, settings_of

if TYPE_CHECKING:
    from snellen.train.schedule import Schedule


@dataclass(frozen=True)
class Recipe(Request):
    """What decides a run besides its data. The defaults suit `smallnet` on the phantom world (see loop.py).

    Add a setting here, and `snellen train`, every sweep, settings files and Python all take it.
    """

    arch: str = setting("network to train, such as smallnet or preact_resnet18", "smallnet")
    mix: str = setting("mixed-sample training: none, cutmix, mixup …, with settings: 'cutmix(alpha=1)'", "none")
    objective: Literal["classic", "reformulated"] = setting(
        "reformulated: the partner comes from another shuffled loader and only the first label counts", "classic"
    )
    resize_partner: bool = setting("resize a smaller partner instead of padding it with zeros", False)
    robust: str = setting(
        "train against an attack, 'pgd(radius=0.03)', shifts, 'esda(set=cifar10)', rda, rsda, ada, hidden objects, "
        "'dfa(CUTOUTS)', or for the worst group, 'groupdro(groups=label*scene)'",
        "none",
    )
    epochs: int = setting("number of epochs", 10, at_least=1, at_most=10**6)
    updates: int | None = setting("number of steps, instead of epochs", at_least=1, at_most=10**9)
    batch_size: int = setting("images per step, over all processes", 64, at_least=2, at_most=10**6)
    optimiser: Literal["sgd", "adam", "rmsprop"] = setting("optimiser", "sgd")
    lr: float = setting("peak learning rate", 0.2, above=0, at_most=1e30)
    schedule: str = setting(
        "onecycle, 'steps(at=[0.5], factor=0.01)', 'every(50)', cosine, constant …", "onecycle(warmup=0.25)"
    )
    momentum: float = setting("momentum", 0.9, at_least=0, below=1)
    nesterov: bool = setting("Nesterov momentum", False)
    weight_decay: float = setting("weight decay", 5e-4, at_least=0, below=1)
    decay: Literal["all", "weights"] = setting(
        "what decays: all, or weights alone (no biases, no normalisation)", "all"
    )
    batch_norm: Literal["running", "measured"] = setting(
        "statistics that BatchNorm answers with: running averages, or measured on training images, as after dropout",
        "running",
    )
    smoothing: float = setting("label smoothing", 0.0, at_least=0, below=1)
    flip: bool = setting("mirror half of the images", True)
    padding: int = setting("largest shift of a random crop, in pixels", 2, at_least=0, at_most=10_000)
    resized: bool = setting("random resized crops", False)
    jitter: float = setting("strength of colour jitter", 0.0, at_least=0, at_most=1000)
    ignore: int = setting("value of label maps that does not count", -100, at_most=2**31)
    seed: int = setting("seed of the first run", 0, at_least=0, at_most=2**63 - 1)

    def __post_init__(self) -> None:
        from snellen.models.compositional import is_compositional
        from snellen.models.zoo import check_name  # not above: --help lists these settings and should be fast
        from snellen.train.ada import Ada
        from snellen.train.groupdro import Groupdro
        from snellen.train.mixing import parse_mix
        from snellen.train.robust import parse_robust

        super().__post_init__()
        check_name(self.arch)
        parse_mix(self.mix)
        way = parse_robust(self.robust)
        self.rates(1)
        if self.objective == "reformulated" and name_in(self.mix) == "none":
            raise UserError("the reformulated objective needs a mix; for example --mix cutmix")
        if isinstance(way, Groupdro) and name_in(self.mix) != "none":
            raise UserError(f"groupdro weighs groups, but images of '{self.mix}' belong to two; leave --mix out")
        if isinstance(way, Ada) and (name_in(self.mix) != "none" or self.resized or self.jitter):
            raise UserError("ada's images lie between grey levels; leave --mix, --resized and --jitter out")
        if is_compositional(self.arch) and name_in(self.mix) != "none":
            raise UserError("a compositional network learns which parts make one class; leave --mix out")
        if self.nesterov and not (self.optimiser == "sgd" and self.momentum > 0):
            raise UserError("nesterov needs the optimiser sgd and a momentum above 0")

    @property
    def name(self) -> str:
        """What its checkpoint is called: network, mix, attack where there is one, seed."""
        words = [self.arch, name_in(self.mix), *([] if self.robust == "none" else [name_in(self.robust)])]
        return "-".join(re.sub(r"[^\w.]+", "-", word).strip("-") for word in (*words, str(self.seed)))

    def rate(self, step: int, steps: int, per_epoch: int = 1) -> float:
        """The learning rate of a step."""
        return self.lr * self.rates(per_epoch)(step, steps, per_epoch)

    def rates(self, per_epoch: int) -> Schedule:
        """The schedule, begun after the last search where it asks for that."""
        from snellen.train.robust import parse_robust
        from snellen.train.schedule import AfterSearches, Late, parse_schedule
        from snellen.train.shift.ways import Searching

        schedule = parse_schedule(self.schedule)
        if not isinstance(schedule, AfterSearches):
            return schedule
        way = parse_robust(self.robust)
        if not isinstance(way, Searching) or way.searches is None:
            raise UserError(
                "the schedule after_searches needs a last search; for example --robust 'esda(searches=100)'"
            )
        return Late(schedule, way.hold(per_epoch))


def differing(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first setting in which two recipes differ, as `lr 0.1 ≠ 0.2`; a setting not stored then had its default."""
    defaults = {field.name: field.default for field in settings_of(Recipe)}
    for name, value in wanted.items():
        if before.get(name, defaults.get(name)) != value:
            return f"{name} {before.get(name, defaults.get(name))} ≠ {value}"
    return None


def name_in(text: str) -> str:
    """The bare name of a text such as `cutmix(alpha=1)`; names of a chain are joined."""
    return "-".join(re.findall(r"[A-Za-z_][\w.]*", re.sub(r"\([^()]*\)", "", text)))
