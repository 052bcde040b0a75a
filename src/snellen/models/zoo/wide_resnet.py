"""Wide residual networks (Zagoruyko & Komodakis 2016): few layers, many channels.

As published, without the dropout that the paper tries between a block's convolutions: its main results do without.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from snellen.models.zoo.initialise import he_normal


class WideResNet(nn.Module):
    """Three stages of (depth − 4) / 6 blocks with 16, 32 and 64 channels times `width`; WRN-28-10 is (28, 10)."""

    def __init__(self, depth: int, width: int, classes: int) -> None:
        super().__init__()
        blocks, rest = divmod(depth - 4, 6)
        if rest or blocks < 1:
            raise ValueError(f"expected a depth of 6 n + 4, got {depth}")
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.layer1 = _stage(16, 16 * width, 1, blocks)
        self.layer2 = _stage(16 * width, 32 * width, 2, blocks)
        self.layer3 = _stage(32 * width, 64 * width, 2, blocks)
        self.bn = nn.BatchNorm2d(64 * width)
        self.linear = nn.Linear(64 * width, classes)
        he_normal(self)
        nn.init.zeros_(self.linear.bias)

    def forward(self, images: Tensor) -> Tensor:
        features = self.layer3(self.layer2(self.layer1(self.conv1(images))))
        return self.linear(F.relu(self.bn(features)).mean((2, 3)))


class WideBlock(nn.Module):
    """BatchNorm and ReLU before each of two 3×3 convolutions.

    Where the number of channels changes, the shortcut is a 1×1 convolution of the activated input.
    """

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if inputs != outputs else None

    def forward(self, features: Tensor) -> Tensor:
        active = F.relu(self.bn1(features))
        change = self.conv2(F.relu(self.bn2(self.conv1(active))))
        return change + (features if self.shortcut is None else self.shortcut(active))


def _stage(inputs: int, outputs: int, stride: int, blocks: int) -> nn.Sequential:
    return nn.Sequential(
        WideBlock(inputs, outputs, stride), *(WideBlock(outputs, outputs, 1) for _ in range(blocks - 1))
    )
