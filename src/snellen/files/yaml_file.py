"""YAML without code, of bounded size, without aliases that make a small file a huge value, and without keys that come twice.

Numbers are as people write them: 1:30 is a text, not 90, and 010 is not 8 (YAML 1.1 has base 60 and octal numbers, 1.2 neither).
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.plain import MIB, read_text

MOST_VALUES = 100_000  # with every alias written out


def read_yaml(path: Path | str, kind: str = "YAML file", most: int = MIB) -> Any:
    """The content of a YAML file: plain values only."""
    import yaml

    text = read_text(path, kind, most)
    if text.count(",") + text.count("\n") > MOST_VALUES:  # which the parser would take many seconds over
        raise UserError(f"{path} has more than {MOST_VALUES:,} lines and entries of lists; split it, or leave some out")
    with reading(path, "YAML"):
        try:
            loader = _loader()
            node = yaml.compose(text, loader)
            if node is None:
                return None
            if _count(node, {}) > MOST_VALUES:
                raise UserError(f"{path} has more than {MOST_VALUES:,} values; its aliases (*name) repeat too much")
            _refuse_twice(node, path, set())
            return yaml.load(text, loader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f" line {mark.line + 1}" if mark else ""
            reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
            raise UserError(f"{path}{where} is not YAML: {reason}") from None


def _count(node: Any, known: dict[int, int]) -> int:
    """How many values a node has once its aliases are written out; one that holds itself has no end."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = MOST_VALUES + 1  # until it is counted: met again, it holds itself
    parts = node.value if isinstance(node.value, list) else []
    children = [child for part in parts for child in (part if isinstance(part, tuple) else (part,))]
    known[id(node)] = min(1 + sum(_count(child, known) for child in children), MOST_VALUES + 1)
    return known[id(node)]


def _refuse_twice(node: Any, path: Path | str, seen: set[int]) -> None:
    """Raise where a mapping has a key twice: the second would replace the first without a word."""
    if id(node) in seen or not isinstance(node.value, list):
        return
    seen.add(id(node))
    lines: dict[tuple[str, str], int] = {}
    for part in node.value:
        key, value = part if isinstance(part, tuple) else (None, part)
        if key is not None and isinstance(key.value, str):
            line, name = key.start_mark.line + 1, (key.tag, key.value)
            if name in lines:
                raise UserError(
                    f"{path} line {line}: '{key.value[:60]}' stands there twice, first in line {lines[name]}; leave one out"
                )
            lines[name] = line
        _refuse_twice(value, path, seen)


@functools.cache
def _loader() -> type:
    """PyYAML's safe loader with other rules of what is a number."""
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {  # noqa: RUF012
            first: [(tag, rule) for tag, rule in rules if tag not in _NUMBERS]
            for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    for tag, (rule, first) in _NUMBERS.items():
        Loader.add_implicit_resolver(tag, re.compile(rule), list(first))
    return Loader


_NUMBERS = {  # tag → what is written so, and how it may begin
    "tag:yaml.org,2002:int": (r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$", "-+0123456789"),
    "tag:yaml.org,2002:float": (
        r"([-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$",
        "-+0123456789.",
    ),
}
