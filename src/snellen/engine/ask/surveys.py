"""Carrying surveys out: one model after the other, each stored when it ends and continued where it was stopped."""

from __future__ import annotations

from collections.abc import Callable

from snellen.atomic import remove
from snellen.engine.inputs import Pools
from snellen.engine.keep.store import Store
from snellen.engine.plan import Plan
from snellen.engine.progress import RunProgress
from snellen.engine.requests.survey import Ground


def run_surveys(
    plan: Plan, store: Store, progress: RunProgress, pools: Pools, batch_done: Callable[[], None] = lambda: None
) -> None:
    """Carry out every survey that the plan found missing, on this machine."""
    for bound in plan.open_surveys:
        request, data = bound.cell.as_survey, plan.data[bound.on]
        progress.say(f"{bound.subject.name} ({bound.subject.run}): {request}")
        progress.describe(f"{str(request).partition('(')[0]}, {bound.subject.name}")

        def report(images: int) -> None:
            progress.advance(images)
            batch_done()

        checkpoint = store.survey_checkpoint(bound.key)
        ground = Ground(
            bound.subject.model(plan.settings.device),
            data,
            bound.canvas,
            plan.batch_for(bound.canvas),
            plan.settings.decoders,
            checkpoint,
            report,
            bound.seed,
        )
        progress.start(request.walks * len(data), "images")
        try:
            table = request.run(ground)
        finally:
            progress.stop()
        store.add_things(bound.key, table.things)
        store.add_survey(bound.key, table.rows)
        remove(checkpoint)
