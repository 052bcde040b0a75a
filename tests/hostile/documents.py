"""Documents made from the schemas themselves: they fit every field, and may still make no sense as a whole.

Which schema a file is read with is seen while its undamaged copy is read, so that no list of schemas has to be kept.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from snellen.files import table

from .mutate import nasty

BATCH, BATCHES = 40, 25  # hypothesis takes long to begin, so documents are made many at once
_BUILTIN = (Any, dict, list, object)


class Schemas:
    """By path, what files were decoded as: a type for JSON, columns for a table."""

    def __init__(self) -> None:
        self.of_file: dict[Path, Any] = {}
        self._made: dict[tuple[Path, int], list[bytes]] = {}

    @contextlib.contextmanager
    def watch(self, folder: Path) -> Iterator[None]:
        """Note what the files below a folder are decoded as."""
        contents = {file.read_bytes(): file for file in sorted(folder.rglob("*.json")) if file.is_file()}
        decode, typed = msgspec.json.decode, table._typed

        def decode_seen(content: Any, *rest: Any, **how: Any) -> Any:
            schema = how.get("type", Any)
            file = contents.get(content.encode() if isinstance(content, str) else bytes(content))
            if file is not None and not any(schema is one for one in _BUILTIN):
                self.of_file[file] = schema
            return decode(content, *rest, **how)

        def typed_seen(cells: Any, column: table.Column, path: str, name: str) -> Any:
            self.of_file.setdefault(Path(path), {})[name] = column
            return typed(cells, column, path, name)

        msgspec.json.decode, table._typed = decode_seen, typed_seen
        try:
            yield
        finally:
            msgspec.json.decode, table._typed = decode, typed

    def write(self, file: Path, draw: Random) -> str:
        """Replace a file by what its schema allows; sometimes that is then damaged as any other."""
        number = draw.randrange(BATCHES)
        if (file, number) not in self._made:
            self._made[file, number] = _documents(self.of_file[file], number)
        file.write_bytes(draw.choice(self._made[file, number]))
        return "made from its schema"


def _documents(schema: Any, number: int) -> list[bytes]:
    if isinstance(schema, dict):
        return gather(st.lists(st.fixed_dictionaries({name: cell_of(one) for name, one in schema.items()}), max_size=6)
                      .map(lambda rows: _csv(list(schema), rows)), number)  # fmt: skip
    made = gather(document_of(schema), number)
    return [json.dumps(msgspec.to_builtins(one), ensure_ascii=False).encode(errors="replace") for one in made]


def gather(strategy: st.SearchStrategy[Any], number: int) -> list[Any]:
    """A batch of examples, the same for the same number."""
    examples: list[Any] = []

    @seed(number)
    @settings(
        max_examples=BATCH,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(strategy)
    def collect(example: Any) -> None:
        examples.append(example)

    collect()
    return examples


def document_of(schema: Any) -> st.SearchStrategy[Any]:
    """Any value that a schema allows, as JSON would hold it."""
    return _fitting(msgspec.inspect.type_info(schema), 4)


def _fitting(type: Any, depth: int) -> st.SearchStrategy[Any]:
    kinds = msgspec.inspect
    if isinstance(type, kinds.StructType | kinds.TypedDictType | kinds.DataclassType):
        needed = {one.encode_name: _fitting(one.type, depth - 1) for one in type.fields if one.required}
        rest = [one for one in type.fields if not one.required and depth > 0]  # a schema may hold itself
        return st.fixed_dictionaries(needed, optional={one.encode_name: _fitting(one.type, depth - 1) for one in rest})
    if isinstance(type, kinds.ListType | kinds.VarTupleType | kinds.SetType | kinds.FrozenSetType):
        least, most = type.min_length or 0, type.max_length
        return st.lists(_fitting(type.item_type, depth - 1), min_size=least, max_size=min(most or 4, max(4, least)))
    if isinstance(type, kinds.TupleType):
        return st.tuples(*(_fitting(one, depth - 1) for one in type.item_types)).map(list)
    if isinstance(type, kinds.DictType):
        keys = _fitting(type.key_type, 0).map(str)
        return st.dictionaries(keys, _fitting(type.value_type, depth - 1), max_size=4)
    if isinstance(type, kinds.UnionType):
        return st.one_of([_fitting(one, depth) for one in type.types])
    if isinstance(type, kinds.LiteralType):
        return st.sampled_from(list(type.values))
    return _scalar(type)


def _scalar(type: Any) -> st.SearchStrategy[Any]:
    kinds = msgspec.inspect
    if isinstance(type, kinds.NoneType):
        return st.none()
    if isinstance(type, kinds.BoolType):
        return st.booleans()
    if isinstance(type, kinds.IntType):
        least = type.ge if type.ge is not None else None if type.gt is None else type.gt + 1
        most = type.le if type.le is not None else None if type.lt is None else type.lt - 1
        start = -3 if least is None else least
        return st.integers(least, most) | st.integers(start, start + 9 if most is None else min(most, start + 9))
    if isinstance(type, kinds.FloatType):
        least = type.ge if type.ge is not None else type.gt
        most = type.le if type.le is not None else type.lt
        return st.floats(least, most, allow_nan=False, allow_infinity=False)
    if isinstance(type, kinds.StrType):
        if type.pattern:
            return st.from_regex(type.pattern)
        return st.text(min_size=type.min_length or 0, max_size=min(type.max_length or 9, 9)) | _texts(type.max_length)
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=5,
    )


def _texts(most: int | None) -> st.SearchStrategy[str]:
    return st.sampled_from([text for text in nasty.TEXTS if most is None or len(text) <= most])


def cell_of(column: table.Column) -> st.SearchStrategy[str]:
    """The text of a cell that a column allows."""
    if column.type == "text":
        return st.text(min_size=int(column.filled), max_size=8) | st.sampled_from(nasty.TEXTS[2 * column.filled :])
    whole = column.type == "int"
    least, most = max(column.least, -1e15), min(column.most, 1e15)
    numbers: st.SearchStrategy[Any] = st.integers(int(least), int(most)) if whole else st.floats(least, most)
    return numbers.map(str) if column.filled else numbers.map(str) | st.just("")


def _csv(names: list[str], rows: list[dict[str, str]]) -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows([{name: text.replace("\x00", "") for name, text in row.items()} for row in rows])
    return stream.getvalue().encode(errors="replace")
