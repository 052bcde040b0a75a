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
class AnswerBlock:
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

    def of(self, chosen: np.ndarray) -> AnswerBlock:
        """The block of the samples that are chosen, bool [samples]; itself where all are, as in most runs."""
        return self if chosen.all() else self.at(np.flatnonzero(chosen))

    def at(self, rows: np.ndarray) -> AnswerBlock:
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
        blocks: Mapping[Cell, AnswerBlock],
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

    def __getitem__(self, cell: Cell) -> AnswerBlock:
        return self._blocks[cell].of(self._blocks[cell].valid)

    def __contains__(self, cell: Cell) -> bool:
        return cell in self._blocks

    @property
    def cells(self) -> list[Cell]:
        """The cells that were answered, whichever audit asked them."""
        return list(self._blocks)

    def trials(self, cell: Cell) -> Sequence[TrialTable]:
        """What came of the trials of a cell, one entry per run."""
        return self._outcomes[cell]

    def searches(self, cell: Cell) -> Sequence[Sequence[Mapping[str, Any]]]:
        """What the searches of a cell tried, one table per run: a row per evaluation."""
        return self._outcomes[cell]

    def surveys(self, cell: Cell) -> Sequence[SurveyTable]:
        """What the surveys of a cell counted, one entry per run."""
        return self._outcomes[cell]

    def together(self, *cells: Cell) -> list[AnswerBlock]:
        """The blocks of several cells, restricted to the samples that count in all of them, in the order of the first: paired.

        Cells of other datasets, such as stored variants, have listings of their own, in which a sample has the same id.
        """
        if len({cell.on for cell in cells}) > 1:
            return _paired_by_id([self[cell] for cell in cells])
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


def _paired_by_id(blocks: Sequence[AnswerBlock]) -> list[AnswerBlock]:
    rows = [{sample: row for row, sample in enumerate(block.ids)} for block in blocks]
    common = [sample for sample in rows[0] if all(sample in other for other in rows)]
    return [block.at(np.array([place[sample] for sample in common], int)) for block, place in zip(blocks, rows)]


def read_searches(store: Store, searches: Sequence[BoundCell]) -> Searches:
    """What the searches of every model tried; those that have not ended are left out."""
    tables: dict[str, dict[Cell, list[Sequence[Mapping[str, Any]]]]] = {}
    for bound in searches:
        if (rows := store.search(bound.key)) is not None:
            tables.setdefault(bound.subject.name, {}).setdefault(bound.cell, []).append(rows)
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
    rows = {on: dataset.samples.rows for on, dataset in data.items()}
    columns = _read_cells(store, {bound.key: bound.cell.on for bound in cells}, rows)
    counted = {bound.key: bound.cell.on for bound in cells if bound.subject.card.task == "segmentation"}
    for key, counts in read_counts(
        store, counted, rows, {on: len(dataset.classes) for on, dataset in data.items()}
    ).items():
        columns[key]["counts"] = counts
    shown = _read_shown(store, {bound.shown: bound.cell.on for bound in cells}, rows)
    complete = Completeness(store, data)
    for bound in cells:
        complete.check_answers(bound, columns[bound.key]["pred"] != NO_ANSWER)
        complete.check_shown(bound, shown[bound.shown]["present"])
    tried = read_searches(store, searches)
    ids = {on: np.array(dataset.samples.ids, object) for on, dataset in data.items()}
    models: dict[str, list[BoundCell]] = {}
    for bound in cells:
        models.setdefault(bound.subject.name, []).append(bound)
    answers = []
    for model, cells_of_model in models.items():
        runs = list(dict.fromkeys(bound.subject.run for bound in cells_of_model))
        by_cell: dict[Cell, list[BoundCell]] = {}
        for bound in cells_of_model:
            by_cell.setdefault(bound.cell, []).append(bound)
        blocks = {
            cell: _block(bound_cells, columns, shown, data[cell.on], ids[cell.on])
            for cell, bound_cells in by_cell.items()
        }
        readers: dict[MapRequest, list[MapReader]] = {}
        for wanted in (bound for bound in maps if bound.subject.name == model):
            reader = MapReader(store, wanted.key, data[wanted.on], wanted.canvas, rows[wanted.on])
            readers.setdefault(wanted.request, []).append(reader)
        trials_of_model = [bound for bound in trials if bound.subject.name == model]
        tables: dict[Cell, Sequence[Any]] = {
            cell: [_trial_table(store, bound, data, complete) for bound in trials_of_model if bound.cell == cell]
            for cell in _distinct_cells(trials_of_model)
        }
        for bound in (
            bound for bound in searches if bound.subject.name == model and isinstance(bound.distortion, SurveyRequest)
        ):
            if (survey := store.survey(bound.key)) is not None:
                tables[bound.cell] = [*tables.get(bound.cell, ()), survey]
        classes = {on: dataset.classes for on, dataset in data.items()}
        answers.append(Answers(model, runs, blocks, classes, readers, {**tables, **tried.get(model, {})}))
    return answers


def _distinct_cells(requests: Sequence[BoundCell]) -> list[Cell]:
    return list(dict.fromkeys(request.cell for request in requests))


def _trial_table(store: Store, bound: BoundCell, data: Mapping[str, Dataset], complete: Completeness) -> TrialTable:
    """What came of one run's trials, in the order of the listing."""
    by_sample = {row["sample"]: row for row in store.trials(bound.key)}
    rows = [by_sample.get(sample) for sample in data[bound.cell.on].samples.ids]
    complete.check_trials(bound, rows)
    return TrialTable(rows, store.things(bound.key) or {})


def _block(
    cells: Sequence[BoundCell],
    answers: Mapping[str, Mapping[str, np.ndarray]],
    shown: Mapping[str, Mapping[str, np.ndarray]],
    data: Dataset,
    ids: np.ndarray,
) -> AnswerBlock:
    """The runs of one model on one cell, stacked."""
    arrays = {name: _stack([answers[bound.key][name] for bound in cells]) for name in _COLUMNS}
    valid = ~np.isnan(arrays["score"]).any(0)
    if cells[0].classifies:
        valid &= data.samples.labels >= 0
    for bound in cells:
        valid &= ~shown[bound.shown]["excluded"]
    groups = data.samples.columns.get("group")
    return AnswerBlock(
        **arrays,
        labels=data.samples.labels,
        covered=shown[cells[0].shown]["covered"],
        valid=valid,
        ids=ids,
        groups=None if groups is None else np.asarray(groups),
        counts=np.stack([answers[bound.key]["counts"] for bound in cells])
        if "counts" in answers[cells[0].key]
        else None,
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
