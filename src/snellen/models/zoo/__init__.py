"""Our small networks for small images: a table from name to a function of the number of classes.

Every network takes normalised float images [B, 3, H, W] of any size from about 28 to 64 pixels and gives logits
[B, classes]; normalising is the caller's. torch is imported when a network is built, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from snellen.errors import unknown

if TYPE_CHECKING:
    from torch import nn


def smallnet(classes: int) -> nn.Module:
    """Four convolutions, 56 thousand weights: trains in seconds on a CPU."""
    from snellen.models.zoo.smallnet import SmallNet

    return SmallNet(classes)


def resnet20(classes: int) -> nn.Module:
    """The CIFAR ResNet of 20 layers (He et al. 2016, section 4.2), 0.27 million weights."""
    from snellen.models.zoo.resnet import CifarResNet

    return CifarResNet(3, classes)


def preact_resnet18(classes: int) -> nn.Module:
    """The pre-activation ResNet-18 of the mixing papers, 11.2 million weights."""
    from snellen.models.zoo.preact import PreActResNet

    return PreActResNet((2, 2, 2, 2), classes)


NETWORKS: dict[str, Callable[[int], nn.Module]] = {
    "smallnet": smallnet,
    "resnet20": resnet20,
    "preact_resnet18": preact_resnet18,
}


def build(name: str, classes: int) -> nn.Module:
    """A freshly initialised network of the table, from torch's global random state."""
    if name not in NETWORKS:
        raise unknown("network", name, NETWORKS)
    return NETWORKS[name](classes)
