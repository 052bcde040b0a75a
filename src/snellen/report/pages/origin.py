"""Where a run comes from: the line that makes it again, and versions, fingerprints, settings and hardware."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.audits import AUDITS, Baseline, parse_audits


def command_of(facts: Mapping[str, Any]) -> str:
    """The line that makes this run again: the command as typed, or the Python call it came from."""
    if facts["command"]:
        name, *rest = facts["command"]
        return shlex.join([Path(name).name, *rest] if Path(name).name == "snellen" else ["snellen", name, *rest])
    texts = {name: [facts["models"][name][run]["text"] or "…" for run in runs] for name, runs in facts["asked"].items()}
    models = {name: runs[0] if len(runs) == 1 else runs for name, runs in texts.items()}
    pools = {"train": facts["data"].get("train"), **{name: facts.get(name) for name in ("donors", "occluders")}}
    settings = {
        "audits": _audits_of(facts),
        **{name: pool["text"] for name, pool in pools.items() if pool},
        **{name: facts["settings"].get(name) for name in ("seed", "limit", "keep")},
    }
    more = "".join(f", {name}={value!r}" for name, value in settings.items() if value)
    return f"snellen.audit({models!r}, {facts['data']['test']['text']!r}{more})"


def _audits_of(facts: Mapping[str, Any]) -> str:
    """The audits as text, empty where they are those that are asked for by default; `…` for one that was made in Python."""
    audits = [text for text in facts["audits"] if text != str(Baseline())]
    if facts.get("audit_reasons", audits == [str(one) for one in parse_audits(None)]):
        return ""
    return ", ".join(text if text.partition("(")[0] in AUDITS else "…" for text in audits)


def origin_of(facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Three groups of names and values: how it was made, versions and fingerprints."""
    settings = facts["settings"]
    return {
        "made": {
            "first asked": facts["created"],
            "last asked": facts["updated"],
            "seed": settings["seed"],
            "limit": settings["limit"] or "none",
            "device and precision": f"{settings['device']}, {settings['precision']}",
            "batch and shard": f"{settings['batch_size'] or 'chosen by image size'}, {settings['shard']}",
            "hardware": ", ".join(f"{name} {value}" for name, value in facts["hardware"].items()),
            "audits": "; ".join(facts["audits"]),
        },
        "versions": {"snellen": facts["snellen"], "python": facts["python"], **facts["packages"]},
        "fingerprints": {
            **{f"{data['text']} ({on})": data["fingerprint"] for on, data in facts["data"].items()},
            **{
                f"{name} / {run}" if len(runs) > 1 or run != name else name: facts["models"][name][run]["fingerprint"]
                for name, runs in facts["asked"].items()
                for run in runs
            },
        },
    }
