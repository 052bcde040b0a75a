"""`--plugin file.py`: a file whose tables MODELS, DATA, DISTORTIONS and AUDITS name plug-ins."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from snellen.errors import UserError
from snellen.files import MIB, read_bytes
from snellen.files.plain import place_here
from snellen.hashing import checksum
from snellen.plugins.origin import PluginOrigin, remember
from snellen.terminal import tell
from snellen.user_code import import_file

GROUPS = ("models", "data", "distortions", "audits")
LARGEST = 4 * MIB


@dataclass(frozen=True)
class Offer:
    """One thing that a file offers to the table of a group, under a name."""

    name: object
    thing: object
    origin: PluginOrigin

    def load(self) -> tuple[object, PluginOrigin]:
        """The thing and where it comes from."""
        return self.thing, self.origin


_files: dict[Path, PluginOrigin | None] = {}  # None: it was skipped
_offers: dict[str, list[Offer]] = {group: [] for group in GROUPS}


def load_plugins(files: Iterable[Path | str]) -> None:
    """Load files of plug-ins; one that is broken is named in one line and skipped."""
    for file in files:
        path = _path(file)
        if path in _files and _files[path] is None:
            continue  # it was named already
        try:
            load_plugin(file)
        except UserError as error:
            _files[path] = None
            tell(f"note: plug-in '{file}' is skipped: {error}")


def load_plugin(file: Path | str) -> None:
    """Load a file of plug-ins, whose code is run: what its tables MODELS, DATA, DISTORTIONS and AUDITS name can be used as
    snellen's own. A file that changed is loaded again."""
    path = _path(file)
    digest = checksum(read_bytes(path, "plug-in", LARGEST))[:16]
    before = _files.get(path)
    if before is not None and before.digest == digest:
        return
    origin = PluginOrigin(_shown(path), f"snellen_plugin_{path.stem}_{digest}", digest)
    try:
        tables = vars(import_file(path, origin.module, str(file)))
        offers = {
            group: _offers_of(tables[group.upper()], group, origin) for group in GROUPS if group.upper() in tables
        }
        if not any(offers.values()):
            raise UserError(f"{file} offers nothing; it needs a table such as DISTORTIONS = {{'name': Class}}")
    except BaseException:
        sys.modules.pop(origin.module, None)
        raise
    _files[path] = origin
    remember(origin)
    for group, offered in offers.items():
        _offers[group] += offered


def plugin_files() -> dict[str, str]:
    """The files that are loaded, each with the digest that a worker must find there."""
    return {str(path): origin.digest for path, origin in _files.items() if origin is not None}


def take_offers(group: str) -> list[Offer]:
    """What files offered to a group since this was last asked."""
    taken, _offers[group] = _offers[group], []
    return taken


def _path(file: Path | str) -> Path:
    return place_here(file, "code").absolute()


def _shown(path: Path) -> str:
    """A path as short as the working folder allows."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _offers_of(table: object, group: str, origin: PluginOrigin) -> list[Offer]:
    if not isinstance(table, Mapping):
        raise UserError(
            f"its {group.upper()} is {type(table).__name__}; expected a dictionary from names to what they name"
        )
    return [Offer(name, thing, origin) for name, thing in table.items()]
