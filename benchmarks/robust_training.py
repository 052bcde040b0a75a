"""What RDA and ESDA cost against plain training, interleaved in one process: time per update, and the share of searches.

Each round trains as many updates plain, with RDA (a tuple per batch, per image) and with ESDA on a set of 20 tuples, on the
same random images. A search is timed apart, on `--search-images`; its time is scaled to as many as published, and its share is
that of a training with a search as often as published. Medians over the rounds; ratios are of one run, so a busy machine
slows all alike.

    python benchmarks/robust_training.py --arch smallnet                     # a small network on the CPU
    python benchmarks/robust_training.py --device cuda --protocol cifar10    # WRN-16-4, a search every 5 epochs of 390 updates
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from snellen.search.spaces import SPACES
from snellen.train import Recipe
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.loop import Callbacks, Job, fit
from snellen.train.normalise import Normalise
from snellen.train.processes import Team
from snellen.train.protocols import PROTOCOLS, complete, protocol_settings
from snellen.train.shift.tuple_set import WorstTuple

PERIODS = {"mnist": 10_000, "cifar10": 5 * 390}  # updates from one search to the next, as published
WAYS = {
    "plain": "none",
    "rda": "rda",
    "rda per image": "rda(unit=sample)",
    "esda": "esda",
    "esda per image": "esda(unit=sample)",
}


@dataclass(frozen=True)
class Seconds:
    """Of one epoch: in updates, and in its search."""

    updates: float
    search: float


def measure(job: Job, team: Team) -> Seconds:
    rows: list[dict[str, Any]] = []
    fit(job, team, Callbacks(epoch=lambda progress, row: rows.append(row)))
    search = rows[-1].get("hardening_seconds", 0.0)
    return Seconds(rows[-1]["seconds"] - search, search)


def recipe_of(way: str, chosen: argparse.Namespace) -> Recipe:
    """An epoch of so many updates, with a search after the last one where the way searches."""
    if way.startswith("esda"):
        way = complete(way, dict(updates=chosen.updates, searches=1, images=chosen.search_images))
    given = {"robust": way, "epochs": 1, "schedule": "constant", **({"arch": chosen.arch} if chosen.arch else {})}
    return Recipe(**protocol_settings(chosen.protocol, 1.0, given))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--protocol", default="mnist", choices=sorted(PERIODS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--arch", help="network; default the protocol's")
    parser.add_argument("--updates", type=int, default=20, help="per round and way")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--search-images", type=int, default=100)
    chosen = parser.parse_args()

    protocol, space = PROTOCOLS[chosen.protocol], SPACES[chosen.protocol]
    team, random = Team(torch.device(chosen.device)), np.random.default_rng(0)
    drawn = [space.texts(space.draw(random, protocol.edits["length"])) for _ in range(20)]
    recipes = {name: recipe_of(way, chosen) for name, way in WAYS.items()}
    count = chosen.updates * recipes["plain"].batch_size
    images = torch.randint(0, 256, (count, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    template = Job(
        recipe=recipes["plain"],
        shown=ImagesInMemory(images.to(team.device), (torch.arange(count) % 10).to(team.device)),
        classes=tuple(map(str, range(10))),
        normalise=Normalise([0.5] * 3, [0.25] * 3),
        tuples=[WorstTuple(number, number, 0.0, edits, 0.5) for number, edits in enumerate(drawn, 1)],
    )
    taken: dict[str, list[Seconds]] = defaultdict(list)
    for turn in range(chosen.rounds + 1):
        for name, recipe in recipes.items():
            one = measure(replace(template, recipe=recipe), team)
            if turn:  # the first round warms up
                taken[name].append(one)

    update = {name: statistics.median(one.updates for one in all_of) / chosen.updates for name, all_of in taken.items()}
    plain, period = update["plain"], PERIODS[chosen.protocol]
    head = recipes["plain"]
    print(
        f"{chosen.protocol}: {head.arch}, batch {head.batch_size}, {chosen.device}, plain {plain * 1e3:.2f} ms per update"
    )
    for name in WAYS:
        line = f"{name:15} {update[name] / plain:5.2f} × plain per update"
        if name.startswith("esda"):
            scale = protocol.searching["images"] / min(chosen.search_images, count)
            search = scale * statistics.median(one.search for one in taken[name])
            share = search / (search + period * update[name])
            line += (
                f"; a search is {search / plain:,.0f} plain updates, {share:.1%} of the time at one every {period:,}"
            )
        print(line)


if __name__ == "__main__":
    main()
