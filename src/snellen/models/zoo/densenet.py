"""DenseNet-BC for CIFAR (Huang et al. 2017): every layer sees all the layers before it.

As published for augmented data, that is without dropout. B stands for the 1×1 bottleneck of 4 × growth channels before
each 3×3 convolution, C for transitions that halve the channels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from snellen.models.zoo.initialise import he_normal


class DenseNetBC(nn.Module):
    """Three dense blocks of (depth − 4) / 6 layers that add `growth` channels each; the published ones are (190, 40)."""

    def __init__(self, depth: int, growth: int, classes: int) -> None:
        super().__init__()
        layers, rest = divmod(depth - 4, 6)
        if rest or layers < 1:
            raise ValueError(f"expected a depth of 6 n + 4, got {depth}")
        channels = 2 * growth
        self.conv1 = nn.Conv2d(3, channels, 3, 1, 1, bias=False)
        stages: list[nn.Module] = []
        for stage in range(3):
            if stage:
                stages.append(Transition(channels, channels // 2))
                channels //= 2
            stages += [DenseLayer(channels + growth * layer, growth) for layer in range(layers)]
            channels += growth * layers
        self.stages = nn.Sequential(*stages)
        self.bn = nn.BatchNorm2d(channels)
        self.linear = nn.Linear(channels, classes)
        he_normal(self)
        nn.init.zeros_(self.linear.bias)

    def forward(self, images: Tensor) -> Tensor:
        features = self.stages(self.conv1(images))
        return self.linear(F.relu(self.bn(features)).mean((2, 3)))


class DenseLayer(nn.Module):
    """BatchNorm, ReLU, 1×1 to 4 × growth channels, BatchNorm, ReLU, 3×3 to `growth`, put beside the input."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, 1, 1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        narrow = self.conv1(F.relu(self.bn1(features)))
        return torch.cat((features, self.conv2(F.relu(self.bn2(narrow)))), 1)


class Transition(nn.Module):
    """BatchNorm, ReLU and a 1×1 convolution between two dense blocks; 2×2 means halve the picture."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.bn = nn.BatchNorm2d(inputs)
        self.conv = nn.Conv2d(inputs, outputs, 1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        return F.avg_pool2d(self.conv(F.relu(self.bn(features))), 2)
