"""PyramidNet for CIFAR (Han et al. 2017): channels grow a little with every block instead of doubling at a stage.

As published: the additive law (16 + alpha × block / blocks channels, rounded), no ReLU before a block's first
convolution, a BatchNorm at its end, and shortcuts without weights that pad channels with zeros. PyramidNet-200 with
alpha 240 is the network of the FMix results.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from snellen.models.zoo.initialise import he_normal


class PyramidNet(nn.Module):
    """Three stages of equally many blocks, widened by `alpha` channels from the first to the last.

    With `bottleneck` a block has three convolutions and four times the channels at its end, and the depth is 9 n + 2;
    without it has two and the depth is 6 n + 2.
    """

    def __init__(self, depth: int, alpha: int, bottleneck: bool, classes: int) -> None:
        super().__init__()
        blocks, rest = divmod(depth - 2, 9 if bottleneck else 6)
        if rest or blocks < 1:
            raise ValueError(f"expected a depth of {9 if bottleneck else 6} n + 2, got {depth}")
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        chain: list[nn.Module] = []
        channels = 16
        for number in range(3 * blocks):
            width = round(16 + alpha * (number + 1) / (3 * blocks))
            stride = 2 if number in (blocks, 2 * blocks) else 1
            chain.append(PyramidBlock(channels, width, stride, bottleneck))
            channels = 4 * width if bottleneck else width
        self.blocks = nn.Sequential(*chain)
        self.bn2 = nn.BatchNorm2d(channels)
        self.linear = nn.Linear(channels, classes)
        he_normal(self)
        nn.init.zeros_(self.linear.bias)

    def forward(self, images: Tensor) -> Tensor:
        features = self.blocks(self.bn1(self.conv1(images)))
        return self.linear(F.relu(self.bn2(features)).mean((2, 3)))


class PyramidBlock(nn.Module):
    """BatchNorm before, between and after two 3×3 convolutions (or 1×1, 3×3, 1×1), ReLU only between them."""

    def __init__(self, inputs: int, width: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        outputs = 4 * width if bottleneck else width
        shapes = [(inputs, width, 3, stride), (width, width, 3, 1)]  # channels in, channels out, kernel, stride
        if bottleneck:
            shapes = [(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)]
        layers: list[nn.Module] = []
        for number, (before, after, kernel, step) in enumerate(shapes):
            layers.append(nn.BatchNorm2d(before))
            if number:
                layers.append(nn.ReLU(inplace=True))
            layers.append(nn.Conv2d(before, after, kernel, step, kernel // 2, bias=False))
        self.change = nn.Sequential(*layers, nn.BatchNorm2d(outputs))
        self.stride, self.padding = stride, outputs - inputs

    def forward(self, features: Tensor) -> Tensor:
        change = self.change(features)
        if self.stride > 1:
            features = F.avg_pool2d(features, 2, ceil_mode=True)
        return change + F.pad(features, (0, 0, 0, 0, 0, self.padding))
