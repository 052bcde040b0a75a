"""Every kind of claim that a report can make: what it says, which case tests it, and how often it may be false.

`listing.csv` beside this file names the kind of every sentence in the source, or the reason why it claims nothing (`REASONS`);
`DECISIONS` does the same for functions that hold an interval, a p-value or a mark against something.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LISTING = Path(__file__).with_name("listing.csv")


@dataclass(frozen=True)
class Kind:
    """A kind of claim. `alarm`: of the reports in which it would be false, at most `most` make it. `statement`: of those that
    make it, at most `most` are wrong. `seen`: of true effects as large as the report says it could see, 80% are claimed."""

    name: str
    says: str
    case: str
    promise: Literal["alarm", "statement", "seen"] = "alarm"
    most: float = 0.05


INTERVAL = 0.07  # intervals hold the truth in 93% at least (docs/understanding/intervals.md)
KINDS = (
    Kind("clean accuracy above guessing", "nothing is said of guessing beside clean accuracy", "clean_images"),
    Kind("no warning of chance level", "no check warns of accuracy at chance", "clean_images"),
    Kind("interval of accuracy", "95% interval of an accuracy", "clean_images", "statement", INTERVAL),
    Kind("accuracy below what the card states", "“…, its card states …”", "clean_images"),
    Kind("classes in another order", "“… look like the data's classes in another order”", "clean_images"),
    Kind("another preprocessing fits better", "“… is right on … given other pixels”", "clean_images"),
    Kind("▲ above chance and mild noise", "the mark ▲ at a number", "marks"),
    Kind("△ or ▲ above chance", "the mark △ or ▲ at a number", "marks"),
    Kind("no mark: clearly not", "no mark at a DI", "marks"),
    Kind("class that takes the new errors", "the class beside a DI that is marked", "marks", "statement"),
    Kind("DI that would mostly be seen", "“below … it would often go unseen”", "marks", "seen"),
    Kind("some drop may be an artefact", "“… more than under mild noise and more than by chance”", "marks"),
    Kind("mild noise pushes errors to a class", "“Mild noise itself pushes errors towards …”", "marks"),
    Kind("a model is clearly better", "“… is clearly better on …”; bold in the table", "models_compared"),
    Kind("two models clearly differ", "“clearly different” in a difference", "models_compared"),
    Kind("star in the terminal", "* at a finding", "models_compared"),
    Kind(
        "difference that would mostly be seen",
        "“True differences below … would often go unseen”",
        "models_compared",
        "seen",
    ),
    Kind("a lead may be an artefact", "“That … leads … could be an artefact”", "artefacts"),
    Kind("accuracy falls below half", "“falls below half of its clean accuracy once …”", "squares"),
    Kind("accuracy keeps half", "“keeps at least half of it”", "squares"),
    Kind("the fill alone matters", "“The fill alone … moves this by …”", "squares"),
    Kind(
        "a modification clearly costs accuracy",
        "“It clearly loses accuracy under …”, and its points beside a number",
        "first_screens",
    ),
    Kind("bounds of a loss", "“losses of up to … are not ruled out”", "first_screens", "statement"),
    Kind("too sure or unsure of itself", "“by … too sure of itself on average”", "confidence"),
    Kind(
        "interval of the calibration error",
        "95% interval of the calibration error",
        "confidence",
        "statement",
        INTERVAL,
    ),
    Kind("backgrounds alone suffice", "“Backgrounds alone suffice on …”", "backgrounds"),
    Kind("interval of the BG-Gap", "95% interval of the BG-Gap", "backgrounds", "statement", INTERVAL),
    Kind("energy beside an even map", "“more (or less) than the … of an even map”, of energy", "maps"),
    Kind("map on the object beside an even map", "the same, of the share inside the mask", "maps"),
    Kind("maps find what answers rest on", "“Its maps find the tiles that its answers rest on”", "maps"),
    Kind("maps clearly differ from the baseline's", "bold in the table of differences of maps", "maps"),
    Kind("areas of two models clearly differ", "“clearly different” of two deletion areas", "maps"),
    Kind(
        "difference of areas that would mostly be seen", "“would mostly have shown a difference of …”", "maps", "seen"
    ),
    Kind("a model pays least in interpretability", "“… pays least”, without “may be chance”", "maps"),
    Kind("effect of an edit is clear", "“yes” in the column clear", "edits"),
    Kind(
        "interval under the worst edits",
        "95% interval on images that were not searched",
        "edits",
        "statement",
        INTERVAL,
    ),
    Kind("types agree on the order", "“types agree on the order” or “in part”", "ranks"),
    Kind("a type is a proxy of real occlusion", "p below 0.05 of a τ", "ranks"),
    Kind("a model lies off the line of clean accuracy", "p below 0.05 of a residual", "ranks"),
    Kind("people and model clearly differ", "bold in the table of people less model", "people"),
)

REASONS = {
    "label": "names what a heading, column, axis or picture shows",
    "definition": "explains a term, a method or how to read a chart",
    "number": "gives a number or a count of these images, and compares it with nothing",
    "chosen": "says that a value was chosen on these images",
    "hedge": "limits or withdraws a claim, or says that nothing can be told",
    "advice": "says what to do about a warning",
    "published": "is about published values",
    "rule": "applies a rule that stands beside it",
    "elsewhere": "gives an interval or a bound whose coverage has a test or a row in coverage.md",
}

DECISIONS = {
    ("audits/alignment_findings.py", "_difference"): "maps clearly differ from the baseline's",
    ("audits/alignment_findings.py", "comparison_findings"): "maps clearly differ from the baseline's",
    ("audits/class_removed.py", "_dominates"): "elsewhere",  # tests/audits/test_evidence.py
    ("audits/class_removed.py", "class_removed"): "elsewhere",
    ("audits/delivery.py", "conclude"): "elsewhere",  # tests/audits/test_delivery.py
    ("audits/edit_effects.py", "effect_findings"): "effect of an edit is clear",
    ("audits/faithfulness.py", "deletion_differences"): "areas of two models clearly differ",
    ("audits/faithfulness.py", "difference"): "areas of two models clearly differ",
    ("audits/model_differences.py", "_finding"): "two models clearly differ",
    ("audits/model_differences.py", "differences"): "two models clearly differ",
    ("audits/occluders/ranks.py", "proxy_findings"): "a type is a proxy of real occlusion",
    ("audits/occluders/ranks.py", "residual_findings"): "a model lies off the line of clean accuracy",
    ("audits/replies.py", "conclude"): "elsewhere",  # tests/audits/test_replies.py
    ("audits/stored_finding.py", "apart"): "a model is clearly better",
    ("audits/stored_finding.py", "mark"): "△ or ▲ above chance",
    ("audits/stored_finding.py", "taken_for"): "class that takes the new errors",
    ("audits/trust.py", "_in_words"): "no mark: clearly not",
    ("audits/trust.py", "_trust"): "▲ above chance and mild noise",
    # the gate's outcomes are simulated: benchmarks/gate.py, tests/check/test_simulated.py
    ("check/deciding.py", "_because"): "elsewhere",
    ("check/deciding.py", "_outcome"): "elsewhere",
    ("check/deciding.py", "_state"): "elsewhere",
    ("check/evidence.py", "level_evidence"): "elsewhere",
    ("check/evidence.py", "right"): "elsewhere",
    ("check/evidence.py", "wrong"): "elsewhere",
    ("check/junit.py", "_add_case"): "elsewhere",
    ("checks/answers.py", "below_stated"): "accuracy below what the card states",
    ("checks/answers.py", "chance_level"): "no warning of chance level",
    ("checks/classes.py", "class_order"): "classes in another order",
    ("checks/classes.py", "unrelated"): "hedge",
    ("checks/doubt.py", "clearly_better"): "classes in another order",
    ("checks/preprocessing.py", "fits_better"): "another preprocessing fits better",
    ("cli/printing.py", "_is_clear"): "star in the terminal",
    ("report/conditions.py", "taken_for"): "class that takes the new errors",
    ("report/first_screen.py", "_trust_sentence"): "▲ above chance and mild noise",
    ("report/losses.py", "is_clear"): "a modification clearly costs accuracy",
    ("report/gate.py", "_more"): "elsewhere",
    ("report/opening.py", "_taken_for"): "class that takes the new errors",
    ("report/pages/compared.py", "_p_words"): "number",
    ("report/pages/compared.py", "_pair_row"): "two models clearly differ",
    ("report/pages/compared.py", "rank_blocks"): "elsewhere",  # tests/measure/test_friedman.py
    ("report/sections/background.py", "_alone_sentence"): "backgrounds alone suffice",
    ("report/sections/baseline.py", "_sentence"): "clean accuracy above guessing",
    ("report/sections/calibration.py", "_side"): "too sure or unsure of itself",
    ("report/sections/delivery.py", "_row"): "elsewhere",  # tests/audits/test_delivery.py
    ("report/sections/explanation_tables.py", "_difference"): "maps clearly differ from the baseline's",
    ("report/sections/faithfulness.py", "faithfulness_sentence"): "maps find what answers rest on",
    ("report/sections/interference.py", "_bar_panel"): "▲ above chance and mild noise",
    ("report/sections/interference.py", "highest_headline"): "class that takes the new errors",
    ("report/sections/interference.py", "index_badge"): "▲ above chance and mild noise",
    ("report/sections/interpretability.py", "_doubt"): "a model pays least in interpretability",
    ("report/sections/occluders/people.py", "_gap"): "people and model clearly differ",
    ("report/sections/occluders/ranks.py", "_p"): "number",
    ("report/sections/occluders/ranks.py", "_p_words"): "number",
    ("report/sections/occluders/ranks.py", "agreement_words"): "types agree on the order",
    ("report/sections/occlusion.py", "_beside_half"): "accuracy falls below half",
    ("report/sections/occlusion.py", "_is_clear"): "the fill alone matters",
    ("report/sections/shift.py", "_effect_row"): "effect of an edit is clear",
    ("report/table.py", "di_badge"): "▲ above chance and mild noise",
    ("report/table.py", "is_clearly_better"): "a model is clearly better",
    ("report/verdict.py", "_harder"): "a lead may be an artefact",
    ("report/verdict.py", "_how_compared"): "label",
    ("report/verdict.py", "at_chance"): "clean accuracy above guessing",
    ("report/verdict.py", "marked"): "some drop may be an artefact",
    ("report/verdict.py", "yardstick_warning"): "mild noise pushes errors to a class",
    ("report/words.py", "beside_even"): "energy beside an even map",
    ("report/words.py", "interval"): "number",
}


@dataclass(frozen=True)
class Listed:
    """A line of the listing: the sentences of a function that begin so are of a kind, or claim nothing for a reason."""

    file: str
    function: str
    opening: str
    kind: str


def listing() -> list[Listed]:
    """All sentences with their kinds."""
    with LISTING.open(newline="") as file:
        return [Listed(*row) for row in list(csv.reader(file))[1:]]
