"""Our networks: a table from name to a function of the number of classes, and the way to those of libraries.

Every network of the table takes normalised float images [B, 3, H, W] of any size from about 28 pixels and gives logits
[B, classes], those of `SEGMENTATION` [B, classes, H, W]; normalising is the caller's (`UNIT_INPUTS` are trained on pixels in
0…1). torch is imported when a network is built, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from snellen.errors import unknown
from snellen.models.compositional import is_compositional, parse_compositional
from snellen.models.zoo.libraries import LIBRARIES

if TYPE_CHECKING:
    from torch import nn


def smallnet(classes: int) -> nn.Module:
    """Four convolutions, 56 thousand weights: trains in seconds on a CPU."""
    from snellen.models.zoo.plain import SmallNet

    return SmallNet(classes)


def convnet(classes: int) -> nn.Module:
    """The ConvNet of Volpi & Murino (2019) for digits, 4.5 million weights."""
    from snellen.models.zoo.plain import ConvNet

    return ConvNet(classes)


def convnet_slim(classes: int) -> nn.Module:
    """The same ConvNet as in the code of Volpi et al. (2018) and Volpi & Murino (2019): pixels in 0…1, Glorot's first weights."""
    from snellen.models.zoo.plain import ConvNet

    return ConvNet(classes, slim=True)


def resnet20(classes: int) -> nn.Module:
    """The CIFAR ResNet of 20 layers (He et al. 2016, section 4.2), 0.27 million weights."""
    from snellen.models.zoo.resnet import CifarResNet

    return CifarResNet(3, classes)


def resnet56(classes: int) -> nn.Module:
    """The CIFAR ResNet of 56 layers (He et al. 2016, section 4.2), 0.86 million weights."""
    from snellen.models.zoo.resnet import CifarResNet

    return CifarResNet(9, classes)


def preact_resnet18(classes: int) -> nn.Module:
    """A pre-activation ResNet-18 (He et al. 2016b) with BatchNorm in its stem and none at its end, 11.2 million weights."""
    from snellen.models.zoo.preact import PreActResNet

    return PreActResNet((2, 2, 2, 2), classes)


def preact_resnet18_fmix(classes: int) -> nn.Module:
    """The pre-activation ResNet-18 of the mixing papers, as in the code of FMix (Harris et al. 2020), 11.2 million weights."""
    from snellen.models.zoo.preact import PreActResNet

    return PreActResNet((2, 2, 2, 2), classes, after_relu=True)


def wide_resnet16_4(classes: int) -> nn.Module:
    """WRN-16-4 (Zagoruyko & Komodakis 2016), 2.7 million weights."""
    from snellen.models.zoo.preact import WideResNet

    return WideResNet(16, 4, classes)


def wide_resnet28_10(classes: int) -> nn.Module:
    """WRN-28-10 (Zagoruyko & Komodakis 2016), 36.5 million weights."""
    from snellen.models.zoo.preact import WideResNet

    return WideResNet(28, 10, classes)


def densenet_bc100(classes: int) -> nn.Module:
    """DenseNet-BC-100 with growth 12 (Huang et al. 2017), 0.77 million weights."""
    from snellen.models.zoo.densenet import DenseNetBC

    return DenseNetBC(100, 12, classes)


def densenet_bc190(classes: int) -> nn.Module:
    """DenseNet-BC-190 with growth 40 (Huang et al. 2017), 25.6 million weights."""
    from snellen.models.zoo.densenet import DenseNetBC

    return DenseNetBC(190, 40, classes)


def pyramidnet110(classes: int) -> nn.Module:
    """PyramidNet-110 with alpha 84 (Han et al. 2017), 3.9 million weights."""
    from snellen.models.zoo.pyramidnet import PyramidNet

    return PyramidNet(110, 84, False, classes)


def pyramidnet200(classes: int) -> nn.Module:
    """PyramidNet-200 with alpha 240 and bottlenecks (Han et al. 2017), the one of FMix; 26.8 million weights."""
    from snellen.models.zoo.pyramidnet import PyramidNet

    return PyramidNet(200, 240, True, classes)


def vgg16_bn(classes: int) -> nn.Module:
    """VGG-16 with BatchNorm and one linear layer, 14.7 million weights."""
    from snellen.models.zoo.plain import SmallVGG

    return SmallVGG(classes)


def bagnet9(classes: int) -> nn.Module:
    """BagNet (Brendel & Bethge 2019) on patches of 9 px, 13.7 million weights."""
    from snellen.models.zoo.bagnet import BagNet

    return BagNet(2, classes)


def bagnet17(classes: int) -> nn.Module:
    """BagNet (Brendel & Bethge 2019) on patches of 17 px, 14.2 million weights."""
    from snellen.models.zoo.bagnet import BagNet

    return BagNet(3, classes)


def bagnet33(classes: int) -> nn.Module:
    """BagNet (Brendel & Bethge 2019) on patches of 33 px, 16.3 million weights."""
    from snellen.models.zoo.bagnet import BagNet

    return BagNet(4, classes)


def vit_small_p2(classes: int) -> nn.Module:
    """A vision transformer of nine blocks on patches of 2 px, 2.7 million weights."""
    from snellen.models.zoo.libraries import small_vit

    return small_vit(2, classes)


def vit_small_p4(classes: int) -> nn.Module:
    """A vision transformer of nine blocks on patches of 4 px, 2.7 million weights."""
    from snellen.models.zoo.libraries import small_vit

    return small_vit(4, classes)


def vit_small_p8(classes: int) -> nn.Module:
    """A vision transformer of nine blocks on patches of 8 px, 2.7 million weights."""
    from snellen.models.zoo.libraries import small_vit

    return small_vit(8, classes)


def fc_densenet56(classes: int) -> nn.Module:
    """FC-DenseNet-56 for segmentation (Jégou et al. 2017), 1.4 million weights."""
    from snellen.models.zoo.fc_densenet import FCDenseNet

    return FCDenseNet((4,) * 11, 12, classes)


def fc_densenet67(classes: int) -> nn.Module:
    """FC-DenseNet-67 for segmentation (Jégou et al. 2017), 3.5 million weights."""
    from snellen.models.zoo.fc_densenet import FCDenseNet

    return FCDenseNet((5,) * 11, 16, classes)


def fc_densenet103(classes: int) -> nn.Module:
    """FC-DenseNet-103 for segmentation (Jégou et al. 2017), the tiramisu, 9.3 million weights."""
    from snellen.models.zoo.fc_densenet import FCDenseNet

    return FCDenseNet((4, 5, 7, 10, 12, 15, 12, 10, 7, 5, 4), 16, classes)


NETWORKS: dict[str, Callable[[int], nn.Module]] = {
    "smallnet": smallnet,
    "convnet": convnet,
    "convnet_slim": convnet_slim,
    "resnet20": resnet20,
    "resnet56": resnet56,
    "preact_resnet18": preact_resnet18,
    "preact_resnet18_fmix": preact_resnet18_fmix,
    "wide_resnet16_4": wide_resnet16_4,
    "wide_resnet28_10": wide_resnet28_10,
    "densenet_bc100": densenet_bc100,
    "densenet_bc190": densenet_bc190,
    "pyramidnet110": pyramidnet110,
    "pyramidnet200": pyramidnet200,
    "vgg16_bn": vgg16_bn,
    "bagnet9": bagnet9,
    "bagnet17": bagnet17,
    "bagnet33": bagnet33,
    "vit_small_p2": vit_small_p2,
    "vit_small_p4": vit_small_p4,
    "vit_small_p8": vit_small_p8,
    "fc_densenet56": fc_densenet56,
    "fc_densenet67": fc_densenet67,
    "fc_densenet103": fc_densenet103,
}
UNIT_INPUTS = frozenset({"convnet_slim"})  # trained on pixels in 0…1; all others see standardised ones
SEGMENTATION = frozenset({"fc_densenet56", "fc_densenet67", "fc_densenet103"})


def build(name: str, classes: int) -> nn.Module:
    """A freshly initialised network from torch's global random state: one of the table, `timm:…`, `torchvision:…`, `hf:…`, or
    a complete `compositional(…)`."""
    check_name(name)
    if is_compositional(name):
        from snellen.models.compositional.network import build_compositional

        return build_compositional(name, classes)
    library, colon, rest = name.partition(":")
    return LIBRARIES[library](rest, classes) if colon else NETWORKS[name](classes)


def check_name(name: str) -> None:
    """Refuse a name that cannot be built, without torch: what stands behind `timm:` is checked when it is built."""
    if is_compositional(name):
        parse_compositional(name)
        return
    library, colon, rest = name.partition(":")
    if name not in NETWORKS and not (colon and rest and library in LIBRARIES):
        raise unknown("network", name, [*NETWORKS, *(f"{kind}:NAME" for kind in LIBRARIES)])
