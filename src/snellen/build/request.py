"""What all builders are asked: where to, and how to work; their other settings stand in their own requests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from snellen.request import Request, plugin_setting, setting, settings_of

if TYPE_CHECKING:
    from snellen.data.dataset import Dataset

    DataLike = str | Dataset
else:  # what Python may pass beyond texts is not imported for --help
    DataLike = object

MOST_WORKERS = 1024
MOST_SEED = 2**63 - 1
MOST_PIXELS, MOST_SHARPNESS = 10**9, 10**7  # of an image


@dataclass(frozen=True, kw_only=True)
class BuildRequest(Request):
    """What is written and where to. Add a setting to a builder's request: the command line, settings files and Python all take
    it, and the facts of a set state it, unless `elsewhere` names it: as stated otherwise, or as changing no byte."""

    elsewhere: ClassVar[tuple[str, ...]] = ()

    out: Path | None = setting(
        "folder to write; new, empty, or of the same build", metavar="DIR", required=True, written=True
    )
    quiet: bool = setting("print nothing but errors", False, short="-q", once=True)

    def choices(self) -> dict[str, Any]:
        """The settings that change a byte of the set, as its facts state them."""
        general = {item.name for item in settings_of(CrewRequest)}
        names = [item.name for item in settings_of(type(self)) if item.name not in {*general, *self.elsewhere}]
        values = {name: getattr(self, name) for name in names}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def __getstate__(self) -> dict[str, Any]:
        """What travels to other processes: not the data that were made in Python, which only this one reads."""
        plain = (str, Path, int, float, tuple)
        return {name: value if isinstance(value, plain) else None for name, value in vars(self).items()}


@dataclass(frozen=True, kw_only=True)
class CrewRequest(BuildRequest):
    """A build by several processes."""

    plugins: tuple[str, ...] = plugin_setting()
    workers: int | None = setting(
        "processes; default one per core; changes no byte", at_least=1, at_most=MOST_WORKERS, once=True
    )
