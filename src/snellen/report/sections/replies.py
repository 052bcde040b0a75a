"""Replies: how often a chat model names no class, in which way, by protocol and condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.audits.replies import STATES, OrderFacts, OutsideFacts, StateFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, FactLine, Heading, Line, Panels, Row, Span, Table, TableCell, heads, lead
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.interval_dots import interval_dots
from snellen.report.sections.section import Section
from snellen.report.words import in_words, index, interval, is_known, percent

CHOICES = (
    "Where some of the classes are offered, the right one is always among them: compare such an accuracy with what guessing gets "
    "right and with other choices among as many, not with other protocols."
)
ACCURACIES = ("accuracy", "noisy_accuracy", "distorted_accuracy", "occluded_accuracy", "delivered_accuracy")


def replies_blocks(results: Results) -> list[Block]:
    """Figures, and a row per chat model and condition, the unmodified images first; nothing of other models."""
    states = results.having(StateFacts)
    if not states:
        return []
    watched = {(di.model, di.distortions[0]): di for di in results.having(OutsideFacts)}
    conditions: dict[tuple[str, str], dict[str, StoredFinding[StateFacts]]] = {}
    for share in states:
        conditions.setdefault((share.model, share.distortions[0]), {})[share.name] = share
    seen = [name for name in STATES if any(share.name == name and share.value for share in states)]
    rows = tuple(
        _row(results, {name: shares[name] for name in seen or STATES if name in shares}, watched.get(condition))
        for condition, shares in conditions.items()
    )
    head = heads(
        "", "protocol", "shown", "accuracy", *(STATES[name] for name in seen or STATES), "DI, none of these a class"
    )
    orders = results.having(OrderFacts)
    return [
        Heading("Replies"),
        lead("Replies that name no class count as wrong; states that never occurred are left out. After + or −: the change "
             "against the same images unmodified, with its 95% interval and, in brackets, p after correction."),
        *([lead(CHOICES)] if any(is_known(share.facts.chance) for share in states) else []),
        FactLine(tuple((Span(model, hue=results.hue(model)),) for model in results.models if model in _chats(states))),
        _figures(results, list(seen or STATES)),
        Table(head, rows),
        *([_orders(orders)] if orders else []),
    ]  # fmt: skip


def _figures(results: Results, names: Sequence[str]) -> Panels:
    """A panel for each of some states: its share among the replies, by condition."""
    panels = []
    for name in names:
        shares = [share for share in results.having(StateFacts) if share.name == name]
        questions: dict[str, list[AnyFinding]] = {}
        for share in shares:
            questions.setdefault(_condition(share.distortions[0]), []).append(share)
        panels.append(interval_dots(_title(name), questions, results, "share of the replies", whole=False))
    return Panels(tuple(panel for panel in panels if panel))


def _chats(states: Sequence[StoredFinding[StateFacts]]) -> set[str]:
    """The models that are chat models."""
    return {share.model for share in states}


def _title(name: str) -> str:
    """What a state is called above its panel."""
    return f"Replies {STATES[name]}"


def _condition(text: str) -> str:
    return "unmodified" if text == "none()" else in_words(text)


def replies_headline(results: Results) -> Line:
    """The state without a class that most replies of each chat model are in, and where."""
    parts: list[str | Span] = []
    for model in results.models:
        own = [share for share in results.having(StateFacts) if share.model == model and is_known(share.value)]
        if own:
            most = max(own, key=lambda share: share.value or 0.0)
            named = [Span(f"{model} ", hue=results.hue(model))] if results.several else []
            ends = Span(f" [{interval(most.low, most.high, 'share')}]", "soft")
            where = f" {most.facts.state}: {_condition(most.distortions[0])}" if most.value else ""
            parts += ["; " if parts else "Most replies that name no class: ", *named]
            parts += [Span(percent(most.value), "bold"), ends, where]
    return tuple(parts)


def _row(
    results: Results, shares: Mapping[str, StoredFinding[StateFacts]], watched: StoredFinding[OutsideFacts] | None
) -> Row:
    """What one model replied to one condition, by the states that occurred."""
    first = next(iter(shares.values()))
    text = first.distortions[0]
    di = "" if watched is None else f"{index(watched.value)} ({interval(watched.low, watched.high, 'index')})"
    if watched is not None and watched.facts.dominant != "none":
        di += f" {watched.facts.dominant}"
    cells = (
        TableCell(_protocol(first.facts)),
        TableCell(in_words(text)),
        _accuracy(results, first.model, text),
        *(TableCell(_state(share), share.value) for share in shares.values()),
        TableCell(di),
    )
    return Row(TableCell(first.model, hue=results.own_hue(first.model)), cells)


def _protocol(facts: StateFacts) -> str:
    """The protocol, with what guessing gets right where the right class is one of a few options."""
    return facts.protocol + (f"; guessing is right on {percent(facts.chance)}" if is_known(facts.chance) else "")


def _accuracy(results: Results, model: str, text: str) -> TableCell:
    """The accuracy on what is shown, where an audit has it; that of protocols stands below each other."""
    own = (finding for finding in results.of_model(model) if finding.name in ACCURACIES and finding.on == "test")
    accuracy = next((finding for finding in own if finding.distortions == [text] and is_known(finding.value)), None)
    if accuracy is None:
        return TableCell("")
    return TableCell(f"{percent(accuracy.value)} ({interval(accuracy.low, accuracy.high, 'share')})", accuracy.value)


def _state(share: StoredFinding[StateFacts]) -> str:
    """The share of replies in a state, and how much that is more than on unmodified images."""
    own = f"{percent(share.value)} ({interval(share.low, share.high, 'share')})"
    facts = share.facts
    if not is_known(facts.rise) or not facts.rise:
        return own
    p = f" (p {facts.p_corrected:.2g})" if is_known(facts.p_corrected) else ""
    sign = "+" if facts.rise >= 0 else "−"
    return f"{own}; {sign}{percent(abs(facts.rise))}, {interval(facts.rise_low, facts.rise_high, 'difference')}{p}"


def _orders(orders: list[StoredFinding[OrderFacts]]) -> Table:
    """How many answers change where the order of options does."""
    rows = tuple(
        Row(
            TableCell(f"{order.facts.first}, {order.facts.second}"),
            (TableCell(f"{percent(order.value)} ({interval(order.low, order.high, 'share')})", order.value),),
        )
        for order in orders
    )
    return Table(heads("", "answers changed by the order of options"), rows)


REPLIES = Section(
    blocks=replies_blocks,
    headline=replies_headline,
    elsewhere=frozenset({*STATES, "outside_interference"}),
    meanings=meanings("Reply that names no class"),
)
