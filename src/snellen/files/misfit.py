"""What does not fit a schema, said with its place: `classes['cat'][0]: expected int, got str`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snellen.errors import UserError, one_line

MOST_KEYS = 1000  # of an object in which the key that does not fit is looked for
_ANY_KEY = "[...]"


def misfit(source: Path | str, error: Exception, read: Callable[[], Any], schema: Any) -> UserError:
    """The error for msgspec's "Expected `int`, got `str` - at `$.images[3].id`"; `read` gives the content without a schema."""
    text, _, place = str(error).partition(" - at ")
    text = text.replace("`", "'" if "field" in text else "")
    place = place.strip("`")
    if _ANY_KEY in place:  # msgspec does not say which key of an object with free keys it is
        place = _with_key(place, read(), schema)
    where = re.sub(r"^\$\.?", "", place)
    return UserError(f"{source}: {where + ': ' if where else ''}{text[:1].lower()}{text[1:]}")


def _with_key(place: str, content: Any, schema: Any) -> str:
    """The place with the first key that does not fit, found by leaving all others out."""
    import msgspec

    before, _, after = place.partition(_ANY_KEY)
    owner = _walk(content, before)
    if not isinstance(owner, dict) or len(owner) > MOST_KEYS:
        return place
    for key, value in list(owner.items()):
        owner.clear()
        owner[key] = value
        try:
            msgspec.convert(content, type=schema)
        except msgspec.ValidationError:
            return f"{before}['{one_line(str(key))[:60]}']{after}"
    return place


def _walk(content: Any, place: str) -> Any:
    """What stands at a place such as `$.images[3].classes`; None where there is nothing."""
    for name, number in re.findall(r"\.([^.\[]+)|\[(\d+)\]", place):
        try:
            content = content[name] if name else content[int(number)]
        except (KeyError, IndexError, TypeError):
            return None
    return content
