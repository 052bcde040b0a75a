"""How many images a shard has: one batch where a GPU would wait for it, some where files would be many and small."""

from __future__ import annotations

import pytest

from snellen.data import Canvas
from snellen.engine import Settings

SMALL, LARGE = Canvas(32, 32), Canvas(224, 224)


@pytest.mark.parametrize(
    ("device", "canvases", "shard"),
    [
        ("cuda", [SMALL], 4096),
        ("cuda:1", [LARGE], 512),
        ("cuda", [SMALL, LARGE], 4096),  # the larger batch
        ("cpu", [SMALL], 4 * 128),
        ("cpu", [LARGE], 2 * 32),
        ("cpu", [SMALL, LARGE], 2 * 128),
    ],
)
def test_a_shard_is_a_batch_on_a_gpu_and_some_on_a_cpu(device: str, canvases: list[Canvas], shard: int) -> None:
    assert Settings(device=device).shard_for(canvases) == shard
    assert Settings(device=device, shard=7).shard_for(canvases) == 7
