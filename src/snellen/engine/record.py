"""run.json: who was asked what, with what, and whether a folder still fits the same question."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import numpy as np

from snellen.data.dataset import Dataset
from snellen.engine.plan import Plan
from snellen.errors import UserError
from snellen.models.subject import Subject
from snellen.version import __version__

PACKAGES = ("torch", "torchvision", "timm", "numpy", "scipy", "pyarrow", "pillow")
PROBE_TOLERANCE = 1e-3


def record(prepared: Any, plan: Plan, command: Sequence[str]) -> dict[str, Any]:
    """The content of run.json; models of earlier commands in the same folder stay listed."""
    before, subjects, data = prepared.before, prepared.subjects, prepared.data
    now = datetime.now(UTC).isoformat(timespec="seconds")
    models: dict[str, dict[str, Any]] = {name: dict(runs) for name, runs in before.get("models", {}).items()}
    for subject in subjects:
        models.setdefault(subject.name, {})[subject.run] = subject.card.to_json()
    return {
        "schema": 1,
        "snellen": __version__,
        "created": before.get("created", now),
        "updated": now,
        "command": list(command),
        "python": sys.version.split()[0],
        "packages": {name: _version(name) for name in PACKAGES},
        "hardware": {"machine": platform.machine(), "system": platform.platform(), "cores": os.cpu_count()},
        "settings": {**asdict(plan.settings), "shard": plan.shard},
        "asked": {
            name: [s.run for s in subjects if s.name == name] for name in dict.fromkeys(s.name for s in subjects)
        },
        "models": models,
        "data": {
            on: {
                "text": held.text,
                "fingerprint": held.fingerprint,
                "samples": len(held),
                "classes": list(held.classes),
            }
            for on, held in data.items()
        },
        "audits": [str(one) for one in prepared.audits],
        "notices": list(prepared.notices),
    }


def check_same(
    folder: Any, before: Mapping[str, Any], subjects: Sequence[Subject], data: Mapping[str, Dataset], limit: int | None
) -> None:
    """Refuse to mix other models or data into a run folder, and say what changed."""
    way_out = "choose another --out or pass --fresh"
    for subject in subjects:
        known = before.get("models", {}).get(subject.name, {}).get(subject.run)
        if known is None:
            continue
        old, new = known["fingerprint"], subject.card.fingerprint
        if old != new:
            raise UserError(
                f"{folder} was made with model '{subject.name}' of other weights ({old[:4]}… ≠ {new[:4]}…); {way_out}"
            )
        if known.get("probes") and not _alike(known["probes"], subject.card.probes):
            raise UserError(f"{folder} was made with model '{subject.name}' when it answered differently; {way_out}")
    for on, held in data.items():
        known = before.get("data", {}).get(on)
        if known is None or known["fingerprint"] == held.fingerprint:
            continue
        old_limit = before.get("settings", {}).get("limit")
        if old_limit != limit:
            change = f"--limit {old_limit or 'none'}, not {limit or 'none'}"
        elif known["text"] != held.text:
            change = f"{on} data {known['text']}, not {held.text}"
        else:
            change = (
                f"other files in {held.text} ({known['samples']:,} images then, {len(held):,} now, or changed ones)"
            )
        raise UserError(f"{folder} was made with {change}; {way_out}")


def resumed(folder: Any, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Device, precision, batch and shard size of an earlier command in this folder, which a later one keeps."""
    kept = {name: before["settings"][name] for name in ("device", "precision", "batch_size", "shard")}
    for name in ("device", "batch_size"):
        asked = wanted.get(name)
        if asked not in (None, "auto") and asked != kept[name] and kept[name] is not None:
            flag = name.replace("_", "-")
            raise UserError(
                f"{folder} was made with --{flag} {kept[name]}; leave --{flag} out, or choose another --out or pass --fresh"
            )
    return kept


def _alike(before: Sequence[Sequence[float]], now: Sequence[Sequence[float]] | None) -> bool:
    return now is not None and np.allclose(np.array(before), np.array(now), atol=PROBE_TOLERANCE)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
