"""The rows of the survey that a finding rests on, for what a page shows of it beyond the finding, such as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.errors import UserError
from snellen.report.results import Finding, Results


def survey_rows(one: Finding, results: Results) -> Sequence[Mapping[str, Any]]:
    """What the survey that the finding names (its fact `request`) counted of the model's first run; nothing where that is not
    stored, or damaged."""
    store, run = results.folder.store, results.models[one["model"]][0]
    wanted = {"model": one["model"], "run": run, "distortion": one["facts"]["request"]}
    keys = [row["cell"] for row in store.cells() if row.items() >= wanted.items()]
    try:
        table = store.survey(keys[-1]) if keys else None
    except UserError:
        return ()
    return () if table is None else table.rows
