"""The plan: which cells and maps are needed, which the store already has, and what is left to ask. Made without torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from snellen.data.dataset import Dataset
from snellen.engine.keep.store import Present, Store
from snellen.engine.plan_checks import check_maps, check_needs, check_recorded, check_trials
from snellen.engine.requests.cell import BoundCell, Cell, asked, canvas_for
from snellen.engine.requests.map import BoundMap, MapRequest, bind_map
from snellen.engine.settings import Settings
from snellen.models.labels import LabelMap
from snellen.models.subject import Subject


@dataclass(frozen=True)
class Pass:
    """The same missing cells and maps for some shards of one dataset; `new` are the shown keys not yet stored there.

    `maps` are those that are missing and those that missing cells need; `drawn` are the keys of the missing ones.
    """

    on: str
    asked: tuple[BoundCell, ...]
    shards: tuple[int, ...]
    new: frozenset[str]
    maps: tuple[BoundMap, ...] = ()
    drawn: frozenset[str] = frozenset()

    @property
    def left(self) -> tuple[BoundCell | BoundMap, ...]:
        """What models are yet to be shown images for: cells and missing maps."""
        return (*self.asked, *(one for one in self.maps if one.key in self.drawn))

    @property
    def requests(self) -> tuple[BoundCell | BoundMap, ...]:
        """All that is put to models."""
        return (*self.asked, *self.maps)


@dataclass(frozen=True)
class Plan:
    """All cells and maps a run needs (equal ones merged) and the passes that are left to do; its trials, and those with
    samples left.

    `maps` are those that were asked for; those that only a distortion needs are known to its cells.
    """

    asked: tuple[BoundCell, ...]
    passes: tuple[Pass, ...]
    data: Mapping[str, Dataset]
    settings: Settings
    shard: int
    maps: tuple[BoundMap, ...] = ()
    trials: tuple[BoundCell, ...] = ()
    open_trials: tuple[BoundCell, ...] = ()

    @property
    def every_map(self) -> dict[str, BoundMap]:
        """By key, the maps that were asked for and those that cells need."""
        return _needed(self.asked, self.maps)

    def samples_of(self, on: str, shard: int) -> range:
        """The positions of a shard's samples in its dataset."""
        return range(shard * self.shard, min((shard + 1) * self.shard, len(self.data[on])))

    @property
    def forward_passes(self) -> int:
        """Images that models will be shown."""
        return sum(self.images_of(one, shard) for one in self.passes for shard in one.shards)

    def images_of(self, one: Pass, shard: int) -> int:
        """Images that models will be shown for one shard, for answers or for maps."""
        return len(self.samples_of(one.on, shard)) * sum(request.subject.card.live for request in one.left)


def make_plan(
    subjects: Sequence[Subject],
    data: Mapping[str, Dataset],
    cells: Sequence[Cell],
    labels: Mapping[tuple[str, str, str], LabelMap],
    settings: Settings,
    store: Store,
    pools: Mapping[str, str] | None = None,
    maps: Sequence[MapRequest] = (),
    trials: Sequence[Cell] = (),
) -> Plan:
    """Merge equal cells and maps, look up what the store has, and group the rest into passes.

    `labels` maps (model, run, dataset) to a label map; `pools` are the fingerprints of what may be pasted (donors,
    occluders), where given. `trials` are cells with a trial in place of a distortion.
    """
    pools = pools or {}

    def put(cell: Cell) -> list[BoundCell]:
        check_needs(cell, data[cell.on], pools, subjects)
        read = [labels[subject.name, subject.run, cell.on] for subject in subjects]
        return [asked(cell, subject, data[cell.on], one, settings, pools) for subject, one in zip(subjects, read)]

    needed = {(one.subject.name, one.subject.run, one.key): one for cell in dict.fromkeys(cells) for one in put(cell)}
    tried = [one for cell in dict.fromkeys(trials) for one in put(cell)]
    check_trials(tried)
    mapped = {one.key: one for request in maps for one in _mapped(request, subjects, data, labels, settings, pools)}
    canvases = [canvas_for(subject, held) for subject in subjects for held in data.values()]
    shard = settings.shard_for(canvases)
    passes = []
    for on, held in data.items():
        wanted = [one for one in needed.values() if one.cell.on == on]
        drawn = [one for one in mapped.values() if one.request.on == on]
        if wanted or drawn:
            passes += _passes(on, wanted, drawn, math.ceil(len(held) / shard), store)
    check_recorded((one for part in passes for one in part.asked), data)
    left = tuple(one for one in tried if not _ended(one, len(data[one.cell.on]), store))
    return Plan(
        tuple(needed.values()), tuple(passes), data, settings, shard, tuple(mapped.values()), tuple(tried), left
    )


def _mapped(
    request: MapRequest,
    subjects: Sequence[Subject],
    data: Mapping[str, Dataset],
    labels: Mapping[tuple[str, str, str], LabelMap],
    settings: Settings,
    pools: Mapping[str, str],
) -> Iterator[BoundMap]:
    """A map request as put to every run."""
    held, cell = data[request.on], Cell(request.distortion, request.on, request.seed)
    check_needs(cell, held, pools, subjects)
    check_maps(
        request.method, f"a map by {request.method}", subjects, "leave out the audit that asks for it, or the model"
    )
    for subject in subjects:
        one = bind_map(request, subject, held, canvas_for(subject, held), settings)
        if not request.clean:
            seen = asked(cell, subject, held, labels[subject.name, subject.run, request.on], settings, pools)
            one = one.of_shown(seen.shown, seen.map)
        yield one


def _passes(on: str, wanted: Sequence[BoundCell], maps: Sequence[BoundMap], shards: int, store: Store) -> list[Pass]:
    """Shards that lack the same cells and maps, together."""
    keys = frozenset(one.key for one in wanted)
    known = _needed(wanted, maps)
    present, stored = store.present(on), {key: store.map_shards(key) for key in known}
    groups: dict[tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]], list[int]] = {}
    for shard in range(shards):
        held = present.get(shard, Present())
        missing = keys.difference(held.cells)
        left = [one for one in wanted if one.key in missing]
        needed = _needed(left, [one for one in maps if shard not in stored[one.key]])
        if left or needed:
            shown = frozenset({one.shown for one in left} - held.shown)
            drawn = frozenset(key for key in needed if shard not in stored[key])
            groups.setdefault((missing, shown, frozenset(needed), drawn), []).append(shard)
    passes = []
    for (missing, new, needed_keys, drawn), numbers in groups.items():
        once = {one.key: one for one in wanted if one.key in missing}
        listed = tuple(one for key, one in known.items() if key in needed_keys)
        passes.append(Pass(on, tuple(once.values()), tuple(numbers), new, listed, drawn))
    return passes


def _needed(cells: Sequence[BoundCell], maps: Sequence[BoundMap]) -> dict[str, BoundMap]:
    """By key, the maps that distortions need, then those that were asked for: what others rest on comes first."""
    wanted: list[BoundCell | BoundMap] = [*cells, *maps]
    return {one.key: one for one in (*(one.map for one in wanted if one.map is not None), *maps)}


def _ended(one: BoundCell, samples: int, store: Store) -> bool:
    """Whether all trials of a run are kept, and what they speak of."""
    complete = not one.cell.as_trial.speaks_of_things or store.things(one.key) is not None
    return complete and store.ended_trials(one.key) == samples
