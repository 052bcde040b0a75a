"""Searches for the worst edits of the pack's networks, behind docs/results/shift.md: one row per network and set of edits.

python examples/maintainers/shift_searches.py resnet20 resnet56 resnet4b --sets cifar10 extended
python examples/maintainers/shift_searches.py cats --sets faces --length 3 --random 1500 --generations 100 --restarts 3
python examples/maintainers/shift_searches.py deeplab mobilenet --images 48

Each row is kept in `--out` as JSON when it is done; evaluations are kept as they are made, so a stopped search continues.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from shared_data import cifar10_test, imagenet_photographs
from shared_networks import cifar10, deeplab, mobilenet_v2, shared

from snellen.data import limited, load_data
from snellen.measure import segmentation
from snellen.search import confusion, evolution_search, fitness_of, random_search
from snellen.search.image_fitness import ImageFitness

CATS = 96  # pixels of a cat's head with its margin; the cascade was trained on 24
MARGIN = 0.15
VOC = {"cat": 8, "dog": 12}
BORDER = 255
CIFAR = {"resnet20": "cifar10_resnet20", "resnet56": "cifar10_resnet56", "resnet4b": "cifar10_resnet4b_adv"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", choices=[*CIFAR, "mobilenet", "deeplab", "cats"])
    parser.add_argument("--sets", nargs="+", default=["cifar10"])
    parser.add_argument("--length", type=int, default=5)
    parser.add_argument("--random", type=int, default=1000)
    parser.add_argument("--generations", type=int, default=100)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("runs/shift_searches"))
    chosen = parser.parse_args()
    for network in chosen.networks:
        fitness = fitness_for(network, chosen)
        for name in chosen.sets:
            print(json.dumps(search(fitness, network, name, chosen)), flush=True)


def fitness_for(network: str, chosen: argparse.Namespace) -> ImageFitness:
    folder = chosen.out / "data"
    folder.mkdir(parents=True, exist_ok=True)
    if network in CIFAR:
        cifar10_test(folder / "cifar10.npz")
        model = cifar10(CIFAR[network])
        data = load_data(f"arrays:{folder}/cifar10.npz")
    elif network == "mobilenet":
        imagenet_photographs(folder / "imagenet.csv")
        model = mobilenet_v2()
        data = load_data(f"manifest:{folder}/imagenet.csv?root={shared()}/imagenet_samples")
    elif network == "deeplab":
        pet_maps(folder / "pets")
        model = deeplab()
        data = load_data(f"pairs:{shared()}/pets/images,{folder}/pets?ignore={BORDER}&names={folder}/pets/classes.txt")
    else:
        cat_heads(folder / "cats")
        return fitness_of(f"opencv:frontalcatface#size={CATS}&neighbours=1", f"folder:{folder}/cats", metric="any")
    return fitness_of(model, limited(data, chosen.images))


def search(fitness: ImageFitness, network: str, name: str, chosen: argparse.Namespace) -> dict[str, object]:
    """Clean and lowest values of the random search and of the evolutions, and the edits behind them."""
    stem = f"{network}-{name}-{chosen.length}"
    how = {"space": name, "length": chosen.length}
    drawn = random_search(fitness, evaluations=chosen.random, checkpoint=chosen.out / f"{stem}-rs.jsonl", **how)
    evolved = [
        evolution_search(
            fitness, generations=chosen.generations, seed=seed, checkpoint=chosen.out / f"{stem}-es{seed}.jsonl", **how
        )
        for seed in range(chosen.restarts)
    ]
    best = min(evolved, key=lambda one: one.value)
    row: dict[str, object] = {
        "network": network, "set": name, "length": chosen.length, "images": len(fitness.images), "clean": fitness(()),
        "rs": drawn.value, "es": best.value, "es_each": [one.value for one in evolved],
        "rs_edits": " | ".join(drawn.best), "es_edits": " | ".join(best.best),
    }  # fmt: skip
    if network == "deeplab":
        row["miou"] = [segmentation(confusion(fitness, edits)).miou for edits in ((), drawn.best, best.best)]
    (chosen.out / f"{stem}.json").write_text(json.dumps(row, indent=1))
    draw(fitness, [(), drawn.best, best.best], chosen.out / f"{stem}.png")
    return row


def draw(fitness: ImageFitness, tuples: list[tuple[str, ...]], file: Path, across: int = 12, mark: int = 8) -> None:
    """A row of images per tuple of edits, each with a green (right) or red (wrong) corner: figure 4."""
    from snellen.lazy_torch import torch

    rows = np.arange(min(across, len(fitness.images)))
    lines = []
    for edits in tuples:
        images = fitness.edit(edits, rows)
        right = fitness.score(images, torch.from_numpy(rows).to(images.device)) >= 0.5
        pixels = images.permute(0, 2, 3, 1).cpu().numpy().copy()
        for picture, good in zip(pixels, right.tolist()):
            picture[:mark, :mark] = (0, 170, 0) if good else (220, 0, 0)
        lines.append(np.concatenate(list(pixels), axis=1))
    Image.fromarray(np.concatenate(lines)).save(file)


def cat_heads(folder: Path) -> None:
    """The heads of the pets' cats, squares with a margin."""
    (folder / "cat").mkdir(parents=True, exist_ok=True)
    for row in pets():
        if row["species"] == "cat":
            left, top, right, bottom = (float(row[f"head_{side}"]) for side in ("xmin", "ymin", "xmax", "ymax"))
            half = max(right - left, bottom - top) * (0.5 + MARGIN)
            x, y = (left + right) / 2, (top + bottom) / 2
            box = tuple(round(side) for side in (x - half, y - half, x + half, y + half))
            head = Image.open(shared() / "pets" / row["file"]).convert("RGB").crop(box)  # type: ignore[arg-type]
            head.resize((CATS, CATS), Image.Resampling.BICUBIC).save(folder / "cat" / f"{Path(row['file']).stem}.png")


def pet_maps(folder: Path) -> None:
    """The pets' masks as classes of Pascal VOC; the border does not count."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "classes.txt").write_text("\n".join(deeplab().classes) + "\n")
    for row in pets():
        mask = np.asarray(Image.open(shared() / "pets" / row["mask"]))
        classes = np.select([mask == 1, mask == 2], [VOC[row["species"]], 0], BORDER).astype(np.uint8)
        Image.fromarray(classes).save(folder / f"{Path(row['file']).stem}.png")


def pets() -> list[dict[str, str]]:
    with (shared() / "pets" / "boxes.csv").open() as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
