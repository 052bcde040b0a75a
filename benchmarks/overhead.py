"""What an audit costs beyond its models: audit time ÷ bare forward passes, interleaved in one process.

The bare side feeds the same uint8 batches through the same network (normalising included) in a plain loop; the audit
is `snellen.audit` on images in memory, once without and once with what comes after the answers (conclusions, files).
The median of the ratios over the rounds is printed. Goals: ≤ 1.05 on CPU, ≤ 1.10 on one H200 (bf16, channels-last).

    python benchmarks/overhead.py                       # both networks, threads as torch chooses
    python benchmarks/overhead.py --threads 1 --rounds 5
    python benchmarks/overhead.py --device cuda --images 16384
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import snellen
from snellen.data import Dataset, from_arrays
from snellen.engine import Progress
from snellen.engine.ask.local import run_local
from snellen.engine.keep.store import Store
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.models import from_torch
from snellen.models.zoo import NETWORKS

AUDITS = "occlusion,interference"
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def resnet18(classes: int) -> nn.Module:
    from torchvision.models import resnet18 as build

    return build(weights=None, num_classes=classes)


NETS: dict[str, tuple[Callable[[int], nn.Module], int, int]] = {  # name → builder, pixels, images on a CPU
    "smallnet": (NETWORKS["smallnet"], 32, 8192),
    "resnet20": (NETWORKS["resnet20"], 32, 2048),
    "resnet18": (resnet18, 224, 96),
}


def images(count: int, side: int) -> Dataset:
    random = np.random.default_rng(0)
    held = {"images": random.integers(0, 256, (count, side, side, 3), dtype=np.uint8), "labels": np.arange(count) % 10}
    return from_arrays(held, f"memory:{count}x{side}", f"{count}x{side}")


def bare_seconds(
    module: nn.Module, batches: list[torch.Tensor], passes: int, device: torch.device, bf16: bool
) -> float:
    """The same number of forward passes in a plain loop."""
    mean, std = (torch.tensor(v, device=device).view(1, 3, 1, 1) for v in (MEAN, STD))
    began = time.perf_counter()
    with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=bf16):
        for _ in range(passes):
            for batch in batches:
                pixels = batch.to(torch.float32, memory_format=torch.channels_last)
                answers = module((pixels / 255 - mean) / std)
    answers.sum().item()
    return time.perf_counter() - began


def measure(name: str, count: int, rounds: int, device: torch.device, decoders: int | None) -> None:
    build, side, _ = NETS[name]
    torch.manual_seed(0)
    model = from_torch(build(10), size=side, mean=MEAN, std=STD, name=name, device=device)
    assert model.module is not None
    data = images(count, side)
    how: dict[str, Any] = {"device": str(device), "threads": decoders}
    ratios, whole, rates = [], [], []
    for turn in range(rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            request = AuditRequest(models=(model,), data=data, audits=(AUDITS,), out=Path(folder) / "run", **how)
            plan = prepare(request).plan()
            batch = plan.settings.batch_for(plan.cells[0].canvas)
            pixels = (
                torch.from_numpy(np.stack([p.image for p in data.read(range(count))])).permute(0, 3, 1, 2).contiguous()
            )
            batches = [part.to(device) for part in pixels.split(batch)]
            cells = len(plan.cells)
            bare = bare_seconds(model.module, batches, cells, device, model.precision == "bf16")
            began = time.perf_counter()
            run_local(plan, Store(Path(folder) / "engine"), Progress(quiet=True))
            engine = time.perf_counter() - began
            bare += bare_seconds(model.module, batches, cells, device, model.precision == "bf16")
            began = time.perf_counter()
            snellen.audit(model, data, AUDITS, Path(folder) / "run", quiet=True, report=False, **how)
            audit = time.perf_counter() - began
        if turn:  # the first round warms up
            ratios.append(engine / (bare / 2))
            whole.append(audit / (bare / 2))
            rates.append(cells * count / (bare / 2))
    print(
        f"{name} {side} px, {count} images × {cells} cells, batch {batch}, {device}, {torch.get_num_threads()} threads, "
        f"{model.precision}: answers {statistics.median(ratios):.3f} ×, whole audit {statistics.median(whole):.3f} × "
        f"the bare forward passes ({statistics.median(rates):,.0f} images/s)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=list(NETS), choices=list(NETS))
    parser.add_argument("--images", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--decoders", type=int, help="threads that read images")
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    for name in chosen.nets:
        measure(name, chosen.images or NETS[name][2], chosen.rounds, torch.device(chosen.device), chosen.decoders)


if __name__ == "__main__":
    main()
