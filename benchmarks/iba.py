"""What maps by an information bottleneck cost: many images at once against a loop over single ones.

One process, all sides interleaved, median over the rounds of the ratios (goal ≥ 5 ×). The loop does what the published code
does: for each image ten steps of the whole network, forwards and backwards, with ten copies; noise comes from one global
generator. "one by one" is `snellen.explain.iba` called for each image by itself. Statistics are known beforehand.

Measured on a shared machine, one thread (CPU time), torch 2.15: ResNet-20 at 32 px, 16 images, 6.40 × the loop and 1.99 × one by
one (5 rounds); ResNet-18 at 96 px, 2 images, 4.10 × and 1.26 × (2 rounds).

    python benchmarks/iba.py --threads 1
    python benchmarks/iba.py --device cuda --nets resnet20 resnet50 --images 256
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import nn

from snellen.explain.bottleneck import gaussian_weights
from snellen.explain.iba_maps import bottleneck_maps
from snellen.explain.network import open_network
from snellen.explain.reference import estimate
from snellen.explain.statistics import FeatureStatistics
from snellen.models import Model, from_torch
from snellen.models.zoo import NETWORKS


def torchvision_net(name: str) -> Callable[[], nn.Module]:
    import torchvision

    return lambda: torchvision.models.get_model(name, weights=None, num_classes=10)


NETS: dict[str, tuple[Callable[[], nn.Module], int, int]] = {  # builder, pixels, images at once on a CPU
    "resnet20": (lambda: NETWORKS["resnet20"](10), 32, 32),
    "resnet18": (torchvision_net("resnet18"), 224, 4),
    "resnet50": (torchvision_net("resnet50"), 224, 4),
}


def loop(network: nn.Module, layer: nn.Module, pixels: torch.Tensor, classes: torch.Tensor, known: FeatureStatistics):
    """One image after the other, each as the published code fits it."""
    line = torch.from_numpy(gaussian_weights(1)).float().to(pixels.device)
    kernel = torch.outer(line, line)
    std, active = known.std.clamp(min=0.01), known.active.float()
    maps = []
    for image, target in zip(pixels, classes):
        alpha = torch.full((1, *known.mean.shape), 5.0, device=pixels.device, requires_grad=True)
        adam = torch.optim.Adam([alpha], lr=1.0)
        nats: list[torch.Tensor] = []

        def restrict(_: nn.Module, __: object, features: torch.Tensor, alpha=alpha, nats=nats) -> torch.Tensor:
            wide = alpha.sigmoid().expand(len(features), -1, -1, -1)
            padded = nn.functional.pad(wide, (2, 2, 2, 2), mode="reflect")
            share = nn.functional.conv2d(padded, kernel.expand(wide.shape[1], 1, 5, 5), groups=wide.shape[1])
            distance, variance = (features - known.mean) / std, (1 - share) ** 2
            nats[:] = [-0.5 * (1 + variance.log() - (share * distance) ** 2 - variance) * active]
            mixed = share * distance + (1 - share) * torch.randn_like(distance)
            return ((mixed * std + known.mean) * active).clamp(min=0)

        handle = layer.register_forward_hook(restrict)
        batch = image[None].expand(10, -1, -1, -1)
        for _ in range(10):
            adam.zero_grad()
            loss = nn.functional.cross_entropy(network(batch), target.expand(10)) + 10 * nats[0].mean()
            loss.backward()
            adam.step()
        handle.remove()
        network.zero_grad()
        maps.append(nats[0][0].detach().sum(0))
    return torch.stack(maps)


def compare(name: str, images: int | None, side: int | None, rounds: int, device: torch.device) -> None:
    """Print how often faster one batch is than either loop."""
    build, usual_side, few = NETS[name]
    side = side or usual_side
    torch.manual_seed(0)
    model: Model = from_torch(build(), size=side, name=name, device=device)
    assert model.module is not None
    count = images or few
    shown = torch.randint(0, 256, (count, 3, side, side), dtype=torch.uint8, device=device)
    usual = torch.randint(0, 256, (64, 3, side, side), dtype=torch.uint8, device=device)
    opened = open_network(model, shown)
    pixels = opened.normalise(shown)
    spot = opened.layers(pixels).pick_bottleneck(None)
    layer = model.module.get_submodule(spot.name)
    known = estimate(model, [usual], None).to(device)
    classes = model(shown).argmax(1).clone()

    def seconds(call: Callable[[], object]) -> float:
        clock = time.process_time if device.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
        began = clock()
        call()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return clock() - began

    def published() -> object:
        with opened.autocast():
            return loop(model.module, layer, pixels, classes, known)

    sides: dict[str, Callable[[], object]] = {
        "batch": lambda: bottleneck_maps(model, shown, classes, None, known),
        "loop": published,
        "one by one": lambda: [
            bottleneck_maps(model, shown[row : row + 1], classes[row : row + 1], None, known) for row in range(count)
        ],
    }
    names = list(sides)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        order = names[turn % 3 :] + names[: turn % 3]
        times = {one: seconds(sides[one]) for one in order}
        if turn:  # the first round warms up
            for one in names:
                taken[one].append(times[one])
    ratios = {
        one: statistics.median(other / own for other, own in zip(taken[one], taken["batch"])) for one in names[1:]
    }
    print(
        f"{name} {side} px at {spot.name}, {count} images, {device}, {torch.get_num_threads()} threads, {model.precision}: "
        f"{count / statistics.median(taken['batch']):.2f} images/s; {ratios['loop']:.2f} × the loop, "
        f"{ratios['one by one']:.2f} × one by one",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=list(NETS), choices=list(NETS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--images", type=int)
    parser.add_argument("--side", type=int, help="pixels; default 32 or 224")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    for name in chosen.nets:
        compare(name, chosen.images, chosen.side, chosen.rounds, torch.device(chosen.device))


if __name__ == "__main__":
    main()
