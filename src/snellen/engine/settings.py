"""How a run is carried out: what does not change the question, only how it is answered."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from snellen.data.canvas import Canvas

SMALL = 64 * 64  # pixels up to which an image counts as small
COARSE, FINE = 8, 16  # bits per pixel of maps: as pixels are ranked by, and all maps once were; as measures read them
COMPILED = "+compile"  # behind the precision of a run whose networks are compiled: other kernels round otherwise


@dataclass(frozen=True)
class Settings:
    """`batch_size` None is chosen by image size and device; `shard` is how many samples are answered as one unit;
    `threads` decode; `keep` stores more of each answer: the five best classes, or all log-probabilities. `map_bits` are those
    of the maps that measures read; a folder of before there were 16 stays with its 8."""

    seed: int = 0
    limit: int | None = None
    device: str = "cpu"
    precision: str = "fp32"
    batch_size: int | None = None
    shard: int | None = None
    threads: int | None = None
    keep: Literal["top5", "logits"] | None = None
    map_bits: int = FINE

    @property
    def compiled(self) -> bool:
        """Whether torch networks are compiled."""
        return self.precision.endswith(COMPILED)

    def precision_of(self, compiled: bool) -> str:
        """The precision of answers, compiled or not, where the run's networks are compiled."""
        return self.precision if compiled else self.precision.removesuffix(COMPILED)

    def batch_for(self, canvas: Canvas, at_once: int = 0) -> int:
        """Images per forward pass: enough to fill the device, not more; `at_once` are the least that a model works well with."""
        if self.batch_size is not None:
            return self.batch_size
        small = canvas.height * canvas.width <= SMALL
        if self.device.startswith("cuda"):
            return max(at_once, 4096 if small else 512)
        return max(at_once, 128 if small else 32)

    @property
    def decoders(self) -> int:
        """Threads that decode: as many as a GPU can be fed by, few where the model needs the cores itself."""
        return self.threads or (min(32, os.cpu_count() or 4) if self.device.startswith("cuda") else 4)

    def shard_for(self, canvases: list[Canvas], at_once: int = 0) -> int:
        """Samples per shard: some batches, and at most some hundred MB of pixels.

        A GPU waits while the first shard is read and the last one written, so its shards have one batch.
        """
        if self.shard is not None:
            return self.shard
        largest = max(canvas.height * canvas.width for canvas in canvases)
        batch = max(self.batch_for(canvas, at_once) for canvas in canvases)
        if self.device.startswith("cuda"):
            return batch
        return batch * (4 if largest <= SMALL else 2)


@dataclass(frozen=True)
class Cluster:
    """Where and how wide: `address` of a running cluster (None: RAY_ADDRESS, else one is started on this machine),
    number of `actors` (None: as many as fit), CPUs of each, and the seconds after which a shard counts as hung."""

    address: str | None = None
    actors: int | None = None
    cpus_per_actor: int = 1
    shard_timeout: float = 1800
