"""Pictures of chosen images: what an audit found worth seeing, beyond the few that every run keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from snellen.data.dataset import limited
from snellen.engine.inputs import Pools
from snellen.engine.keep.store import Store
from snellen.engine.keep.thumbnail_file import read_thumbnail
from snellen.engine.plan import Pass, Plan
from snellen.engine.requests.cell import BoundCell, Cell

Missing = list[tuple[BoundCell, list[int]]]


def add_pictures(wanted: Iterable[tuple[Cell, str]], plan: Plan, store: Store, pools: Pools) -> None:
    """Keep a thumbnail of each wanted sample under each wanted cell, as models saw it; no model is asked again.

    What is there already costs nothing, so a warm run needs neither torch nor the data.
    """
    missing = _missing(wanted, plan, store)
    for on in dict.fromkeys(bound.cell.on for bound, _ in missing):
        _draw(on, [each for each in missing if each[0].cell.on == on], plan, store, pools)


def add_trial_pictures(wanted: Iterable[tuple[Cell, int]], plan: Plan, store: Store, pools: Pools) -> None:
    """Keep a thumbnail of each wanted thing of a trial, by its place, as the first model with that canvas saw it."""
    first: dict[Cell, BoundCell] = {}
    for bound in plan.trials:
        first.setdefault(bound.cell, bound)
    missing: dict[Cell, list[int]] = {}
    for cell, place in dict.fromkeys(wanted):
        if cell in first and read_thumbnail(store.thumbnail(first[cell].shown, place)) is None:
            missing.setdefault(cell, []).append(place)
    for cell, places in missing.items():
        from snellen.engine.ask.local import prepare_pass

        bound = first[cell]
        work = prepare_pass(Pass(cell.on, (bound,), (), frozenset()), plan, {}, pools, store)
        pictures = cell.as_trial.pictures(work.pools.donors_for(bound), places)
        for place, picture in zip(places, pictures.cpu().numpy()):
            store.add_thumbnail(bound.shown, place, picture)


def redraw(lost: Collection[str], plan: Plan, store: Store, pools: Pools) -> None:
    """Draw the first images of some shown keys again, where the folders of their pictures lack any."""
    from snellen.engine.ask.shard import THUMBNAILS

    first: dict[str, BoundCell] = {}
    for bound in plan.cells:
        if bound.shown in lost:
            first.setdefault(bound.shown, bound)
    ids = {on: limited(plan.data[on], THUMBNAILS).samples.ids for on in {bound.on for bound in first.values()}}
    add_pictures(((bound.cell, sample) for bound in first.values() for sample in ids[bound.on]), plan, store, pools)


def _missing(wanted: Iterable[tuple[Cell, str]], plan: Plan, store: Store) -> Missing:
    """The positions of the samples whose picture is not there yet, by cell and canvas: models may see other crops."""
    first: dict[Cell, dict[str, BoundCell]] = {}
    for bound in plan.cells:
        if "saliency" not in bound.cell.distortion.needs:  # maps are the models' own, and are not made here
            first.setdefault(bound.cell, {}).setdefault(bound.shown, bound)
    missing: dict[str, tuple[BoundCell, list[int]]] = {}
    for cell, sample in dict.fromkeys(wanted):
        for shown, bound in first.get(cell, {}).items():
            if read_thumbnail(store.thumbnail(shown, row := plan.data[cell.on].samples.rows[sample])) is None:
                missing.setdefault(shown, (bound, []))[1].append(row)
    return list(missing.values())


def _draw(on: str, missing: Missing, plan: Plan, store: Store, pools: Pools) -> None:
    from snellen.distort import show
    from snellen.engine.ask.local import prepare_pass
    from snellen.engine.ask.pass_state import put_on_device, view_of
    from snellen.engine.ask.slides import slides

    work = prepare_pass(Pass(on, tuple(bound for bound, _ in missing), (), frozenset()), plan, {}, pools, store)
    for bound, rows in missing:
        part = work.data.at(np.array(rows))
        (slide,) = slides(part, [range(len(rows))], [bound.canvas], plan.settings.decoders)
        on_canvas = put_on_device(slide, bound.canvas, part.samples.labels, work.device)
        pixels, _ = show(bound.cell.as_distortion, on_canvas.images, view_of(bound, on_canvas, work))
        for row, picture, error in zip(rows, pixels.cpu().numpy(), slide.errors):
            if not error:
                store.add_thumbnail(bound.shown, row, picture)
