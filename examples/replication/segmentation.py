"""Volpi & Murino 2019, table 4 and figure 3: road scenes. Train plainly (erm) and against shifts, search for the edits that
break each network, and draw what it sees under them.

python examples/replication/segmentation.py --data 'pairs:camvid/train,camvid/trainannot?ignore=11' \\
    --test 'pairs:camvid/test,camvid/testannot?ignore=11' --device cuda --epochs 60 --jobs 4
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from protocol import arguments, train_group
from vulnerability import brought, each, table

from snellen.audits.shift_protocols import PROTOCOLS
from snellen.data import limited, load_data
from snellen.measure import segmentation
from snellen.models import load_model
from snellen.search import confusion, evolution_search, fitness_of, random_search
from snellen.search.fitness import Edits
from snellen.search.image_fitness import ImageFitness
from snellen.train import Recipe, preset

METHODS = ("erm", "rda", "rsda", "esda")
ROWS = ("original", "RS", "ES", "original, all", "mIoU, all")
PICTURES = 3
COLOURS = np.array(
    [(70, 130, 180), (70, 70, 70), (190, 153, 153), (128, 64, 128), (244, 35, 232), (107, 142, 35), (220, 220, 0),
     (152, 110, 90), (0, 0, 142), (220, 20, 60), (119, 11, 32)] + [(0, 0, 0)] * 245, np.uint8,
)  # fmt: skip


def main() -> None:
    chosen = parse_arguments()
    jobs = [
        (recipe_of(chosen, text or name, run), name, chosen)
        for name, _, text in (method.partition("=") for method in chosen.methods)
        for run in range(chosen.runs)
    ]
    rows: dict[str, dict[str, list[float]]] = {}
    for (_, name, _), result in zip(jobs, each(_train_and_search, jobs, chosen.jobs)):
        for row, value in result.items():
            rows.setdefault(name, {}).setdefault(row, []).append(value)
    text = table(ROWS, rows)
    print(text)
    (brought(chosen) / "segmentation.md").write_text(text)


def parse_arguments() -> argparse.Namespace:
    parser = arguments(__doc__, arch="fc_densenet56", recipe="volpi2019-camvid", name="camvid", runs=1)
    parser.add_argument("--data", required=True, help="images with label maps to learn from")
    parser.add_argument("--test", required=True, help="those to search on")
    parser.add_argument("--methods", nargs="+", default=METHODS, help="some of these, or NAME=TEXT")
    parser.add_argument("--random", type=int, default=PROTOCOLS["camvid"]["random"])
    parser.add_argument("--generations", type=int, default=50)
    parser.add_argument("--restarts", type=int, default=PROTOCOLS["camvid"]["restarts"])
    parser.add_argument(
        "--images", type=int, default=PROTOCOLS["camvid"]["images"], help="test images that are searched"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    return parser.parse_args()


def recipe_of(chosen: argparse.Namespace, method: str, run: int) -> Recipe:
    robust = "none" if method == "erm" else method
    recipe = preset(chosen.recipe, arch=chosen.arch, epochs=chosen.epochs, updates=chosen.updates, robust=robust)
    return replace(recipe, seed=run)


def _train_and_search(job: tuple[Recipe, str, argparse.Namespace]) -> dict[str, float]:
    """The pixel accuracies of one run: clean, and the lowest of each search on the same images; then of all test images."""
    recipe, name, chosen = job
    data, test = (limited(load_data(text), chosen.limit) for text in (chosen.data, chosen.test))
    folder = chosen.out / "models" / f"{name}-{recipe.seed}"
    (path,) = train_group(recipe, data, folder, chosen, test=test, runs=1)
    model = load_model(str(path), device=chosen.device)
    fitness = fitness_of(model, limited(test, chosen.images))
    checkpoint = chosen.out / "searches" / f"{name}-{recipe.seed}"
    checkpoint.mkdir(parents=True, exist_ok=True)
    length = PROTOCOLS["camvid"]["length"]
    drawn = random_search(fitness, "camvid", length, chosen.random, checkpoint=checkpoint / "rs.jsonl")
    evolved = evolution_search(
        fitness, "camvid", length, generations=chosen.generations, restarts=chosen.restarts,
        checkpoint=checkpoint / "es.jsonl",
    )  # fmt: skip
    everything = segmentation(confusion(fitness_of(model, test)))
    _draw(fitness, [(), drawn.best, evolved.best], brought(chosen) / f"{name}-{recipe.seed}.png")
    worst = {"rs": list(drawn.best), "es": list(evolved.best)}
    (brought(chosen) / f"{name}-{recipe.seed}.json").write_text(json.dumps(worst))
    values = (fitness(()), drawn.value, evolved.value, everything.pixel_accuracy.value, everything.miou)
    return dict(zip(ROWS, values))


def _draw(fitness: ImageFitness, tuples: Sequence[Edits], file: Path) -> None:
    """A row per image: it, and the classes that the network sees, under each tuple of edits (figure 3)."""
    rows = np.arange(PICTURES)
    columns = []
    for edits in tuples:
        images = fitness.edit(edits, rows)
        answers = fitness.score.model(images).cpu().numpy()  # type: ignore[attr-defined]
        columns += [images.permute(0, 2, 3, 1).cpu().numpy(), COLOURS[answers]]
    Image.fromarray(np.concatenate([np.concatenate(list(column)) for column in columns], axis=1)).save(file)


if __name__ == "__main__":
    main()
