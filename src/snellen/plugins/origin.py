"""Where plug-ins come from: a package or a file, and the digest of its code, which stands in keys for what it computes."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from snellen.errors import UserError
from snellen.files.net import reason_of
from snellen.hashing import key_of

SNELLEN = "snellen"  # where all that is no plug-in comes from


@dataclass(frozen=True)
class PluginOrigin:
    """A package with its version, or a file (without one), that plug-ins come from: the module that holds its code, and the
    digest of that code."""

    source: str
    module: str
    digest: str
    version: str = ""

    @property
    def name(self) -> str:
        """How a user knows it."""
        return f"{self.source} {self.version}".rstrip()


_used: dict[str, PluginOrigin] = {}  # by module


def remember(origin: PluginOrigin) -> None:
    """Note that code of this origin has been loaded."""
    _used[origin.module] = origin


def plugin_versions() -> dict[str, str]:
    """What has been loaded: the version of each package, the digest of each file."""
    return {origin.source: origin.version or origin.digest for origin in _used.values()}


def source_of(cls: type) -> str | None:
    """The digest of the plug-in's code in which a class is defined; None of a class that is no plug-in's.

    >>> from snellen.distort import Occlude
    >>> from snellen.plugins import source_of
    >>> source_of(Occlude) is None
    True
    """
    origin = _origin_of(cls.__module__)
    return None if origin is None else origin.digest


def stamp(origin: PluginOrigin, version: str | None) -> str:
    """What stands for a plug-in's code in keys: the version that it declares, else the digest of its source."""
    return key_of(["plug-in", origin.digest if version is None else ["version", version]])


def blame(error: BaseException) -> UserError | None:
    """The error of a plug-in whose code raised this one, in one line; None where no plug-in took part."""
    origin: PluginOrigin | None = None
    line = 0
    for frame, number in _frames(error):
        if (culprit := _origin_of(frame)) is not None:
            origin, line = culprit, number
    if origin is None:
        return None
    reason, kind = reason_of(error), type(error).__name__
    return UserError(
        f"plug-in '{origin.name}' failed in line {line} of its code: {kind}: {reason}; --debug shows where"
    )


def _frames(error: BaseException) -> Iterator[tuple[str, int]]:
    """Module and line of each frame that an error passed, the innermost last."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        yield str(frame.f_globals.get("__name__", "")), line


def _origin_of(module: str) -> PluginOrigin | None:
    """The origin of a module: that of the package it lies in."""
    while module:
        if module in _used:
            return _used[module]
        module = module.rpartition(".")[0]
    return None
