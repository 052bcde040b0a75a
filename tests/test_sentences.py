"""Every sentence that a report can write is listed with the kind of claim it makes, and a sample of claims is true."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
sys.path.append(str(BENCHMARKS))  # its cases import each other by name

from sentence_cases.kinds import DECISIONS, KINDS, REASONS, listing  # noqa: E402
from sentence_cases.observation import Observation, ReportRead  # noqa: E402
from sentence_cases.tally import Table  # noqa: E402
from sentence_cases.writing import Sentence, deciders, sentences  # noqa: E402

NAMES = {kind.name for kind in KINDS}
SAMPLE = {
    "clean_images": 60, "marks": 20, "models_compared": 10, "artefacts": 12, "squares": 60, "confidence": 40,
    "backgrounds": 60, "maps": 20, "edits": 40, "ranks": 10, "people": 40,
    "first_screens": 60,
}  # fmt: skip
ALARM = 1e-6  # the chance that a kept promise is called broken by a sample


def unlisted(every: list[Sentence]) -> list[str]:
    """The sentences that no line of the listing begins."""
    openings: dict[tuple[str, str], list[str]] = {}
    for entry in listing():
        openings.setdefault((entry.file, entry.function), []).append(entry.opening)
    return [
        f"{own.file},{own.function},{own.text.strip()[:60]}"
        for own in every
        if not any(own.text.strip().startswith(opening) for opening in openings.get((own.file, own.function), ()))
    ]


def test_every_sentence_of_a_report_is_listed() -> None:
    missing = unlisted(sentences())
    assert not missing, "add to benchmarks/sentence_cases/listing.csv with a kind or a reason:\n" + "\n".join(missing)


def test_a_new_claim_is_missed_in_the_listing() -> None:
    assert unlisted([Sentence("report/verdict.py", "_lead", "{} is the best model of all.")])
    assert unlisted([Sentence("report/new.py", "lead", "Squares clearly break it at any size.")])


def test_every_line_of_the_listing_is_written_somewhere() -> None:
    every = sentences()
    gone = [
        entry
        for entry in listing()
        if not any(
            (own.file, own.function) == (entry.file, entry.function) and own.text.strip().startswith(entry.opening)
            for own in every
        )
    ]
    assert not gone, f"delete from the listing: {gone}"


def test_every_function_that_decides_a_claim_is_listed() -> None:
    assert deciders() == set(DECISIONS)


def test_every_kind_has_a_sentence_or_a_decision_and_every_entry_a_kind() -> None:
    named = {entry.kind for entry in listing()} | set(DECISIONS.values())
    assert named <= NAMES | set(REASONS)
    # what is said of two more is told by the sentences of their neighbours
    assert NAMES - named == {
        "interval of the calibration error", "difference of areas that would mostly be seen",
    }  # fmt: skip


def test_a_kind_that_is_false_too_often_is_broken_and_one_that_is_not_is_kept() -> None:
    for said, broken in ((3, False), (12, True)):
        table = Table()
        claims = tuple(Observation("accuracy keeps half", number < said, False) for number in range(60))
        table.add([ReportRead(claims, ("plain",))])
        assert bool(table.broken([kind for kind in KINDS if kind.name == "accuracy keeps half"])) == broken


def test_intervals_are_counted_by_what_they_miss_and_stated_effects_by_what_is_seen() -> None:
    table = Table()
    misses = tuple(Observation("interval of accuracy", True, number >= 40) for number in range(60))
    seen = tuple(Observation("DI that would mostly be seen", number < 20, True, True) for number in range(60))
    table.add([ReportRead((*misses, *seen), ("plain",))])
    by_name = {tally.kind.name: tally for tally in table.broken()}
    assert by_name["interval of accuracy"].share == pytest.approx(2 / 3)
    assert by_name["DI that would mostly be seen"].share == pytest.approx(1 / 3)


@pytest.mark.slow
@pytest.mark.parametrize("case", SAMPLE)
def test_claims_of_a_sample_of_reports_are_true(case: str) -> None:
    observe = importlib.import_module(f"sentence_cases.{case}").observe
    table = Table()
    table.add([observe(number) for number in range(SAMPLE[case])])
    kinds = [kind for kind in KINDS if kind.case == case]
    broken = [
        f"{found.kind.name} in {found.world}: {found.count} of {found.total}"
        for found in table.broken(kinds, ALARM, ALARM)
    ]
    assert not broken, broken
    seen = {name for name, _ in table.tallies}
    assert {kind.name for kind in kinds if kind.promise != "seen"} <= seen  # every kind was looked at
