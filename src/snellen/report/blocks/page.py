"""A page: its title and blocks, as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from snellen.report.blocks.kinds import BLOCK_TYPES, NAMES, Block


@dataclass(frozen=True)
class Page:
    """A title and blocks."""

    title: str
    blocks: tuple[Block, ...]

    def to_json(self) -> dict[str, Any]:
        """`{"title": …, "blocks": [{"kind": "heading", …}, …]}`; fields that have their default are left out."""
        return {"title": self.title, "blocks": to_json(self.blocks)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Page:
        """The page that such a dictionary is of."""
        return cls(content["title"], from_json(content["blocks"]))


def to_json(value: Any) -> Any:
    """Blocks, and what is inside them, as dictionaries and lists."""
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if type(value) not in NAMES:
        return value
    content: dict[str, Any] = {"kind": NAMES[type(value)]}
    for declared in fields(value):
        inside = getattr(value, declared.name)
        if declared.default is MISSING or inside != declared.default:
            content[declared.name] = inside if declared.metadata.get("plain") else to_json(inside)
    return content


def from_json(content: Any) -> Any:
    """The blocks that `to_json` wrote."""
    if isinstance(content, list):
        return tuple(from_json(item) for item in content)
    if not isinstance(content, dict):
        return content
    kind = BLOCK_TYPES[content["kind"]]
    plain = {declared.name for declared in fields(kind) if declared.metadata.get("plain")}
    return kind(
        **{name: inside if name in plain else from_json(inside) for name, inside in content.items() if name != "kind"}
    )
