"""Carrying trials out: round after round of a model's trials, each stored as it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.atomic import remove
from snellen.engine.ask.local import prepare_pass
from snellen.engine.ask.maps import maps_at
from snellen.engine.ask.pass_state import PassState, put_on_device, view_of
from snellen.engine.ask.shard import probabilities_of
from snellen.engine.ask.slides import slides
from snellen.engine.inputs import Pools
from snellen.engine.keep.answer_journal import cell_requests, journal_of
from snellen.engine.keep.complete import incomplete
from snellen.engine.keep.failures import MOST, TooManyFailures, nan_error
from snellen.engine.keep.store import Store
from snellen.engine.plan import Pass, Plan
from snellen.engine.progress import RunProgress
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.trial import FinishedTrial, Reply, Stage, play_round
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.distort import View

KEEP_ROWS = 512  # ended trials that wait, at most, until they are written
KEEP_SECONDS = 5.0  # and how long


def run_trials(
    plan: Plan, store: Store, progress: RunProgress, pools: Pools, batch_done: Callable[[], None] = lambda: None
) -> int | None:
    """Carry out every trial that the plan found missing; the batch size that a resumed run should use.

    Trials run on this machine, one model after the other; those that were kept before a kill are not asked again.
    """
    batch_size = plan.settings.batch_size
    for on in dict.fromkeys(bound.cell.on for bound in plan.open_trials):
        cells = tuple(bound for bound in plan.open_trials if bound.cell.on == on)
        work = prepare_pass(Pass(on, cells, (), frozenset()), plan, {}, pools, store)
        for bound in cells:
            progress.say(f"{bound.subject.name} ({bound.subject.run}): {bound.cell.distortion}")
            progress.describe(f"{str(bound.cell.distortion).partition('(')[0]}, {bound.subject.name}")
            work = replace(work, models={bound.subject.card.fingerprint: bound.subject.model(plan.settings.device)})
            batch_done()
            requests = cell_requests(store.folder, bound.key)
            with journal_of(work.models.values(), requests):
                _carry_out(bound, work, plan.settings.decoders, store, progress, batch_done)
            remove(requests)
            if work.batch[bound.canvas] < plan.batch_for(bound.canvas):
                batch_size = min(filter(None, (batch_size, work.batch[bound.canvas])))
    return batch_size


def _carry_out(
    bound: BoundCell, work: PassState, threads: int, store: Store, progress: RunProgress, batch_done: Callable[[], None]
) -> None:
    """All missing trials of one run of one model."""
    ids = work.data.samples.ids
    place = {sample: position for position, sample in enumerate(ids)}
    stored = store.trials(bound.key)
    if any(row["sample"] not in place for row in stored):
        raise incomplete(store, f"trials/{bound.key} holds images that its data do not have")
    rows: dict[int, Mapping[str, Any]] = {place[row["sample"]]: row for row in stored}
    keeping = _Keeping(bound.key, store)
    trial = bound.cell.as_trial
    if trial.speaks_of_things and store.things(bound.key) is None:
        store.add_things(bound.key, trial.things(work.pools.donors_for(bound)))

    progress.start(len(ids) - len(rows), "trials")
    try:
        for positions in trial.rounds(len(ids)):
            missing = np.array([position for position in positions if position not in rows], np.int64)
            if not len(missing):
                continue
            earlier = {at: row for at, row in rows.items() if at < positions.start and not row["error"]}
            stage, unusable = _stage(bound, work, store, threads, missing, earlier)
            usable = [row for row in range(len(missing)) if row not in unusable]
            unshown = (FinishedTrial(row, {}, 0, error) for row, error in unusable.items())

            def ask(pixels: Tensor, of_rows: np.ndarray, view: View = stage.view) -> tuple[Reply, Mapping[int, str]]:
                labels = np.full(len(view.keys), -1) if view.labels is None else view.labels
                reply = _reply_to(bound, pixels, view.keys[of_rows], labels[of_rows], work)
                batch_done()
                return reply

            playing = play_round(trial.begin(stage), usable, ask, lambda: work.batch[bound.canvas])
            for end in chain(unshown, playing):
                sample = ids[missing[end.row]]
                row = {"sample": sample, "asked": end.images, "error": end.error, **end.columns}
                rows[int(missing[end.row])] = row
                keeping.add(row)
                progress.advance(1)
                if end.error:
                    _check(rows.values(), bound, len(ids))
    except TooManyFailures:
        keeping.write()
        store.discard_failed_trials(bound.key)
        raise
    finally:
        keeping.write()
        progress.stop()


def _stage(
    bound: BoundCell,
    work: PassState,
    store: Store,
    threads: int,
    positions: np.ndarray,
    earlier: Mapping[int, Mapping[str, Any]],
) -> tuple[Stage, dict[int, str]]:
    """The images of some positions on the device with what is known of them; and the rows that cannot be shown, or that have
    no map where one is needed, with why."""
    part = work.data.at(positions)
    (slide,) = slides(part, [range(len(part))], [bound.canvas], threads)
    on_canvas = put_on_device(slide, bound.canvas, part.samples.labels, work.device)
    maps = None if bound.map is None else maps_at(store, bound.map.key, positions, work.shard, work.device)
    view = view_of(bound, on_canvas, work, maps, ranked=False)
    stage = Stage(on_canvas.images, view, positions, work.data.samples.labels, earlier)
    unmapped = {} if maps is None else maps.errors
    return stage, {**unmapped, **{row: error for row, error in enumerate(slide.errors) if error}}


def _reply_to(
    bound: BoundCell, pixels: Tensor, keys: np.ndarray, labels: np.ndarray, work: PassState
) -> tuple[Reply, Mapping[int, str]]:
    """The model's answers to images of some samples, however many: batch by batch, then sent to the host at once."""
    model = work.models[bound.subject.card.fingerprint]
    parts: list[Tensor] = []
    errors: dict[int, str] = {}
    start = 0
    while start < len(pixels):
        some = pixels[start : start + work.batch[bound.canvas]]
        part = slice(start, start + len(some))
        probabilities, wrong = probabilities_of(bound, model.about(keys[part], labels[part], bound.labels), some, work)
        errors |= {start + row: error for row, error in wrong.items()}
        parts.append(probabilities)
        start += len(some)
    answers = parts[0] if len(parts) == 1 else torch.cat(parts)
    reading = bound.labels.read(answers, torch.full((len(answers),), -1, device=answers.device))
    pred, raw, confidence = (values.cpu().numpy() for values in reading[:3])
    if bound.subject.card.unsure:
        confidence = np.where(np.isnan(confidence), 1, confidence)  # as of an answer in words
    if np.isnan(confidence).sum() > len(errors) or np.isinf(confidence).any():
        infinite = confidence[np.isinf(confidence)]
        raise nan_error(bound.subject.name, "of a trial", bound.cell.distortion, *infinite[:1].tolist())
    return Reply(answers, pred, raw, confidence), errors


def _check(rows: Any, bound: BoundCell, samples: int) -> None:
    """Stop where a model failed in more than 5% of the trials; images that cannot be shown were never asked."""
    failed = [row for row in rows if row["error"] and row["asked"]]
    if len(failed) > MOST * samples:
        raise TooManyFailures(
            f"model '{bound.subject.name}' failed in {len(failed)} of {samples} trials of {bound.cell.distortion}, more than "
            f"{MOST:.0%} (first '{failed[0]['sample']}': {failed[0]['error']}); "
            "fix the model and run the same command again; it resumes"
        )


class _Keeping:
    """Writes ended trials, some at a time: each file is there whole or not at all."""

    def __init__(self, key: str, store: Store) -> None:
        self.key, self.store = key, store
        self.rows: list[Mapping[str, Any]] = []
        self.since = time.monotonic()

    def add(self, row: Mapping[str, Any]) -> None:
        self.rows.append(row)
        if len(self.rows) >= KEEP_ROWS or time.monotonic() - self.since > KEEP_SECONDS:
            self.write()

    def write(self) -> None:
        if self.rows:
            self.store.add_trials(self.key, self.rows)
        self.rows, self.since = [], time.monotonic()
