"""What training costs beyond forward, backward and optimiser, and against a naive loop, interleaved in one process.

Ours is an epoch of `snellen.train` (images drawn, augmented and mixed on the device) with its saving left out; bare is
as many steps of the same network on one batch that is already normalised; naive is an eager float32 loop over a
DataLoader with torchvision's transforms, two workers and a loss that is read at every step. Medians over the rounds.
Goal: at most 10 % of the time outside forward, backward and optimiser.

    python benchmarks/training.py                                             # smallnet and resnet20 on the CPU
    python benchmarks/training.py --device cuda --nets preact_resnet18 --images 50000 --batch-size 512
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from snellen.models.zoo import build
from snellen.train import Recipe
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.loop import Callbacks, Job, Progress, autocast, compiled, fit
from snellen.train.normalise import Normalise
from snellen.train.processes import Team
from snellen.train.schedule import make_optimiser

CLASSES = tuple(map(str, range(10)))
STATISTICS = Normalise([0.5] * 3, [0.25] * 3)


def waited(device: torch.device) -> float:
    """The time when the device has done all it was asked."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


class Bare:
    """Forward, backward and optimiser alone."""

    def __init__(self, recipe: Recipe, shown: ImagesInMemory, compile: bool) -> None:
        self.device = shown.images.device
        self.network = build(recipe.arch, len(CLASSES)).to(self.device, memory_format=torch.channels_last).train()
        self.optimiser = make_optimiser(recipe, self.network)
        self.learner = compiled(self.network, self.device) if compile else self.network
        self.images = STATISTICS(shown.images[: recipe.batch_size])
        self.labels = shown.labels[: recipe.batch_size]

    def seconds(self, steps: int) -> float:
        began = waited(self.device)
        for _ in range(steps):  # called while ours trains, so by the same deterministic convolutions
            with autocast(self.device):
                logits = self.learner(self.images)
            loss = nn.functional.cross_entropy(logits.float(), self.labels)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
        return waited(self.device) - began


class Photos(Dataset):
    """One image at a time, as most loops have it."""

    def __init__(self, shown: ImagesInMemory, padding: int) -> None:
        from torchvision.transforms import v2

        self.images, self.labels = shown.images.cpu(), shown.labels.cpu()
        change: list[Any] = [v2.RandomCrop(shown.size, padding=padding), v2.RandomHorizontalFlip()]
        self.change = v2.Compose(
            [*change, v2.ToDtype(torch.float32, scale=True), v2.Normalize(STATISTICS.mean, STATISTICS.std)]
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.change(self.images[row]), self.labels[row]


def naive_seconds(recipe: Recipe, shown: ImagesInMemory, steps: int) -> float:
    device = shown.images.device
    network = build(recipe.arch, len(CLASSES)).to(device).train()
    optimiser = torch.optim.SGD(network.parameters(), lr=recipe.lr, momentum=recipe.momentum)
    batches = iter(DataLoader(Photos(shown, recipe.padding), recipe.batch_size, shuffle=True, num_workers=2))
    next(batches)  # the workers have started
    began = waited(device)
    for _, (images, labels) in zip(range(steps), batches):
        images, labels = images.to(device), labels.to(device)
        weight, order = np.random.beta(1, 1), torch.randperm(len(images))
        mixed = weight * images + (1 - weight) * images[order] if recipe.mix == "mixup" else images
        logits = network(mixed)
        loss = nn.functional.cross_entropy(logits, labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        loss.item()
    return waited(device) - began


def measure(net: str, mix: str, shown: ImagesInMemory, batch: int, rounds: int, compile: bool, naive: bool) -> None:
    device, count = shown.images.device, len(shown.labels)
    recipe = Recipe(arch=net, mix=mix, batch_size=batch, epochs=rounds + 1, lr=0.01, padding=4)
    bare, steps = Bare(recipe, shown, compile), count // batch
    ours: list[float] = []
    alone: list[float] = []

    def epoch(progress: Progress, row: dict[str, Any]) -> None:
        ours.append(row["seconds"])
        alone.append(bare.seconds(steps))

    bare.seconds(min(steps, 5))
    job = Job(recipe=recipe, shown=shown, classes=CLASSES, normalise=STATISTICS, compile=compile)
    fit(job, Team(device), Callbacks(epoch))
    shares = [1 - one / whole for one, whole in zip(alone[1:], ours[1:])]  # the first epoch warms up
    rate = steps * batch / statistics.median(ours[1:])
    line = (
        f"{net} {mix}, {count} images of 32 px, batch {batch}, {device}, {torch.get_num_threads()} threads: "
        f"{100 * statistics.median(shares):.1f} % outside, {rate:,.0f} images/s"
    )
    if naive:
        few = max(1, min(steps - 1, 20))
        slow = few * batch / naive_seconds(recipe, shown, few)
        line += f", {rate / slow:.2f} × the naive loop ({slow:,.0f} images/s)"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=["smallnet", "resnet20"])
    parser.add_argument("--mixes", nargs="+", default=["none", "mixup", "cutmix"])
    parser.add_argument("--images", type=int, default=2048)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compile", action="store_true", help="both sides by torch.compile")
    parser.add_argument("--no-naive", action="store_true")
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    draw = torch.Generator().manual_seed(0)
    images = torch.randint(256, (chosen.images, 3, 32, 32), dtype=torch.uint8, generator=draw)
    shown = ImagesInMemory(images.to(chosen.device), (torch.arange(chosen.images) % 10).to(chosen.device))
    for net in chosen.nets:
        for mix in chosen.mixes:
            naive = not chosen.no_naive and mix in ("none", "mixup")
            measure(net, mix, shown, chosen.batch_size, chosen.rounds, chosen.compile, naive)


if __name__ == "__main__":
    main()
