"""The plan: which cells and maps are needed, which the store already has, and what is left to ask. Made without torch."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from snellen.data.dataset import Dataset
from snellen.engine.inputs import Inputs
from snellen.engine.keep.store import Present, Store
from snellen.engine.requests.cell import BoundCell, Cell, asked, canvas_for
from snellen.engine.requests.map import BoundMap, MapRequest, bind_map
from snellen.engine.settings import Settings
from snellen.errors import UserError
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
        asked = sum(a.subject.card.text.partition(":")[0] != "predictions" for a in one.left)
        return len(self.samples_of(one.on, shard)) * asked


@dataclass(frozen=True)
class Requests:
    """What audits ask for: cells, maps, and trials, which are cells with a trial in place of a distortion."""

    cells: Sequence[Cell] = ()
    maps: Sequence[MapRequest] = ()
    trials: Sequence[Cell] = ()


def make_plan(inputs: Inputs, requests: Requests, store: Store) -> Plan:
    """Merge equal cells and maps, look up what the store has, and group the rest into passes."""
    data, settings = inputs.data, inputs.settings
    every_cell = [one for cell in dict.fromkeys(requests.cells) for one in _bind(cell, inputs)]
    cells = {(one.subject.name, one.subject.run, one.key): one for one in every_cell}
    trials = [one for cell in dict.fromkeys(requests.trials) for one in _bind(cell, inputs)]
    _check_trials(trials)
    maps = {one.key: one for request in requests.maps for one in _bind_map(request, inputs)}
    canvases = [canvas_for(subject, one) for subject in inputs.subjects for one in data.values()]
    shard = settings.shard_for(canvases)
    passes = []
    for on, dataset in data.items():
        cells_on = [one for one in cells.values() if one.cell.on == on]
        maps_on = [one for one in maps.values() if one.request.on == on]
        if cells_on or maps_on:
            passes += _passes(on, cells_on, maps_on, math.ceil(len(dataset) / shard), store)
    left = tuple(one for one in trials if not _ended(one, len(data[one.cell.on]), store))
    return Plan(tuple(cells.values()), tuple(passes), data, settings, shard, tuple(maps.values()), tuple(trials), left)


def _bind(cell: Cell, inputs: Inputs) -> list[BoundCell]:
    """A cell as put to every run."""
    data, pools = inputs.data[cell.on], inputs.pools.fingerprints
    _check_needs(cell, data, pools, inputs.subjects)
    return [
        asked(cell, subject, data, inputs.labels[subject.name, subject.run, cell.on], inputs.settings, pools)
        for subject in inputs.subjects
    ]


def _bind_map(request: MapRequest, inputs: Inputs) -> Iterator[BoundMap]:
    """A map request as put to every run."""
    data, cell = inputs.data[request.on], Cell(request.distortion, request.on, request.seed)
    _check_needs(cell, data, inputs.pools.fingerprints, inputs.subjects)
    _check_gradients(
        f"a map by {request.method}", inputs.subjects, "leave out the audit that asks for it, or the model"
    )
    shown = [None] * len(inputs.subjects) if request.clean else _bind(cell, inputs)
    for subject, seen in zip(inputs.subjects, shown):
        one = bind_map(request, subject, data, canvas_for(subject, data), inputs.settings)
        yield one if seen is None else one.of_shown(seen.shown, seen.map)


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
    told = not hasattr(one.cell.distortion, "things") or store.things(one.key) is not None
    return told and store.ended_trials(one.key) == samples


def _check_trials(trials: Sequence[BoundCell]) -> None:
    """Refuse those who cannot be asked anew."""
    for one in trials:
        if one.subject.card.text.startswith("predictions:"):
            raise UserError(
                f"{one.cell.distortion} asks as it goes, which '{one.subject.name}', a file of recorded answers, cannot "
                "follow; leave that audit out"
            )


def _check_needs(cell: Cell, data: Dataset, pools: Collection[str], subjects: Sequence[Subject]) -> None:
    """Refuse a distortion whose facts nobody can give."""
    for need in sorted(cell.distortion.needs):
        if need == "donors" and need not in pools:
            raise UserError(
                f"{cell.distortion} needs a donor pool; pass --donors DATA, for example --donors phantom:train"
            )
        if need == "occluders" and need not in pools:
            raise UserError(
                f"{cell.distortion} needs cut-outs; pass --occluders DIR, a folder of PNGs with transparency"
            )
        if need == "boxes" and "masks" in data.facts:
            continue  # a mask has a box around it
        if need in ("masks", "boxes") and need not in data.facts:
            raise UserError(
                f"{cell.distortion} needs the objects' {need}, which {data.text} does not have; "
                f"leave it out, or use data with {need}"
            )
        if need == "saliency":
            _check_gradients(str(cell.distortion), subjects, "maskings that need none are occlude, tiles and fourier")


def _check_gradients(what: str, subjects: Sequence[Subject], advice: str) -> None:
    for subject in subjects:
        if subject.card.text.startswith("predictions:") or (subject.loaded and subject.loaded.module is None):
            raise UserError(f"{what} needs the gradients of a torch network, which '{subject.name}' is not; {advice}")
