"""Findings as findings.json keeps them, read back with the types that their audits declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from snellen.audits.facts import FindingFacts, Number, OpenFacts, facts_to_json, gather_open
from snellen.audits.label import in_sentence, plain_label
from snellen.distort.language import in_words
from snellen.errors import UserError

F = TypeVar("F", bound=FindingFacts)
Mark = Literal["flagged", "raised", "unclear", ""]
SIGNS: dict[str, str] = {"flagged": "▲", "raised": "△", "unclear": "?", "": ""}


class StoredInterference(msgspec.Struct, frozen=True, kw_only=True):
    """How far a number may be an artefact of its distortion; runs of before there were three states have no `state`."""

    index: Number
    low: Number
    high: Number
    std: Number
    worst_case: Number
    null95: Number
    noise: Number
    dominant: str
    flagged: bool
    distortion: str
    text: str
    state: Literal["above", "unclear", "not above", ""] = ""
    published: Number = None

    @property
    def mark(self) -> Mark:
        """`flagged`: the DI is clearly above chance and above mild noise; `""`: clearly not.

        `raised`: above chance, but not clearly above mild noise: where mild noise itself pushes errors towards a class, this
        yardstick is lenient and an unflagged number is not cleared. `unclear`: it cannot be told from chance, nor cleared, or
        there are no answers under mild noise, as of people who were not shown it.
        """
        if self.flagged:
            return "flagged"
        if self.low is None or self.null95 is None:
            return ""
        if not self.state:
            return "raised" if self.low > self.null95 else ""
        if self.noise is not None and self.low > 0 and self.published is not None and self.published > self.null95:
            return "raised"
        return "unclear" if self.state == "unclear" else ""

    @property
    def sign(self) -> str:
        """The mark as it stands beside a number."""
        return SIGNS[self.mark]

    @property
    def taken_for(self) -> str:
        """The class that takes the new errors where that is more than chance; empty where it cannot be told or is cleared."""
        return self.dominant if self.mark in ("flagged", "raised") else ""

    @property
    def words(self) -> str:
        """The distortion in words."""
        return in_words(self.distortion)


class Interval(Protocol):
    """What has two ends, None where they are not known."""

    @property
    def low(self) -> Number: ...

    @property
    def high(self) -> Number: ...


def apart(first: Interval, second: Interval) -> bool:
    """Whether two 95% intervals are there and do not overlap."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return False
    return first.low > second.high or second.low > first.high


class StoredFinding(msgspec.Struct, Generic[F], frozen=True, kw_only=True):
    """One conclusion about one model, as `Finding` describes it."""

    audit: str
    name: str
    model: str
    value: Number
    low: Number
    high: Number
    n: int
    better: Literal["higher", "lower", ""]
    unit: Literal["share", "index", "difference", "count"]
    on: str
    seed: int
    distortions: Sequence[str]
    facts: F
    per_run: Sequence[Number]
    text: str
    interference: StoredInterference | None
    label: str = ""
    topic: str = ""

    @property
    def plain_facts(self) -> dict[str, Any]:
        """The facts by name, for those that a user names."""
        return facts_to_json(self.facts)


def read_finding(
    content: Mapping[str, Any], kinds: Mapping[str, Mapping[str, type[FindingFacts]]]
) -> StoredFinding[Any]:
    """The finding that an entry of findings.json is; `kinds` are the types of facts, audit → finding → type.

    Facts of audits and findings that are not listed stay open. A run made before findings had labels gets those of their names.
    """
    audit, name = str(content["audit"]), str(content["name"])
    kind = kinds.get(audit, {}).get(name, OpenFacts)
    if not set(content["facts"]) - {"settings"} and any(field.required for field in msgspec.structs.fields(kind)):
        kind = FindingFacts  # one that could not be measured tells nothing but why, in its text
    content = {**content, "facts": gather_open(kind, content["facts"])}
    try:
        stored: StoredFinding[Any] = msgspec.convert(content, StoredFinding[kind], str_keys=True)  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise UserError(f"finding '{name}' of the audit '{audit}' does not fit this version ({error})") from None
    if stored.label:
        return stored
    label = plain_label(name, stored.distortions, stored.plain_facts, stored.on)
    return msgspec.structs.replace(stored, label=label, topic=in_sentence(label))
