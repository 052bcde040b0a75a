"""What a training should do: every setting once, for `snellen train`, its settings files and `train(...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from snellen.errors import UserError, option, unknown
from snellen.request import Request, plugin_setting, setting, settings_of
from snellen.settings_file import blame, read_settings
from snellen.train.recipe import Recipe

if TYPE_CHECKING:
    from snellen.data import Dataset

    DataLike = str | Dataset
    RecipeLike = str | Recipe
    GridLike = str | Path | Mapping[str, Sequence[object]]
    InitLike = str | Path
else:  # what Python may pass beyond texts is not imported for --help
    DataLike = RecipeLike = GridLike = InitLike = object


@dataclass(frozen=True, kw_only=True)
class RecipeChoice(Request):
    """Where a recipe comes from; its own settings stand beside these. A training and every sweep that trains have them.

    In a request that is made, `recipe` is a Recipe.
    """

    recipe: RecipeLike | None = setting(
        "preset (fast, marcu2022, won2023, volpi2019, xiao2021 …) or a YAML file of settings",
        metavar="NAME|FILE",
        once=True,
    )
    change: tuple[str, ...] = setting(
        "any setting of the recipe as NAME=VALUE: --set nesterov=true",
        (),
        flag="--set",
        metavar="NAME=VALUE",
        once=True,
    )

    def __post_init__(self) -> None:
        from snellen.train.presets import preset

        super().__post_init__()
        recipe = self.recipe if isinstance(self.recipe, Recipe) else preset(self.recipe)
        recipe = replace(recipe, **Recipe.checked(dict(map(_pair, self.change))))
        object.__setattr__(self, "recipe", recipe)
        object.__setattr__(self, "change", ())

    @property
    def how(self) -> Recipe:
        """The whole recipe."""
        assert isinstance(self.recipe, Recipe)
        return self.recipe


@dataclass(frozen=True, kw_only=True)
class TrainRequest(RecipeChoice):
    """The settings of one training, apart from its recipe's. Add one here, and the command line, settings files and Python
    all take it."""

    data: DataLike | None = setting("dataset to train on; see `snellen list data`", metavar="DATA")
    protocol: Literal["mnist", "cifar10", "camvid"] | None = setting(
        "training of Volpi & Murino (2019): its network, recipe and, with --robust rda, rsda or esda, their settings",
        once=True,
    )
    scale: float = setting(
        "shorten the protocol: share of its length and its searches", 1.0, above=0, at_most=1, once=True
    )
    groups: str | None = setting("columns that make groupdro's groups: 'label*scene'", metavar="COLUMNS", once=True)
    out: Path | None = setting("folder for the checkpoints; default models/ARCH-MIX", metavar="DIR", written=True)
    runs: int = setting("number of runs, which differ in seed", 1, at_least=1, at_most=10_000)
    test: DataLike | None = setting("dataset whose accuracy is measured while training", metavar="DATA")
    device: str | None = setting("cpu, cuda, cuda:1, mps or auto", metavar="DEVICE")
    partner: DataLike | None = setting("dataset to mix in, whose labels do not count", metavar="DATA")
    init: InitLike | None = setting(
        "weights to fine-tune: a checkpoint, 'timm:NAME.TAG', 'torchvision:NAME@WEIGHTS' or 'hf:…'",
        metavar="FILE|MODEL",
    )
    grid: GridLike | None = setting("YAML of setting: [values] to search on held-out images", metavar="FILE")
    holdout: float = setting("share of the data held out to judge by; with --grid 0.1", 0.0, at_least=0, below=1)
    every: int = setting("measure accuracy every N epochs", 1, at_least=1, at_most=10**9)
    compile: bool = setting("torch.compile the network: slow to begin, then faster", False)
    log: Literal["tensorboard", "mlflow"] | None = setting("write the history of each run for this tool too")
    plugins: tuple[str, ...] = plugin_setting()
    limit: int | None = setting("train on at most N images", at_least=1, at_most=10**9)
    dry_run: bool = setting("print the settings and stop", False, once=True)
    quiet: bool = setting("print nothing but errors", False, short="-q")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is not None:  # `resolve_training` puts them into `robust`; a whole recipe names its own
            raise UserError(
                f"{option('groups')} {self.groups} needs {option('robust')} groupdro beside it; a Recipe names its groups itself"
            )
        if self.scale != 1 and self.protocol is None:
            raise UserError(
                f"{option('scale')} {self.scale:g} shortens a protocol; add {option('protocol')} mnist, cifar10 or camvid"
            )
        if self.data is None or self.data == "":
            raise UserError("no data given; for example: --data folder:photos (see `snellen list data`)")
        if self.partner is not None and self.how.objective != "reformulated":
            raise UserError(f"a partner's labels do not count; add {option('objective')} reformulated")

    @property
    def folder(self) -> Path:
        """Where the checkpoints go."""
        return self.out or Path("models") / self.how.name.rpartition("-")[0]


R = TypeVar("R", bound=RecipeChoice)


def resolve_training(cls: type[R], values: Mapping[str, Any], file: Path | None = None) -> R:
    """A request of its own settings and its recipe's, side by side, over those of a file; None leaves the file's."""
    return blame(file, lambda: _resolve(cls, values, file), lambda: _resolve(cls, {}, file))


def _resolve(cls: type[R], values: Mapping[str, Any], file: Path | None) -> R:
    from snellen.plugins import load_plugins
    from snellen.train.presets import preset

    own, of_recipe = {field.name for field in settings_of(cls)}, {field.name for field in settings_of(Recipe)}
    below = read_settings(file) if file is not None else {}
    where = str(file) if file is not None else ""
    for name in below:
        if name not in own | of_recipe:
            raise unknown(f"setting in {where}", name, own | of_recipe)
    for name in values:
        if name not in own | of_recipe:
            raise unknown("setting", name, own | of_recipe)

    def part(kind: type[Request], names: set[str]) -> dict[str, Any]:
        over = {name: value for name, value in values.items() if name in names and value is not None}
        under = {name: value for name, value in below.items() if name in names and value is not None}
        return {**kind.checked(under, where), **kind.checked(over)}

    settings, changes = part(cls, own), part(Recipe, of_recipe)
    load_plugins(settings.get("plugins", ()))  # before a recipe is made, whose texts may name what they offer
    base = settings.pop("recipe", None)
    if issubclass(cls, TrainRequest) and (groups := settings.pop("groups", None)):
        from snellen.train.groupdro import with_groups

        changes["robust"] = with_groups(changes.get("robust"), groups)
    if settings.get("protocol") is not None:
        from snellen.train.protocols import protocol_settings

        if base is not None:
            raise UserError(f"--protocol {settings['protocol']} names the recipe itself; leave --recipe out")
        base = Recipe(**protocol_settings(settings["protocol"], settings.get("scale", 1.0), changes))
        return cls(**settings, recipe=base)
    recipe = replace(base, **changes) if isinstance(base, Recipe) else preset(base, **changes)
    return cls(**settings, recipe=recipe)


def _pair(change: str) -> tuple[str, str]:
    name, equals, value = change.partition("=")
    if not equals:
        raise UserError(f"expected --set name=value, got '{change}'")
    return name.strip().replace("-", "_"), value.strip()
