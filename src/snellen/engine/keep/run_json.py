"""run.json: who was asked what, with what, and whether a folder still fits the same question."""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from snellen.engine.plan import Plan
from snellen.errors import UserError
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
        "engine": before.get("engine", "local"),
        "hardware": hardware(plan.settings.device),
        "settings": {**asdict(plan.settings), "shard": plan.shard},
        "asked": {
            name: [s.run for s in subjects if s.name == name] for name in dict.fromkeys(s.name for s in subjects)
        },
        "models": models,
        "labels": {
            **before.get("labels", {}),
            **{"/".join(key): one.fingerprint for key, one in prepared.labels.items()},
        },
        "donors": pool_facts(prepared.donors) or before.get("donors"),
        "occluders": pool_facts(prepared.occluders) or before.get("occluders"),
        "data": {
            **before.get("data", {}),
            **{
                on: {
                    "text": held.text,
                    "fingerprint": held.fingerprint,
                    "samples": len(held),
                    "classes": list(held.classes),
                }
                for on, held in data.items()
            },
        },
        "audits": [str(one) for one in prepared.audits],
        "audit_reasons": dict(prepared.reasons),
        "preprocessing": dict(before.get("preprocessing", {})),
        "notices": list(prepared.notices),
    }


def check_same(prepared: Any) -> None:
    """Refuse to mix other models, data or ways of asking into a run folder, and say what changed."""
    before = prepared.before
    if not before:
        return
    for change in (_model_change(prepared), _data_change(prepared), _question_change(prepared)):
        if change:
            raise UserError(f"{prepared.folder} was made with {change}; choose another --out or pass --fresh")


def _model_change(prepared: Any) -> str:
    for subject in prepared.subjects:
        known = prepared.before["models"].get(subject.name, {}).get(subject.run)
        if known is None:
            continue
        old, new = known["fingerprint"], subject.card.fingerprint
        if old != new:
            return f"model '{subject.name}' of other weights ({old[:4]}… ≠ {new[:4]}…)"
        if known.get("probes") and not _alike(known["probes"], subject.card.probes):
            return f"model '{subject.name}' when it answered differently"
    return ""


def _data_change(prepared: Any) -> str:
    for on, held in prepared.data.items():
        known = prepared.before["data"].get(on)
        if known is None or known["fingerprint"] == held.fingerprint:
            continue
        old, new = prepared.before["settings"]["limit"], prepared.settings.limit
        if old != new:
            return f"--limit {old or 'none'}, not {new or 'none'}"
        if known["text"] != held.text:
            return f"{on} data {known['text']}, not {held.text}"
        return f"other files in {held.text} ({known['samples']:,} images then, {len(held):,} now, or changed ones)"
    return ""


def _question_change(prepared: Any) -> str:
    for key, label_map in prepared.labels.items():
        if prepared.before["labels"].get("/".join(key), label_map.fingerprint) != label_map.fingerprint:
            return f"another label map for model '{key[0]}'"
    old, new = prepared.before["settings"]["keep"], prepared.settings.keep
    if old != new:
        return f"--keep {old or 'none'}, not {new or 'none'}"
    for name in ("donors", "occluders"):
        held, given = prepared.before.get(name), pool_facts(getattr(prepared, name))
        if held and given and held["fingerprint"] != given["fingerprint"]:
            said = (
                f"{held['text']}, not {given['text']}"
                if held["text"] != given["text"]
                else f"changed in {held['text']}"
            )
            return f"other {name} ({said})"
    return ""


def pool_facts(pool: Any) -> dict[str, str] | None:
    """The text and fingerprint of what may be pasted (donors, occluders), if there is any."""
    return None if pool is None else {"text": pool.text, "fingerprint": pool.fingerprint}


def resumed(folder: Any, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Device, precision, batch and shard size of an earlier command in this folder, which a later one keeps."""
    kept = {name: before["settings"][name] for name in ("device", "precision", "batch_size", "shard")}
    for name in ("device", "batch_size"):
        asked = wanted.get(name)
        if asked not in (None, "auto", kept[name]):
            flag = f"--{name.replace('_', '-')}"
            said = f"{folder} was made with {flag} {kept[name] or 'auto'}"
            raise UserError(f"{said}; leave {flag} out, choose another --out or pass --fresh")
    return kept


def hardware(device: str) -> dict[str, Any]:
    """The machine in a few words; the GPU is named only where one is used, since that needs torch."""
    facts: dict[str, Any] = {"machine": platform.machine(), "system": platform.platform(), "cores": os.cpu_count()}
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    facts["cpu"] = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    if device.startswith("cuda") and "torch" in sys.modules:
        facts["gpu"] = sys.modules["torch"].cuda.get_device_name(device)
    return facts


def _alike(before: Sequence[Sequence[float]], now: Sequence[Sequence[float]] | None) -> bool:
    return now is not None and np.allclose(np.array(before), np.array(now), atol=PROBE_TOLERANCE)


@functools.cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
