"""A table of names that plug-ins add to: looked up by name, and filled when all of it is listed."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from snellen.errors import UserError
from snellen.notation import name_of
from snellen.plugins.file import take_offers
from snellen.plugins.installed import installed, load_point, package_of
from snellen.plugins.origin import SNELLEN, PluginOrigin
from snellen.terminal import tell

T = TypeVar("T")
_NAME = re.compile("[a-z][a-z0-9_]*")


class PluginTable(Generic[T]):
    """What plug-ins add to `table`, the names of one group; `taken` are further names that are not free.

    `fit` checks what a plug-in gives under a name, and makes of it what stands in the table; it raises UserError.
    """

    def __init__(
        self,
        group: str,
        table: dict[str, T],
        fit: Callable[[str, object, PluginOrigin], T],
        taken: tuple[str, ...] = (),
    ) -> None:
        self.group, self.table, self.fit, self.taken = group, table, fit, taken
        self.origins: dict[str, PluginOrigin] = {}
        self.skipped: set[tuple[str, str]] = set()

    def find(self, name: str) -> None:
        """Take the plug-in of this name into the table, where there is one and the name is not known yet."""
        self._take_files()
        if name not in self.table:
            self._take_installed([name])

    def fill(self) -> None:
        """Take all plug-ins into the table."""
        self._take_files()
        self._take_installed([point.name for point in installed(self.group)])

    def names(self) -> list[str]:
        """All names: those in the table, and those of packages that are not imported yet."""
        self._take_files()
        return list(dict.fromkeys([*self.table, *(point.name for point in installed(self.group))]))

    def origin(self, name: str) -> str:
        """Where what stands under a name comes from: snellen, a package with its version, or a file."""
        return self.origins[name].name if name in self.origins else SNELLEN

    def own(self) -> list[T]:
        """What is snellen's own."""
        return [thing for name, thing in self.table.items() if name not in self.origins]

    def _take_files(self) -> None:
        for offer in take_offers(self.group):
            self._take(offer.name, offer.origin.name, offer.load)

    def _take_installed(self, names: Sequence[str]) -> None:
        for point in installed(self.group):
            if point.name in names and self.origin(point.name) != package_of(point):
                self._take(point.name, package_of(point), functools.partial(load_point, point))

    def _take(self, name: object, source: str, load: Callable[[], tuple[object, PluginOrigin]]) -> None:
        """One plug-in into the table; what is broken is named in one line, once, and skipped."""
        if (str(name), source) in self.skipped:
            return
        try:
            word = self._checked(name, source)
            thing, origin = load()
            self.table[word] = self.fit(word, thing, origin)
            self.origins[word] = origin
        except UserError as error:
            self.skipped.add((str(name), source))
            tell(f"note: plug-in '{name}' of {source} is skipped: {error}")

    def _checked(self, name: object, source: str) -> str:
        """A name that is free, in letters that the text forms can read."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UserError("its name may have small letters, digits and _ alone, and begins with a letter")
        if name in self.taken or (name in self.table and self.origin(name) != source):
            raise UserError(f"that name is taken by {self.origin(name)}; give it another one")
        return name


def dataclass_of(kind: type[T], name: str, thing: object) -> type[T]:
    """The class that a plug-in gives for a distortion or an audit: a frozen dataclass whose own name gives this one."""
    if not isinstance(thing, type) or not issubclass(thing, kind):
        raise UserError(
            f"expected a subclass of {kind.__module__.rpartition('.')[0]}.{kind.__name__}, got {_shown(thing)}"
        )
    how = vars(thing).get(
        "__dataclass_params__"
    )  # its own: those of a class that it derives from know no fields of its
    if how is None or not how.frozen:
        raise UserError(f"{thing.__name__} is no frozen dataclass; put @dataclass(frozen=True) above it")
    if left := sorted(getattr(thing, "__abstractmethods__", ())):
        raise UserError(f"{thing.__name__} lacks {', '.join(left)}")
    if name_of(thing) != name:
        raise UserError(f"texts call the class {thing.__name__} '{name_of(thing)}'; give it this name")
    return thing


def instance_of(kind: type[T], thing: object) -> T:
    """What a plug-in gives for a kind of models or data."""
    if not isinstance(thing, kind):
        raise UserError(f"expected a {kind.__module__}.{kind.__name__}, got {_shown(thing)}")
    return thing


def _shown(thing: object) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__
