"""What Grad-CAM costs: maps against forward passes and other people's code, and an audit that hides by them.

One process, all sides interleaved, median over the rounds of the ratios. Maps are read at the last stage (goal ≤ 1.10 × a
forward pass) and at the one before (≤ 1.4 ×); `snellen.explain.gradcam` takes bytes and gives maps of the image's size,
and so does the forward pass (bytes to probabilities). grad-cam and Captum (test oracles) get normalised floats. The audit
asks six shares of `salient` and is compared with the bare forward passes that it makes (goal ≤ 1.3 ×).

Measured on two cores of a shared machine, torch 2.15, fp32. One thread (CPU time, 6 rounds): ResNet-20 at 32 px 1.01 × and
1.35 × (grad-cam 3.2 ×, Captum 1.08 × and 1.41 ×), ResNet-18 at 224 px 1.01 × and 1.22 × (3.1 ×, 1.00 × and 1.22 ×); audits
1.16 × and 1.25 ×. Two threads (wall time, 8 rounds): ResNet-20 1.02 × and 1.34 × (3.2 ×, 1.14 × and 1.49 ×), ResNet-18 1.02 ×
and 1.17 × (3.1 ×, 1.01 × and 1.22 ×); audits 1.14 × and 1.25 ×. One H200, bf16 (8 rounds): ResNet-20 at batch 4,096 1.08 × and
1.30 ×, ResNet-18 at batch 256 1.09 × and 1.20 ×; audits of 100,000 and 16,384 images 1.25 × and 1.29 ×.

    python benchmarks/gradcam.py --threads 1
    python benchmarks/gradcam.py --threads 2 --rounds 20
    python benchmarks/gradcam.py --device cuda --nets resnet20 --rounds 8 --images 100000
    python benchmarks/gradcam.py --device cuda --nets resnet18 --rounds 8 --images 16384
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from snellen.data import Dataset, from_arrays
from snellen.engine import RunProgress
from snellen.engine.ask.local import run_local
from snellen.engine.keep.store import Store
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.explain import gradcam
from snellen.models import Model, from_torch
from snellen.models.zoo import NETWORKS

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIX = "interference([" + ", ".join(f"salient({share})" for share in (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)) + "])"


def resnet18() -> nn.Module:
    from torchvision.models import resnet18 as build

    return build(weights=None, num_classes=10)


def resnet50() -> nn.Module:
    from torchvision.models import resnet50 as build

    return build(weights=None, num_classes=10)


def vit() -> nn.Module:
    import timm

    return timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=10)


NETS: dict[str, tuple[Callable[[], nn.Module], int, int, int]] = {  # builder, pixels, batch on a CPU, on a GPU
    "resnet20": (partial(NETWORKS["resnet20"], 10), 32, 128, 4096),
    "resnet18": (resnet18, 224, 16, 256),
    "resnet50": (resnet50, 224, 8, 256),
    "vit_tiny": (vit, 224, 16, 256),
}


def seconds(call: Callable[[], object], device: torch.device) -> float:
    """The time of one call; CPU time where one thread does all, so that other programs do not count."""
    clock = time.process_time if device.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    began = clock()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return clock() - began


def ratios(sides: dict[str, Callable[[], object]], rounds: int, device: torch.device) -> dict[str, float]:
    """Each side's median ratio to the first; the order turns from round to round, the first two rounds warm up."""
    names = list(sides)
    held: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 2):
        order = names[turn % len(names) :] + names[: turn % len(names)]
        took = {name: seconds(sides[name], device) for name in order}
        if turn >= 2:
            for name in names:
                held[name].append(took[name] / took[names[0]])
    return {name: statistics.median(values) for name, values in held.items()}


def peers(model: Model, pixels: torch.Tensor, layer: nn.Module, tokens: bool) -> dict[str, Callable[[], object]]:
    """Other people's Grad-CAM of the same layer, where it is installed."""
    sides: dict[str, Callable[[], object]] = {}
    assert model.module is not None
    if tokens:
        return sides
    targets = model.module(pixels).argmax(1).detach()
    try:
        from pytorch_grad_cam import GradCAM
        from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

        camera = GradCAM(model.module, [layer])
        sides["grad-cam"] = partial(camera, pixels, [ClassifierOutputTarget(int(target)) for target in targets])
    except ImportError:
        print("grad-cam is not installed: pip install --no-deps grad-cam==1.5.7")
    try:
        from captum.attr import LayerGradCam

        seen = LayerGradCam(model.module, layer)

        def captum() -> torch.Tensor:
            coarse = seen.attribute(pixels, targets, relu_attributions=True)
            return nn.functional.interpolate(coarse, pixels.shape[2:], mode="bilinear").detach()

        sides["captum"] = captum
    except ImportError:
        print("captum is not installed: pip install captum")
    return sides


def maps(name: str, rounds: int, device: torch.device) -> None:
    build, side, here, there = NETS[name]
    batch = there if device.type == "cuda" else here
    torch.manual_seed(0)
    model = from_torch(build(), size=side, mean=MEAN, std=STD, name=name, device=device)
    assert model.module is not None
    images = torch.randint(0, 256, (batch, 3, side, side), dtype=torch.uint8, device=device)
    pixels = ((images / 255 - 0.45) / 0.22).to(memory_format=torch.channels_last)
    from snellen.explain.network import find_layer

    for layer in (-1, -2):
        spot = find_layer(model.module, pixels[:1], layer)
        sides: dict[str, Callable[[], object]] = {
            "forward": partial(model, images),
            "ours": partial(gradcam, model, images, layer=layer),
        }
        sides |= peers(model, pixels, model.module.get_submodule(spot.name), spot.places.layout == "tokens")
        told = ", ".join(f"{who} {value:.3f} ×" for who, value in ratios(sides, rounds, device).items())
        print(
            f"{name} {side} px, batch {batch}, {device}, {torch.get_num_threads()} threads, {model.precision}, "
            f"layer {spot.name}: {told}",
            flush=True,
        )


def images_of(count: int, side: int) -> Dataset:
    random = np.random.default_rng(0)
    held = {"images": random.integers(0, 256, (count, side, side, 3), dtype=np.uint8), "labels": np.arange(count) % 10}
    return from_arrays(held, f"memory:{count}x{side}", f"{count}x{side}")


def audit(name: str, count: int, rounds: int, device: torch.device) -> None:
    """The answers of an audit with six shares (and the clean and noisy images that every audit asks) ÷ bare passes."""
    build, side, _, _ = NETS[name]
    torch.manual_seed(0)
    model = from_torch(build(), size=side, mean=MEAN, std=STD, name=name, device=device)
    data = images_of(count, side)
    held = torch.from_numpy(np.stack([p.image for p in data.read(range(count))])).permute(0, 3, 1, 2).contiguous()

    def bare(batches: list[torch.Tensor], passes: int) -> None:
        for _ in range(passes):
            for part in batches:
                model(part)

    found = []
    how: dict[str, Any] = {"device": str(device)}
    for turn in range(rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            request = AuditRequest(models=(model,), data=data, audits=SIX, out=Path(folder) / "run", **how)
            plan = prepare(request).plan()
            batches = [part.to(device) for part in held.split(plan.settings.batch_for(plan.cells[0].canvas))]
            forward = partial(bare, batches, len(plan.cells))
            before = seconds(forward, device)
            took = seconds(lambda: run_local(plan, Store(Path(folder) / "e"), RunProgress(quiet=True)), device)  # noqa: B023
            if turn:  # the first round warms up
                found.append(2 * took / (before + seconds(forward, device)))
    print(
        f"audit of {name} {side} px, {count} images × {len(plan.cells)} cells, {device}, {torch.get_num_threads()} threads: "
        f"{statistics.median(found):.3f} × the forward passes",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=list(NETS), choices=list(NETS))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--images", type=int, help="of the audit; default 1024 small ones, 64 large ones on a CPU")
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    device = torch.device(chosen.device)
    for name in chosen.nets:
        maps(name, chosen.rounds, device)
    for name in chosen.nets:
        few = 1024 if NETS[name][1] < 64 else 64
        audit(name, chosen.images or few * (16 if device.type == "cuda" else 1), max(chosen.rounds // 3, 2), device)


if __name__ == "__main__":
    main()
