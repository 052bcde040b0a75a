"""The CIFAR ResNets of He et al. (2016, section 4.2): 6n + 2 layers, shortcuts without parameters (option A)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class CifarResNet(nn.Module):
    """Three stages of `blocks` blocks with 16, 32 and 64 channels; `blocks=3` is ResNet-20, 9 is ResNet-56."""

    def __init__(self, blocks: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = _stage(16, 16, 1, blocks)
        self.layer2 = _stage(16, 32, 2, blocks)
        self.layer3 = _stage(32, 64, 2, blocks)
        self.linear = nn.Linear(64, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        features = F.relu(self.bn1(self.conv1(images)))
        features = self.layer3(self.layer2(self.layer1(features)))
        return self.linear(features.mean((2, 3)))


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions beside a shortcut; where the shape changes it subsamples and pads channels with zeros."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride, self.padding = stride, (outputs - inputs) // 2

    def forward(self, features: Tensor) -> Tensor:
        change = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(features)))))
        if self.padding:
            shortcut = features[:, :, :: self.stride, :: self.stride]
            features = F.pad(shortcut, (0, 0, 0, 0, self.padding, self.padding))
        return F.relu(change + features)


def _stage(inputs: int, outputs: int, stride: int, blocks: int) -> nn.Sequential:
    return nn.Sequential(
        ResidualBlock(inputs, outputs, stride), *(ResidualBlock(outputs, outputs, 1) for _ in range(blocks - 1))
    )
