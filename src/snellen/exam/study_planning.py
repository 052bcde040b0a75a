"""A plan of a study from its settings: what is assumed, or what a pilot gives, and the power that follows."""

from __future__ import annotations

from snellen.data.people import read_people, right_answers
from snellen.errors import UserError
from snellen.exam.study_plan_request import StudyPlanRequest
from snellen.measure import StudyAssumptions, StudyPlan, pilot_assumptions, plan_study


def planned_study(request: StudyPlanRequest) -> StudyPlan:
    """The fewest people for each number of images, by what the settings or the files of a pilot say."""
    difference = request.gap if request.gap is not None else request.kappa_difference
    assert difference is not None
    try:
        return plan_study(
            _assumptions(request), difference, "kappa" if request.gap is None else "gap",
            power=request.power, images=request.images, each=request.each,
        )  # fmt: skip
    except ValueError as error:
        raise UserError(str(error)) from error


def _assumptions(request: StudyPlanRequest) -> StudyAssumptions:
    """What is assumed, or what the pilot gives."""
    if request.pilot is None or request.model is None:
        model = request.people - (request.gap or 0.1) if request.accuracy is None else request.accuracy
        return StudyAssumptions(request.people, model, request.kappa, request.consistency, request.spread)
    responses, labels = right_answers(str(request.pilot))
    own = read_people(str(request.model))
    answers = dict(zip(own.sample, own.answer))
    scores = {sample: float(answers[sample] == label) for sample, label in labels.items() if sample in answers}
    return pilot_assumptions(responses, scores)
