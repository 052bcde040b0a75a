"""JSON and YAML: fields removed, swapped, of another type, null, huge, deep, twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from . import nasty
from .unfit import Unfit, fitting

Place = tuple[Any, ...]  # keys and positions from the top
RAW = "@raw@"  # stands for text that no encoder writes, until the document is one
RAWS = (
    "[" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 50_000 + "1" + "}" * 50_000,
    "NaN",
    "-Infinity",
    "1e999",
    "1" * 5_000,
    "0.1e-99999",
    '"\\ud800"',
    '"\\u0000"',
    '{"a": 1, "a": [2]}',
    '"' + "a" * 1_000_000 + '"',
    "[" + "0," * 200_000 + "0]",
    "",
    "truE",
    "'single'",
    "1 /* comment */",
    "\x00",
    "\udcff",
)
YAMLS = (
    "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi")
    ),
    "a: &a [*a]\n",
    "&a : *a\n",
    "!!python/object/apply:pathlib.Path.touch [canary]\n",
    "data: !!python/name:os.system\n",
    "a: 2001-99-99\n",
    "? [a]\n: b\n",
    "a: 1\n---\nb: 2\n",
    "\tdata: x\n",
    "data: |\n" + " x" * 100_000,
    "[" * 20_000,
    "? " * 5_000,
    "<<: *x\n",
    "<<: [1]\n",
    "a: !!binary x\n",
    "a: !!timestamp x\n",
    "a: !!float x\n",
    "a: !!int 0o9\n",
    "a: 1:60:60\n",
    "%YAML 9.9\n---\na: 1\n",
    "a: \ufffe\n",
)  # fmt: skip


def places(document: Any, above: Place = ()) -> Iterator[Place]:
    """The place of every value, the whole first."""
    yield above
    parts = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, part in parts:
        yield from places(part, (*above, key))


def at(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def put(document: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    at(document, place[:-1])[place[-1]] = value
    return document


def some_place(document: Any, draw: Random) -> Place:
    """Any place, those near the top as often as the many below."""
    every = list(places(document))
    depth = draw.choice(sorted({len(place) for place in every}))
    return draw.choice([place for place in every if len(place) == depth])


def replace(document: Any, draw: Random) -> Any:
    return put(document, some_place(document, draw), nasty.value(draw))


def retype(document: Any, draw: Random) -> Any:
    """The same value as another type."""
    place = some_place(document, draw)
    old = at(document, place)
    return put(document, place, draw.choice([[old], {"a": old}, str(old)[:1000], bool(old), len(str(old))]))


def remove(document: Any, draw: Random) -> Any:
    place = some_place(document, draw)
    if not place:
        return draw.choice([None, [], {}, ""])
    del at(document, place[:-1])[place[-1]]
    return document


def swap(document: Any, draw: Random) -> Any:
    first, second = some_place(document, draw), some_place(document, draw)
    one, other = at(document, first), at(document, second)
    if first[: len(second)] == second or second[: len(first)] == first:
        return put(document, first, nasty.value(draw))
    return put(put(document, first, other), second, one)


def repeat(document: Any, draw: Random) -> Any:
    lists = [place for place in places(document) if isinstance(at(document, place), list)]
    if not lists:
        raise Unfit
    place = draw.choice(lists)
    return put(document, place, at(document, place) * draw.choice([2, 3, 500]))


def rename(document: Any, draw: Random) -> Any:
    inside = [place for place in places(document) if isinstance(at(document, place), dict) and at(document, place)]
    if not inside:
        raise Unfit
    part = at(document, draw.choice(inside))
    key = draw.choice(list(part))
    part[draw.choice([nasty.text(draw), str(key) + "x", str(key).upper()])] = part.pop(key)
    return document


def add(document: Any, draw: Random) -> Any:
    inside = [place for place in places(document) if isinstance(at(document, place), dict | list)]
    if not inside:
        raise Unfit
    part = at(document, draw.choice(inside))
    if isinstance(part, list):
        part.insert(draw.randrange(len(part) + 1), nasty.value(draw))
    else:
        part[nasty.text(draw)] = nasty.value(draw)
    return document


def put_raw(document: Any, draw: Random) -> Any:
    return put(document, some_place(document, draw), RAW)


EDITS: tuple[Callable[[Any, Random], Any], ...] = (
    *(replace, replace, replace, retype, remove, remove, swap, repeat, rename, add, put_raw),
)


def edit(document: Any, draw: Random) -> tuple[Any, str]:
    """An edited document, and which edit it was; the document itself may change."""
    how = draw.choice(EDITS)
    return how(document, draw), how.__name__


def encode(document: Any, draw: Random) -> bytes:
    text = json.dumps(document, ensure_ascii=draw.random() < 0.5)
    return text.replace(f'"{RAW}"', draw.choice(RAWS)).encode(errors="surrogatepass")


def twice(text: str, draw: Random) -> str:
    """The first object of JSON text with one of its keys again."""
    start = text.index("{") + 1
    document = json.loads(text)
    key = draw.choice(list(document)) if isinstance(document, dict) and document else "a"
    return f"{text[:start]}{json.dumps(key)}: {json.dumps(nasty.value(draw))},{text[start:]}"


def mutate_json(file: Path, draw: Random) -> str:
    with fitting():
        document = json.loads(file.read_bytes())
        if draw.random() < 0.05:
            file.write_bytes(twice(json.dumps(document), draw).encode(errors="replace"))
            return "values: a key twice"
    document, name = edit(document, draw)
    file.write_bytes(encode(document, draw))
    return f"values: {name}"


def mutate_yaml(file: Path, draw: Random) -> str:
    import yaml

    if draw.random() < 0.3:
        file.write_bytes(draw.choice(YAMLS).encode(errors="replace"))
        return "values: YAML"
    content = file.read_bytes()
    if b"*" in content:  # aliases: written out they may have no end
        raise Unfit
    with fitting():
        document = yaml.safe_load(content)
        document, name = edit(document, draw)
        text = yaml.safe_dump(document)
    file.write_bytes(text.encode(errors="replace"))
    return f"values: {name}"
