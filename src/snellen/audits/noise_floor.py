"""The noise floor of a service that is asked several times about the same images: how far it differs from itself."""

from __future__ import annotations

from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, finding
from snellen.engine.keep.read_back import Answers
from snellen.measure import accuracy_noise, answer_changes


class NoiseFloorFacts(FindingFacts, frozen=True, kw_only=True):
    """How often each image was asked, and how far two accuracies, each the mean of so many answers, differ by that noise alone in
    95% of cases, as a share."""

    repeats: int
    accuracy_noise: Number


def noise_floor(exam: Exam, answers: Answers) -> list[Finding]:
    """The share of unmodified images of which two answers differ; nothing for models that were asked once."""
    if answers.model not in exam.repeated:
        return []
    clean = answers[exam.clean()]
    repeats = len(answers.runs)
    facts = NoiseFloorFacts(repeats=repeats, accuracy_noise=accuracy_noise(clean.score))
    text = (
        f"share of unmodified test images that two of {repeats} answers to the same pixels take for different classes"
    )
    share = answer_changes(clean.raw, clean.groups)
    more = {"label": "Answers that differ when asked again", "topic": "answers to the same pixels", "facts": facts}
    cells = (exam.clean(),)
    return [finding("baseline", "noise_floor", answers.model, share, text, better="lower", cells=cells, **more)]
