"""What an audit costs beyond its models: audit time ÷ bare forward passes, interleaved in one process.

The bare side feeds the same uint8 batches through the same network (normalising included) in a plain loop; the audit is
`snellen.audit` on images in memory, once without and once with what comes after the answers (conclusions, files), each between
two bare runs, whose mean it is divided by. The labels are such that the network, which is not trained, is right on nine images
of ten. A quarter of the images warms everything up. The median of the ratios over the rounds is printed with the lowest and the
highest, and how many images the audit's first look showed the network beyond the passes. Goals: ≤ 1.05 on CPU, ≤ 1.10 on one
H200 (bf16, channels-last).

With --compile whole audits are compared instead: as they are and with the network compiled, compiling included. Goal: ≥ 1.4 ×
the images per second for a ResNet-50 and 50,000 images. --cold also drops what compiling leaves on the disk, so that each round
pays what the first run on a machine pays.

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
from snellen.engine import Plan, RunProgress
from snellen.engine.ask.local import run_local
from snellen.engine.keep.store import Store
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.freed_memory import keep_freed_memory
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
    """Seconds of each round: the bare passes before, between and after the others; the answers, and the whole audit."""

    bare: list[tuple[float, float, float]] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

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


@dataclass(frozen=True)
class Subject:
    """A network, images [n, 3, H, W] for the plain loop, and the same as data for an audit; `shown` counts what it was shown."""

    model: Model
    shown: list[int]
    pixels: torch.Tensor
    data: Dataset
    how: dict[str, Any]

    def first(self, count: int) -> Subject:
        """The same with fewer images."""
        return replace(self, pixels=self.pixels[:count], data=self.data.at(np.arange(min(count, len(self.data)))))

    def plan(self, folder: Path) -> Plan:
        """What an audit asks."""
        request = AuditRequest(models=(self.model,), data=self.data, audits=(AUDITS,), out=folder, **self.how)
        return prepare(request).plan()


def subject_of(name: str, chosen: argparse.Namespace) -> Subject:
    build, side, default = NETS[name]
    count, device = chosen.images or default, torch.device(chosen.device)
    torch.manual_seed(0)
    model, shown = counting(from_torch(build(10), size=side, mean=MEAN, std=STD, name=name, device=device))
    pictures = images(count, side).read(range(count))
    pixels = torch.from_numpy(np.stack([p.image for p in pictures])).permute(0, 3, 1, 2).contiguous()
    how: dict[str, Any] = {"device": str(device), "threads": chosen.decoders, "compile": "off"}
    return Subject(model, shown, pixels, images(count, side, mostly_right(model, pixels)), how)


def measure_round(subject: Subject, times: Times) -> tuple[int, int, int]:
    """One round, added to the times; how many cells there are, the batch size, and the images of the first look."""
    model, pixels, data = subject.model, subject.pixels, subject.data
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        plan = subject.plan(folder / "run")
        batch, cells = plan.settings.batch_for(plan.cells[0].canvas), len(plan.cells)
        before = bare_seconds(model, pixels, batch, cells)
        began = CLOCK()
        with keep_freed_memory(model.device.type == "cpu"):  # as an audit does
            run_local(plan, Store(folder / "engine"), RunProgress(quiet=True))
        times.answers.append(CLOCK() - began)
        between = bare_seconds(model, pixels, batch, cells)
        subject.shown.clear()
        times.whole.append(audit_seconds(model, data, folder / "run", subject.how))
        more = sum(subject.shown) - cells * len(data)
        times.bare.append((before, between, bare_seconds(model, pixels, batch, cells)))
    return cells, batch, more


def measure(name: str, chosen: argparse.Namespace) -> None:
    subject, times = subject_of(name, chosen), Times()
    measure_round(subject.first(len(subject.data) // 4), Times())  # warms up
    for _ in range(chosen.rounds):
        cells, batch, more = measure_round(subject, times)
    model, count = subject.model, len(subject.data)
    rate = cells * count / statistics.median(map(statistics.mean, times.bare))
    print(
        f"{name} {NETS[name][1]} px, {count} images × {cells} cells, batch {batch}, {chosen.device}, "
        f"{torch.get_num_threads()} threads, {chosen.clock} time, "
        f"{model.precision}: answers {times.ratios('answers')} ×, whole audit {times.ratios('whole')} × the bare forward "
        f"passes ({rate:,.0f} images/s); the first look showed {more:,} images more",
        flush=True,
    )


def compare_compiled(name: str, chosen: argparse.Namespace) -> None:
    """Whole audits, eager and compiled in turn."""
    subject = subject_of(name, chosen)
    kinds = {"eager": subject.how, "compiled": {**subject.how, "compile": "on"}}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as place:
        warm = subject.first(len(subject.data) // 8)
        audit_seconds(warm.model, warm.data, Path(place) / "warm", warm.how)
        for turn in range(chosen.rounds):
            torch.compiler.reset()  # so that each round compiles
            for kind, how in kinds.items():
                seconds[kind].append(audit_seconds(subject.model, subject.data, Path(place) / f"{kind}{turn}", how))
        cells = len(subject.plan(Path(place) / "plan").cells)
    rates = [cells * len(subject.data) / statistics.median(some) for some in seconds.values()]
    gain = statistics.median(eager / compiled for eager, compiled in zip(*seconds.values()))
    print(
        f"{name}, {len(subject.data)} images × {cells} cells: compiled{' without caches' if chosen.cold else ''}, compiling "
        f"included, {rates[1]:,.0f} images/s over the whole audit, eager {rates[0]:,.0f}: {gain:.2f} ×",
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
    parser.add_argument("--compile", action="store_true", help="compare whole audits, eager and compiled")
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
        (compare_compiled if chosen.compile else measure)(name, chosen)


if __name__ == "__main__":
    main()
