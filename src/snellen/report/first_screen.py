"""The first screen: a ranked list of models, and of each one line of verdict and a strip of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.report.blocks import Block, Bullets, CardBlock, Details, Heading, note, prose
from snellen.report.conditions import conditions_of
from snellen.report.pictured import Pictured
from snellen.report.results import Results
from snellen.report.strip import strip_of
from snellen.report.table import FindingRow
from snellen.report.verdict import CAVEAT, at_chance, between, verdict_definitions, verdict_of

OPEN_CARDS = 3  # models whose strips stand on the page; those of more are folded away


def first_screen(results: Results, pictured: Pictured, rows: Mapping[str, Sequence[FindingRow]]) -> list[Block]:
    """The verdict of every model with its pictures, and what is said between them."""
    cards = [_card(model, pictured) for model in results.models]
    folded = (
        [Details(f"{len(cards) - OPEN_CARDS} more models", tuple(cards[OPEN_CARDS:]))]
        if len(cards) > OPEN_CARDS
        else []
    )
    return [*cards[:OPEN_CARDS], *folded, *_between(results, rows), *_caveat(results)]


def brief_screen(results: Results, rows: Mapping[str, Sequence[FindingRow]]) -> list[Block]:
    """The same without pictures: every sentence of each verdict."""
    cards = [
        CardBlock(model, (verdict_definitions(verdict_of(results, model), results),), hue=results.hue(model))
        for model in results.models
    ]
    return [Heading("Verdict"), *cards, *_between(results, rows), *_caveat(results)]


def _card(model: str, pictured: Pictured) -> CardBlock:
    results = pictured.results
    strip = strip_of(model, conditions_of(results, model), pictured)
    verdict = verdict_of(results, model)
    line = next(iter(verdict.sentences.values()), "")
    everything = Details(f"Everything found about {model}", (verdict_definitions(verdict, results),))
    return CardBlock(
        model,
        (*([prose(line)] if line else []), *([strip] if strip else []), everything),
        hue=results.hue(model),
        level=2,
    )


def _between(results: Results, rows: Mapping[str, Sequence[FindingRow]]) -> list[Block]:
    if not results.several:
        return []
    sentences = between([row for own in rows.values() for row in own], at_chance(results))
    return (
        [CardBlock("Between the models", (Bullets(tuple((sentence,) for sentence in sentences)),))] if sentences else []
    )


def _caveat(results: Results) -> list[Block]:
    return [note(CAVEAT)] if results.task == "classification" else []
