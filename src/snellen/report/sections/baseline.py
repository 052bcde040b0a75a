"""Unmodified images: how good a model is, and whether that is more than chance or one constant answer."""

from __future__ import annotations

from snellen.audits.noise_floor import NoiseFloorFacts
from snellen.report.blocks import Block, FactLine, Panels, lead
from snellen.report.glossary import meanings, sentence_on
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.interval_dots import interval_dots
from snellen.report.sections.section import Section
from snellen.report.words import count_of, interval, is_known, percent


def baseline_blocks(results: Results) -> list[Block]:
    """The accuracies that all others are held against and, of services that were asked again, how far they contradict
    themselves."""
    clean = [finding for model in results.models if (finding := results.clean(model))]
    noisy = [finding for finding in results.of_audit("baseline") if finding.name == "noisy_accuracy"]
    shown = {"unmodified": clean, "mild noise": noisy}
    guess = results.guess(*clean) if clean and results.task == "classification" else None
    accuracies = interval_dots("Accuracy", shown, results, "accuracy", guess.level if guess else None)
    if accuracies is None:
        return []
    line = f" The dashed line is {guess.line}." if guess else ""
    return [
        lead(f"What all other numbers are held against, with 95% intervals.{line}"),
        FactLine(results.keys()),
        Panels((accuracies,)),
        *_floor_blocks(results),
    ]


def _floor_blocks(results: Results) -> list[Block]:
    """How often answers to the same pixels differ, of models that were asked more than once."""
    floors: list[AnyFinding] = [*results.having(NoiseFloorFacts)]
    title = "Answers that differ when asked again"
    figure = interval_dots(title, {"unmodified": floors}, results, "share of pairs of answers", whole=False)
    return [lead(f"Noise floor. {sentence_on('Noise floor')}"), Panels((figure,))] if figure else []


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
    blocks=baseline_blocks,
    verdict=clean_sentence,
    columns={"clean": lambda finding: finding.name == "accuracy"},
    losses=lambda finding: finding.name == "noisy_accuracy",
    meanings=meanings("Accuracy"),
)
