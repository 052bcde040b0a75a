"""FC-DenseNet (Jégou et al. 2017, the tiramisu): dense blocks down to a 32nd of the picture and up again.

Gives logits for each pixel, [B, classes, H, W]. As published, with dropout of 0.2 after every convolution but the first
and the last. Pooling rounds up and what is upsampled is cut to its skip connection, so that any size will do; for
multiples of 32 both change nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_FIRST = 48  # channels of the first convolution


class FCDenseNet(nn.Module):
    """`layers` counts the layers of the five dense blocks down, the one at the bottom and the five up."""

    def __init__(self, layers: tuple[int, ...], growth: int, classes: int) -> None:
        super().__init__()
        if len(layers) % 2 == 0:
            raise ValueError(f"expected an odd number of dense blocks, got {len(layers)}")
        depth = len(layers) // 2
        self.conv1 = nn.Conv2d(3, _FIRST, 3, 1, 1)
        channels, skips = _FIRST, []
        self.down, self.pools = nn.ModuleList(), nn.ModuleList()
        for count in layers[:depth]:
            self.down.append(DenseBlock(channels, count, growth))
            channels += count * growth
            skips.append(channels)
            self.pools.append(_transition_down(channels))
        self.bottom = DenseBlock(channels, layers[depth], growth)
        self.rises, self.up = nn.ModuleList(), nn.ModuleList()
        for before, count in zip(layers[depth:], layers[depth + 1 :]):
            self.rises.append(nn.ConvTranspose2d(before * growth, before * growth, 3, 2))
            channels = skips.pop() + before * growth
            self.up.append(DenseBlock(channels, count, growth))
        self.classifier = nn.Conv2d(channels + layers[-1] * growth, classes, 1)
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
                assert module.bias is not None
                nn.init.zeros_(module.bias)

    def forward(self, images: Tensor) -> Tensor:
        features = self.conv1(images)
        skips = []
        for block, pool in zip(self.down, self.pools):
            features = torch.cat((features, block(features)), 1)
            skips.append(features)
            features = pool(features)
        new = self.bottom(features)
        for rise, block in zip(self.rises, self.up):
            skip = skips.pop()
            features = torch.cat((skip, _cut(rise(new), skip)), 1)
            new = block(features)  # only what a block adds is upsampled: the rest would grow without end
        return self.classifier(torch.cat((features, new), 1))


class DenseBlock(nn.Module):
    """`count` layers of BatchNorm, ReLU and a 3×3 convolution, each seeing all before; gives the new channels only."""

    def __init__(self, inputs: int, count: int, growth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_layer(inputs + number * growth, growth, 3) for number in range(count))

    def forward(self, features: Tensor) -> Tensor:
        new: list[Tensor] = []
        for layer in self.layers:
            new.append(layer(torch.cat((features, *new), 1)))
        return torch.cat(new, 1)


def _layer(inputs: int, outputs: int, kernel: int) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, 1, kernel // 2)
    return nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU(inplace=True), conv, nn.Dropout(0.2))


def _transition_down(channels: int) -> nn.Sequential:
    return nn.Sequential(_layer(channels, channels, 1), nn.MaxPool2d(2, ceil_mode=True))


def _cut(features: Tensor, like: Tensor) -> Tensor:
    """The middle of `features`, of the height and width of `like`."""
    height, width = like.shape[-2:]
    top, left = (features.shape[-2] - height) // 2, (features.shape[-1] - width) // 2
    return features[..., top : top + height, left : left + width]
