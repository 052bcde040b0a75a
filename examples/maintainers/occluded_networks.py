"""Networks of the data pack under occluders, after Kassaw et al. 2024: CIFAR-10 networks beside people, and MobileNets on pets.

    python examples/maintainers/occluded_networks.py cifar10 --out runs/occluded
    python examples/maintainers/occluded_networks.py pets --out runs/occluded

Seven CIFAR-10 networks are ranked by synthetic and diffuse types (shares of the image: CIFAR has no masks), beside the answers of
people in CIFAR-10H to the clean images. MobileNetV2 and MobileNetV1 see pets whose masks are known. One thread of a CPU needs
about three minutes for the first and two for the second. Results: docs/results/occlusion.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import snellen
from snellen.data import from_arrays
from snellen.exam.run import Run

sys.path.insert(0, str(Path(__file__).parent))
from shared_data import cifar10_test
from shared_networks import CIFAR10, shared

NETWORKS = f"python:{Path(__file__).parent / 'shared_networks.py'}"
MIXES = ("basic", "mixup", "cutmix", "fmix")


def main() -> None:
    """Audit one of the two sets and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("cifar10", "pets"))
    parser.add_argument("--images", type=int, help="how many images (default: 300 of CIFAR-10, 80 pets)")
    parser.add_argument("--out", type=Path, default=Path("runs/occluded"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    run = (
        cifar10(options.out, options.images or 300)
        if options.part == "cifar10"
        else pets(options.out, options.images or 80)
    )
    for line in tables(run):
        print(line)


def cifar10(out: Path, images: int) -> Run:
    """Three given networks and ResNet-20s trained without and with mixing, two runs each."""
    file = out / "cifar10_test.npz"
    if not file.exists():
        cifar10_test(file)
    data = f"arrays:{file}"
    people = out / "people.csv"
    votes_of_people(people, snellen.load_data(data).samples.ids)
    runs = shared() / "models" / "cifar10_runs"
    models = {name: f"{NETWORKS}:cifar10@cifar10_{name}" for name in ("resnet20", "resnet56", "resnet4b_adv")}
    models |= {mix: f"{NETWORKS}:cifar10_run@{runs}/{mix}-[01].safetensors" for mix in MIXES}
    texts = [f"{name}={text}" for name, text in models.items()]
    return snellen.audit(texts, data, f"occluders(people='{people}')", out / "cifar10", limit=images, device="cpu")


def votes_of_people(path: Path, ids: tuple[str, ...]) -> None:
    """CIFAR-10H as answers. Who voted is not known: the k-th vote for an image is taken as one person's."""
    counts = np.load(shared() / "cifar10" / "test_metadata.npz")["human_counts"]
    places = np.load(shared() / "cifar10" / "labels.npz")["test_index"]
    random = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["observer", "sample", "pred"])
        for sample, place in zip(ids, places):
            votes = random.permutation(np.repeat(np.arange(10), counts[place]))[:40]
            table.writerows([[f"vote {k}", sample, CIFAR10[vote]] for k, vote in enumerate(votes)])


def pets(out: Path, images: int) -> Run:
    """Cats and dogs with masks, which tell the hidden share of the animal."""
    with (shared() / "pets" / "boxes.csv").open() as file:
        rows = list(csv.DictReader(file))
    content = {
        "images": np.stack([np.asarray(Image.open(shared() / "pets" / row["file"]).convert("RGB")) for row in rows]),
        "masks": np.stack([np.asarray(Image.open(shared() / "pets" / row["mask"])) == 1 for row in rows]),
        "labels": np.array([row["species"] == "dog" for row in rows]).astype(np.int64),
        "classes": np.array(["cat", "dog"]),
        "ids": np.array([row["file"] for row in rows]),
    }
    data = from_arrays(content, "pets", "pets of the data pack with their masks")
    labels = Path(__file__).parents[1] / "labels" / "pets.json"
    models = [f"{name}={NETWORKS}:{name}@whole" for name in ("mobilenet_v2", "mobilenet_v1")]
    audit = "occluders(lattices=[0.5], px=[2, 4, 8, 16])"
    return snellen.audit(models, data, audit, out / "pets", labels=labels, limit=images, device="cpu")


def tables(run: Run) -> list[str]:
    """What the findings say, as Markdown tables: accuracy by type and level, mean ranks, agreement, and the gap to people."""
    own = [one for one in run.results()["findings"] if one["audit"] == "occluders"]
    models = list(run.results()["models"])
    lines: list[str] = []
    accuracies = [one for one in own if one["name"] in ("unoccluded_accuracy", "level_accuracy")]
    lines += _table("accuracy", models, accuracies, lambda one: f"{100 * one['value']:.1f}")
    ranks = [one for one in own if one["name"] == "mean_rank"]
    lines += _table("mean rank", models, ranks, lambda one: f"{one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}]")
    residuals = [one for one in own if one["name"] == "occlusion_residual"]
    lines += _table(
        "beyond clean accuracy",
        models,
        residuals,
        lambda one: f"{100 * one['value']:+.1f} (p {_p(one['facts']['p_holm'])})",
    )
    gaps = [one for one in own if one["name"] == "human_gap"]
    lines += _table(
        "people less model",
        models,
        gaps,
        lambda one: f"{100 * one['value']:+.1f} [{100 * one['low']:+.1f}, {100 * one['high']:+.1f}]",
    )
    for one in own:
        if one["name"] in ("friedman_q", "human_accuracy", "human_outliers"):
            facts = {
                key: value
                for key, value in one["facts"].items()
                if key in ("p", "w", "method", "judges", "observers", "outliers")
            }
            lines.append(f"{one['label']}: {one['value']} {facts}")
    return lines


def _table(title: str, models: list[str], findings: list[dict[str, Any]], words: Any) -> list[str]:
    rows: dict[str, dict[str, str]] = {}
    for one in findings:
        rows.setdefault(one["label"], {})[one["model"]] = "–" if one["value"] is None else words(one)
    if not rows:
        return []
    head = [f"| {title} | {' | '.join(models)} |", "|---" * (len(models) + 1) + "|"]
    return [
        *head,
        *(f"| {label} | {' | '.join(row.get(model, '–') for model in models)} |" for label, row in rows.items()),
        "",
    ]


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


if __name__ == "__main__":
    main()
