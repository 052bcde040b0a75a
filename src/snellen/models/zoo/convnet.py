"""The ConvNet of Volpi & Murino (2019, section 4.1) for digits of 32 px: conv, pool, conv, pool, fc, fc, classes.

Sizes are those of the published MNIST code: 64 and 128 channels, 5×5 kernels without padding, twice 1,024 units; images
enter in 0…1 (mean 0, deviation 1 in a card). At 32 px the last features are 5×5; other sizes are averaged to that.
"""

from __future__ import annotations

from torch import Tensor, nn


class ConvNet(nn.Module):
    """Two 5×5 convolutions, each with 2×2 maxima, and three linear layers; ReLU between."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(5), nn.Flatten(),
        )  # fmt: skip
        self.fc1 = nn.Linear(128 * 5 * 5, 1024)
        self.fc2 = nn.Linear(1024, 1024)
        self.linear = nn.Linear(1024, classes)

    def forward(self, images: Tensor) -> Tensor:
        return self.linear(self.fc2(self.fc1(self.features(images)).relu()).relu())
