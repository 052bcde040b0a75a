"""Tables of explanations: the measures of each model, and its differences to the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from snellen.audits.alignment_facts import (
    AlignmentDifferenceFacts,
    AlignmentFacts,
    DisagreementFacts,
    EnergyFacts,
    GainFacts,
    MapReadingFacts,
)
from snellen.audits.facts import UNSET, Number
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, Row, Table, TableCell, heads, note
from snellen.report.results import Results
from snellen.report.table import corrected_note
from snellen.report.words import count_of, in_unit, index, interval, is_known, percent, points, spread

F = TypeVar("F", bound=MapReadingFacts)
AlignmentFindings = Sequence[StoredFinding[MapReadingFacts]]
MEASURES = {
    "energy_pg": "EnergyPG",
    "ehr": "EHR",
    "pointing_game": "pointing game",
    "wsol_iou": "WSOL, mean IoU",
    "wsol": "WSOL, IoU ≥ 0.5",
}
COMPARED = {"energy_pg_difference": "EnergyPG", "ehr_difference": "EHR", "wsol_iou_difference": "WSOL, mean IoU"}


def having(findings: AlignmentFindings, kind: type[F], name: str = "") -> list[StoredFinding[F]]:
    """The findings with facts of a kind; where several names share one, that of a name."""
    return [
        finding  # type: ignore[misc]  # its facts are of the kind
        for finding in findings
        if isinstance(finding.facts, kind) and name in ("", finding.name)
    ]


def by_model(findings: AlignmentFindings, kind: type[F], name: str = "") -> dict[str, StoredFinding[F]]:
    """The same by model."""
    return {finding.model: finding for finding in having(findings, kind, name)}


def measures_table(findings: AlignmentFindings, results: Results) -> Table:
    """A row per model: its measures, each above what it says of even maps, and how many images count."""
    columns = [by_model(findings, AlignmentFacts, name) for name in MEASURES]
    rows = []
    for model, energy in by_model(findings, EnergyFacts).items():
        facts = energy.facts
        empty = f"{count_of(facts.empty_maps, 'empty map')} left out" if facts.empty_maps else ""
        cells = (
            *(_value(column[model]) for column in columns),
            TableCell(f"{energy.n:,}", energy.n, note=empty),
        )
        rows.append(Row(TableCell(model, hue=results.own_hue(model)), cells))
    return Table(heads("", *MEASURES.values(), "images"), tuple(rows), dense=True)


def _value(finding: StoredFinding[AlignmentFacts]) -> TableCell:
    text = percent(finding.value) + spread(finding.facts.standard_error, "share")
    even = even_value(finding)
    return TableCell(
        text, finding.value, note=f"even map {percent(even)}" if is_known(even) else "", title=finding.text
    )


def even_value(finding: StoredFinding[AlignmentFacts]) -> Number:
    """What the measure says of even maps; None of WSOL in older runs, which hold the object's share in its place."""
    old = finding.facts.object_share is UNSET
    return None if old and finding.name in ("wsol", "wsol_iou") else finding.facts.even


def image_counts(findings: AlignmentFindings) -> str:
    """Which images count, in words."""
    facts = [finding.facts for finding in having(findings, EnergyFacts)]
    outside = facts[0].without_object
    words = f"{count_of(outside, 'image')} without an object in it counted neither way." if outside else ""
    counts = next((own.filter for own in facts if own.filter is not UNSET), None)
    if not counts:
        return words
    return (
        f"Of {count_of(counts.images, 'image')} every model is sure of the true class on {counts.confident:,}, the "
        f"object is of a fitting size on {counts.sized:,}; both hold for the {counts.chosen:,} that count. {words}"
    )


def comparison_blocks(findings: AlignmentFindings, results: Results) -> list[Block]:
    """Differences to the baseline, gain ratio and disagreement; nothing for a single model."""
    gains, disagreements = by_model(findings, GainFacts), by_model(findings, DisagreementFacts)
    if not gains:
        return []
    differences = [by_model(findings, AlignmentDifferenceFacts, name) for name in COMPARED]
    rows = []
    for model, gain in gains.items():
        energy = f"{points(gain.facts.gain_whole)} of energy in all"
        share = disagreements[model]
        cells = (
            *(_difference(column[model]) for column in differences),
            TableCell(index(gain.value), gain.value, interval(gain.low, gain.high, "index"), note=energy),
            TableCell(percent(share.value), share.value, interval(share.low, share.high, "share")),
        )
        rows.append(Row(TableCell(model, hue=results.own_hue(model)), cells))
    first = next(iter(gains.values())).facts
    named = having(findings, AlignmentDifferenceFacts)
    head = heads(f"minus {first.other}", *COMPARED.values(), "gain ratio", "WSOL and EnergyPG disagree")
    return [
        Table(head, tuple(rows)),
        note(
            f"Differences are paired on the same images; bold where clear (p < 0.05). {corrected_note(named)} The gain ratio is "
            f"the energy gained on the object by the energy gained in all; below {percent(first.even)}, that of a gain spread "
            "evenly over the image, the gain went past the object. It has no interval where it is unclear whether energy was "
            "gained or lost."
        ),
    ]


def _difference(finding: StoredFinding[AlignmentDifferenceFacts]) -> TableCell:
    p, value = finding.facts.p_corrected, finding.value
    ends = interval(finding.low, finding.high, "difference")
    return TableCell(in_unit(value, "difference"), value, ends, bold=is_known(p) and p < 0.05)
