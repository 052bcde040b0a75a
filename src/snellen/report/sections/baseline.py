"""Unmodified images: how good a model is, and whether that is more than chance."""

from __future__ import annotations

from snellen.report.results import Results
from snellen.report.sections.section import Section
from snellen.report.words import interval, is_known, percent


def clean_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """What a model gets right unmodified; with chance beside it where it is not clearly above."""
    return [("Unmodified images", _sentence(results, model))]


_RIGHT = {
    "classification": "Right on {} of {}",
    "segmentation": "Right on {} of the labelled pixels of {}, on average",
    "detection": "Finds the object on {} of {}",
}


def _sentence(results: Results, model: str) -> str:
    one = results.clean(model)
    if one is None or not is_known(one["value"]):
        return "No unmodified test image could be scored, so nothing can be said."
    runs, per_run = len(results.models[model]), one["per_run"]
    over_runs = "one run: no spread over runs"
    if runs > 1 and per_run:
        over_runs = f"{runs} runs, from {percent(min(per_run))} to {percent(max(per_run))}"
    ends = interval(one["low"], one["high"], "share") + "%"
    if is_known(one["facts"].get("recipe_low")):
        recipe = interval(one["facts"]["recipe_low"], one["facts"]["recipe_high"], "share")
        ends += f" for these runs on other images, {recipe}% for other runs of the recipe too"
    images = "image" if one["n"] == 1 else "images"
    sentence = _RIGHT[results.task].format(percent(one["value"]), f"{one['n']:,} unmodified {images}")
    sentence += f" (95% interval {ends}; {over_runs})."
    if results.task != "classification":
        miou = one["facts"].get("miou")
        return sentence + (f" mIoU over all of them: {percent(miou)}." if is_known(miou) else "")
    chance = results.chance()
    if one["low"] is None or one["low"] <= chance:
        sentence += f" That is not clearly above chance ({percent(chance)}): falls under distortion then say little."
    return sentence


BASELINE = Section(
    verdict=clean_sentence,
    columns={"clean": lambda one: one["name"] == "accuracy"},
    meanings={
        "Accuracy": "Share of images answered rightly. The 95% interval says how far it could be off because only so many images "
        "were shown; for several runs it is about the mean of these runs. Other runs of the same recipe may lie further off: the "
        "interval for the recipe counts runs as well as images (facts recipe_low and recipe_high). Two models are compared on "
        "the same images, pair by pair, which sees smaller differences than their intervals do."
    },
)
