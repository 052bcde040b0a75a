"""Wide residual networks (Zagoruyko & Komodakis 2016): few layers, many channels.

As published, without the dropout that the paper tries between a block's convolutions: its main results do without.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from snellen.models.zoo.initialise import he_normal
from snellen.models.zoo.preact import stage


class WideResNet(nn.Module):
    """Three stages of (depth − 4) / 6 pre-activation blocks with 16, 32 and 64 channels times `width`.

    `depth` counts all convolutions, those of the three shortcuts too; WRN-28-10 is (28, 10).
    """

    def __init__(self, depth: int, width: int, classes: int) -> None:
        super().__init__()
        blocks, rest = divmod(depth - 4, 6)
        if rest or blocks < 1:
            raise ValueError(f"expected a depth of 6 n + 4, got {depth}")
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.layer1 = stage(16, 16 * width, 1, blocks)
        self.layer2 = stage(16 * width, 32 * width, 2, blocks)
        self.layer3 = stage(32 * width, 64 * width, 2, blocks)
        self.bn = nn.BatchNorm2d(64 * width)
        self.linear = nn.Linear(64 * width, classes)
        he_normal(self)
        nn.init.zeros_(self.linear.bias)

    def forward(self, images: Tensor) -> Tensor:
        features = self.layer3(self.layer2(self.layer1(self.conv1(images))))
        return self.linear(F.relu(self.bn(features)).mean((2, 3)))
