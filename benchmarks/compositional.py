"""What a CompositionalNet costs: inference against its backbone alone, and the memory of fitting it to more images.

Inference: one process, one thread, both sides interleaved, median over the rounds of the ratios of CPU time (goal ≤ 1.5 ×).
Random weights, 512 kernels, 10 classes of 4 mixtures, batches of 16. Memory: the peak of a process while it fits kernels, part
maps and clutter models, beyond what it has with its images loaded, for 1,000 and 20,000 images (goal: the same).

Measured on a shared machine, torch 2.15, fp32, 5 rounds: ResNet-20 at 32 px 1.36 ×, ResNet-18 at 224 px 1.02 ×, MobileNetV2 at
224 px 1.00 ×. Memory: 39 MiB for 1,000 images, 90 for 5,000, 88 for 20,000: samples are full at 500 images per class and 50,000
features.

    python benchmarks/compositional.py
    python benchmarks/compositional.py --only memory
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from snellen.models.compositional import Compositional
from snellen.models.compositional.network import CompositionalNet, find_features
from snellen.models.zoo import build
from snellen.train.compositional import Beginning
from snellen.train.device_dataset import ImagesInMemory

NETWORKS = {"resnet20": 32, "torchvision:resnet18": 224, "torchvision:mobilenet_v2": 224}
CLASSES = tuple("abcdefghij")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("inference", "memory"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument(
        "--fit", type=int, help="fit to so many images and print the memory; used by this program itself"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.fit:
        print(f"{fitting_memory(chosen.fit):.0f}")
        return
    if chosen.only != "memory":
        for name, size in NETWORKS.items():
            inference(name, size, chosen.batch, chosen.rounds)
    if chosen.only != "inference":
        for count in (1000, 20_000):
            command = [sys.executable, __file__, "--fit", str(count)]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            print(f"fitting to {count:,} images: {found} MiB beyond the images", flush=True)


def inference(name: str, size: int, batch: int, rounds: int) -> None:
    """Print the time of both networks and their ratio."""
    network = compositional(name, size, 512)
    images = torch.randn(batch, 3, size, size)
    ratios, alone = [], []
    with torch.inference_mode():
        network(images), network.backbone(images)
        for _ in range(rounds):
            before, own, after = (seconds(part, images) for part in (network.backbone, network, network.backbone))
            alone.append((before + after) / 2)
            ratios.append(own / alone[-1])
    each = 1000 * statistics.median(alone) / batch
    print(
        f"{name} at {size} px: {each:.2f} ms per image alone, {statistics.median(ratios):.2f} × with parts", flush=True
    )


def seconds(part: Callable[[Tensor], Tensor], images: Tensor) -> float:
    start = time.process_time()
    part(images)
    return time.process_time() - start


def compositional(name: str, size: int, kernels: int) -> CompositionalNet:
    """A network with random kernels and parts."""
    torch.manual_seed(0)
    backbone: nn.Module = build(name, len(CLASSES)).eval()
    settings = find_features(Compositional(name, kernels=kernels), backbone, torch.zeros(1, 3, size, size))
    network = CompositionalNet(settings, backbone, len(CLASSES)).eval()
    nn.init.normal_(network.part_logits)
    return network


def fitting_memory(count: int) -> float:
    """MiB that fitting adds to the peak of this process."""
    network = compositional("smallnet", 32, 128)
    random = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (count, 3, 32, 32), dtype=torch.uint8, generator=random)
    shown = ImagesInMemory(images, torch.arange(count) % len(CLASSES))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with torch.no_grad():
        Beginning(None, shown, CLASSES, lambda batch: batch.float() / 255 - 0.5, 0).fit(network)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


if __name__ == "__main__":
    main()
