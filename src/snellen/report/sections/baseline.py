"""Unmodified images: how good a model is, and whether that is more than chance or one constant answer."""

from __future__ import annotations

from snellen.report.results import Results
from snellen.report.sections.section import Section
from snellen.report.words import count_of, interval, is_known, percent


def clean_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """What a model gets right unmodified; beside what needs no look at the images where it is not clearly above."""
    return [("Unmodified images", _sentence(results, model))]


NOT_SCORED = "No unmodified test image could be scored, so nothing can be said."
RIGHT = {
    "classification": "Right on {} of {}",
    "segmentation": "Right on {} of the labelled pixels of {}, on average",
    "detection": "Finds the object on {} of {}",
}


def _sentence(results: Results, model: str) -> str:
    clean = results.clean(model)
    if clean is None or not is_known(clean.value):
        return NOT_SCORED
    runs, per_run = len(results.models[model]), [value for value in clean.per_run if value is not None]
    over_runs = "one run: no spread over runs"
    if runs > 1 and per_run:
        over_runs = f"{runs} runs, from {percent(min(per_run))} to {percent(max(per_run))}"
    ends = interval(clean.low, clean.high, "share") + "%"
    if is_known(low := clean.facts.recipe_low) and is_known(high := clean.facts.recipe_high):
        recipe = interval(low, high, "share")
        ends += f" for these runs on other images, {recipe}% for other runs of the recipe too"
    sentence = RIGHT[results.task].format(percent(clean.value), count_of(clean.n, "unmodified image"))
    sentence += f" (95% interval {ends}; {over_runs})."
    if results.task != "classification":
        miou = clean.facts.miou
        return sentence + (f" mIoU over all of them: {percent(miou)}." if is_known(miou) else "")
    guess = results.guess(clean)
    if clean.low is None or clean.low <= guess.level:
        sentence += f" That is not clearly above {guess.threshold}: falls under distortion then say little."
        if constant := results.constant_answer(clean):
            sentence += f" It answers {constant}."
    return sentence


BASELINE = Section(
    verdict=clean_sentence,
    columns={"clean": lambda finding: finding.name == "accuracy"},
    losses=lambda finding: finding.name == "noisy_accuracy",
    meanings={
        "Accuracy": "Share of images answered rightly. The 95% interval says how far it could be off because only so many images "
        "were shown; for several runs it is about the mean of these runs. Other runs of the same recipe may lie further off: the "
        "interval for the recipe counts runs as well as images (facts recipe_low and recipe_high). Two models are compared on "
        "the same images, pair by pair, which sees smaller differences than their intervals do."
    },
)
