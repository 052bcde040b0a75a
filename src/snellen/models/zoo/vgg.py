"""VGG-16 with BatchNorm (Simonyan & Zisserman 2015) for small images.

The convolutions are torchvision's. One linear layer on the mean of the last features stands for the three of 4,096
that a 224-px image feeds, as is usual for CIFAR; pooling rounds up, so that images below 32 px pass all five pools.
"""

from __future__ import annotations

from torch import Tensor, nn
from torchvision.models.vgg import cfgs, make_layers

from snellen.models.zoo.initialise import he_normal


class SmallVGG(nn.Module):
    """Thirteen 3×3 convolutions of 64 to 512 channels in five stages, each ended by 2×2 maxima; mean; linear."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = make_layers(cfgs["D"], batch_norm=True)
        for part in self.features:
            if isinstance(part, nn.MaxPool2d):
                part.ceil_mode = True
        self.linear = nn.Linear(512, classes)
        he_normal(self)

    def forward(self, images: Tensor) -> Tensor:
        return self.linear(self.features(images).mean((2, 3)))
