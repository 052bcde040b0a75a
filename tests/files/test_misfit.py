"""What does not fit a schema is named with its place."""

from __future__ import annotations

import json

import msgspec
import pytest

from snellen.errors import UserError
from snellen.files.json_file import decode_json, fit


class Group(msgspec.Struct):
    names: dict[str, list[int]]


class Document(msgspec.Struct):
    groups: list[Group] = []
    sizes: dict[str, int] = {}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"sizes": {"a": 1, "b": "two"}}, "sizes['b']: expected int, got str"),
        (
            {"groups": [{"names": {}}, {"names": {"x": [1], "y\n": [1, None]}}]},
            r"groups[1].names['y\n'][1]: expected int, got null",
        ),
        ({"groups": [{"names": 3}]}, "groups[0].names: expected object, got int"),
    ],
)
def test_the_key_of_an_object_with_free_keys_is_named(content: object, place: str) -> None:
    for read in (
        lambda: decode_json(json.dumps(content), Document, "a.json"),
        lambda: fit(content, Document, "a.json"),
    ):
        with pytest.raises(UserError) as error:
            read()
        assert str(error.value) == f"a.json: {place}"


def test_among_very_many_keys_it_is_not_looked_for() -> None:
    sizes: dict[str, object] = {str(number): number for number in range(1001)}
    with pytest.raises(UserError, match=r"sizes\[\.\.\.\]: expected int, got str"):
        fit({"sizes": {**sizes, "last": "x"}}, Document, "a.json")
