"""What Hugging Face's library says of a table's columns: which are images, and the names of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.files import decode_json

if TYPE_CHECKING:
    import pyarrow as pa

_LISTS = ("List", "LargeList", "Sequence")


@dataclass(frozen=True)
class Features:
    """A table's columns by what they hold: `images`, and the class `names` of columns, `objects.category` for a field's."""

    images: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]


def features_of(schema: pa.Schema, where: str, stated: Mapping[str, Any] | None = None) -> Features:
    """From the schema, or as `stated`; columns of bytes, or of bytes with a path, are images too."""
    if stated is None:
        content = (schema.metadata or {}).get(b"huggingface", b"{}")
        facts: dict[str, Any] = decode_json(content, dict[str, Any], f"{where}: what is said of its columns")
        info = facts.get("info")
        stated = info.get("features") if isinstance(info, dict) else None
    stated = stated if isinstance(stated, dict) else {}
    images = [field.name for field in schema if _is_image(field.type) or _type_of(stated.get(field.name)) == "Image"]
    names: dict[str, tuple[str, ...]] = {}
    for column in schema.names:
        _collect(stated.get(column), column, names, where)
    return Features(tuple(images), names)


def _is_image(type: pa.DataType) -> bool:
    import pyarrow.types as kinds

    if kinds.is_struct(type):
        return any(type.field(place).name == "bytes" for place in range(type.num_fields))
    return kinds.is_binary(type) or kinds.is_large_binary(type)


def _type_of(feature: Any) -> str:
    return str(feature.get("_type", "")) if isinstance(feature, dict) else ""


def _collect(feature: Any, place: str, names: dict[str, tuple[str, ...]], where: str, depth: int = 0) -> None:
    """The names of classes in a feature and in what it is made of."""
    if isinstance(feature, list) and len(feature) == 1:  # as lists were written once
        feature = feature[0]
    if not isinstance(feature, dict) or depth > 4:
        return
    sort = _type_of(feature)
    if sort == "ClassLabel":
        own = feature.get("names")
        if isinstance(own, list):
            if not all(isinstance(name, str) and name for name in own) or len(set(own)) < len(own):
                raise UserError(f"{where}: the names of the classes of '{place}' are not all different texts")
            names[place] = tuple(own)
    elif sort in _LISTS:
        _collect(feature.get("feature"), place, names, where, depth + 1)
    elif not sort:
        for name, inner in feature.items():
            _collect(inner, f"{place}.{name}", names, where, depth + 1)
