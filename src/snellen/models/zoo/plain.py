"""Plain networks, layer after layer: a very small one for demos and tests, one for digits, and VGG-16 for small images."""

from __future__ import annotations

from torch import Tensor, nn

from snellen.models.zoo.initialise import glorot_uniform, he_normal


class SmallNet(nn.Module):
    """Four 3×3 convolutions of 12, 24, 48 and 96 channels, the first three halving the picture; mean; linear.

    A stage pools before BatchNorm and ReLU, which then work on a quarter of the pixels. The first convolution sees
    every pixel: a variant with a stem of stride 2 took three quarters of the time an image but was 7 points worse on
    the phantom world after twice the epochs. Trains on about 7,900 images of 32 px a second on 2 CPU cores.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.stage1 = _stage(3, 12, nn.MaxPool2d(2))
        self.stage2 = _stage(12, 24, nn.MaxPool2d(2))
        self.stage3 = _stage(24, 48, nn.MaxPool2d(2))
        self.stage4 = _stage(48, 96, nn.Identity())
        self.linear = nn.Linear(96, classes)

    def forward(self, images: Tensor) -> Tensor:
        features = self.stage4(self.stage3(self.stage2(self.stage1(images))))
        return self.linear(features.mean((2, 3)))


def _stage(inputs: int, outputs: int, pool: nn.Module) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, 3, 1, 1, bias=False)
    return nn.Sequential(conv, pool, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class ConvNet(nn.Module):
    """The ConvNet of Volpi & Murino (2019, section 4.1) for digits of 32 px: two 5×5 convolutions, each with 2×2 maxima, and
    three linear layers; ReLU between.

    Sizes are those of the published MNIST code: 64 and 128 channels, 5×5 kernels without padding, twice 1,024 units. At 32 px
    the last features are 5×5; other sizes are averaged to that. As in every training of ours images are standardised by those
    learnt from, and first weights are torch's (first convolution U(±0.115), first linear layer U(±0.018)). The published code
    does neither: with `slim` first weights are Glorot's (U(±0.060), U(±0.038), biases 0), and `snellen train` shows pixels in
    0…1 (`convnet_slim`).
    """

    def __init__(self, classes: int, slim: bool = False) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(5), nn.Flatten(),
        )  # fmt: skip
        self.fc1 = nn.Linear(128 * 5 * 5, 1024)
        self.fc2 = nn.Linear(1024, 1024)
        self.linear = nn.Linear(1024, classes)
        if slim:
            glorot_uniform(self)

    def forward(self, images: Tensor) -> Tensor:
        return self.linear(self.fc2(self.fc1(self.features(images)).relu()).relu())


class SmallVGG(nn.Module):
    """VGG-16 with BatchNorm (Simonyan & Zisserman 2015): thirteen 3×3 convolutions of 64 to 512 channels in five stages, each
    ended by 2×2 maxima; mean; linear.

    The convolutions are torchvision's. One linear layer on the mean of the last features stands for the three of 4,096
    that a 224-px image feeds, as is usual for CIFAR; pooling rounds up, so that images below 32 px pass all five pools.
    """

    def __init__(self, classes: int) -> None:
        from torchvision.models.vgg import cfgs, make_layers

        super().__init__()
        self.features = make_layers(cfgs["D"], batch_norm=True)
        for part in self.features:
            if isinstance(part, nn.MaxPool2d):
                part.ceil_mode = True
        self.linear = nn.Linear(512, classes)
        he_normal(self)

    def forward(self, images: Tensor) -> Tensor:
        return self.linear(self.features(images).mean((2, 3)))
