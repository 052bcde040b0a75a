"""Two audits of one kind in one run: what they find is told apart by the settings in which they differ."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from msgspec.structs import replace as replace_facts

from snellen.audits.audit import Audit
from snellen.audits.facts import FindingFacts
from snellen.audits.finding import Finding
from snellen.notation import format_value


def made_by(audit: Audit, findings: Sequence[Finding]) -> list[Finding]:
    """The findings with the audit that concluded them, unless one within it did, as `faithfulness` within `explanation`."""
    return [finding if finding.maker else dataclasses.replace(finding, maker=audit) for finding in findings]


def own_findings(audit: Audit, findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those of audits of the same kind with other settings."""
    return [finding for finding in findings if type(finding.maker) is not type(audit) or finding.maker == audit]


def told_apart(findings: Sequence[Finding]) -> list[Finding]:
    """Every finding once; where audits of one kind found different things under one label, all that they found says by which
    settings (fact `settings`), and those labels and topics do too. What all of them found alike stays as it is."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.audit, []).append(finding)
    parted = {kind: _parted(own) for kind, own in kinds.items()}
    settled = (parted[finding.audit].get(_origin(finding)) for finding in findings)
    return list({_content(finding): finding for finding in settled if finding is not None}.values())


def _parted(findings: Sequence[Finding]) -> dict[tuple[str, str], Finding]:
    """The findings of one kind of audit, by where they come from."""
    makers = {str(finding.maker): finding.maker for finding in findings}
    found_by: dict[str, set[str]] = {}
    contents: dict[tuple[str, ...], set[str]] = {}
    for finding in findings:
        found_by.setdefault(_content(finding), set()).add(str(finding.maker))
        contents.setdefault((finding.model, *_words(finding)), set()).add(_content(finding))
    ambiguous = {words for (_, *words_), some in contents.items() if len(some) > 1 for words in [tuple(words_)]}
    if len(makers) < 2 or not ambiguous:
        return {_origin(finding): finding for finding in findings}
    settings = _settings(makers)

    def settled(finding: Finding) -> Finding:
        if len(found_by[_content(finding)]) == len(makers):
            return finding
        return _with_settings(finding, settings[str(finding.maker)], in_words=_words(finding) in ambiguous)

    return {_origin(finding): settled(finding) for finding in findings}


def _settings(makers: dict[str, object]) -> dict[str, str]:
    """Of each audit, by its text, the settings in which not all are alike; the whole text where they are of several classes."""
    audits = list(makers.values())
    if len({type(audit) for audit in audits}) > 1 or not all(map(dataclasses.is_dataclass, audits)):
        return {text: text for text in makers}
    names = [field.name for field in dataclasses.fields(audits[0])]  # type: ignore[arg-type]  # all are dataclasses
    values = {text: {name: format_value(getattr(audit, name)) for name in names} for text, audit in makers.items()}
    differ = [name for name in names if len({own[name] for own in values.values()}) > 1]
    return {text: ", ".join(f"{name}={own[name]}" for name in differ) for text, own in values.items()}


def _with_settings(finding: Finding, settings: str, *, in_words: bool) -> Finding:
    assert isinstance(finding.facts, FindingFacts)
    after = f" ({settings})" if in_words else ""
    facts = replace_facts(finding.facts, settings=settings)
    return dataclasses.replace(finding, facts=facts, label=finding.label + after, topic=finding.topic + after)


def _words(finding: Finding) -> tuple[str, ...]:
    """What a reader tells findings about one model apart by."""
    return finding.name, finding.on, finding.label


def _origin(finding: Finding) -> tuple[str, str]:
    return str(finding.maker), _content(finding)


def _content(finding: Finding) -> str:
    return json.dumps(finding.to_json(), default=str)
