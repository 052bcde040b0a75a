"""Carrying surveys out: one model after the other, each stored when it ends and continued where it was stopped."""

from __future__ import annotations

from collections.abc import Callable

from snellen.atomic import remove
from snellen.engine.keep.store import Store
from snellen.engine.plan import Plan
from snellen.engine.pools import Pools
from snellen.engine.progress import Progress
from snellen.engine.requests.survey import Ground


def run_surveys(
    plan: Plan, store: Store, progress: Progress, pools: Pools, batch_done: Callable[[], None] = lambda: None
) -> None:
    """Carry out every survey that the plan found missing, on this machine."""
    for one in plan.open_surveys:
        request, data = one.cell.as_survey, plan.data[one.on]
        progress.say(f"{one.subject.name} ({one.subject.run}): {request}")

        def report(images: int) -> None:
            progress.advance(images)
            batch_done()

        checkpoint = store.survey_checkpoint(one.key)
        ground = Ground(
            one.subject.model(plan.settings.device),
            data,
            one.canvas,
            plan.settings.batch_for(one.canvas),
            plan.settings.decoders,
            checkpoint,
            report,
            one.seed,
        )
        progress.start(request.walks * len(data), "images")
        try:
            table = request.run(ground)
        finally:
            progress.stop()
        store.add_things(one.key, table.things)
        store.add_survey(one.key, table.rows)
        remove(checkpoint)
