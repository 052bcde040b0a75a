"""Updates of a small network by Adam on images in memory, each a replay of one CUDA graph where there is a GPU.

A batch of 32 small digits is little work for a GPU: without a graph it waits for launches most of the time. Images have
versions: the original, and one for each offset that was appended.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from snellen.train.normalise import Normalised

BATCH = 32


class Learner:
    """A network that learns from uint8 images [N, 3, H, W]; room for `phases` offsets float16 in units of 0…255."""

    def __init__(
        self, network: nn.Module, normalise: Normalised, images: Tensor, labels: Tensor, *, phases: int, rate: float,
        float32: bool = False, eager: bool = False,
    ) -> None:  # fmt: skip
        self.network, self.normalise, self.images, self.labels = network, normalise, images, labels
        self.cuda, self.float32, self.eager, self.versions = images.is_cuda, float32, eager, 1
        self.offsets = torch.zeros((phases, *images.shape), dtype=torch.float16, device=images.device)
        self.optimiser = torch.optim.Adam(network.parameters(), rate, capturable=self.cuda)
        self.rows = torch.zeros(BATCH, dtype=torch.int64, device=images.device)
        self.choices = torch.zeros(BATCH, dtype=torch.int64, device=images.device)
        self.graph: torch.cuda.CUDAGraph | None = None

    def append(self, offsets: Tensor) -> None:
        """One more version of every image."""
        self.offsets[self.versions - 1] = offsets
        self.versions += 1

    def version(self, rows: Tensor, choices: Tensor) -> Tensor:
        """float32 [B, 3, H, W]: images in some versions; 0 is the original."""
        images = self.images[rows].float()
        if not len(self.offsets):
            return images
        moved = self.offsets[(choices - 1).clamp(min=0), rows].float()
        return images + torch.where((choices > 0).view(-1, 1, 1, 1), moved, 0.0)

    def learn(self, updates: int, random: np.random.Generator) -> None:
        """So many updates; every image comes once in each round of all, in a version drawn uniformly."""
        if updates < 1:
            return
        rounds = -(-updates * BATCH // len(self.images))
        order = np.concatenate([random.permutation(len(self.images)) for _ in range(rounds)])[: updates * BATCH]
        choices = random.integers(self.versions, size=len(order))
        device = self.images.device
        batches = torch.from_numpy(np.stack([order, choices]).reshape(2, updates, BATCH)).to(device)
        done = self._capture(batches) if self.cuda and self.graph is None and not self.eager else 0
        for step in range(done, updates):
            self.rows.copy_(batches[0, step])
            self.choices.copy_(batches[1, step])
            if self.graph is None:
                self._update()
            else:
                self.graph.replay()

    def _update(self) -> None:
        images = self.version(self.rows, self.choices)
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.cuda and not self.float32, cache_enabled=False):
            logits = self.network(self.normalise(images))
        nn.functional.cross_entropy(logits.float(), self.labels[self.rows]).backward()
        self.optimiser.step()

    def _capture(self, batches: Tensor) -> int:
        """Make the graph, after the first updates on a stream of their own, as capturing needs; how many were made."""
        warm = min(3, batches.shape[1])
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for step in range(warm):
                self.rows.copy_(batches[0, step])
                self.choices.copy_(batches[1, step])
                self._update()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self._update()
        return warm
