"""How long a plan will take, from one timed batch per model."""

from __future__ import annotations

import time

from snellen.data.canvas import Canvas
from snellen.engine.inputs import Inputs
from snellen.engine.plan import Plan
from snellen.engine.requests.cell import canvas_for
from snellen.lazy_torch import torch
from snellen.models.model import Model
from snellen.user_code import user_code


def estimated_seconds(inputs: Inputs, plan: Plan) -> float:
    """Forward passes times the measured time per image of each model; decoding is taken to be hidden behind them.

    A map counts as the passes that its method states: one for Grad-CAM, which costs about a tenth more at the last stage.
    Searches and surveys count with all that they may show; trials, which mostly end much earlier, do not count. Web services are
    not asked for it: how long they took for the probe images stands for all.
    """
    images_left: dict[tuple[str, str, str], int] = {}
    for pass_ in plan.passes:
        images = sum(len(plan.samples_of(pass_.on, shard)) for shard in pass_.shards)
        for request in pass_.remaining:
            where = request.subject.name, request.subject.run, pass_.on
            images_left[where] = images_left.get(where, 0) + images * request.passes
    for asking in (*plan.open_searches, *plan.open_surveys):
        where = asking.subject.name, asking.subject.run, asking.cell.on
        images_left[where] = images_left.get(where, 0) + plan.most_images(asking)
    speed: dict[str, float] = {}
    total = 0.0
    for subject in inputs.subjects:
        for on, data in inputs.data.items():
            count = images_left.get((subject.name, subject.run, on), 0)
            if not count or not subject.card.live:
                continue
            if subject.name not in speed:
                canvas = canvas_for(subject, data)
                batch = min(plan.batch_for(canvas), count)
                with user_code(f"model '{subject.name}'"):
                    model = subject.model(plan.settings.device)
                    seconds = _seconds_by_answers(model) if model.fleets else _seconds_per_image(model, canvas, batch)
                    speed[subject.name] = seconds
            total += count * speed[subject.name]
    return total


def _seconds_by_answers(model: Model) -> float:
    """The seconds per image of services, by how long their answers to the probe images took: a plan asks for nothing more."""
    total = 0.0
    for fleet in model.fleets:
        address, turns = fleet.address, fleet.turns
        per_request = turns.seconds / max(1, turns.answers)
        total += max(per_request / address.parallel, 1 / address.rate) / address.batch
    return total


def _seconds_per_image(model: Model, canvas: Canvas, batch: int) -> float:
    images = torch.zeros((batch, 3, canvas.height, canvas.width), dtype=torch.uint8)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        model(images).sum().item()
        best = min(best, time.perf_counter() - start)
    return best / batch
