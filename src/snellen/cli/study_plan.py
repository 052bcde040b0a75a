"""`snellen study plan`: how many people and images show a difference; attached by `study.command("plan")(plan)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from snellen.cli.options import AsJson, Config, takes
from snellen.errors import UserError
from snellen.exam.study_plan_request import StudyPlanRequest
from snellen.settings_file import resolve
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.measure import StudyAssumptions, StudyPlan


@takes(StudyPlanRequest)
def plan(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Say how many people and images show a gap, or a difference of error consistency, with the wanted power."""
    from snellen.measure import plan_study

    request = resolve(StudyPlanRequest, settings, config)
    effect, difference = ("gap", request.gap) if request.gap is not None else ("kappa", request.kappa_difference)
    assert difference is not None
    try:
        planned = plan_study(
            _assumptions(request), difference, "gap" if effect == "gap" else "kappa",
            power=request.power, images=request.images, each=request.each,
        )  # fmt: skip
    except ValueError as error:
        raise UserError(str(error)) from error
    if json:
        import dataclasses

        show_json(dataclasses.asdict(planned))
        return
    _print_plan(planned)


def _assumptions(request: StudyPlanRequest) -> StudyAssumptions:
    """What is assumed, or what the pilot gives."""
    from snellen.measure import StudyAssumptions, pilot_assumptions

    if request.pilot is None or request.model is None:
        model = request.people - (request.gap or 0.1) if request.accuracy is None else request.accuracy
        return StudyAssumptions(request.people, model, request.kappa, request.consistency, request.spread)
    from snellen.data.people import read_people, right_answers

    pilot, labels = right_answers(str(request.pilot))
    own = read_people(str(request.model))
    said = dict(zip(own.sample, own.answer))
    return pilot_assumptions(
        pilot, {sample: float(said[sample] == label) for sample, label in labels.items() if sample in said}
    )


def _print_plan(planned: StudyPlan) -> None:
    from snellen.cli.printing import print_table

    known = planned.assumptions
    show(
        f"people {known.people:.1%} ± {known.spread:.1%} right, model {known.model:.1%}; error consistency "
        f"{known.kappa:.2f} between them, {known.consistency:.2f} among people"
    )
    what = "gap of" if planned.effect == "gap" else "difference in error consistency of"
    show(f"fewest people who show a {what} {planned.difference:g} with {planned.wanted:.0%} power:")
    rows = [
        (f"{option.images:,}", f"{option.each:,}", f"{option.people:,}" if option.people else "no number",
         f"{option.answers:,}" if option.people else "—", f"{option.power:.0%}")
        for option in planned.options
    ]  # fmt: skip
    print_table([("images", "each", "people", "answers", "power"), *rows])
