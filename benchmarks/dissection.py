"""Dissection against the number of images: memory and time, and the share of it that is not the forward pass.

    python benchmarks/dissection.py --images 64,128,256 --units 2048 --size 224

A network of a few convolutions with so many units at 1/32 of the image's side is dissected with colours and 300 random
concepts. Peak memory is that of a process of its own for each number of images.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", default="64,128,256")
    options.add_argument("--units", type=int, default=2048)
    options.add_argument("--size", type=int, default=224)
    options.add_argument("--device", default="cpu")
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--network", default="", help="a timm name instead, such as resnet50")
    options.add_argument("--one", type=int, default=0, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        measure(chosen)
        return
    print("| images | forward s | dissection s | outside the forward pass | peak memory MiB |")
    print("|---|---|---|---|---|")
    for count in chosen.images.split(","):
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--one", count], check=True)


def measure(chosen: argparse.Namespace) -> None:
    """One row of the table."""
    import torch

    from snellen.concepts.dissection import Dissection
    from snellen.data.canvas import Canvas
    from snellen.data.concept_maps import Concept, ConceptMaps
    from snellen.data.dataset import Dataset, Photo, Samples
    from snellen.engine.requests.survey import Ground
    from snellen.models.model import from_torch

    count, size = chosen.one, chosen.size
    pool = [np.random.default_rng(row).integers(0, 256, (size, size, 3)).astype(np.uint8) for row in range(16)]
    labels = np.random.default_rng(0).integers(0, 301, (16, 3, 56, 56)).astype(np.int16)

    def read(positions: Sequence[int]) -> list[Photo]:
        return [Photo(pool[position % 16], "") for position in positions]

    concepts = ConceptMaps(
        tuple(Concept("object", str(number)) for number in range(300)),
        3,
        lambda positions: labels[np.asarray(positions) % 16],
    )
    ids = tuple(f"{row:06d}" for row in range(count))
    data = Dataset("bench", ("a",), Samples(ids, np.zeros(count, np.int64)), "", read, (size, size), concepts=concepts)  # type: ignore[arg-type]
    model = from_torch(network(chosen), size=size, device=chosen.device)
    canvas = Canvas(size, size, "native")
    ground = Ground(model, data, canvas, chosen.batch, 4)
    images = (
        torch.from_numpy(np.stack(pool)).permute(0, 3, 1, 2).repeat(chosen.batch // 16 + 1, 1, 1, 1)[: chosen.batch]
    )
    model(images)
    start = time.perf_counter()
    for _ in range(2 * count // chosen.batch):  # both walks
        answers = model(images)
    answers.sum().item()
    forward = time.perf_counter() - start
    start = time.perf_counter()
    Dissection().run(ground)
    whole = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {count} | {forward:.1f} | {whole:.1f} | {max(0.0, 1 - forward / whole):.0%} | {memory:.0f} |", flush=True)


def network(chosen: argparse.Namespace) -> object:
    import torch

    if chosen.network:
        import timm

        return timm.create_model(chosen.network, pretrained=False)
    widths = (32, 64, 128, 256, chosen.units)
    layers: list[torch.nn.Module] = []
    for before, after in zip((3, *widths), widths):
        layers += [torch.nn.Conv2d(before, after, 3, 2, 1), torch.nn.ReLU()]
    return torch.nn.Sequential(
        *layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(widths[-1], 10)
    )


if __name__ == "__main__":
    main()
