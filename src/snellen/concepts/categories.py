"""Categories of classes: a table says which classes of a segmenter, or of label maps, are parts, materials or colours.

A source is followed by it: `model:TEXT?categories=FILE`, `data?categories=FILE`. The table, CSV or Parquet, has the columns
`name` and `category` and a row for each class that is no object; a `concepts.csv` as of `labels:DIR` is one too. Dissection then
counts the concepts of each category by themselves, as Bau et al. (2020) do with a UPerNet of objects, parts and materials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from snellen.data.concept_maps import Concept
from snellen.data.names import storable
from snellen.errors import UserError, unknown
from snellen.files import MIB, expand_home
from snellen.files.table import Column, place_of, read_table
from snellen.hashing import key_of

MARK = "?categories="
OBJECT = "object"  # the category of classes that no table names
LONGEST = 200  # characters of a name
_SCHEMA = {"name": Column(required=True, filled=True), "category": Column(required=True, filled=True)}


@dataclass(frozen=True)
class CategoryTable:
    """The categories of a table by the name of the class, in lower case; `path` is None where there is no table."""

    by_name: Mapping[str, str]
    path: Path | None = None

    @property
    def fingerprint(self) -> str:
        """What stands for the content in keys; empty without a table."""
        return key_of(["categories", sorted(self.by_name.items())]) if self.path is not None else ""

    def concepts(self, classes: Sequence[str], owner: str) -> tuple[Concept, ...]:
        """The classes as concepts, by their whole names or the first of their synonyms; a table that names no class of their
        `owner` is refused."""
        names = [first_name(name) for name in classes]
        known = {spelling.strip().lower() for spelling in (*classes, *names)}
        for name in self.by_name:
            if name not in known:
                raise UserError(f"{self.path}: {unknown(f'class of {owner}', name, names)}")
        return tuple(
            Concept(self.by_name.get(name.strip().lower(), self.by_name.get(short.lower(), OBJECT)), short)
            for name, short in zip(classes, names)
        )


def first_name(name: str) -> str:
    """The first of a class's synonyms, which commas separate."""
    return name.partition(",")[0].strip()


def split_source(text: str) -> tuple[str, CategoryTable]:
    """A source without its table of categories, and the table."""
    source, mark, place = text.partition(MARK)
    if not mark:
        return text, CategoryTable({})
    if not place:
        raise UserError(f"'{text}' names no table; write it as {source}{MARK}FILE, with the columns name and category")
    return source, read_categories(expand_home(place))


def read_categories(path: Path) -> CategoryTable:
    """The table in a file; a class of two categories is refused."""
    table = read_table(path, _SCHEMA, "table of categories", 64 * MIB)
    by_name: dict[str, str] = {}
    for row, (name, category) in enumerate(zip(table["name"], table["category"])):
        key, value = storable(str(name)).strip().lower(), storable(str(category)).strip()
        if not key or not value or max(len(key), len(value)) > LONGEST:
            raise UserError(f"{place_of(path, row)}: expected a name and a category of 1 to {LONGEST} characters")
        if by_name.setdefault(key, value) != value:
            raise UserError(
                f"{place_of(path, row)}: class '{key}' is {value}, and {by_name[key]} above; keep one of the two rows"
            )
    if not by_name:
        raise UserError(f"{path} has no rows; give a name and a category for each class that is no object")
    return CategoryTable(by_name, path)
