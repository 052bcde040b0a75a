"""Networks of transformers as plain torch modules: pixels in, logits out."""

from __future__ import annotations

from torch import Tensor, nn


class Logits(nn.Module):
    """Gives the logits of a network whose answers have several named parts."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> Tensor:
        logits: Tensor = self.network(pixel_values=pixels).logits
        return logits
