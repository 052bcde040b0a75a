"""What an audit costs beyond its models: audit time ÷ bare forward passes, interleaved in one process.

The bare side feeds the same uint8 batches through the same network (normalising included) in a plain loop; the audit is
`snellen.audit` on images in memory, once without and once with what comes after the answers (conclusions, files), each between
two bare runs, whose mean it is divided by. The labels are such that the network, which is not trained, is right on nine images
of ten. The median of the ratios over the rounds is printed with the lowest and the highest, and how many images the audit's
first look showed the network beyond the passes. Goals: ≤ 1.05 on CPU, ≤ 1.10 on one H200 (bf16, channels-last).

With --compile the same audit is carried out with the network compiled, compiling included, in turn with the others, and its
images per second are printed beside those of the eager audit. Goal: ≥ 1.4 × for a ResNet-50 and 50,000 images. --cold also
drops what compiling leaves on the disk, so that each round pays what the first run on a machine pays.

    python benchmarks/overhead.py                       # ResNet-20 and ResNet-18, threads as torch chooses
    python benchmarks/overhead.py --threads 1 --rounds 5
    python benchmarks/overhead.py --threads 1 --clock process    # processor time, where other programs run beside it
    python benchmarks/overhead.py --device cuda --nets resnet20 --images 131072
    python benchmarks/overhead.py --device cuda --nets resnet18 resnet50 --images 16384
    python benchmarks/overhead.py --device cuda --nets resnet50 --images 50000 --compile --cold --rounds 2
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

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
from snellen.models.model import Model
from snellen.models.zoo import NETWORKS

AUDITS = "occlusion,interference"
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "process": time.process_time}
CLOCK = time.perf_counter
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def of_torchvision(name: str) -> Callable[[int], nn.Module]:
    def build(classes: int) -> nn.Module:
        import torchvision.models

        return getattr(torchvision.models, name)(weights=None, num_classes=classes)

    return build


NETS: dict[str, tuple[Callable[[int], nn.Module], int, int]] = {  # name → builder, pixels, images on a CPU
    "smallnet": (NETWORKS["smallnet"], 32, 8192),
    "resnet20": (NETWORKS["resnet20"], 32, 2048),
    "resnet18": (of_torchvision("resnet18"), 224, 96),
    "resnet50": (of_torchvision("resnet50"), 224, 64),
}


@dataclass
class Times:
    """Seconds of each round: the bare passes before, between and after the others; the answers, the whole audit, and the whole
    audit compiled."""

    bare: list[tuple[float, float, float]] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    compiled: list[float] = field(default_factory=list)

    def ratios(self, name: Literal["answers", "whole"]) -> str:
        """To the bare passes on both sides of it: the median over the rounds, and the range where there are several."""
        first = ("answers", "whole").index(name)
        beside = [statistics.mean(bare[first : first + 2]) for bare in self.bare]
        ratios = sorted(seconds / bare for seconds, bare in zip(getattr(self, name), beside))
        spread = f" ({ratios[0]:.3f} to {ratios[-1]:.3f})" if len(ratios) > 1 else ""
        return f"{statistics.median(ratios):.3f}{spread}"


def images(count: int, side: int, labels: np.ndarray | None = None) -> Dataset:
    random = np.random.default_rng(0)
    pixels = random.integers(0, 256, (count, side, side, 3), dtype=np.uint8)
    labels = np.arange(count) % 10 if labels is None else labels
    arrays = {"images": pixels, "labels": labels, "classes": np.array([f"class {number}" for number in range(10)])}
    return from_arrays(arrays, f"memory:{count}x{side}", f"{count}x{side}")


def mostly_right(model: Model, pixels: torch.Tensor) -> np.ndarray:
    """Labels by which an untrained network is right on nine images of ten: the first look at one that guesses takes longer."""
    answers = np.concatenate([model(part.to(model.device)).argmax(1).cpu().numpy() for part in pixels.split(512)])
    return np.where(np.arange(len(answers)) % 10 == 0, (answers + 1) % 10, answers)


def bare_seconds(model: Model, pixels: torch.Tensor, batch: int, passes: int) -> float:
    """The same number of forward passes in a plain loop."""
    assert model.module is not None
    assert model.device is not None
    device, bf16 = model.device, model.precision == "bf16"
    batches = [part.to(device) for part in pixels.split(batch)]
    mean, std = (torch.tensor(v, device=device).view(1, 3, 1, 1) for v in (MEAN, STD))
    if device.type == "cuda":
        torch.cuda.synchronize()
    began = CLOCK()
    with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=bf16):
        for _ in range(passes):
            for part in batches:
                answers = model.module((part.to(torch.float32, memory_format=torch.channels_last) / 255 - mean) / std)
    answers.sum().item()
    return CLOCK() - began


def audit_seconds(model: Model, data: Dataset, out: Path, how: dict[str, Any]) -> float:
    began = CLOCK()
    snellen.audit(model, data, AUDITS, out, quiet=True, report=False, **how)
    return CLOCK() - began


def counting(model: Model) -> tuple[Model, list[int]]:
    """The model, and a list of how many images it was shown at a time."""
    shown: list[int] = []
    predict = model.predict
    assert predict is not None

    def counted(images: torch.Tensor) -> torch.Tensor:
        shown.append(len(images))
        return predict(images)

    return replace(model, predict=counted), shown


def measure(name: str, chosen: argparse.Namespace) -> None:
    build, side, default = NETS[name]
    count, device = chosen.images or default, torch.device(chosen.device)
    torch.manual_seed(0)
    model, shown = counting(from_torch(build(10), size=side, mean=MEAN, std=STD, name=name, device=device))
    pictures = images(count, side).read(range(count))
    pixels = torch.from_numpy(np.stack([p.image for p in pictures])).permute(0, 3, 1, 2).contiguous()
    data = images(count, side, mostly_right(model, pixels))
    how: dict[str, Any] = {"device": str(device), "threads": chosen.decoders, "compile": "off"}
    times = Times()
    for turn in range(chosen.rounds + 1):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            request = AuditRequest(models=(model,), data=data, audits=(AUDITS,), out=folder / "run", **how)
            plan = prepare(request).plan()
            batch, cells = plan.settings.batch_for(plan.cells[0].canvas), len(plan.cells)
            before = bare_seconds(model, pixels, batch, cells)
            began = CLOCK()
            run_local(plan, Store(folder / "engine"), Progress(quiet=True))
            answers = CLOCK() - began
            between = bare_seconds(model, pixels, batch, cells)
            shown.clear()
            whole = audit_seconds(model, data, folder / "run", how)
            more = sum(shown) - cells * count
            after = bare_seconds(model, pixels, batch, cells)
            if chosen.compile:
                torch.compiler.reset()  # so that each round compiles
                compiled = audit_seconds(model, data, folder / "compiled", {**how, "compile": "on"})
        if turn:  # the first round warms up
            times.bare.append((before, between, after))
            times.answers.append(answers)
            times.whole.append(whole)
            if chosen.compile:
                times.compiled.append(compiled)
    rate = cells * count / statistics.median(map(statistics.mean, times.bare))
    print(
        f"{name} {side} px, {count} images × {cells} cells, batch {batch}, {device}, {torch.get_num_threads()} threads, "
        f"{chosen.clock} time, "
        f"{model.precision}: answers {times.ratios('answers')} ×, whole audit {times.ratios('whole')} × the bare forward "
        f"passes ({rate:,.0f} images/s); the first look showed {more:,} images more",
        flush=True,
    )
    if chosen.compile:
        eager, fast = (cells * count / statistics.median(some) for some in (times.whole, times.compiled))
        gain = statistics.median(one / other for one, other in zip(times.whole, times.compiled))
        print(
            f"{name} compiled{' without caches' if chosen.cold else ''}, compiling included: {fast:,.0f} images/s over the whole "
            f"audit, eager {eager:,.0f}: {gain:.2f} ×",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=["resnet20", "resnet18"], choices=list(NETS))
    parser.add_argument("--images", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--decoders", type=int, help="threads that read images")
    parser.add_argument("--compile", action="store_true", help="also with the network compiled")
    parser.add_argument("--cold", action="store_true", help="compile without caches on the disk")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    chosen = parser.parse_args()
    global CLOCK
    CLOCK = CLOCKS[chosen.clock]
    if chosen.cold:
        os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    for name in chosen.nets:
        measure(name, chosen)


if __name__ == "__main__":
    main()
