"""The plan: which cells and maps are needed, which the store already has, and what is left to ask. Made without torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.engine.inputs import Inputs
from snellen.engine.keep.store import Present, Store
from snellen.engine.plan_checks import (
    check_layers,
    check_maps,
    check_needs,
    check_recorded,
    check_size,
    check_trials,
    unanswered,
)
from snellen.engine.requests.cell import BoundCell, Cell, bind_cell, canvas_for
from snellen.engine.requests.map import BoundMap, MapRequest, bind_map
from snellen.engine.requests.search import SearchRequest
from snellen.engine.requests.survey import SurveyRequest
from snellen.engine.settings import Settings


@dataclass(frozen=True)
class Pass:
    """The same missing cells and maps for some shards of one dataset; `new` are the shown keys not yet stored there.

    `maps` are those that are missing and those that missing cells need; `missing_maps` are the keys of the missing ones.
    """

    on: str
    cells: tuple[BoundCell, ...]
    shards: tuple[int, ...]
    new: frozenset[str]
    maps: tuple[BoundMap, ...] = ()
    missing_maps: frozenset[str] = frozenset()

    @property
    def remaining(self) -> tuple[BoundCell | BoundMap, ...]:
        """What models are yet to be shown images for: cells and missing maps, of those that are made at once the last."""
        return (
            *self.cells,
            *{wanted.question: wanted for wanted in self.maps if wanted.key in self.missing_maps}.values(),
        )

    @property
    def requests(self) -> tuple[BoundCell | BoundMap, ...]:
        """All that is put to models."""
        return (*self.cells, *self.maps)


@dataclass(frozen=True)
class Plan:
    """All cells and maps a run needs (equal ones merged) and the passes that are left to do; its trials, searches and
    surveys, and those that have not ended.

    `maps` are those that were asked for and those of trials; those that only a distortion needs are known to its cells.
    `at_once` are the least images per call with which every model works well; 0 where one of them takes any number.
    """

    cells: tuple[BoundCell, ...]
    passes: tuple[Pass, ...]
    data: Mapping[str, Dataset]
    settings: Settings
    shard: int
    maps: tuple[BoundMap, ...] = ()
    trials: tuple[BoundCell, ...] = ()
    open_trials: tuple[BoundCell, ...] = ()
    searches: tuple[BoundCell, ...] = ()
    open_searches: tuple[BoundCell, ...] = ()
    surveys: tuple[BoundCell, ...] = ()
    open_surveys: tuple[BoundCell, ...] = ()
    at_once: int = 0

    def batch_for(self, canvas: Canvas) -> int:
        """Images that models of a canvas are shown in one call."""
        return self.settings.batch_for(canvas, self.at_once)

    @property
    def every_map(self) -> dict[str, BoundMap]:
        """By key, the maps that were asked for and those that cells need."""
        return _maps_by_key(self.cells, self.maps)

    def samples_of(self, on: str, shard: int) -> range:
        """The positions of a shard's samples in its dataset."""
        return range(shard * self.shard, min((shard + 1) * self.shard, len(self.data[on])))

    @property
    def forward_passes(self) -> int:
        """Images that models will be shown."""
        return sum(self.images_of(pass_, shard) for pass_ in self.passes for shard in pass_.shards)

    def images_of(self, pass_: Pass, shard: int) -> int:
        """Images that models will be shown for one shard, for answers or for maps."""
        passes = sum(request.passes for request in pass_.remaining if request.subject.card.live)
        return len(self.samples_of(pass_.on, shard)) * passes

    def most_images(self, bound: BoundCell, donors: int = 0) -> int:
        """Images that a model may be shown at most for a trial, a search or a survey."""
        request, count = bound.cell.distortion, len(self.data[bound.cell.on])
        if isinstance(request, SearchRequest):
            return min(request.samples or count, count) * request.evaluations
        return request.walks * count if isinstance(request, SurveyRequest) else bound.cell.as_trial.most(count, donors)


@dataclass(frozen=True)
class Requests:
    """What audits ask for: cells, maps, and trials, searches and surveys, which stand in place of a cell's distortion.

    Cells in `optional` are left out for recorded answers that have none to them.
    """

    cells: Sequence[Cell] = ()
    maps: Sequence[MapRequest] = ()
    trials: Sequence[Cell] = ()
    searches: Sequence[Cell] = ()
    surveys: Sequence[Cell] = ()
    optional: frozenset[Cell] = frozenset()


def make_plan(inputs: Inputs, requests: Requests, store: Store) -> Plan:
    """Merge equal cells and maps, look up what the store has, and group the rest into passes."""
    data, settings = inputs.data, inputs.settings
    every_cell = [bound for cell in dict.fromkeys(requests.cells) for bound in _bind(cell, inputs)]
    every_cell = [bound for bound in every_cell if not (bound.cell in requests.optional and unanswered(bound))]
    cells = {(bound.subject.name, bound.subject.run, bound.key): bound for bound in every_cell}
    trials = [bound for cell in dict.fromkeys(requests.trials) for bound in _bind(cell, inputs)]
    searches = [bound for cell in dict.fromkeys(requests.searches) for bound in _bind(cell, inputs)]
    surveys = [bound for cell in dict.fromkeys(requests.surveys) for bound in _bind_survey(cell, inputs)]
    check_trials([*trials, *searches])
    maps = {bound.key: bound for request in requests.maps for bound in _bind_map(request, inputs)}
    maps |= {bound.map.key: bound.map for bound in trials if bound.map is not None}
    canvases = [canvas_for(subject, dataset) for subject in inputs.subjects for dataset in data.values()]
    at_once = min((subject.card.at_once for subject in inputs.subjects if subject.card.live), default=0)
    shard = settings.shard_for(canvases, at_once)
    passes = []
    for on, dataset in data.items():
        cells_on = [bound for bound in cells.values() if bound.cell.on == on]
        maps_on = [bound for bound in maps.values() if bound.request.on == on]
        if cells_on or maps_on:
            passes += _group_passes(on, cells_on, maps_on, math.ceil(len(dataset) / shard), store)
    check_recorded((bound for pass_ in passes for bound in pass_.cells), data)
    open_trials = tuple(bound for bound in trials if not _is_finished(bound, len(data[bound.cell.on]), store))
    return Plan(
        cells=tuple(cells.values()),
        passes=tuple(passes),
        data=data,
        settings=settings,
        shard=shard,
        maps=tuple(maps.values()),
        trials=tuple(trials),
        open_trials=open_trials,
        searches=tuple(searches),
        open_searches=tuple(bound for bound in searches if store.search(bound.key) is None),
        surveys=tuple(surveys),
        open_surveys=tuple(bound for bound in surveys if store.survey(bound.key) is None),
        at_once=at_once,
    )


def _bind(cell: Cell, inputs: Inputs) -> list[BoundCell]:
    """A cell as put to every run."""
    data, pools = inputs.data[cell.on], inputs.pools.fingerprints
    check_needs(cell, data, pools, inputs.subjects)
    for subject in inputs.subjects:
        check_size(cell.distortion, canvas_for(subject, data), data)
    return [
        bind_cell(cell, subject, data, inputs.labels[subject.name, subject.run, cell.on], inputs.settings, pools)
        for subject in inputs.subjects
    ]


def _bind_survey(cell: Cell, inputs: Inputs) -> list[BoundCell]:
    """A survey as put to every run, which must be a network that one can look into."""
    check_layers(str(cell.distortion), inputs.subjects)
    cell.as_survey.check(inputs.data[cell.on])
    return _bind(cell, inputs)


def _bind_map(request: MapRequest, inputs: Inputs) -> Iterator[BoundMap]:
    """A map request as put to every run."""
    data, cell = inputs.data[request.on], Cell(request.distortion, request.on, request.seed)
    check_needs(cell, data, inputs.pools.fingerprints, inputs.subjects)
    advice = "leave out the audit that asks for it, or the model"
    check_maps(request.method, f"a map by {request.method}", inputs.subjects, advice)
    bound_cells = [None] * len(inputs.subjects) if request.clean else _bind(cell, inputs)
    for subject, bound_cell in zip(inputs.subjects, bound_cells):
        bound_map = bind_map(request, subject, data, canvas_for(subject, data), inputs.settings)
        yield bound_map if bound_cell is None else bound_map.of_shown(bound_cell.shown, bound_cell.map)


def _group_passes(
    on: str, cells: Sequence[BoundCell], maps: Sequence[BoundMap], shards: int, store: Store
) -> list[Pass]:
    """Shards that lack the same cells and maps, together."""
    keys = frozenset(bound.key for bound in cells)
    by_key = _maps_by_key(cells, maps)
    present, map_shards = store.present(on), {key: store.map_shards(key) for key in by_key}
    groups: dict[tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]], list[int]] = {}
    for shard in range(shards):
        stored = present.get(shard, Present())
        missing = keys.difference(stored.cells)
        missing_cells = [bound for bound in cells if bound.key in missing]
        lost = [
            bound for bound in by_key.values() if shard not in map_shards[bound.key]
        ]  # also of cells that are there
        needed = _maps_by_key(missing_cells, lost)
        if missing_cells or needed:
            shown = frozenset({bound.shown for bound in missing_cells} - stored.shown)
            missing_maps = frozenset(key for key in needed if shard not in map_shards[key])
            groups.setdefault((missing, shown, frozenset(needed), missing_maps), []).append(shard)
    passes = []
    for (missing, shown, keys_of_maps, missing_maps), numbers in groups.items():
        once = {bound.key: bound for bound in cells if bound.key in missing}
        maps_of_pass = tuple(bound for key, bound in by_key.items() if key in keys_of_maps)
        passes.append(Pass(on, tuple(once.values()), tuple(numbers), shown, maps_of_pass, missing_maps))
    return passes


def _maps_by_key(cells: Sequence[BoundCell], maps: Sequence[BoundMap]) -> dict[str, BoundMap]:
    """By key, the maps that distortions need, then those that were asked for: what others rest on comes first."""
    requests: list[BoundCell | BoundMap] = [*cells, *maps]
    return {bound.key: bound for bound in (*(bound.map for bound in requests if bound.map is not None), *maps)}


def _is_finished(bound: BoundCell, samples: int, store: Store) -> bool:
    """Whether all trials of a run are kept, and what they speak of."""
    complete = not bound.cell.as_trial.speaks_of_things or store.things(bound.key) is not None
    return complete and store.ended_trials(bound.key) == samples
