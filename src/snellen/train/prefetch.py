"""The next batch is made while the GPU learns from this one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

NumberedBatch = tuple[int, "Tensor", Any]


def ahead(batches: Iterator[NumberedBatch], device: torch.device) -> Iterator[NumberedBatch]:
    """The same batches in the same order; on a GPU each is made on a stream of its own, one ahead.

    Draws come from the CPU, and copying them over waits for the stream they go to: on this one that is a few small
    kernels, on the stream that learns it would be the whole step.
    """
    if device.type != "cuda":
        yield from batches
        return
    side = torch.cuda.Stream(device, priority=-1)
    side.wait_stream(torch.cuda.current_stream(device))  # the images may still be on their way

    def make() -> NumberedBatch | None:
        with torch.cuda.stream(side):
            return next(batches, None)

    coming = make()
    while coming is not None:
        main = torch.cuda.current_stream(device)
        main.wait_stream(side)
        _, images, targets = coming
        for part in (images, *targets):
            if part.is_cuda:
                part.record_stream(main)  # so that their memory is not reused before they were learnt from
        yield coming
        coming = make()
