"""YAML without code, of bounded size, and without aliases that make a small file a huge value."""

from __future__ import annotations

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
            node = yaml.compose(text, yaml.SafeLoader)
            if node is None:
                return None
            if _count(node, {}) > MOST_VALUES:
                raise UserError(f"{path} has more than {MOST_VALUES:,} values; its aliases (*name) repeat too much")
            return yaml.safe_load(text)
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
