"""The outline of a plan: what an audit would do, before it does anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.engine.requests.cell import BoundCell
from snellen.engine.service_plan import service_plans
from snellen.exam.prepare import Prepared


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What an audit would do: models with their runs, datasets, audits (with the reason where the data chose them), how many
    cells and maps there are and are left to ask, the images that models will be shown, and about how long that takes. Trials and
    searches, which ask as they go, have an upper bound (adaptive curves what they expect); the time is that of all but trials.
    `services` are the requests that are left to each web service, and what they cost, beside those of the probe images."""

    out: Path | None
    models: Mapping[str, Sequence[str]]
    data: Mapping[str, str]
    audits: Sequence[str]
    distortions: Sequence[str]
    cells: int
    cells_left: int
    maps: int
    maps_left: int
    forward_passes: int
    trials: Sequence[str]
    trial_passes_at_most: int
    searches: Sequence[str]
    search_passes_at_most: int
    surveys: Sequence[str]
    survey_passes: int
    services: Sequence[Mapping[str, Any]]
    estimated_seconds: float
    notices: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """The outline as `snellen audit --dry-run --json` prints it; trials, searches, surveys and services only where there are
        any."""
        parts = {"trial": self.trials, "search": self.searches, "survey": self.surveys, "service": self.services}
        absent = [word for word, some in parts.items() if not some]
        facts = {name: value for name, value in vars(self).items() if not name.startswith(tuple(absent))}
        return {**facts, "out": None if self.out is None else str(self.out)}


def outline_of(prepared: Prepared, out: Path | None) -> Outline:
    """What is left to do for a prepared audit; loads the models, to time them."""
    from snellen.engine.ask.timing import estimated_seconds

    plan = prepared.plan()
    donors = 0 if prepared.inputs.pools.donors is None else len(prepared.inputs.pools.donors)
    missing = {bound.key for pass_ in plan.passes for bound in pass_.cells}
    return Outline(
        out=out,
        models=prepared.inputs.runs,
        data={on: f"{dataset.text} ({len(dataset):,} images)" for on, dataset in prepared.inputs.data.items()},
        audits=[_with_reason(str(audit), prepared.reasons) for audit in prepared.audits],
        distortions=_texts(plan.cells),
        cells=len({bound.key for bound in plan.cells}),
        cells_left=len(missing),
        maps=len(plan.every_map),
        maps_left=len(frozenset().union(*(pass_.missing_maps for pass_ in plan.passes))),
        forward_passes=plan.forward_passes,
        trials=_texts(plan.trials),
        trial_passes_at_most=sum(plan.most_images(trial, donors) for trial in plan.open_trials),
        searches=_texts(plan.searches),
        search_passes_at_most=sum(map(plan.most_images, plan.open_searches)),
        surveys=_texts(plan.surveys),
        survey_passes=sum(map(plan.most_images, plan.open_surveys)),
        services=[service.to_json() for service in service_plans(prepared.inputs, plan, prepared.folder, donors)],
        estimated_seconds=round(estimated_seconds(prepared.inputs, plan), 1),
        notices=list(prepared.notices),
    )


def _texts(requests: Sequence[BoundCell]) -> list[str]:
    return list(dict.fromkeys(str(request.cell.distortion) for request in requests))


def _with_reason(audit: str, reasons: Mapping[str, str]) -> str:
    return f"{audit} ({reasons[audit]})" if audit in reasons else audit
