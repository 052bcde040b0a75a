"""Execution on a Ray cluster: the driver keeps the plan and the lock, actors keep the models and write their shards.

A shard is a task. Each actor runs the same `answer` and `tables_of` as a local run and writes the shard
into the run folder, which all machines see; so the table does not depend on how many actors there are or which of them
died. The driver only hands out shards, two at a time to each actor, and again where an actor died, hung or failed.
"""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from snellen.data.dataset import Dataset
from snellen.data.occluders import Occluders
from snellen.engine.ask.actor import Actor, Parcel, ShardTask, describe_ray_error
from snellen.engine.inputs import Pools
from snellen.engine.keep.store import Store
from snellen.engine.plan import Pass, Plan
from snellen.engine.progress import RunProgress
from snellen.engine.settings import Cluster
from snellen.errors import UserError
from snellen.extras import import_package
from snellen.plugins import plugin_files

TRIES = 3  # how often a shard is given out, and how many starts may fail in a row, before the run stops
PATIENCE = 600  # seconds without any actor before the cluster counts as full or gone
POLL = 1.0  # seconds
DEPTH = 2  # shards that an actor has at a time: one is answered while the other is written and the next one read


@dataclass(eq=False)
class Seat:
    """One actor as the driver sees it: what it does (None: it prepares), oldest first and by reference, and since when it is at
    the oldest."""

    actor: Any
    since: float
    tasks: dict[Any, ShardTask | None] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether it has loaded everything."""
        return None not in self.tasks.values()


def run_cluster(
    plan: Plan,
    store: Store,
    progress: RunProgress,
    pools: Pools,
    texts: Mapping[str, str],
    cluster: Cluster,
) -> int | None:
    """Answer everything the plan found missing on a cluster; the batch size that a resumed run should use.

    `texts` names the data (test, train, donors, occluders) that were given as text, which actors load themselves.
    """
    with connect(cluster) as ray:
        names = [
            store.begin_pass(pass_.on, {bound.key: bound.shown for bound in pass_.cells}, pass_.new)
            for pass_ in plan.passes
        ]
        objects = _objects(ray, plan, pools, texts)
        prints = {role: thing.fingerprint for role, thing in _things(plan, pools).items()}
        folder, cpus = store.folder.absolute(), cluster.cpus_per_actor
        parcel = Parcel(_bare_plan(plan), names, folder, texts, prints, objects, cpus)
        seats = _Seats(ray, parcel, cluster)
        waiting = [(number, shard) for number, pass_ in enumerate(plan.passes) for shard in pass_.shards]
        wide = min(len(waiting), cluster.actors or _room(ray, plan, cluster))
        progress.start(plan.forward_passes)
        try:
            return _hand_out(waiting, seats, plan, progress, wide)
        finally:
            seats.close()
            progress.stop()


def _hand_out(waiting: list[ShardTask], seats: _Seats, plan: Plan, progress: RunProgress, wide: int) -> int | None:
    """Give every waiting shard to an actor until all are kept."""
    batch_size = plan.settings.batch_size
    failures: Counter[ShardTask | None] = Counter()
    for _ in range(wide):
        seats.add()
    while waiting or seats.asking:
        seats.give(waiting)
        for seat, task, outcome in seats.collect():
            if not isinstance(outcome, Exception):
                if task is not None:
                    number, shard = task
                    progress.advance(plan.images_of(plan.passes[number], shard))
                    batch_size = min(filter(None, (batch_size, outcome)), default=None)
                failures[task] = 0
                continue
            failures[task] += 1
            if isinstance(outcome, UserError):
                raise outcome
            if failures[task] == TRIES:
                raise UserError(
                    f"{_describe_task(task, plan)} failed {TRIES} times, at last with {describe_ray_error(outcome)}"
                )
            progress.say(f"{_describe_task(task, plan)} failed and is tried again: {describe_ray_error(outcome)}")
            unfinished = [left for left in seats.replace(seat) if left != task]
            waiting[:0] = [left for left in (task, *unfinished) if left is not None]
    return batch_size


class _Seats:
    """The actors of a run."""

    def __init__(self, ray: Any, parcel: Parcel, cluster: Cluster) -> None:
        self.ray, self.timeout = ray, cluster.shard_timeout
        gpus = 1 if parcel.plan.settings.device.startswith("cuda") else 0
        how = {"num_cpus": cluster.cpus_per_actor, "num_gpus": gpus, "max_concurrency": DEPTH}
        self.kind = ray.remote(Actor).options(**how)
        self.parcel = ray.put(parcel)
        self.seats: list[Seat] = []

    @property
    def asking(self) -> bool:
        return any(task is not None for seat in self.seats for task in seat.tasks.values())

    def add(self) -> None:
        actor = self.kind.remote()
        self.seats.append(Seat(actor, time.monotonic(), {actor.prepare.remote(plugin_files(), [self.parcel]): None}))

    def give(self, waiting: list[ShardTask]) -> None:
        """A shard after the other to the actor that has the fewest, up to DEPTH."""
        while waiting:
            free = [seat for seat in self.seats if seat.ready and len(seat.tasks) < DEPTH]
            if not free:
                return
            seat, task = min(free, key=lambda place: len(place.tasks)), waiting.pop(0)
            if not seat.tasks:
                seat.since = time.monotonic()
            seat.tasks[seat.actor.ask.remote(task)] = task

    def replace(self, seat: Seat) -> list[ShardTask | None]:
        """End an actor and start another one; what the first has not done."""
        self._end(seat)
        self.add()
        return list(seat.tasks.values())

    def collect(self) -> Iterator[tuple[Seat, ShardTask | None, Any]]:
        """What is done, by whom and with what came of it: a value or the error; waits a second at most."""
        seats = {reference: seat for seat in self.seats for reference in seat.tasks}
        done, _ = self.ray.wait(list(seats), num_returns=1, timeout=min(POLL, self.timeout / 4))
        now = time.monotonic()
        for reference in done:
            seats[reference].since = now
            yield seats[reference], seats[reference].tasks.pop(reference), self._outcome(reference)
        if not any(seat.ready for seat in self.seats) and now - max(seat.since for seat in self.seats) > PATIENCE:
            raise UserError(f"no actor came up within {PATIENCE} s; is the Ray cluster full or gone? (ray status)")
        for seat in list(self.seats):
            if not seat.ready and self.asking and now - seat.since > max(PATIENCE, self.timeout):
                self._end(seat)  # the others do without one that never gets ready
            elif seat.ready and seat.tasks and now - seat.since > self.timeout:
                oldest = next(iter(seat.tasks.values()))
                yield seat, oldest, TimeoutError(f"it took more than {self.timeout:g} s (--shard-timeout)")

    def _end(self, seat: Seat) -> None:
        self.ray.kill(seat.actor)
        self.seats.remove(seat)

    def _outcome(self, reference: Any) -> Any:
        try:
            return self.ray.get(reference)
        except Exception as error:
            cause = getattr(error, "cause", None)  # what was raised in the actor
            return cause if isinstance(cause, Exception) else error

    def close(self) -> None:
        for seat in self.seats:
            self.ray.kill(seat.actor)


@contextmanager
def connect(cluster: Cluster) -> Iterator[Any]:
    """Ray, connected: to the session that is open already, to a running cluster, or to one started for this run."""
    ray = import_package("ray", "--engine ray")
    if ray.is_initialized():
        yield ray
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    address = cluster.address or os.environ.get("RAY_ADDRESS")
    try:
        if address:
            _check_reachable(address)
            ray.init(address, **quiet)
        else:
            cpus = max(os.cpu_count() or 1, (cluster.actors or 1) * cluster.cpus_per_actor)
            ray.init("local", num_cpus=cpus, include_dashboard=False, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        hint = (
            "start one (ray start --head), check RAY_AUTH_MODE, or leave --address out" if address else "see its logs"
        )
        raise UserError(f"no Ray cluster at '{address or 'local'}' ({describe_ray_error(error)}); {hint}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Fail at once where nothing listens at host:port; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=5).close()


def _room(ray: Any, plan: Plan, cluster: Cluster) -> int:
    """How many actors the cluster can hold: one per GPU where models run on GPUs, else by CPUs."""
    has = ray.cluster_resources()
    cpus, gpus = int(has.get("CPU", 0)), int(has.get("GPU", 0))
    if plan.settings.device.startswith("cuda"):
        if gpus == 0:
            raise UserError("device 'cuda' was asked for, but the Ray cluster has no GPU; use --device cpu")
        return gpus
    if cpus < cluster.cpus_per_actor:
        raise UserError(f"{cluster.cpus_per_actor} CPUs per actor asked for, but the Ray cluster has {cpus}")
    return cpus // cluster.cpus_per_actor


def _things(plan: Plan, pools: Pools) -> dict[str, Dataset | Occluders]:
    """By role, the data and pools that actors need."""
    return {**plan.data, **pools.present}


def _objects(ray: Any, plan: Plan, pools: Pools, texts: Mapping[str, str]) -> dict[str, Any]:
    """References to what actors cannot load themselves: data by role and models by fingerprint."""
    things = {role: thing for role, thing in _things(plan, pools).items() if role not in texts}
    objects = {role: _pack(ray, thing, f"data '{thing.text}'") for role, thing in things.items()}
    for subject in (request.subject for pass_ in plan.passes for request in pass_.requests):
        if not subject.by_text and subject.card.fingerprint not in objects:
            objects[subject.card.fingerprint] = _pack(ray, subject.loaded, f"model '{subject.name}'")
    return objects


def _bare_plan(plan: Plan) -> Plan:
    """The plan without what actors load themselves."""
    device = "cuda" if plan.settings.device.startswith("cuda") else plan.settings.device  # an actor sees its GPU only
    passes = tuple(map(_bare, plan.passes))
    return replace(plan, cells=(), passes=passes, data={}, settings=replace(plan.settings, device=device))


def _bare(pass_: Pass) -> Pass:
    """The pass without loaded models."""
    return replace(pass_, cells=tuple(map(_unload, pass_.cells)), maps=tuple(map(_unload, pass_.maps)))


def _unload(request: Any) -> Any:
    """The request, and the maps it needs, without its model."""
    needed_map = _unload(request.map) if request.map else None
    return replace(request, subject=replace(request.subject, loaded=None), map=needed_map)


def _pack(ray: Any, thing: Any, name: str) -> Any:
    try:
        return ray.put(thing)
    except Exception as error:
        example = "python:file.py:factory" if name.startswith("model") else "folder:photos"
        raise UserError(
            f"{name} cannot travel to Ray's workers ({describe_ray_error(error.__cause__ or error)}); "
            f"give it as text, for example {example}"
        ) from None


def _describe_task(task: ShardTask | None, plan: Plan) -> str:
    return "starting an actor" if task is None else f"shard {task[1]} of the {plan.passes[task[0]].on} data"
