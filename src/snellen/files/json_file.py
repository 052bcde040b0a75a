"""JSON with a schema: msgspec decodes and checks in one pass, faster than the standard library only decodes."""

from __future__ import annotations

import codecs
import copy
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, TypeVar

from snellen.errors import UserError
from snellen.files.misfit import misfit
from snellen.files.net import reading
from snellen.files.plain import MIB, read_bytes

T = TypeVar("T")


def read_json(
    path: Path | str, schema: type[T] | Any, kind: str = "JSON file", most: int = 64 * MIB, unique: bool = False
) -> T:
    """The content of a JSON file as `schema`, a msgspec Struct, a TypedDict or any type hint.

    With `unique` an object that has a key twice is refused, where else the last of them counts.

    >>> from pathlib import Path
    >>> from snellen.files import read_json
    >>> Path("sizes.json").write_text('{"cat": [224, 224]}') > 0
    True
    >>> read_json("sizes.json", dict[str, tuple[int, int]])
    {'cat': (224, 224)}
    """
    return decode_json(read_bytes(path, kind, most), schema, path, unique)


def decode_json(content: bytes | str, schema: type[T] | Any, source: Path | str, unique: bool = False) -> T:
    """JSON as `schema`; `source` names where it comes from in the error, `unique` as in `read_json`.

    >>> from snellen.files import decode_json
    >>> decode_json('{"lr": 0.1}', dict[str, float], "settings.json")
    {'lr': 0.1}
    """
    import msgspec

    with reading(source, "JSON"):
        try:
            value: T = msgspec.json.decode(content.removeprefix(_mark(content)), type=schema)
        except msgspec.ValidationError as error:
            raise misfit(source, error, lambda: json.loads(content.removeprefix(_mark(content))), schema) from None
        except msgspec.DecodeError as error:
            raise UserError(f"{source} cannot be read as JSON: {_place(content, str(error))}") from None
    if unique:
        _check_keys(content, source)
    return value


def _mark(content: bytes | str) -> Any:
    """The byte order mark, as some editors write it in front."""
    return "\ufeff" if isinstance(content, str) else codecs.BOM_UTF8


def fit(value: Any, schema: type[T] | Any, source: Path | str) -> T:
    """A value read by other means (YAML, a header) as `schema`, with the same errors.

    >>> from snellen.files import fit
    >>> fit({"cat": [224, 224]}, dict[str, tuple[int, int]], "sizes.yaml")
    {'cat': (224, 224)}
    """
    import msgspec

    with reading(source, "settings"):
        try:
            return msgspec.convert(value, type=schema)
        except msgspec.ValidationError as error:
            raise misfit(source, error, lambda: copy.deepcopy(value), schema) from None


def _check_keys(content: bytes | str, source: Path | str) -> None:
    """Refuse an object that has a key twice."""

    def check(pairs: list[tuple[str, Any]]) -> None:
        repeated = next((key for key, count in Counter(key for key, _ in pairs).items() if count > 1), None)
        if repeated is not None:
            raise UserError(f"{source} has the key '{repeated[:60]}' twice in one object; leave one of them out")

    with reading(source, "JSON"):
        json.loads(content.removeprefix(_mark(content)), object_pairs_hook=check)


def _place(content: bytes | str, text: str) -> str:
    """The reason with the line instead of the byte."""
    match = re.search(r"\(byte (\d+)\)", text)
    text = re.sub(r"\s*\(byte \d+\)", "", text).removeprefix("JSON is malformed: ")
    if match is None:
        return text[:1].lower() + text[1:]
    before = content[: int(match[1])]
    line = before.count("\n" if isinstance(before, str) else b"\n") + 1  # type: ignore[arg-type]
    after = content[int(match[1]) : int(match[1]) + 20]
    rest = after if isinstance(after, str) else after.decode(errors="replace")
    return f"line {line}: {text}" + (f" at '{' '.join(rest.split())}'" if rest.strip() else "")
