"""Search algorithms in paired runs: which finds the lower accuracy at the same number of evaluations?

Every seed runs every algorithm on the same images of the data; the worst tuple of each is then evaluated on the full set (all of
the data, or `--full` images of it), and these values are compared. Wins, losses and ties are those of each algorithm against the
first one; p is that of the two-sided sign test, ties left out. Images shown are those of the searches alone: a tuple that comes
again is not shown again, so at equal evaluations some show more. A second comparison is at equal images shown: of every search
only as many tuples count as the one that showed fewest has, seed by seed.

A model text is any that `snellen audit` takes; its classes must be those of the data, in their order.

    python benchmarks/search.py --seeds 10 --evaluations 1000
    python benchmarks/search.py --models timm:resnet18.a1_in1k --data folder:photos --space extended --images 1000 --device cuda

Without `--models` a small network is trained on the phantom world first (seconds).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.stats import binomtest
from torch import Tensor

import snellen
from snellen.data import Canvas, Photo, render
from snellen.data.dataset import Dataset
from snellen.distort import View
from snellen.models.model import Model
from snellen.search import Evolution, EvolutionThenClimb, ImageFitness, RandomSearch, Search, SearchResult, space
from snellen.search.algorithms import Algorithm
from snellen.search.spaces import Space
from snellen.train import train

PHANTOM = "phantom:test?size=32&n=600&background_bias=0.9"


@dataclass(frozen=True)
class Run:
    """What one search came to: accuracy on the full set (also of the worst tuple at equal images shown), images shown, seconds,
    the worst tuple."""

    full: float
    equal: float
    shown: int
    seconds: float
    edits: tuple[str, ...]


def algorithm_of(name: str, evaluations: int) -> Algorithm:
    if name == "rs":
        return RandomSearch(evaluations)
    return Evolution(10, evaluations // 10 - 1) if name == "es" else EvolutionThenClimb(evaluations)


def images_of(data: Dataset, rows: np.ndarray, canvas: Canvas) -> Tensor:
    photos = data.read(rows.tolist())
    pictures = [render(photo, canvas).image for photo in photos if isinstance(photo, Photo)]
    if len(pictures) < len(photos):
        raise SystemExit("some images cannot be decoded; leave them out")
    return torch.from_numpy(np.stack(pictures))


def fitness_of(model: Model, data: Dataset, rows: np.ndarray, batch: int) -> ImageFitness:
    """The accuracy of the model on some images, kept on its device."""
    device = model.device or torch.device("cpu")
    images = images_of(data, rows, model.canvas).to(device)
    labels = torch.from_numpy(data.samples.labels[rows].astype(np.int64)).to(device)
    view = View.of([data.samples.ids[row] for row in rows], device=device)
    return ImageFitness(images, lambda pixels, some: (model(pixels).argmax(1) == labels[some]).float(), view, batch)


def compare(
    fitness: ImageFitness, full: ImageFitness, where: Space, names: Sequence[str], chosen: argparse.Namespace
) -> dict[str, list[Run]]:
    """The runs of every algorithm, seed by seed."""
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for seed in range(chosen.first_seed, chosen.first_seed + chosen.seeds):
        results, seconds = {}, {}
        for name in names:
            began = time.perf_counter()
            results[name] = Search(where, chosen.length, algorithm_of(name, chosen.evaluations), seed).run(fitness)
            seconds[name] = time.perf_counter() - began
        fewest = min(len({one.edits for one in result.history}) for result in results.values())
        for name, result in results.items():
            equal = full(worst_of(result, fewest))
            runs[name].append(Run(full(result.best), equal, result.images_shown, seconds[name], result.best))
        row = "  ".join(f"{name} {runs[name][-1].full:.4f} ({seconds[name]:.0f} s)" for name in names)
        print(f"  seed {seed}: {row}", flush=True)
    return runs


def worst_of(result: SearchResult, tuples: int) -> tuple[str, ...]:
    """The worst of the first so many different tuples of a search."""
    values: dict[tuple[str, ...], float] = {}
    for one in result.history:
        if len(values) == tuples:
            break
        values.setdefault(one.edits, 1.0 if one.value is None else one.value)
    return min(values, key=values.__getitem__)


def report(runs: dict[str, list[Run]]) -> None:
    """One line per algorithm, with wins against the first."""
    first, *_ = runs
    for name, some in runs.items():
        values = np.array([run.full for run in some])
        spread = values.std(ddof=1) if len(values) > 1 else float("nan")
        shown = f"{np.mean([run.shown for run in some]):,.0f} images shown per search"
        print(f"  {name:9s} {values.mean():.4f} ± {spread:.4f}, lowest {values.min():.4f}; {shown}")
        print(f"            {' | '.join(min(some, key=lambda run: run.full).edits)}")
        if name != first:
            equal, base = (np.array([run.equal for run in runs[one]]) for one in (name, first))
            print(f"            against {first}: {score(values, np.array([run.full for run in runs[first]]))}")
            print(
                f"            at equal images shown, {equal.mean():.4f} against {base.mean():.4f}: {score(equal, base)}"
            )


def score(values: np.ndarray, base: np.ndarray) -> str:
    """Wins, losses and ties of paired runs, where lower wins, and the two-sided sign test."""
    wins, losses = int((values < base).sum()), int((values > base).sum())
    p = binomtest(wins, wins + losses).pvalue if wins + losses else float("nan")
    return f"{wins} wins, {losses} losses, {len(values) - wins - losses} ties, p {p:.2g}"


def phantom_model(folder: Path) -> str:
    train("fast", "phantom:train?size=32&n=2000&background_bias=0.9", folder, arch="smallnet", epochs=5, device="cpu")
    return str(next(folder.glob("*.safetensors")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", help="texts of models; default: a small network of the phantom world")
    parser.add_argument("--data", default=PHANTOM)
    parser.add_argument("--images", type=int, default=200, help="how many images a search uses")
    parser.add_argument("--full", type=int, default=0, help="how many images the final value is of; 0: all")
    parser.add_argument("--space", default="cifar10")
    parser.add_argument("--length", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--algorithms", nargs="+", default=["es", "es_climb"], choices=("rs", "es", "es_climb"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--threads", type=int)
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    where, data = space(chosen.space), snellen.load_data(chosen.data)
    order = np.random.default_rng(0).permutation(np.flatnonzero(data.samples.labels >= 0))
    print(f"space '{where.name}', {where.size} edits, tuples of {chosen.length}; {chosen.evaluations} evaluations")
    with tempfile.TemporaryDirectory() as folder:
        for text in chosen.models or [phantom_model(Path(folder))]:
            model = snellen.load_model(text, chosen.device)
            fitness = fitness_of(model, data, np.sort(order[: chosen.images]), chosen.batch)
            full = fitness_of(model, data, np.sort(order[: chosen.full or None]), chosen.batch)
            clean = f"clean {fitness(()):.4f} on {len(fitness.images)}, {full(()):.4f} on {len(full.images)} images"
            print(f"{model.card.name}: {clean}", flush=True)
            with torch.inference_mode():
                report(compare(fitness, full, where, chosen.algorithms, chosen))


if __name__ == "__main__":
    main()
