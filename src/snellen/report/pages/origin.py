"""Where a run comes from: the line that makes it again, and versions, fingerprints, settings and hardware."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from msgspec import UNSET

from snellen.audits import AUDITS, BaselineAudit, parse_audits
from snellen.engine.keep.schemas import RunRecord, ServiceRecord
from snellen.errors import UserError
from snellen.notation import format_value

DROPPED = {  # options that the command of one audit goes without → whether a value follows
    **dict.fromkeys(("--audits", "--out", "--require"), True),
    **dict.fromkeys(("--fresh", "--quiet", "-q", "--no-report", "--json"), False),
}


def command_of(facts: RunRecord) -> str:
    """The line that makes this run again: the command as typed, or the Python call it came from."""
    if facts.command:
        name, *rest = facts.command
        return shlex.join([Path(name).name, *rest] if Path(name).name == "snellen" else ["snellen", name, *rest])
    return _python_call(facts, _audits_of(facts))


def _python_call(facts: RunRecord, audits: str) -> str:
    texts = {name: [facts.models[name][run].text or "…" for run in runs] for name, runs in facts.asked.items()}
    models = {name: runs[0] if len(runs) == 1 else runs for name, runs in texts.items()}
    pools = {"train": facts.data.get("train"), "donors": facts.donors, "occluders": facts.occluders}
    settings: dict[str, str | int | None] = {
        "audits": audits,
        **{name: pool.text for name, pool in pools.items() if pool},
        "seed": facts.settings.seed,
        "limit": facts.settings.limit,
        "keep": facts.settings.keep,
    }
    more = "".join(f", {name}={value!r}" for name, value in settings.items() if value)
    return f"snellen.audit({models!r}, {facts.data['test'].text!r}{more})"


def audit_command(facts: RunRecord, audit: str) -> str:
    """The line that asks one audit of a run alone, into a run folder of its own; empty for what every run asks, and for an audit
    that was made in Python."""
    texts = [_short(text) for text in facts.audits if text.partition("(")[0] == audit and audit in AUDITS]
    if not texts:
        return ""
    wanted = ", ".join(texts)
    if [Path(word).name for word in facts.command[:2]] != ["snellen", "audit"]:
        return _python_call(facts, wanted)
    return shlex.join(["snellen", "audit", *_without_options(facts.command[2:]), "--audits", wanted])


def _without_options(words: Sequence[str]) -> Iterator[str]:
    """The words of a command without what names its audits, its folder and what is required of it."""
    rest = iter(words)
    for word in rest:
        name, sign, _ = word.partition("=")
        if name in DROPPED:
            if DROPPED[name] and not sign:
                next(rest, "")  # its value
            continue
        yield word


def _short(text: str) -> str:
    """An audit's text without the settings that are the default."""
    try:
        (audit,) = parse_audits(text)
        (usual,) = parse_audits(text.partition("(")[0])
    except UserError:  # of an earlier version, or one that has no default
        return text
    names = [
        field.name for field in fields(cast(Any, audit)) if getattr(audit, field.name) != getattr(usual, field.name)
    ]
    settings = ", ".join(f"{name}={format_value(getattr(audit, name))}" for name in names)
    return text.partition("(")[0] + (f"({settings})" if settings else "")


def _audits_of(facts: RunRecord) -> str:
    """The audits as text, empty where they are the default; `…` for one that was made in Python."""
    audits = [text for text in facts.audits if text != str(BaselineAudit())]
    by_default = (  # an earlier run gives no reasons
        audits == [str(audit) for audit in parse_audits(None)] if facts.audit_reasons is UNSET else facts.audit_reasons
    )
    return "" if by_default else ", ".join(text if text.partition("(")[0] in AUDITS else "…" for text in audits)


@dataclass(frozen=True)
class Origin:
    """Names and values in three groups: when and how a run was made, versions and fingerprints."""

    settings: Mapping[str, str]
    versions: Mapping[str, str]
    fingerprints: Mapping[str, str]


def origin_of(facts: RunRecord) -> Origin:
    """Where the numbers come from."""
    settings = facts.settings
    data = {f"{data.text} ({on})": data.fingerprint for on, data in facts.data.items()}
    models = {
        f"{name} / {run}" if len(runs) > 1 or run != name else name: facts.models[name][run].fingerprint
        for name, runs in facts.asked.items()
        for run in runs
    }
    return Origin(
        {
            "first asked": facts.created,
            "last asked": facts.updated,
            "seed": str(settings.seed),
            "limit": str(settings.limit or "none"),
            "device and precision": f"{settings.device}, {settings.precision}",
            "batch and shard": f"{settings.batch_size or 'chosen by image size'}, {settings.shard}",
            "hardware": ", ".join(f"{name} {value}" for name, value in facts.hardware.items()),
            **{f"requests to {url}": _requests(sent) for url, sent in facts.services.items()},
            "audits": "; ".join(facts.audits),
        },
        {"snellen": facts.snellen, "python": facts.python, **facts.packages},
        {**data, **models},
    )


def _requests(sent: ServiceRecord) -> str:
    """How many requests a service was sent, with probe images and tries, the tokens that it states, and what they cost."""
    words = f"{sent.requests:,}"
    if (use := sent.tokens) is not None:
        words += f", {use.input:,} tokens read and {use.output:,} written, as {use.answers:,} answers state"
    return words + ("" if sent.cost is None else f", which cost {sent.cost:,.2f}")
