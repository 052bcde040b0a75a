"""The first screen of a run: what is wrong with each model, in words and numbers that terminal, report and notebook share.

`first_screen(results)` turns findings into values; how they look is the business of those that show them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

from snellen.audits.label import WORDS
from snellen.audits.trust import TOO_FEW
from snellen.report.losses import UNMODIFIED, Loss, losses, strongest
from snellen.report.next_steps import NextStep, next_steps
from snellen.report.noise_floor import noise_sentence
from snellen.report.ranking import ModelRanking, ranking
from snellen.report.results import AnyFinding, Results
from snellen.report.sections import SECTIONS
from snellen.report.sections.baseline import NOT_SCORED, RIGHT
from snellen.report.verdict import at_chance
from snellen.report.words import count_of, in_unit, interval, is_known, percent, points

MOST_KEY_FINDINGS = 8
Standing = Literal["not scored", "at chance", "breaks", "holds", "not tried"]


@dataclass(frozen=True)
class KeyFinding:
    """A finding as the first screen shows it: its number and interval in words, what changed against clean images (`change`, only
    of accuracies on modified ones), its mark and the class that the modification is taken for, both empty where there is none.

    `strength` is how far it is from nothing at the cautious end of its interval, in shares (nan where that has no meaning);
    `out_of` is how many findings of its kind it was chosen from as the strongest.
    """

    finding: AnyFinding
    label: str
    value: str
    interval: str
    change: str = ""
    strength: float = nan
    out_of: int = 1

    @property
    def sign(self) -> str:
        """The mark of its DI: ▲, △, ? or nothing."""
        return _sign(self.finding)

    @property
    def taken_for(self) -> str:
        """The class that the modification itself may be taken for."""
        return self.finding.interference.taken_for if self.finding.interference else ""


@dataclass(frozen=True)
class ModelVerdict:
    """The verdict on one model: where it stands, in a few words (`headline`) and in sentences (clean accuracy, what breaks it,
    what to trust), and its strongest findings, of all that were `measured`."""

    model: str
    standing: Standing
    headline: str
    sentences: tuple[str, ...]
    findings: tuple[KeyFinding, ...]
    losses: tuple[Loss, ...]
    measured: int


@dataclass(frozen=True)
class FirstScreen:
    """What a reader sees first: a verdict per model, the models ranked where there are several, and what to do next."""

    verdicts: tuple[ModelVerdict, ...]
    ranking: ModelRanking | None
    next_steps: tuple[NextStep, ...]
    warnings: int


def first_screen(results: Results) -> FirstScreen:
    """The first screen of a run."""
    guessing = at_chance(results)
    verdicts = tuple(model_verdict(results, model, model in guessing) for model in results.models)
    telling = [key for verdict in verdicts for key in verdict.findings]
    table = ranking(results, telling, guessing) if results.several else None
    return FirstScreen(verdicts, table, tuple(next_steps(results, verdicts)), len(results.header.warnings))


def model_verdict(results: Results, model: str, guesses: bool) -> ModelVerdict:
    """The verdict on one model, which `guesses` where its clean accuracy is not told from guessing."""
    every = losses(results, model)
    clean = results.clean(model)
    standing: Standing = "not tried"
    if clean is None or not is_known(clean.value):
        standing = "not scored"
    elif guesses:
        standing = "at chance"
    elif every:
        standing = "breaks" if strongest(every) else "holds"
    sentences = [_clean_sentence(results, clean, guesses)]
    if standing in ("breaks", "holds"):
        sentences += [_loss_sentence(results.task, every), _trust_sentence(every)]
    sentences.append(noise_sentence(results, model, every))
    measured = len(results.of_model(model))
    findings = key_findings(results, model, every)
    headline = _headline(results, standing, clean, every)
    return ModelVerdict(model, standing, headline, tuple(filter(None, sentences)), findings, tuple(every), measured)


# Sentences


def _headline(results: Results, standing: Standing, clean: AnyFinding | None, every: Sequence[Loss]) -> str:
    """The verdict in a few words, for a line beside the model's name."""
    worst, tried = strongest(every), count_of(len(every), "modification")
    if standing == "not scored" or clean is None:
        return "no image could be scored"
    if standing == "at chance":
        return f"{percent(clean.value)} right, not clearly above {results.guess(clean).threshold}"
    if standing == "not tried":
        return f"{percent(clean.value)} right; nothing else was compared with it"
    if worst is None:
        return f"no clear loss under {tried}"
    clear = sum(loss.is_clear for loss in every)
    most = ", most" if clear > 1 else ","
    return f"clearly loses under {clear} of {tried}{most} under {worst.finding.topic} {_sign(worst.finding)}".rstrip()


def _sign(finding: AnyFinding) -> str:
    return finding.interference.sign if finding.interference else ""


def _clean_sentence(results: Results, clean: AnyFinding | None, guesses: bool) -> str:
    """The clean accuracy; beside what needs no look at the images where it is not clearly above."""
    if clean is None or not is_known(clean.value):
        return NOT_SCORED
    sentence = RIGHT[results.task].format(percent(clean.value), count_of(clean.n, "clean image"))
    runs = len(results.models[clean.model])
    mean = f", mean of {runs} runs" if runs > 1 else ""
    sentence += f" (95% interval {interval(clean.low, clean.high, 'share')}%{mean})."
    if guesses:
        sentence += f" That is not clearly above {results.guess(clean).threshold}, so its losses say little."
        if constant := results.constant_answer(clean):
            sentence += f" It answers {constant}."
    return sentence


def _loss_sentence(task: str, every: Sequence[Loss]) -> str:
    """Under how many modifications a model clearly loses, and under which most; else what cannot be ruled out."""
    accuracy, tried = WORDS[task].accuracy, len(every)
    clear = [loss for loss in every if loss.is_clear]
    worst = strongest(every)
    if worst is None:
        under = f"any of {tried} modifications" if tried > 1 else every[0].finding.topic
        most = points(max(loss.high for loss in every)).removeprefix("+")
        return f"No clear loss of {accuracy} under {under}; losses of up to {most} are not ruled out."
    numbers = f"{points(-worst.value)}, to {percent(worst.finding.value)}"
    if tried == 1:
        return f"It clearly loses {accuracy} under {worst.finding.topic}: {numbers}."
    most = "most" if len(clear) > 1 else "which is"
    return (
        f"It clearly loses {accuracy} under {len(clear)} of {tried} modifications, {most} under {worst.finding.topic}: "
        f"{numbers}{' (chosen as the largest loss on these images)' if len(clear) > 1 else ''}."
    )


def _trust_sentence(every: Sequence[Loss]) -> str:
    """Which of the clear losses may be artefacts, or cannot be told."""
    trusts = [loss.finding.interference for loss in every if loss.is_clear and loss.finding.interference]
    if not trusts:
        return ""
    if not any(is_known(trust.null95) for trust in trusts):
        return f"{TOO_FEW[:1].upper()}{TOO_FEW[1:]}." if any(is_known(trust.index) for trust in trusts) else ""
    flagged = [trust for trust in trusts if trust.mark == "flagged"]
    if flagged:
        names = " or ".join(dict.fromkeys(f"'{trust.dominant}'" for trust in flagged))
        who = "This loss" if len(trusts) == 1 else f"{len(flagged)} of these losses"
        what = "artefacts" if len(flagged) > 1 else "an artefact"
        return f"{who} may be {what} (▲): the modification itself may be taken for {names}."
    open_ = sum(trust.mark != "" for trust in trusts)
    who = "this loss is an artefact" if len(trusts) == 1 else f"{open_} of these losses are artefacts"
    return f"Whether {who} cannot be told (? or △)." if open_ else ""


# Findings


def key_findings(results: Results, model: str, every: Sequence[Loss]) -> tuple[KeyFinding, ...]:
    """The strongest findings of a model: of each kind of loss and effect the one that is largest at the cautious end of its
    interval, largest first; then, as far as there is room, what the columns between models show."""
    lost = {id(loss.finding): loss for loss in every}
    ranked = [*[(loss.low, loss.finding) for loss in every], *_effects(results, model)]
    kinds: dict[tuple[str, str], list[tuple[float, AnyFinding]]] = {}
    for strength, finding in ranked:
        kinds.setdefault((finding.audit, finding.name), []).append((strength, finding))
    best = [(*max(own, key=lambda ranked: ranked[0]), len(own)) for own in kinds.values()]
    best.sort(key=lambda ranked: -ranked[0])
    chosen = [_key_finding(finding, lost.get(id(finding)), strength, many) for strength, finding, many in best]
    chosen = varied(chosen)
    columns = (finding for finding in _columns(results, model) if (finding.audit, finding.name) not in kinds)
    others = [_key_finding(finding, None, nan, 1) for finding in columns]
    return tuple([*chosen, *others][:MOST_KEY_FINDINGS])


def varied(keys: Sequence[KeyFinding]) -> list[KeyFinding]:
    """The same findings, the first of each audit before the second of any: audits often measure one weakness in several ways.

    What is not clear comes after what is.
    """
    seen: Counter[str] = Counter()
    turns = []
    for key in keys:
        turns.append((not key.strength > 0, seen[key.finding.audit]))
        seen[key.finding.audit] += 1
    return [key for _, key in sorted(zip(turns, keys), key=lambda pair: pair[0])]


def _effects(results: Results, model: str) -> list[tuple[float, AnyFinding]]:
    """How far effects are from nothing at the cautious end of their intervals, in shares; below 0 where that is not clear."""
    effects = []
    for finding in results.of_model(model):
        declared = finding.audit in SECTIONS and finding.name in SECTIONS[finding.audit].effects
        if declared and is_known(finding.low) and is_known(finding.high):
            effects.append((max(finding.low, -finding.high), finding))
    return effects


def _columns(results: Results, model: str) -> list[AnyFinding]:
    """What the columns of the table between models show of a model, but for its clean accuracy."""
    every = [fits for section in SECTIONS.values() for fits in section.columns.values()]
    own = [finding for finding in results.of_model(model) if is_known(finding.value) and finding.on != "train"]
    return [finding for finding in own if finding.name not in UNMODIFIED and any(fits(finding) for fits in every)]


def _key_finding(finding: AnyFinding, loss: Loss | None, strength: float, out_of: int) -> KeyFinding:
    change = "" if loss is None else points(-loss.value) if loss.is_clear else "not clear"
    ends = interval(finding.low, finding.high, finding.unit)
    return KeyFinding(finding, finding.label, in_unit(finding.value, finding.unit), ends, change, strength, out_of)
