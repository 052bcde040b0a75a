"""Where does a CompositionalNet take pets to be hidden? Cat against dog on MobileNetV2's features, objects pasted before them.

    python examples/maintainers/occlusion_pets.py                    # the pets and the network of the data pack, a CPU

Kernels, part maps and clutter models are fitted to the features of half of the photographs and nothing is fine-tuned. On the
other half objects are pasted, whose pixels are the truth: AUC of the map of occluders against them, image by image, over all
pixels and over those of the pet alone (the background is clutter too), beside two maps that need no network.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parent))
from occlusion_models import LEARNT, TESTED, write_cutouts
from shared_networks import _pack, shared

from snellen.distort import apply
from snellen.models.compositional import Compositional
from snellen.models.compositional.network import CompositionalNet, find_features
from snellen.train.compositional import Beginning
from snellen.train.device_dataset import ImagesInMemory

SPECIES = ("cat", "dog")
SHARES = (0.2, 0.4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=128)
    parser.add_argument("--mixtures", type=int, default=2)
    parser.add_argument("--places", type=int, default=14, help="side of the map of features: 14 or 7")
    parser.add_argument("--runs", type=int, default=2, help="other halves, other clusters")
    parser.add_argument("--out", type=Path, default=Path("runs/occlusion-models"))
    chosen = parser.parse_args()
    cutouts = write_cutouts(chosen.out / "pasted", LEARNT + TESTED)
    images, labels, pets = read_pets()
    for run in range(chosen.runs):
        order = torch.randperm(len(images), generator=torch.Generator().manual_seed(run))
        learnt, rest = order[: len(order) // 2], order[len(order) // 2 :]
        network = fitted(images[learnt], labels[learnt], chosen, run)
        print(f"run {run}: {len(learnt)} photographs to fit, {len(rest)} to test, {network.settings}", flush=True)
        clean = images[rest]
        print(f"  accuracy on clean photographs {accuracy(network, clean, labels[rest]):.1%}", flush=True)
        for share in SHARES:
            hidden = apply(f"cutouts({share})", clean, [str(int(row)) for row in rest], seed=run, occluders=cutouts)
            report(network, clean, hidden, Truth(labels[rest], pets[rest]), share)


class Truth(NamedTuple):
    """Labels [B] and the pixels of the pets, bool [B, H, W]."""

    labels: Tensor
    pets: Tensor


def report(network: CompositionalNet, clean: Tensor, hidden: Tensor, truth: Truth, share: float) -> None:
    """Print accuracy and AUC with objects over a share of the images."""
    with torch.no_grad():
        chances = torch.cat(
            [network.occluders(pixels(part), network(pixels(part)).argmax(1)) for part in hidden.split(16)]
        )
    maps = {
        "map of occluders": F.interpolate(chances[:, None], hidden.shape[2:], mode="bilinear")[:, 0],
        "nearness to the middle": _nearness(hidden),
        "local contrast": _contrast(hidden),
    }
    covered = (hidden != clean).any(1)
    print(f"  {share:.0%} hidden: accuracy {accuracy(network, hidden, truth.labels):.1%}")
    for where, asked in (("the image", torch.ones_like(truth.pets)), ("the pet", truth.pets)):
        told = ", ".join(f"{name} {_mean_auc(covered, heat, asked)}" for name, heat in maps.items())
        print(f"    AUC on pixels of {where}: {told}", flush=True)


def fitted(images: Tensor, labels: Tensor, chosen: argparse.Namespace, seed: int) -> CompositionalNet:
    """A CompositionalNet on MobileNetV2 up to its last map of so many places, fitted to the images."""
    backbone = nn.Sequential(OrderedDict(features=Features(chosen.places)))
    settings = Compositional("torchvision:mobilenet_v2", "features", chosen.kernels, chosen.mixtures)
    network = CompositionalNet(find_features(settings, backbone, pixels(images[:2])), backbone, len(SPECIES)).eval()
    with torch.no_grad():
        Beginning(None, ImagesInMemory(images, labels), SPECIES, pixels, seed).fit(network)
    return network


class Features(nn.Module):
    """The pack's MobileNetV2 up to the last layer whose map has so many places a side."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self.network = _pack("models/qgraph").QGraph(shared() / "models" / "mobilenet_v2_imagenet.safetensors")
        operations, probe = self.network.graph["ops"], torch.zeros(1, 3, 224, 224)
        for count in range(len(operations), 0, -1):
            self.network.graph["ops"] = operations[:count]
            with torch.no_grad():
                answer = self.network(probe)
            if answer.ndim == 4 and answer.shape[3] == places:
                return
        raise SystemExit(f"MobileNetV2 has no map of {places} × {places} places; take 7, 14, 28, 56 or 112")

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.network(images)
        return found


def read_pets() -> tuple[Tensor, Tensor, Tensor]:
    """Photographs uint8 [n, 3, 224, 224], their long side cut, 0 for cats and 1 for dogs, and the pixels of the pets."""
    folder = shared() / "pets"
    with (folder / "boxes.csv").open() as file:
        rows = list(csv.DictReader(file))
    images = np.stack([_square(Image.open(folder / row["file"]).convert("RGB")) for row in rows])
    masks = np.stack([_square(Image.open(folder / row["mask"]).convert("L")) != 2 for row in rows])
    labels = torch.tensor([SPECIES.index(row["species"]) for row in rows])
    return torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(), labels, torch.from_numpy(masks)


def _square(picture: Image.Image) -> np.ndarray:
    side = min(picture.size)
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    how = Image.Resampling.NEAREST if picture.mode == "L" else Image.Resampling.BILINEAR
    return np.asarray(picture.resize((224, 224), how, (left, top, left + side, top + side)))


def pixels(images: Tensor) -> Tensor:
    """As the network takes them, in 0…1."""
    return images.float() / 255


def accuracy(network: CompositionalNet, images: Tensor, labels: Tensor) -> float:
    with torch.no_grad():
        predicted = torch.cat([network(pixels(part)).argmax(1) for part in images.split(16)])
    return float((predicted == labels).float().mean())


def _mean_auc(covered: Tensor, heat: Tensor, asked: Tensor) -> str:
    """Mean and standard error over images of the AUC on the asked pixels, where some are covered and some are not."""
    areas = [
        roc_auc_score(truth[where].numpy(), found[where].numpy())
        for truth, found, where in zip(covered, heat, asked)
        if 0 < int(truth[where].sum()) < int(where.sum())
    ]
    return f"{np.mean(areas):.3f} ± {np.std(areas) / len(areas) ** 0.5:.3f} (n = {len(areas)})"


def _nearness(images: Tensor) -> Tensor:
    """Higher in the middle, where objects are."""
    side = torch.linspace(-1, 1, images.shape[2])
    return -(side[:, None] ** 2 + side[None] ** 2).expand(len(images), -1, -1)


def _contrast(images: Tensor) -> Tensor:
    """The deviation of grey levels within 15 pixels."""
    grey = images.float().mean(1, keepdim=True)
    mean, square = (F.avg_pool2d(value, 15, 1, 7, count_include_pad=False) for value in (grey, grey**2))
    return (square - mean**2).clamp(min=0).sqrt()[:, 0]


if __name__ == "__main__":
    main()
