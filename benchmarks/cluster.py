"""What Ray costs: an audit on 1 and 2 actors against the same audit in this process.

Both ask the same shards of the same images (written to a file, so that actors load them as they would on a cluster) of a
ResNet-20 with one torch thread each; starting Ray and loading the model are left out by asking many and few shards and
comparing the difference. Prints images per second, the ratio to local and the overhead per shard in ms.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --images 4096 --shard 256 --rounds 3
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from snellen.engine import RunProgress, Store
from snellen.engine.ask.cluster import run_cluster
from snellen.engine.ask.local import run_local
from snellen.engine.inputs import Pools
from snellen.engine.settings import Cluster
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import NETWORKS

AUDITS = "occlusion(areas=[0.3])"


def seconds(folder: Path, images: int, actors: int, how: dict[str, Any]) -> tuple[float, int]:
    """How long the answers take with so many actors (0: here), and how many images models were shown."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        data = f"arrays:{folder}/{images}.npz"
        net = str(folder / "net.safetensors")
        prepared = prepare(AuditRequest(models=(net,), data=data, audits=(AUDITS,), out=Path(out), **how))
        plan, store, quiet = prepared.plan(), Store(Path(out)), RunProgress(quiet=True)
        began = time.perf_counter()
        if actors:
            run_cluster(plan, store, quiet, Pools(), prepared.inputs.texts, Cluster(actors=actors))
        else:
            run_local(plan, store, quiet)
        return time.perf_counter() - began, plan.forward_passes


def main() -> None:
    import ray

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=4096)
    parser.add_argument("--shard", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    few, many = 2 * chosen.shard, chosen.images + 2 * chosen.shard
    how: dict[str, Any] = {"shard": chosen.shard, "batch_size": 128, "device": "cpu"}
    small = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init("local", num_cpus=2, object_store_memory=200 * 2**20, **small)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        card = {"arch": "resnet20", "size": [32, 32], "mean": [0.5] * 3, "std": [0.25] * 3}
        save_checkpoint(folder / "net.safetensors", NETWORKS["resnet20"](10), card)
        random = np.random.default_rng(0)
        for count in (few, many):
            pixels = random.integers(0, 256, (count, 32, 32, 3), dtype=np.uint8)
            np.savez(folder / f"{count}.npz", images=pixels, labels=np.arange(count) % 10)
        took: dict[int, list[float]] = {0: [], 1: [], 2: []}
        for _ in range(chosen.rounds):
            for actors, held in took.items():  # interleaved, as other work on the machine comes and goes
                (start, less), (whole, more) = (seconds(folder, count, actors, how) for count in (few, many))
                held.append(whole - start)
    ray.shutdown()
    shards = chosen.images / chosen.shard
    local = statistics.median(took[0])
    for actors, held in took.items():
        median = statistics.median(held)
        ratio = statistics.median(one / here for one, here in zip(held, took[0]))
        overhead = 1000 * (median * max(actors, 1) - local) / shards
        name = f"{actors} Ray actor{'s' * (actors > 1)}" if actors else "local"
        more_of_it = f", {ratio:.3f} × the local time, {overhead:+.1f} ms per shard and actor" if actors else ""
        print(f"{name}: {(more - less) / median:,.0f} images/s, {1000 * median / shards:.0f} ms per shard{more_of_it}")


if __name__ == "__main__":
    main()
