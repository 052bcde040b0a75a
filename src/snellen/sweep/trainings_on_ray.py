"""Trainings side by side on a Ray cluster: each writes its own folder, so what is there already is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snellen.data.dataset import Dataset
from snellen.engine.ask.actor import describe_ray_error, load_same_plugins
from snellen.engine.ask.cluster import connect
from snellen.engine.settings import Cluster
from snellen.errors import UserError
from snellen.plugins import plugin_files
from snellen.train.recipe import Recipe


@dataclass(frozen=True)
class Training:
    """One training of a row: what `train` takes, with a place that all machines see."""

    row: str
    recipe: Recipe
    data: Dataset | str
    out: Path
    settings: Mapping[str, Any] = field(default_factory=dict)


def train_side_by_side(trainings: Sequence[Training], cluster: Cluster, say: Callable[[str], None]) -> None:
    """Carry trainings out, as many at a time as the cluster holds; the first that fails ends it, with the name of its row."""
    if not trainings:
        return
    with connect(cluster) as ray:
        on_gpu = any(str(training.settings.get("device") or "").startswith("cuda") for training in trainings)
        work = ray.remote(_train).options(num_cpus=cluster.cpus_per_actor, num_gpus=1 if on_gpu else 0)
        waiting = list(trainings)
        running: dict[Any, Training] = {}
        while waiting or running:
            while waiting and (cluster.actors is None or len(running) < cluster.actors):
                training = waiting.pop(0)
                running[work.remote(training, os.getcwd(), cluster.cpus_per_actor, plugin_files())] = training
            (done,), _ = ray.wait(list(running), num_returns=1)
            training = running.pop(done)
            try:
                ray.get(done)
            except Exception as error:
                for reference in running:
                    ray.cancel(reference, force=True)
                cause = getattr(error, "cause", None)
                reason = str(cause) if isinstance(cause, UserError) else describe_ray_error(error)
                raise UserError(f"row '{training.row}': {reason}") from None
            say(f"{training.row}: {len(trainings) - len(waiting) - len(running)} of {len(trainings)} trainings done")


def _train(training: Training, place: str, threads: int, plugins: Mapping[str, str]) -> None:
    """One training, in a process of the cluster."""
    import torch

    from snellen.train.runs import train

    if os.path.isdir(place):
        os.chdir(place)  # texts of data and weights may name places relative to it
    torch.set_num_threads(threads)
    load_same_plugins(plugins)
    train(training.recipe, training.data, training.out, **training.settings)
