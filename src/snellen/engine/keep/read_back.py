"""Answers: the stored rows of a run as arrays, ready for measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from snellen.data.dataset import Dataset
from snellen.engine.ask.maps import Maps, together
from snellen.engine.keep.complete import Completeness
from snellen.engine.keep.map_reader import BoxedMaps, MapReader, MaskedMaps, boxed_maps, masked_maps
from snellen.engine.keep.store import Store
from snellen.engine.keep.stored_parts import read_counts, stored_parts
from snellen.engine.requests.cell import BoundCell, Cell
from snellen.engine.requests.map import BoundMap, MapRequest
from snellen.engine.requests.survey import SurveyRequest, SurveyTable
from snellen.engine.requests.trial import Columns

Searches: TypeAlias = Mapping[str, Mapping[Cell, Sequence[Sequence[Mapping[str, Any]]]]]  # model → cell → runs → rows

NO_ANSWER = -2  # in place of a class
_COLUMNS = ("pred", "raw", "score", "confidence", "label_prob")


@dataclass(frozen=True)
class Block:
    """The answers of one model to one cell: arrays [runs, samples]; `valid` marks samples that count (readable, labelled
    and not excluded); `covered` is the covered share per sample (nan where nothing covers), `object_covered` that of its object
    (nan where no mask is known). Of a segmentation model `counts` are the true positives, false positives and false negatives of
    each class in pixels, [runs, samples, classes, 3]."""

    pred: np.ndarray
    raw: np.ndarray
    score: np.ndarray
    confidence: np.ndarray
    label_prob: np.ndarray
    labels: np.ndarray
    covered: np.ndarray
    valid: np.ndarray
    ids: np.ndarray
    groups: np.ndarray | None = None
    counts: np.ndarray | None = None
    object_covered: np.ndarray | None = None

    def of(self, chosen: np.ndarray) -> Block:
        """The block of the samples that are chosen, bool [samples]; itself where all are, as in most runs."""
        return self if chosen.all() else self.at(np.flatnonzero(chosen))

    def at(self, rows: np.ndarray) -> Block:
        """The block of the samples in some rows."""
        wide = {name: getattr(self, name)[:, rows] for name in _COLUMNS}
        long = {name: getattr(self, name)[rows] for name in ("labels", "covered", "valid", "ids")}
        optional = {name: getattr(self, name) for name in ("groups", "object_covered")}
        long |= {name: None if values is None else values[rows] for name, values in optional.items()}
        counts = None if self.counts is None else self.counts[:, rows]
        return replace(self, **wide, **long, counts=counts)


@dataclass(frozen=True)
class TrialTable:
    """What came of the trials of one run: one row per sample of the listing (None: not there) with its columns by name, with
    `asked` (how many images it took) and `error` (why there is nothing else); and what the columns speak of, by column."""

    rows: Sequence[Columns | None]
    things: Mapping[str, Sequence[Any]]


class Answers:
    """What one model (all its runs) answered; `answers[cell]` gives the samples that count."""

    def __init__(
        self,
        model: str,
        runs: Sequence[str],
        blocks: Mapping[Cell, Block],
        classes: Mapping[str, Sequence[str]],
        maps: Mapping[MapRequest, Sequence[MapReader]] | None = None,
        outcomes: Mapping[Cell, Sequence[Any]] | None = None,
    ) -> None:
        self.model, self.runs, self._blocks, self.classes = model, list(runs), dict(blocks), classes
        self._maps = maps or {}  # one reader per run
        self._outcomes = dict(outcomes or {})  # of trials, searches and surveys, one entry per run
        self._known: dict[Any, Any] = {}

    def once(self, name: Any, compute: Callable[[], Any]) -> Any:
        """The value computed under this name before, or now: several findings may rest on one measure."""
        if name not in self._known:
            self._known[name] = compute()
        return self._known[name]

    def __getitem__(self, cell: Cell) -> Block:
        return self._blocks[cell].of(self._blocks[cell].valid)

    def __contains__(self, cell: Cell) -> bool:
        return cell in self._blocks

    def trials(self, cell: Cell) -> Sequence[TrialTable]:
        """What came of the trials of a cell, one entry per run."""
        return self._outcomes[cell]

    def searches(self, cell: Cell) -> Sequence[Sequence[Mapping[str, Any]]]:
        """What the searches of a cell tried, one table per run: a row per evaluation."""
        return self._outcomes[cell]

    def surveys(self, cell: Cell) -> Sequence[SurveyTable]:
        """What the surveys of a cell counted, one entry per run."""
        return self._outcomes[cell]

    def together(self, *cells: Cell) -> list[Block]:
        """The blocks of several cells of one dataset, restricted to the samples that count in all of them: paired."""
        blocks = [self._blocks[cell] for cell in cells]
        valid = np.logical_and.reduce([block.valid for block in blocks])
        return [block.of(valid) for block in blocks]

    def mean_score(self, cells: Sequence[Cell]) -> np.ndarray:
        """float [runs, samples] over the whole listing: the mean over the cells, nan where a sample does not count."""
        blocks = [self._blocks[cell] for cell in cells]
        valid = np.logical_and.reduce([block.valid for block in blocks])
        return np.where(valid, np.mean([block.score for block in blocks], axis=0), np.nan)

    def maps(self, request: MapRequest, run: int = 0) -> Maps:
        """One run's maps, uint8 [samples, H, W] with the ids of their samples."""
        return together(self.maps_by_shard(request, run))

    def maps_by_shard(self, request: MapRequest, run: int = 0) -> Iterator[Maps]:
        """The same, some hundred samples after the other, for data whose maps do not fit into memory."""
        return self._maps[request][run].shards()

    def masked_maps(self, request: MapRequest) -> Iterator[list[MaskedMaps]]:
        """The maps of all runs beside the true masks of their objects, shard by shard, on the samples that all runs have."""
        return masked_maps(self._maps[request])

    def boxed_maps(self, request: MapRequest) -> Iterator[list[BoxedMaps]]:
        """The same beside the boxes of their objects; of data with masks only, the boxes around these."""
        return boxed_maps(self._maps[request])

    def groups(self, cell: Cell) -> np.ndarray | None:
        """The group of each sample of the listing, where the data has groups."""
        return self._blocks[cell].groups


def read_searches(store: Store, searches: Sequence[BoundCell]) -> Searches:
    """What the searches of every model tried; those that have not ended are left out."""
    tables: dict[str, dict[Cell, list[Sequence[Mapping[str, Any]]]]] = {}
    for one in searches:
        if (rows := store.search(one.key)) is not None:
            tables.setdefault(one.subject.name, {}).setdefault(one.cell, []).append(rows)
    return tables


def read_answers(
    store: Store,
    cells: Sequence[BoundCell],
    data: Mapping[str, Dataset],
    maps: Sequence[BoundMap] = (),
    trials: Sequence[BoundCell] = (),
    searches: Sequence[BoundCell] = (),
) -> list[Answers]:
    """The answers of every model of a plan, from the store, and what came of its trials and of its `searches`, which
    includes surveys; maps are read when looked at.

    A cell without an answer to an image that is not listed as unreadable or failed is refused.
    """
    rows = {on: one.samples.rows for on, one in data.items()}
    columns = _read_cells(store, {one.key: one.cell.on for one in cells}, rows)
    counted = {one.key: one.cell.on for one in cells if one.subject.card.task == "segmentation"}
    for key, counts in read_counts(store, counted, rows, {on: len(one.classes) for on, one in data.items()}).items():
        columns[key]["counts"] = counts
    shown = _read_shown(store, {one.shown: one.cell.on for one in cells}, rows)
    complete = Completeness(store, data)
    for one in cells:
        complete.check_answers(one, columns[one.key]["pred"] != NO_ANSWER)
        complete.check_shown(one, shown[one.shown]["present"])
    tried = read_searches(store, searches)
    ids = {on: np.array(one.samples.ids, object) for on, one in data.items()}
    models: dict[str, list[BoundCell]] = {}
    for one in cells:
        models.setdefault(one.subject.name, []).append(one)
    answers = []
    for model, cells_of_model in models.items():
        runs = list(dict.fromkeys(one.subject.run for one in cells_of_model))
        by_cell: dict[Cell, list[BoundCell]] = {}
        for one in cells_of_model:
            by_cell.setdefault(one.cell, []).append(one)
        blocks = {cell: _block(ones, columns, shown, data[cell.on], ids[cell.on]) for cell, ones in by_cell.items()}
        readers: dict[MapRequest, list[MapReader]] = {}
        for wanted in (one for one in maps if one.subject.name == model):
            reader = MapReader(store, wanted.key, data[wanted.on], wanted.canvas, rows[wanted.on])
            readers.setdefault(wanted.request, []).append(reader)
        trials_of_model = [one for one in trials if one.subject.name == model]
        tables: dict[Cell, Sequence[Any]] = {
            cell: [_trial_table(store, one, data, complete) for one in trials_of_model if one.cell == cell]
            for cell in _distinct_cells(trials_of_model)
        }
        for one in (one for one in searches if one.subject.name == model and isinstance(one.distortion, SurveyRequest)):
            if (survey := store.survey(one.key)) is not None:
                tables[one.cell] = [*tables.get(one.cell, ()), survey]
        classes = {on: one.classes for on, one in data.items()}
        answers.append(Answers(model, runs, blocks, classes, readers, {**tables, **tried.get(model, {})}))
    return answers


def _distinct_cells(bound: Sequence[BoundCell]) -> list[Cell]:
    return list(dict.fromkeys(one.cell for one in bound))


def _trial_table(store: Store, one: BoundCell, data: Mapping[str, Dataset], complete: Completeness) -> TrialTable:
    """What came of one run's trials, in the order of the listing."""
    by_sample = {row["sample"]: row for row in store.trials(one.key)}
    rows = [by_sample.get(sample) for sample in data[one.cell.on].samples.ids]
    complete.check_trials(one, rows)
    return TrialTable(rows, store.things(one.key) or {})


def _block(
    cells: Sequence[BoundCell],
    answers: Mapping[str, Mapping[str, np.ndarray]],
    shown: Mapping[str, Mapping[str, np.ndarray]],
    data: Dataset,
    ids: np.ndarray,
) -> Block:
    """The runs of one model on one cell, stacked."""
    arrays = {name: _stack([answers[one.key][name] for one in cells]) for name in _COLUMNS}
    valid = ~np.isnan(arrays["score"]).any(0)
    if cells[0].classifies:
        valid &= data.samples.labels >= 0
    for one in cells:
        valid &= ~shown[one.shown]["excluded"]
    groups = data.samples.columns.get("group")
    return Block(
        **arrays,
        labels=data.samples.labels,
        covered=shown[cells[0].shown]["covered"],
        valid=valid,
        ids=ids,
        groups=None if groups is None else np.asarray(groups),
        counts=np.stack([answers[one.key]["counts"] for one in cells]) if "counts" in answers[cells[0].key] else None,
        object_covered=shown[cells[0].shown]["object_covered"],
    )


def _stack(runs: Sequence[np.ndarray]) -> np.ndarray:
    """The arrays of all runs, [runs, samples]; a single one is not copied."""
    return runs[0][None] if len(runs) == 1 else np.stack(runs)


def _read_cells(
    store: Store, keys: Mapping[str, str], rows: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, np.ndarray]]:
    """Cell key → arrays over all samples of its dataset; −2 and nan where there is no answer."""
    columns_by_key: dict[str, dict[str, np.ndarray]] = {}
    for key, on in keys.items():
        count = len(rows[on])
        columns_by_key[key] = {
            name: np.full(count, NO_ANSWER, np.int32) if name in ("pred", "raw") else np.full(count, np.nan, np.float32)
            for name in _COLUMNS
        }
    for key, start, stop, columns, at in stored_parts(store, store.files("answers"), _COLUMNS, keys, rows):
        for name in _COLUMNS:
            columns_by_key[key][name][at] = columns[name][start:stop]
    return columns_by_key


def _read_shown(
    store: Store, keys: Mapping[str, str], rows: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, np.ndarray]]:
    """Shown key → covered shares of image and object, excluded flag and whether there is a row, over all samples."""
    columns_by_key = {
        key: {
            "covered": np.full(len(rows[on]), np.nan, np.float32),
            "object_covered": np.full(len(rows[on]), np.nan, np.float32),
            "excluded": np.zeros(len(rows[on]), bool),
            "present": np.zeros(len(rows[on]), bool),
        }
        for key, on in keys.items()
    }
    names = ("covered", "object_covered", "excluded")
    for key, start, stop, columns, at in stored_parts(store, store.files("shown"), names, keys, rows):
        columns_by_key[key]["present"][at] = True
        for name in names:
            columns_by_key[key][name][at] = columns[name][start:stop]
    return columns_by_key
