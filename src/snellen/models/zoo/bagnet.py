"""BagNet (Brendel & Bethge 2019): a ResNet-50 that sees an image only as a bag of small patches.

Most 3×3 convolutions are 1×1, so that a place of the last stage sees 9, 17 or 33 pixels per side; the logits are the mean
of every place's own. Layers and the names of their weights are those of the authors' PyTorch code. Two things differ.
The running means of the first BatchNorm move with torch's usual momentum, not with 0.001, which suits only weights that
are already trained. Images up to 96 px are padded with zeros until whole steps of the patch fit: as published, up to 7
pixels at the right and lower edge go unseen, 3% of a side at 224 px but a fifth at 32, and a 32-px image is too small
for BagNet-33.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from snellen.models.zoo.initialise import he_normal

_SMALL = 96  # pixels per side up to which no pixel may go unseen
_STEP = 8  # pixels between neighbouring patches


class BagNet(nn.Module):
    """A ResNet-50 whose first `wide` stages (2, 3 or 4) begin with a 3×3 convolution: patches of 9, 17 or 33 px."""

    def __init__(self, wide: int, classes: int) -> None:
        super().__init__()
        if wide not in (2, 3, 4):
            raise ValueError(f"expected 2, 3 or 4 stages with a 3×3 convolution, got {wide}")
        self.patch = 2 ** (wide + 1) + 1
        self.conv1 = nn.Conv2d(3, 64, 1, bias=False)
        self.conv2 = nn.Conv2d(64, 64, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = _stage(64, 64, 3, 2, 3)
        self.layer2 = _stage(256, 128, 4, 2, 3)
        self.layer3 = _stage(512, 256, 6, 2, 3 if wide > 2 else 1)
        self.layer4 = _stage(1024, 512, 3, 1, 3 if wide > 3 else 1)
        self.fc = nn.Linear(2048, classes)
        he_normal(self)

    def forward(self, images: Tensor) -> Tensor:
        return self.fc(self._places(images).mean((2, 3)))

    def evidence(self, images: Tensor) -> Tensor:
        """Logits of each patch [B, classes, rows, columns], every 8 pixels; their mean is the network's answer."""
        return self.fc(self._places(images).movedim(1, -1)).movedim(-1, 1)

    def _places(self, images: Tensor) -> Tensor:
        """Features [B, 2048, rows, columns] of each patch."""
        missing = [_missing(side, self.patch) for side in images.shape[-2:]]
        if any(missing):
            (top, bottom), (left, right) = ((m // 2, m - m // 2) for m in missing)
            images = F.pad(images, (left, right, top, bottom))
        features = F.relu(self.bn1(self.conv2(self.conv1(images))))
        return self.layer4(self.layer3(self.layer2(self.layer1(features))))


class BagnetBlock(nn.Module):
    """1×1, `kernel`×`kernel` and 1×1 convolutions without padding; the shortcut loses the right and lower edge too."""

    def __init__(self, inputs: int, width: int, stride: int, kernel: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, kernel, stride, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample: nn.Module | None = None
        if stride > 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, features: Tensor) -> Tensor:
        change = F.relu(self.bn1(self.conv1(features)))
        change = F.relu(self.bn2(self.conv2(change)))
        change = self.bn3(self.conv3(change))
        shortcut = features if self.downsample is None else self.downsample(features)
        return F.relu(change + shortcut[:, :, : change.shape[2], : change.shape[3]])


def _stage(inputs: int, width: int, blocks: int, stride: int, kernel: int) -> nn.Sequential:
    """Blocks of which only the first may have a stride and a kernel above 1."""
    rest = (BagnetBlock(4 * width, width, 1, 1) for _ in range(blocks - 1))
    return nn.Sequential(BagnetBlock(inputs, width, stride, kernel), *rest)


def _missing(side: int, patch: int) -> int:
    """Pixels that a side lacks to be seen whole; 0 for a large image, which is taken as it is."""
    if side > _SMALL:
        return 0
    return patch - side if side < patch else (patch - side) % _STEP
