"""Carrying searches out: one model after the other, each search stored when it ends and continued where it was stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from snellen.atomic import remove
from snellen.data.dataset import Dataset, limited
from snellen.engine.ask.local import prepare_pass
from snellen.engine.ask.memory import within_memory
from snellen.engine.ask.pass_state import PassState, put_on_device, view_of
from snellen.engine.ask.slides import slides
from snellen.engine.ask.task_answers import PanelScore
from snellen.engine.inputs import Pools
from snellen.engine.keep.answer_journal import cell_requests, journal_of
from snellen.engine.keep.failures import nan_error
from snellen.engine.keep.store import Store
from snellen.engine.plan import Pass, Plan
from snellen.engine.progress import RunProgress
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.search import Panel
from snellen.errors import UserError
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.distort import View
    from snellen.models.model import Model


def run_searches(
    plan: Plan, store: Store, progress: RunProgress, pools: Pools, batch_done: Callable[[], None] = lambda: None
) -> None:
    """Carry out every search that the plan found missing, on this machine."""
    for on in dict.fromkeys(bound.cell.on for bound in plan.open_searches):
        cells = tuple(bound for bound in plan.open_searches if bound.cell.on == on)
        work = prepare_pass(Pass(on, cells, (), frozenset()), plan, {}, pools, store)
        for bound in cells:
            progress.say(f"{bound.subject.name} ({bound.subject.run}): {bound.cell.distortion}")
            progress.describe(f"{str(bound.cell.distortion).partition('(')[0]}, {bound.subject.name}")
            model = bound.subject.model(plan.settings.device)
            panel = _panel(bound, work, model, plan.settings.decoders, batch_done)
            requests = cell_requests(store.folder, bound.key)
            with journal_of([model], requests):
                _carry_out(bound, panel, store, progress)
            remove(requests)


def _carry_out(bound: BoundCell, panel: Panel, store: Store, progress: RunProgress) -> None:
    """One search of one run of a model."""
    request, journal = bound.cell.as_search, store.journal(bound.key)
    progress.start(request.evaluations, "evaluations")
    done = 0

    def report(now: int) -> None:
        nonlocal done
        progress.advance(now - done)
        done = now

    try:
        rows = request.run(panel, bound.seed, journal, report)
    finally:
        progress.stop()
    store.add_search(bound.key, rows)
    journal.unlink(missing_ok=True)


def _panel(bound: BoundCell, work: PassState, model: Model, threads: int, batch_done: Callable[[], None]) -> Panel:
    """The labelled images that the search looks at, on the device, and how the model's answers to them are scored."""
    data = _looked_at(work.data, bound)
    (slide,) = slides(data, [range(len(data))], [bound.canvas], threads)
    on_canvas = put_on_device(slide, bound.canvas, data.samples.labels, work.device, bound.subject.card.task)
    known = np.ones(len(data), bool) if on_canvas.truth is None else on_canvas.truth.known(len(data))
    rows = np.array([row for row, error in enumerate(slide.errors) if not error and known[row]], np.int64)
    if not len(rows):
        raise UserError(f"none of the {len(data)} images that {bound.distortion} looks at can be shown and scored")
    view = view_of(bound, on_canvas, replace(work, data=data)).at(rows)
    labels = on_canvas.targets[torch.from_numpy(rows).to(work.device)]

    def ask(pixels: Tensor, about: Model = model) -> Tensor:
        answers = within_memory(about, about, pixels, work.batch, bound.canvas).to(pixels.device)
        batch_done()
        return answers

    def score(pixels: Tensor, places: Tensor) -> Tensor:
        answers = ask(pixels, model if model.asking is None else _model_about(model, bound, view, places))
        reading = bound.labels.read(answers, labels[places])
        if not bound.subject.card.unsure and not bool((finite := reading.confidence.isfinite()).all()):
            raise nan_error(bound.subject.name, "of a search", bound.distortion, float(reading.confidence[~finite][0]))
        return (reading.pred == labels[places]).float()

    places = torch.from_numpy(rows).to(work.device)
    images, batch = on_canvas.images[places], work.batch[bound.canvas]
    if on_canvas.truth is not None:
        return Panel(images, view, PanelScore(bound, ask, on_canvas.truth.at(places)), batch)
    return Panel(images, view, score, batch)


def _model_about(model: Model, bound: BoundCell, view: View, places: Tensor) -> Model:
    """A model that is told which images it is asked about."""
    rows = places.cpu().numpy()
    assert view.labels is not None
    return model.about(view.keys[rows], view.labels[rows], bound.labels)


def _looked_at(data: Dataset, bound: BoundCell) -> Dataset:
    """As many of the images as the search wants, chosen by a hash of their ids; for a classifier of those with a label."""
    labelled = data.at(np.flatnonzero(data.samples.labels >= 0)) if bound.classifies else data
    request = bound.cell.as_search
    if not request.skipped:
        return limited(labelled, request.samples or None)
    order = labelled.samples.hash_order
    rows = np.sort(order[request.skipped : request.skipped + request.samples])
    if len(rows) < request.samples:
        raise UserError(
            f"{bound.distortion} looks at {request.samples:,} images after {request.skipped:,} others, and {data.text} has "
            f"{len(labelled):,}; search fewer images (--images) or subsets (--subsets)"
        )
    return labelled.at(rows)
