"""Photographs with one boxed object each, for what is built of them."""

from __future__ import annotations

import pytest

from snellen.data.phantom import export


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The phantom world as Pascal VOC has it: one object an image."""
    out = tmp_path_factory.mktemp("world") / "voc"
    export("phantom:test?n=36&size=80&object_size=0.3..0.6", "voc", out)
    return f"voc:{out}"
