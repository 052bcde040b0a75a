"""What to look at next: commands that can be pasted, chosen by what a run found and what it lacks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.distort.language import in_words
from snellen.report.losses import strongest
from snellen.report.results import AnyFinding, Results
from snellen.report.table import CLEAN

if TYPE_CHECKING:
    from snellen.report.first_screen import ModelVerdict

MOST_STEPS = 2


@dataclass(frozen=True)
class NextStep:
    """Why it is worth doing, and the command."""

    reason: str
    command: str


def next_steps(results: Results, verdicts: Sequence[ModelVerdict]) -> list[NextStep]:
    """The next steps of a run, the most telling first."""
    steps = [*_doubtful(results, verdicts), *_mistakes(results, verdicts), *_training_images(results)]
    return steps[:MOST_STEPS]


def _doubtful(results: Results, verdicts: Sequence[ModelVerdict]) -> list[NextStep]:
    """Where a model is not told from guessing: what it answers instead."""
    guessing = next((verdict.model for verdict in verdicts if verdict.standing == "at chance"), None)
    if guessing is None:
        return []
    query = (
        f"select class, pred, count(*) as images from answers natural join cells join samples using (sample) where "
        f"model = {_quoted(guessing)} and distortion = 'none()' group by all order by images desc limit 9"
    )
    return [NextStep("what it answers to which class", _sql(results, query))]


def _mistakes(results: Results, verdicts: Sequence[ModelVerdict]) -> list[NextStep]:
    """The images that break a model under the modification that costs it most."""
    worst = {verdict.model: strongest(verdict.losses) for verdict in verdicts if verdict.standing == "breaks"}
    model, loss = max(
        ((model, loss) for model, loss in worst.items() if loss), key=lambda pair: pair[1].low, default=("", None)
    )
    if loss is None or not loss.finding.distortions:
        return []
    whose = f"model = {_quoted(model)} and " if results.several else ""
    modification, those = _modification(loss.finding, results)
    query = (
        f"select sample, pred from answers natural join cells where {whose}{those} and score = 0 "
        "order by confidence desc limit 9"
    )
    return [NextStep(f"the most confident mistakes {modification}", _sql(results, query))]


def _modification(finding: AnyFinding, results: Results) -> tuple[str, str]:
    """What was done to the images, in words and as a condition of SQL: a distortion, or images that lie modified on disk."""
    distortion = next(
        (text for text in finding.distortions if text != CLEAN), None
    )  # of several sizes the least severe
    if distortion is None:
        return f"on {finding.on}", f'"on" = {_quoted(finding.on)} and distortion = {_quoted(CLEAN)}'
    return f"under {in_words(distortion)}", f"distortion like {_quoted(_beginning(distortion, results))}"


def _training_images(results: Results) -> list[NextStep]:
    """The training images that iOcclusion lacks."""
    lacking = [finding for finding in results.findings if finding.name == "mean_iocclusion" and finding.value is None]
    command = results.facts.command
    if not lacking or "train" in results.data or "audit" not in command:
        return []
    again = shlex.join([Path(command[0]).name, *command[1:], "--train"])
    return [NextStep("whether it memorised its training images (iOcclusion)", f"{again} DATA")]


def _beginning(distortion: str, results: Results) -> str:
    """The shortest pattern that fits no other distortion of the run; `_` in it fits itself too."""
    others = {text for finding in results.findings for text in finding.distortions} - {distortion}
    for length in range(distortion.find("(") + 1, len(distortion)):
        ends = not distortion[length].isalnum() and distortion[length - 1].isalnum()
        if ends and not any(text.startswith(distortion[:length]) for text in others):
            return f"{distortion[:length]}%"
    return distortion


def _sql(results: Results, query: str) -> str:
    return f"snellen sql {shlex.quote(str(results.folder.path))} {_double_quoted(query)}"


def _quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _double_quoted(text: str) -> str:
    """A text as one word of a shell, whose single quotes can be read."""
    return '"' + "".join(f"\\{letter}" if letter in '\\"$`' else letter for letter in text) + '"'
