"""How the driver of a cluster run hands out shards, with actors that only pretend."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from snellen.engine.ask import cluster
from snellen.engine.ask.cluster import DEPTH, _hand_out, _Seats
from snellen.errors import UserError


class PretendedRay:
    """Actors answer at once, one shard after the other, oldest first; those that `dies` names die of a shard."""

    def __init__(self, dies: dict[tuple[int, int], int] | None = None) -> None:
        self.dies = dict(dies or {})  # shard → how many actors it kills
        self.actors: list[Any] = []
        self.killed: list[Any] = []
        self.most = 0  # shards that an actor had at a time
        self.answers: list[tuple[int, int]] = []
        self.waiting: dict[int, tuple[Any, Any]] = {}  # reference → actor, task
        self.done: set[int] = set()

    def remote(self, kind: type) -> Any:
        return SimpleNamespace(options=lambda **how: SimpleNamespace(remote=self._start))

    def _start(self) -> Any:
        actor = SimpleNamespace(number=len(self.actors))
        actor.prepare = SimpleNamespace(remote=lambda plugins, parcels: self._submit(actor, None))
        actor.ask = SimpleNamespace(remote=lambda task: self._submit(actor, task))
        self.actors.append(actor)
        return actor

    def _submit(self, actor: Any, task: Any) -> int:
        self.waiting[reference := len(self.waiting) + 1000] = actor, task
        open_ones = [one for one, (owner, _) in self.waiting.items() if owner is actor and one not in self.done]
        self.most = max(self.most, len(open_ones))
        return reference

    def wait(self, references: list[int], num_returns: int, timeout: float) -> tuple[list[int], list[int]]:
        return references[:1], references[1:]

    def get(self, reference: int) -> int | None:
        self.done.add(reference)
        _, task = self.waiting[reference]
        if self.dies.get(task, 0):
            self.dies[task] -= 1
            raise RuntimeError("its worker died")
        if task is not None:
            self.answers.append(task)
        return None

    def put(self, thing: Any) -> Any:
        return thing

    def kill(self, actor: Any) -> None:
        self.killed.append(actor)


def hand_out(ray: PretendedRay, shards: int, actors: int) -> list[int]:
    """The images of the shards that the driver counted as kept."""
    counted: list[int] = []
    settings = SimpleNamespace(device="cpu", batch_size=None)
    plan: Any = SimpleNamespace(
        settings=settings, passes=[SimpleNamespace(on="test")], images_of=lambda one, shard: shard
    )
    progress: Any = SimpleNamespace(advance=counted.append, say=lambda text: None)
    how: Any = SimpleNamespace(cpus_per_actor=1, shard_timeout=1800.0)
    seats = _Seats(ray, SimpleNamespace(plan=plan), how)  # type: ignore[arg-type]
    _hand_out([(0, shard) for shard in range(shards)], seats, plan, progress, actors)
    return counted


@pytest.mark.parametrize("actors", [1, 2, 3])
def test_each_actor_has_two_shards_at_a_time_and_each_shard_is_answered_once(actors: int) -> None:
    ray = PretendedRay()
    assert sorted(hand_out(ray, 12, actors)) == list(range(12))
    assert sorted(ray.answers) == [(0, shard) for shard in range(12)]
    assert (ray.most, len(ray.actors), ray.killed) == (DEPTH, actors, [])


def test_what_a_dead_actor_had_not_done_is_handed_out_again() -> None:
    ray = PretendedRay({(0, 3): 2})
    assert sorted(hand_out(ray, 8, 2)) == list(range(8))
    assert len(ray.killed) == 2
    assert len(ray.actors) == 4  # each dead one has a successor


def test_only_the_shard_that_kills_is_counted_as_failing() -> None:
    """Two others that go down with it are not blamed, however often."""
    ray = PretendedRay({(0, 0): cluster.TRIES - 1, (0, 1): cluster.TRIES - 1})
    assert sorted(hand_out(ray, 4, 1)) == list(range(4))
    with pytest.raises(
        UserError, match="shard 2 of the test data failed 3 times, at last with RuntimeError: its worker died"
    ):
        hand_out(PretendedRay({(0, 2): cluster.TRIES}), 4, 2)
