"""What installed packages offer as entry points: their names are known without importing them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from snellen.files import MIB, read_bytes
from snellen.files.net import reason_of
from snellen.hashing import checksum, key_of
from snellen.plugins.origin import PluginOrigin, remember
from snellen.terminal import tell
from snellen.user_code import user_code

LARGEST = 64 * MIB  # a file of source


@functools.cache
def installed(group: str) -> tuple[metadata.EntryPoint, ...]:
    """The entry points of a group, `snellen.models` and its like, by name and package."""
    try:
        points = metadata.entry_points(group=f"snellen.{group}")
    except Exception as error:  # a package whose list of entry points cannot be read, which may be none of ours
        tell(
            f"note: plug-ins of packages are skipped: the entry points of some package cannot be read: {reason_of(error)}"
        )
        return ()
    return tuple(sorted(points, key=lambda point: (point.name, package_of(point))))


def package_of(point: metadata.EntryPoint) -> str:
    """The package of an entry point with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "unnamed ?"


def load_point(point: metadata.EntryPoint) -> tuple[object, PluginOrigin]:
    """What an entry point names, and where it comes from; its package is imported."""
    with user_code(f"importing '{point.value}'"):
        thing = point.load()
        root = _root(point.module)
    package, _, version = package_of(point).rpartition(" ")
    origin = PluginOrigin(package, root, key_of([package, version, _sources(root)]), version)
    remember(origin)
    return thing, origin


def _root(module: str) -> str:
    """The outermost package of a module that has code of its own; a namespace belongs to several."""
    parts = module.split(".")
    names = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return next((name for name in names if getattr(sys.modules.get(name), "__file__", None)), module)


def _sources(root: str) -> list[tuple[str, str]]:
    """The name and checksum of each file of source below a package, or of a module's one file."""
    module = sys.modules[root]
    folders: Sequence[str] = list(getattr(module, "__path__", []))
    files = [(file.relative_to(folder), file) for folder in map(Path, folders) for file in Path(folder).rglob("*.py")]
    if not folders and (file := getattr(module, "__file__", None)):
        files = [(Path(Path(file).name), Path(file))]
    return sorted((name.as_posix(), checksum(read_bytes(file, "plug-in", LARGEST))) for name, file in files)
