"""`snellen study plan`: how many people and images show a difference; attached by `study.command("plan")(plan)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from snellen.cli.options import AsJson, Config, takes
from snellen.exam.study_plan_request import StudyPlanRequest
from snellen.settings_file import resolve
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.exam.study_planning import StudyPlan


@takes(StudyPlanRequest)
def plan(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Say how many people and images show a difference."""
    from snellen.exam.study_planning import planned_study

    planned = planned_study(resolve(StudyPlanRequest, settings, config))
    if json:
        import dataclasses

        show_json(dataclasses.asdict(planned))
        return
    _print_plan(planned)


def _print_plan(planned: StudyPlan) -> None:
    from snellen.cli.printing import print_table

    assumed = planned.assumptions
    show(
        f"people {assumed.people:.1%} ± {assumed.spread:.1%} right, model {assumed.model:.1%}; error consistency "
        f"{assumed.kappa:.2f} between them, {assumed.consistency:.2f} among people"
    )
    what = "gap of" if planned.effect == "gap" else "difference in error consistency of"
    show(f"fewest people who show a {what} {planned.difference:g} with {planned.wanted:.0%} power:")
    rows = [
        (f"{option.images:,}", f"{option.each:,}", f"{option.people:,}" if option.people else "no number",
         f"{option.answers:,}" if option.people else "—", f"{option.power:.0%}")
        for option in planned.options
    ]  # fmt: skip
    print_table([("images", "each", "people", "answers", "power"), *rows])
