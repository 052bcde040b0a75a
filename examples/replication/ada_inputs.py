"""Why shifted hues break our ADA trainings of digits: inputs, first weights, or the colour of the adversarial offsets?

    python examples/download.py mnist --out datasets
    python examples/replication/ada_inputs.py --root datasets --device cuda --seeds 3 --out brought/ada
    python examples/replication/ada_inputs.py --root datasets --updates 20 --limit 64 --test-images 20 --shifts 10 --seeds 1

Digits are grey: all three channels of the first convolution get the same gradient, so what tells its channels apart stays as it
was drawn under plain training, and the ascent moves pixels along it. `ARMS` are the 2 × 2 of inputs {standardised, 0…1} and
first weights {torch's, Glorot's}, our training with offsets averaged over the channels (no colour), our training in float32,
plain training, and the training of the public code.

Seeds come one after the other: what `--minutes` stops has all arms of the first seeds. A line per training is written to
OUT/runs.jsonl as it ends, what is there is kept, and OUT/table.md is the table. Needs torch, NumPy, Pillow and msgspec only.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))
from graph_training import Learner
from grey_digits import Answers, Digits, hue_fooled, read_digits

from snellen.models.zoo.plain import ConvNet
from snellen.train.ada import Ada
from snellen.train.device_dataset import channel_statistics
from snellen.train.normalise import Normalise, Normalised

UNIT = ([0.0] * 3, [1.0] * 3)


@dataclass(frozen=True)
class Arm:
    """One training: `slim` are Glorot's first weights, `grey` offsets have their mean over the channels in every channel."""

    name: str
    standardised: bool = True
    slim: bool = False
    grey: bool = False
    float32: bool = False
    phases: int = 3
    updates: int = 30_000
    rate: float = 3e-4
    images: int = 60_000
    eager: bool = False


OURS = Arm("ours: standardised, torch's weights")
ARMS = (
    OURS,
    replace(OURS, name="0…1, torch's weights", standardised=False),
    replace(OURS, name="standardised, Glorot's weights", slim=True),
    replace(OURS, name="0…1, Glorot's weights", standardised=False, slim=True),
    replace(OURS, name="ours, offsets without colour", grey=True),
    Arm("public code", standardised=False, slim=True, phases=6, updates=10_001, rate=1e-4, images=10_000),
    replace(OURS, name="ours in float32", float32=True),
    replace(OURS, name="plain training", phases=0),
)


def main() -> None:
    chosen = parse_arguments()
    began, device = time.perf_counter(), torch.device(chosen.device)
    chosen.out.mkdir(parents=True, exist_ok=True)
    learnt, test = (read_digits(chosen.root / f"mnist-{split}.npz", device, n) for split, n in sizes(chosen).items())
    longest = 0.0
    for seed in range(chosen.seeds):
        for arm in arms_of(chosen):
            if (arm.name, seed) in {(row["arm"], row["seed"]) for row in done(chosen.out)}:
                continue
            start = time.perf_counter()
            if start - began + longest > 60 * chosen.minutes:
                break
            row = run(arm, seed, learnt, test, chosen.shifts, chosen.test_images)
            with (chosen.out / "runs.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            longest = max(longest, time.perf_counter() - start)
            print(json.dumps({name: row[name] for name in ("arm", "seed", "clean", "hue", "seconds")}), flush=True)
    text = table(done(chosen.out))
    (chosen.out / "table.md").write_text(text)
    print(text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--root", type=Path, default=Path("datasets"), help="folder of mnist-train.npz and mnist-test.npz"
    )
    parser.add_argument("--out", type=Path, default=Path("runs") / "ada_inputs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--arms", nargs="+", type=int, help="numbers of some of the arms, from 0; default: all")
    parser.add_argument("--updates", type=int, help="default: each arm's")
    parser.add_argument("--limit", type=int, help="at most so many training images")
    parser.add_argument("--test-images", type=int, default=1000, help="on which hues are shifted")
    parser.add_argument("--shifts", type=int, default=1000, help="of the hue, per image")
    parser.add_argument("--eager", action="store_true", help="no CUDA graphs, which is slower")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no training that would end later")
    return parser.parse_args()


def sizes(chosen: argparse.Namespace) -> dict[str, int | None]:
    return {"train": chosen.limit, "test": None if chosen.limit is None else chosen.test_images}


def arms_of(chosen: argparse.Namespace) -> list[Arm]:
    arms = [ARMS[number] for number in chosen.arms] if chosen.arms else list(ARMS)
    return [replace(arm, updates=chosen.updates or arm.updates, eager=chosen.eager) for arm in arms]


def run(arm: Arm, seed: int, learnt: Digits, test: Digits, shifts: int, test_images: int) -> dict[str, Any]:
    """Train one network and ask it: accuracy on clean digits, and the share that no shift of the hue fools."""
    start, device = time.perf_counter(), learnt.images.device
    own = Digits(learnt.images[: arm.images], learnt.labels[: arm.images])
    statistics = channel_statistics(own.images) if arm.standardised else UNIT
    normalise = Normalise(*statistics).on(device)
    torch.manual_seed(seed)
    network = ConvNet(10, slim=arm.slim).to(device).to(memory_format=torch.channels_last)
    with precision(arm):
        facts = train(network, arm, own, normalise, seed)
        answers = Answers(network, normalise, arm.float32)
        clean = answers.accuracy(test)
        some = Digits(test.images[:test_images], test.labels[:test_images])
        fooled = hue_fooled(answers, some, shifts, seed)
        negative = answers.accuracy(Digits(255 - some.images, some.labels))
    return {
        "arm": arm.name, "seed": seed, "clean": clean, "hue": 1 - float(fooled.float().mean()), "negative": negative,
        "seconds": round(time.perf_counter() - start, 1), "images": len(own.images), "shifts": shifts, **facts,
        "settings": asdict(arm),
    }  # fmt: skip


@contextlib.contextmanager
def precision(arm: Arm) -> Iterator[None]:
    """float32 also in the ascent, where an arm asks for it: there it is bf16 on a GPU."""
    if arm.float32:
        with patch("snellen.train.ada.autocast", lambda device: contextlib.nullcontext()):
            yield
    else:
        yield


def train(network: nn.Module, arm: Arm, learnt: Digits, normalise: Normalised, seed: int) -> dict[str, Any]:
    """Train in place; how far each phase moved its images, and which share of that is colour."""
    way = Ada(phases=arm.phases)
    random = np.random.default_rng([seed, 1])
    learner = Learner(
        network,
        normalise,
        learnt.images,
        learnt.labels,
        phases=arm.phases,
        rate=arm.rate,
        float32=arm.float32,
        eager=arm.eager,
    )
    facts: dict[str, Any] = {"distance": [], "colour": []}
    phases = min(arm.phases, arm.updates // way.updates)  # one after every 100 updates, as long as there are updates
    for phase in range(phases + 1):
        last = phase == phases
        learner.learn(arm.updates - phase * way.updates if last else way.updates, random)
        if not last:
            offsets = ascended(way, network, normalise, learnt, learner, random)
            if arm.grey:
                offsets = offsets.mean(1, keepdim=True).expand(-1, 3, -1, -1)
            facts["distance"].append(float((offsets.float() / 255).square().mean().sqrt()))
            facts["colour"].append(colour_share(offsets))
            learner.append(offsets)
    return facts


def ascended(
    way: Ada, network: nn.Module, normalise: Normalised, learnt: Digits, learner: Learner, random: np.random.Generator
) -> Tensor:
    """The offsets of a phase, float16: each image's ascent begins at a version of it drawn uniformly."""
    choices = torch.from_numpy(random.integers(learner.versions, size=len(learnt.images))).to(learnt.images.device)
    parts = []
    for rows in torch.arange(len(learnt.images), device=learnt.images.device).split(4000):
        start = learner.version(rows, choices[rows])
        new = way.ascend(network, normalise, start, learnt.labels[rows])
        parts.append((new - learnt.images[rows]).half())
    return torch.cat(parts)


def colour_share(offsets: Tensor) -> float:
    """The share of the offsets' squares that lies in differences between the channels: 0 for grey ones."""
    whole = offsets.float()
    grey = whole.mean(1, keepdim=True)
    return float((whole - grey).square().sum() / whole.square().sum().clamp(min=1e-12))


def done(folder: Path) -> list[dict[str, Any]]:
    file = folder / "runs.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Mean ± sample deviation over the seeds, and every seed under shifted hues."""
    lines = [
        "| training | runs | clean | negatives | shifted hues | each run | colour of the offsets |",
        "|---" * 7 + "|",
    ]
    for name in dict.fromkeys(row["arm"] for row in rows):
        own = [row for row in rows if row["arm"] == name]
        each = ", ".join(f"{row['hue']:.3f}" for row in own)
        colour = [row["colour"][-1] for row in own if row["colour"]]
        numbers = [_spread([row[key] for row in own]) for key in ("clean", "negative", "hue")]
        lines.append(f"| {name} | {len(own)} | {' | '.join(numbers)} | {each} | {_spread(colour)} |")
    return "\n".join(lines) + "\n"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{fmean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


if __name__ == "__main__":
    main()
