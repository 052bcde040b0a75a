"""A whole task by snellen and by hand with other libraries: accuracy on JPEG files as they are and under ten occlusions.

Same files, same network, same precision, same number of reading threads or workers, in turn in one process; the median of the
ratios over the rounds is printed. Every peer gives eleven accuracies. snellen shows the images once more under mild noise, takes
a first look, and stores every answer, intervals and the interference of each occlusion besides.

- torchvision v2 + timm: a loop as in timm's validate.py per occlusion, `v2.RandomErasing` per image in the DataLoader
- albumentations: the same with `A.Erasing`
- kornia: files are read once; `kornia.augmentation.RandomErasing` on batches, on the device

A row whose library is missing names what to install

    python benchmarks/peers.py --threads 1                                   # CPU: 48 files, ResNet-18
    python benchmarks/peers.py --device cuda --images 8192 --nets resnet18 resnet50
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from photos import CLASSES, write_photos
from timm.utils import AverageMeter, accuracy
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import InterpolationMode, v2

import snellen
from snellen.data import Canvas
from snellen.models import from_torch
from snellen.models.model import Model

AREAS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Task:
    """Which files, which network, and how it is fed."""

    folder: Path
    model: Model
    workers: int
    batch: int

    @property
    def device(self) -> torch.device:
        assert self.model.device is not None
        return self.model.device

    def loader(self, transform: Callable[[Any], Tensor]) -> DataLoader:
        pinned = self.device.type == "cuda"
        images = ImageFolder(str(self.folder), transform=transform)
        return DataLoader(images, batch_size=self.batch, num_workers=self.workers, pin_memory=pinned)

    @torch.inference_mode()
    def validate(self, loader: DataLoader, edits: list[Callable[[Tensor], Tensor]]) -> list[float]:
        """Top-1 accuracy for each edit of float images in 0…1 on the device, all edits of a batch after each other."""
        module = self.model.module
        assert module is not None
        mean, std = (torch.tensor(v, device=self.device).view(1, 3, 1, 1) for v in (MEAN, STD))
        meters = [AverageMeter() for _ in edits]
        for images, labels in loader:
            labels = labels.to(self.device, non_blocking=True)
            pixels = images.to(self.device, non_blocking=True)
            pixels = pixels.to(torch.float32, memory_format=torch.channels_last) / 255
            for meter, edit in zip(meters, edits):
                with torch.autocast("cuda", torch.bfloat16, enabled=self.model.precision == "bf16"):
                    answers = module((edit(pixels) - mean) / std)
                (top1,) = accuracy(answers, labels, topk=(1,))
                meter.update(top1.item() / 100, len(labels))
        return [float(meter.avg) for meter in meters]


def sort_by_answers(task: Task) -> None:
    """Move most files into the folder of the class that the network, which is not trained, answers: the first look at a network
    that guesses takes longer. The first file of each class stays, and one of ten of the others."""
    model, loader = task.model, task.loader(prepared())
    answers = torch.cat([model(images.to(task.device)).argmax(1).cpu() for images, _ in loader])
    for (file, _), answer in zip(ImageFolder(str(task.folder)).samples, answers):
        path = Path(file)
        if int(path.stem) >= CLASSES and int(path.stem) % 10:
            path.rename(task.folder / f"class{answer}" / path.name)


def unedited(pixels: Tensor) -> Tensor:
    return pixels


def with_snellen(task: Task) -> list[float]:
    audit = f"occlusion(areas=[{', '.join(map(str, AREAS))}], fills=[black])"
    how: dict[str, Any] = {"threads": task.workers, "batch_size": task.batch, "device": str(task.device)}
    with tempfile.TemporaryDirectory() as place:
        run = snellen.audit(
            task.model, f"folder:{task.folder}", audit, Path(place) / "run", report=False, quiet=True, **how
        )
        findings = run.results()["findings"]
    return [one["value"] for one in findings if one["name"] in ("accuracy", "occluded_accuracy")]


def prepared(*more: nn.Module) -> v2.Compose:
    """As timm's and torchvision's evaluation prepares images, up to uint8 [3, 224, 224]."""
    steps = [v2.Resize(256, interpolation=InterpolationMode.BICUBIC), v2.CenterCrop(224), v2.PILToTensor()]
    return v2.Compose([*steps, *more])


def with_torchvision(task: Task) -> list[float]:
    erasing = [v2.RandomErasing(p=1, scale=(area, area), ratio=(1, 1), value=0) for area in AREAS]
    loaders = [task.loader(prepared()), *(task.loader(prepared(one)) for one in erasing)]
    return [value for loader in loaders for value in task.validate(loader, [unedited])]


class Albumented:
    """A transform of albumentations for ImageFolder."""

    def __init__(self, area: float | None) -> None:
        import albumentations
        import cv2

        cv2.setNumThreads(0)
        bicubic = {"interpolation": cv2.INTER_CUBIC}
        steps: list[Any] = [albumentations.SmallestMaxSize(256, **bicubic), albumentations.CenterCrop(224, 224)]
        if area is not None:
            steps.append(albumentations.Erasing(scale=(area, area), ratio=(1, 1), fill=0, p=1))
        self.steps = albumentations.Compose(steps)

    def __call__(self, image: Any) -> Tensor:
        pixels = self.steps(image=np.asarray(image))["image"]
        return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))


def with_albumentations(task: Task) -> list[float]:
    loaders = [task.loader(Albumented(area)) for area in (None, *AREAS)]
    return [value for loader in loaders for value in task.validate(loader, [unedited])]


def with_kornia(task: Task) -> list[float]:
    import kornia.augmentation

    erasing = [kornia.augmentation.RandomErasing(scale=(area, area), ratio=(1.0, 1.0), p=1.0) for area in AREAS]
    return task.validate(task.loader(prepared()), [unedited, *erasing])


PEERS: dict[str, tuple[Callable[[Task], list[float]], str]] = {  # name → what it does, the package it needs
    "snellen": (with_snellen, "snellen"),
    "torchvision v2 + timm": (with_torchvision, "timm"),
    "albumentations in a DataLoader": (with_albumentations, "albumentations"),
    "kornia on the device": (with_kornia, "kornia"),
}


def measure(net: str, chosen: argparse.Namespace, folder: Path) -> None:
    device = torch.device(chosen.device)
    count = chosen.images or (48 if device.type == "cpu" else 8192)
    photos = folder / f"{count}"
    if not photos.exists():
        write_photos(photos, count)
    torch.manual_seed(0)
    module = timm.create_model(net, num_classes=CLASSES)
    canvas = Canvas(224, 224, "crop", 256)
    model = from_torch(module, canvas=canvas, mean=MEAN, std=STD, name=net, device=device)
    task = Task(photos, model, chosen.workers, 32 if device.type == "cpu" else 512)
    sort_by_answers(task)
    there = {name: one for name, (one, package) in PEERS.items() if importlib.util.find_spec(package)}
    seconds: dict[str, list[float]] = {name: [] for name in there}
    accuracies: dict[str, list[float]] = {}
    for turn in range(chosen.rounds + 1):
        for name, run in there.items():
            began = time.perf_counter()
            accuracies[name] = run(task)
            if turn:  # the first round warms up
                seconds[name].append(time.perf_counter() - began)
    where = torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    print(f"{net}, {count} JPEG files × 11 accuracies, {where}, {chosen.workers} workers, {chosen.rounds} rounds")
    print("| with | seconds | × snellen | files × conditions per second | mean accuracy |\n|---|---|---|---|---|")
    for name, (_, package) in PEERS.items():
        if name not in there:
            print(f"| {name} | not installed: pip install {package} | | | |")
            continue
        median = statistics.median(seconds[name])
        ratio = statistics.median(a / b for a, b in zip(seconds[name], seconds["snellen"]))
        values = accuracies[name]
        assert len(values) == 1 + len(AREAS)
        print(
            f"| {name} | {median:.2f} | {ratio:.2f} | {11 * count / median:,.0f} | {np.mean(values):.3f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=["resnet18"], help="networks of timm")
    parser.add_argument("--images", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="threads or processes that read files")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    with tempfile.TemporaryDirectory() as folder:
        for net in chosen.nets:
            measure(net, chosen, Path(folder))


if __name__ == "__main__":
    main()
