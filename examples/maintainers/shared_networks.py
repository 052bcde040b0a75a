"""The trained networks of the data pack, as `python:` factories.

    N=python:examples/maintainers/shared_networks.py
    snellen audit $N:cifar10@cifar10_resnet20 --data arrays:runs/data/cifar10_test.npz
    snellen audit "basic=$N:cifar10_run@$SNELLEN_SHARED/data/models/cifar10_runs/basic-*" --data arrays:runs/data/cifar10_test.npz
    snellen audit $N:mobilenet_v2 --data 'manifest:runs/data/imagenet.csv?root=…'
    snellen audit $N:mobilenet_v2@whole --data in9:runs/backgrounds/tiny/set-test/original

`python examples/maintainers/shared_data.py` writes the data; SNELLEN_SHARED names the pack where it is not in ../shared.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

from snellen.data.canvas import Canvas
from snellen.models import Model, from_torch

CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def shared() -> Path:
    """The folder of the data pack."""
    return Path(os.environ.get("SNELLEN_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "data"


def cifar10(name: str) -> Model:
    """One of cifar10_resnet20, cifar10_resnet56 and cifar10_resnet4b_adv; they normalise inside."""
    module = _pack("models/cifar_models").load(name)
    return from_torch(module, classes=CIFAR10, size=32, name=name)


def cifar10_run(path: str) -> Model:
    """A ResNet-20 of `models/cifar10_runs`, by the path of its file."""
    from snellen.models.checkpoint import load_into

    module = load_into(_pack("models/cifar_models").CifarResNet(3), Path(path))
    return from_torch(module, classes=CIFAR10, size=32, name=Path(path).stem)


def mobilenet_v2(shown: str = "crop") -> Model:
    """MobileNetV2 for ImageNet at 224 pixels; `whole` shows images to their edges, as those of ImageNet-9 are cut already."""
    return _mobilenet("mobilenet_v2", "mobilenet_v2_imagenet", 224, shown)


def mobilenet_v1(shown: str = "crop") -> Model:
    """A quarter-width MobileNetV1 for ImageNet at 128 pixels, a far weaker network."""
    return _mobilenet("mobilenet_v1", "mobilenet_v1_025_imagenet", 128, shown)


VOC = (
    "background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog",
    "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip


def deeplab() -> Model:
    """DeepLabv3 on a MobileNetV2 for the 21 classes of Pascal VOC, at 257 pixels."""
    network = _pack("models/qgraph").QGraph(shared() / "models" / "deeplabv3_mnv2_voc.safetensors")
    canvas = Canvas(257, 257, "squash", 257, "bilinear")
    return from_torch(network, classes=VOC, canvas=canvas, name="deeplab", task="segmentation")


def _mobilenet(name: str, file: str, size: int, shown: str) -> Model:
    """One of the pack's ImageNet networks; their 1,001 outputs begin with 'background', which is dropped."""
    from timm.data import ImageNetInfo
    from torch import nn

    class Thousand(nn.Module):
        def __init__(self, network: nn.Module) -> None:
            super().__init__()
            self.network = network

        def forward(self, pixels):  # type: ignore[no-untyped-def]
            return self.network(pixels)[:, 1:]

    info = ImageNetInfo("imagenet-1k")
    classes = [f"{info.index_to_description(i)}, {info.index_to_label_name(i)}" for i in range(1000)]
    network = _pack("models/qgraph").QGraph(shared() / "models" / f"{file}.safetensors")
    scale = {"crop": size * 8 // 7, "whole": size}[shown]
    return from_torch(
        Thousand(network), classes=classes, canvas=Canvas(size, size, "crop", scale, "bilinear"), name=name
    )


def _pack(name: str) -> ModuleType:
    """A module of the data pack, which is not installed."""
    spec = importlib.util.spec_from_file_location(Path(name).name, shared() / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
