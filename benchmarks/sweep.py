"""What a sweep costs beyond its trainings and forward passes: seconds outside ÷ seconds of bare forward passes.

Some networks are trained for an epoch, which is not timed. Then each is asked about each test set, interleaved in one
process: by a plain loop over the same uint8 batches, by one `snellen.audit` of the clean images per pair on data that are
listed once, and by `snellen.sweep.by_method`. The median over the rounds is printed; the values of both ways must be the same.

    python benchmarks/sweep.py                              # generated images, and the same as PNG files
    python benchmarks/sweep.py --nets resnet20 --points 9 --tests 9 --images 200
    python benchmarks/sweep.py --clock process              # processor time, where other programs run beside it
    python benchmarks/sweep.py --device cuda --images 4000 --side 224 --nets preact_resnet18
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

import snellen
from snellen.audits import CleanAudit
from snellen.data import load_data
from snellen.data.phantom import export
from snellen.models.model import Model
from snellen.sweep import methods
from snellen.sweep.scores import read_scores
from snellen.train import Recipe, train

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "process": time.process_time}


def bare(models: dict[str, Model], tests: dict[str, torch.Tensor], device: torch.device) -> None:
    """A forward pass of each image of each test by each model."""
    batch = 4096 if device.type == "cuda" else 128
    for model in models.values():
        for images in tests.values():
            for part in images.split(batch):
                answers = model(part)
    answers.sum().item()


def audits(models: dict[str, str], tests: dict[str, str], out: Path, device: str) -> list[float]:
    """The accuracies by one audit a model and test."""
    values, listed = [], {test: load_data(text) for test, text in tests.items()}
    for name, model in models.items():
        for test, data in listed.items():
            how: dict[str, Any] = {"quiet": True, "report": False, "device": device}
            run = snellen.audit({name: [model]}, data, [CleanAudit()], out / f"{name}-{test}", **how)
            values.append(float(np.mean(read_scores(run, data).values)))
    return values


def measure(chosen: argparse.Namespace, net: str, files: bool, folder: Path) -> None:
    clock, device = CLOCKS[chosen.clock], torch.device(chosen.device)
    world = f"size={chosen.side}&background_bias="
    models, tests = {}, {}
    for point in range(chosen.points):
        bias = point / chosen.points
        recipe = Recipe(arch=net, epochs=1)
        (path,) = train(
            recipe, f"phantom:train?{world}{bias:.2f}&n=480", folder / net / f"m{point}", device=str(device)
        )
        models[f"m{point}"] = str(path)
    for test in range(chosen.tests):
        tests[f"t{test}"] = f"phantom:test?{world}{test / chosen.tests:.2f}&n={chosen.images}"
        if files:
            place = folder / "files" / f"t{test}"
            export(tests[f"t{test}"], "folder", place)
            tests[f"t{test}"] = f"folder:{place}"
    loaded = {name: snellen.load_model(text, str(device)) for name, text in models.items()}
    pixels = {}
    for name, text in tests.items():
        photos = load_data(text).read(range(chosen.images))
        pixels[name] = torch.from_numpy(np.stack([one.image for one in photos])).permute(0, 3, 1, 2).to(device)  # type: ignore[union-attr]
    apart, swept, passes = [], [], []
    for turn in range(chosen.rounds + 1):
        with tempfile.TemporaryDirectory() as scratch:
            times = [clock()]
            bare(loaded, pixels, device)
            times.append(clock())
            before = audits(models, tests, Path(scratch) / "audits", str(device))
            times.append(clock())
            after = methods(models, tests, Path(scratch) / "sweep", device=str(device), gaps=[])
            times.append(clock())
            bare(loaded, pixels, device)
            times.append(clock())
        if after.table()["value"].tolist() != before:
            raise SystemExit("the two ways gave different numbers")
        first, each, together, last = np.diff(times).tolist()
        if turn:  # the first round warms up
            forward = (first + last) / 2
            passes.append(forward)
            apart.append((each - forward) / forward)
            swept.append((together - forward) / forward)
    print(
        f"{net} {chosen.side} px, {chosen.points} points × {chosen.tests} tests of {chosen.images} images"
        f" ({'PNG files' if files else 'generated'}), {device}, {torch.get_num_threads()} threads, {chosen.clock} time:"
        f" outside the forward passes ({statistics.median(passes):.1f} s) one audit each {statistics.median(apart):.2f} ×,"
        f" sweep {statistics.median(swept):.2f} ×",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", default=["smallnet"])
    parser.add_argument("--points", type=int, default=4)
    parser.add_argument("--tests", type=int, default=4)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    for net in chosen.nets:
        for files in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                measure(chosen, net, files, Path(folder))


if __name__ == "__main__":
    main()
