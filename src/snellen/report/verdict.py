"""The verdict: what the findings say, in words for someone who has to decide.

Every number is a finding's. Nothing is called an artefact for certain, and nothing is cleared: DI is no score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from snellen.audits.exam import YARDSTICK
from snellen.audits.occlusion import SquareFacts
from snellen.audits.stored_finding import StoredInterference, apart
from snellen.audits.trust import TOO_FEW
from snellen.report.blocks import Definitions, Entry, Line, Span
from snellen.report.glossary import about_di
from snellen.report.results import AnyFinding, Results
from snellen.report.sections import section_sentences
from snellen.report.table import FindingRow
from snellen.report.words import covering, index, is_known, join_words

CAVEAT = (
    f"{about_di()} Compare it between models; it is not a score. A mark (▲) asks you to look twice before you call a fall in "
    "accuracy a lack of robustness."
)


@dataclass(frozen=True)
class Verdict:
    """The verdict on one model: sentences by term, whether to trust them, the classes that distortions may be taken for
    (`flagged`), and a warning where mild noise is no good yardstick."""

    model: str
    sentences: dict[str, str]
    trust: str
    flagged: list[str]
    yardstick: str


def verdict_of(results: Results, model: str) -> Verdict:
    """The sentences of all sections, those of one term together, and what to trust."""
    own = results.of_model(model)
    joined = {term: " ".join(some) for term, some in section_sentences(results, model).items()}
    return Verdict(model, joined, trust_sentence(own), marked(own, "flagged"), yardstick_warning(own))


def verdict_definitions(verdict: Verdict, results: Results) -> Definitions:
    """The sentences of a verdict by term, and what to trust."""
    entries = [Entry(term, (sentence,)) for term, sentence in verdict.sentences.items()]
    flagged: tuple[Line, ...] = tuple((Span("▲", "flag"), f" {text}") for text in verdict.flagged)
    if results.task == "classification":  # interference is about classes of images
        entries.append(Entry("What to trust", (verdict.trust,), flagged))
    if verdict.yardstick:
        entries.append(Entry("", (verdict.yardstick,)))
    return Definitions(tuple(entries))


def trust_sentence(own: Sequence[AnyFinding]) -> str:
    """Whether some of a model's drops may be artefacts; `marked` names the distortions."""
    measured = [finding.interference for finding in own if finding.interference]
    if not any(is_known(interference.index) for interference in measured):
        return "No interference was measured, so it is unknown whether a distortion is taken for a class."
    if not any(is_known(interference.null95) for interference in measured):
        return f"{TOO_FEW[:1].upper()}{TOO_FEW[1:]}. So it cannot be said whether a distortion is taken for a class."
    if not marked(own, "flagged"):
        unclear = [*marked(own, "unclear"), *marked(own, "raised")]
        listed = (
            f" Undecided (? too few errors, △ not clearly above mild noise): {'; '.join(unclear)}." if unclear else ""
        )
        return f"No distortion stands out: none has a DI clearly above both chance and mild noise.{listed}"
    return (
        "Drops marked ▲ may be artefacts: errors pile up on one class, more than under mild noise and more than by chance, so "
        "the distortion itself may be taken for that class."
    )


def yardstick_warning(own: Sequence[AnyFinding]) -> str:
    """A warning where mild noise itself pushes errors towards a class; else nothing."""
    noisy = (finding for finding in own if finding.distortions == [str(YARDSTICK)] and finding.on == "test")
    noise = next((finding.interference for finding in noisy), None)
    if noise is None or noise.mark != "raised":
        return ""
    warning = (
        f"Mild noise itself pushes errors towards '{noise.dominant}' (DI {index(noise.index)}, by chance up to "
        f"{index(noise.null95)}): a lenient yardstick. Its sigma, up to 0.025 of the pixel range, is our choice; "
        "interference(published_noise=true) adds the published one."
    )
    raised = "; ".join(marked(own, "raised"))
    return warning + (
        f" These may be artefacts too, as their DI is clearly above chance (△): {raised}." if raised else ""
    )


def marked(own: Sequence[AnyFinding], mark: str) -> list[str]:
    """The distortions with a mark, gathered by dominant class, sizes of a square together; the yardstick left out."""
    interferences = {finding.interference.distortion: finding.interference for finding in own if finding.interference}
    squares = {finding.distortions[0]: finding.facts for finding in own if isinstance(finding.facts, SquareFacts)}
    classes: dict[str, dict[str, list[tuple[float, float | None]]]] = {}
    for distortion, interference in interferences.items():
        if interference.mark == mark and distortion != str(YARDSTICK):
            square = squares.get(distortion)
            words = covering(square.fill) if square else interference.words
            values = classes.setdefault(interference.dominant, {}).setdefault(words, [])
            values.append((interference.index or 0.0, square.area if square else None))
    return [
        (f"'{name}' under " if name else "")  # with few new errors none may take most of them
        + join_words([_under(words, values) for words, values in distortions.items()])
        for name, distortions in classes.items()
    ]


def _under(words: str, values: Sequence[tuple[float, float | None]]) -> str:
    """A distortion with the shares that its squares are asked to cover, as in their labels, and its highest DI."""
    shares = [f"{100 * share:.0f}" for share in sorted(share for _, share in values if share is not None)]
    over = f" over {join_words(shares)}% of the image" if shares else ""
    return f"{words}{over} (DI {'up to ' if len(values) > 1 else ''}{index(max(value for value, _ in values))})"


# Between models


def at_chance(results: Results) -> set[str]:
    """The models whose clean answers are not shown to be better than guessing: of these no number is called better."""
    if results.task != "classification":
        return set()
    clean = {model: results.clean(model) for model in results.models}
    return {model for model, own in clean.items() if own and is_known(own.low) and own.low <= results.guess(own).level}


def between(rows: Iterable[FindingRow], guessing: Collection[str] = ()) -> list[str]:
    """Who leads clearly on what, and where that order may be an artefact because a distortion hits one model harder.

    Models that are `guessing` lead on nothing: what they have more of is no merit.
    """
    compared = [row for row in rows if row.first.unit == "share" and row.first.better and len(row.findings) > 1]
    leads: dict[str | None, list[str]] = {}
    doubts: dict[tuple[str, str], list[tuple[str, StoredInterference, StoredInterference]]] = {}
    for row in compared:
        best = row.leader
        leads.setdefault(best, []).append(row.topic)
        trusts = {model: trust for model, finding in row.findings.items() if (trust := finding.interference)}
        for model, trust in trusts.items():
            if best is not None and best in trusts and _harder(trust, trusts[best]):
                doubts.setdefault((best, model), []).append((row.topic, trust, trusts[best]))
    sentences = [_lead(model, topics, model in guessing) for model, topics in leads.items() if model]
    if None in leads:
        sentences.append(f"No significant difference on {join_words(leads[None])}.")
    return sentences + _how_compared(compared) + [_doubt(*pair, cases) for pair, cases in doubts.items()]


def _lead(model: str, topics: Sequence[str], guesses: bool) -> str:
    if not guesses:
        return f"{model} is clearly better on {join_words(topics)}."
    return (
        f"{model} has clearly other numbers on {join_words(topics)}, but its clean accuracy is not told from guessing, so that "
        "they do not make it better."
    )


def _how_compared(rows: Sequence[FindingRow]) -> list[str]:
    """What "clearly" means, and what these data could not have shown."""
    reach = [pair.detectable for row in rows for pair in row.pairs if pair.detectable is not None]
    if not reach:
        return []
    families = dict.fromkeys(pair.corrected_over for row in rows for pair in row.pairs)
    over = "".join(f" over {family}" for family in families if isinstance(family, str))
    low, high = (f"{100 * share:.1f}" for share in (min(reach), max(reach)))
    points = low if low == high else f"{low} to {high}"
    return [
        f"Clearly: paired on the same images, p < 0.05 after Holm's correction{over}. True differences below "
        f"{points} points (depending on the distortion) would often have gone unseen."
    ]


def _harder(trust: StoredInterference, than: StoredInterference) -> bool:
    """Whether a distortion is marked for one model and clearly hits it harder than the other: that it is marked for one alone
    may be chance."""
    if trust.mark != "flagged" or trust.index is None or than.index is None:
        return False
    return trust.index > than.index and apart(trust, than)


def _doubt(best: str, model: str, cases: Sequence[tuple[str, StoredInterference, StoredInterference]]) -> str:
    where = join_words([topic for topic, _, _ in cases])
    classes = join_words(list(dict.fromkeys(f"'{trust.dominant}'" for _, trust, _ in cases)))
    beside = join_words([f"{index(trust.index)} against {index(other.index)}" for _, trust, other in cases])
    return (
        f"That {best} leads {model} on {where} could be an artefact: to {model} this may look like {classes}, more than to "
        f"{best} (DI {beside}). That is not the same as {model} being less robust."
    )
