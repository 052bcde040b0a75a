"""run.json: which models were asked what, and whether a folder still fits the same question."""

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

from snellen.data.jpeg import jpeg_decoder
from snellen.engine.inputs import Inputs
from snellen.engine.plan import Plan
from snellen.engine.settings import COARSE, FINE
from snellen.errors import UserError, option
from snellen.files import read_text
from snellen.files.remote.opened import opened_files
from snellen.plugins import plugin_versions
from snellen.version import __version__

PACKAGES = ("torch", "torchvision", "timm", "numpy", "scipy", "pyarrow", "pillow")
PROBE_TOLERANCE = 1e-3


def record(
    inputs: Inputs,
    plan: Plan,
    before: Mapping[str, Any],
    *,
    audits: Mapping[str, str],
    command: Sequence[str] = (),
    notices: Sequence[str] = (),
) -> dict[str, Any]:
    """The content of run.json; models of earlier commands in the same folder (`before`) stay listed."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    models: dict[str, dict[str, Any]] = {name: dict(runs) for name, runs in before.get("models", {}).items()}
    for subject in inputs.subjects:
        known = models.setdefault(subject.name, {}).get(subject.run)
        models[subject.name][subject.run] = subject.card.to_json()
        if subject.card.varies and known:  # what drifts is compared with what it was at first
            models[subject.name][subject.run]["probes"] = known["probes"]
    pools = inputs.pools.to_json()
    return {
        "schema": 1,
        "snellen": __version__,
        "created": before.get("created", now),
        "updated": now,
        "command": list(command),
        "python": sys.version.split()[0],
        "packages": {**{name: _version(name) for name in PACKAGES}, **plugin_versions()},
        "jpeg": jpeg_decoder().to_json(),
        **_remote(before),
        "engine": before.get("engine", "local"),
        "hardware": hardware(plan.settings.device),
        "settings": {**asdict(plan.settings), "shard": plan.shard, "wanted_batch_size": _wanted_batch(plan, before)},
        "asked": inputs.runs,
        "models": models,
        "labels": {
            **before.get("labels", {}),
            **{"/".join(key): label_map.fingerprint for key, label_map in inputs.labels.items()},
        },
        "donors": pools.get("donors") or before.get("donors"),
        "occluders": pools.get("occluders") or before.get("occluders"),
        "data": {
            **before.get("data", {}),
            **{
                on: {
                    "text": dataset.text,
                    "fingerprint": dataset.fingerprint,
                    "samples": len(dataset),
                    "classes": list(dataset.classes),
                }
                for on, dataset in inputs.data.items()
            },
        },
        "audits": list(audits),
        "audit_reasons": {text: reason for text, reason in audits.items() if reason},
        "preprocessing": dict(before.get("preprocessing", {})),
        "notices": list(notices),
        **({"drift": before["drift"]} if "drift" in before else {}),
        **({"services": before["services"]} if "services" in before else {}),
        "files": dict(before.get("files", {})),
    }


def _remote(before: Mapping[str, Any]) -> dict[str, Any]:
    """The tables and archives that were read at addresses, with those of earlier commands; nothing where there are none."""
    files = {**before.get("remote", {}), **opened_files()}
    return {"remote": files} if files else {}


def _wanted_batch(plan: Plan, before: Mapping[str, Any]) -> int | None:
    """The batch size that the first command in this folder asked for, which the device's memory may have made smaller."""
    first: int | None = before.get("settings", {}).get("wanted_batch_size", plan.settings.batch_size)
    return first


def check_same(inputs: Inputs, before: Mapping[str, Any], folder: Path) -> None:
    """Refuse to mix other models, data or ways of asking into a run folder, and say what changed."""
    if not before:
        return
    for change in (_model_change(inputs, before), _data_change(inputs, before), _question_change(inputs, before)):
        if change:
            raise UserError(
                f"{folder} was made with {change}; choose another {option('out')} or pass {option('fresh')}"
            )


def _model_change(inputs: Inputs, before: Mapping[str, Any]) -> str:
    for subject in inputs.subjects:
        known = before["models"].get(subject.name, {}).get(subject.run)
        if known is None:
            continue
        old, new = known["fingerprint"], subject.card.fingerprint
        if old != new:
            return f"model '{subject.name}' of other weights ({old[:4]}… ≠ {new[:4]}…)"
        same = subject.card.varies or _alike(known.get("probes"), subject.card.probes)
        if not same:
            return f"model '{subject.name}' when it answered differently"
    return _replaced_runs(inputs, before)


def _replaced_runs(inputs: Inputs, before: Mapping[str, Any]) -> str:
    """A model whose runs are others than the folder's, whatever their files are called. More runs of it, or some of those
    that are there, are the same model still."""
    for name in inputs.runs:
        stored = [card["fingerprint"] for card in before["models"].get(name, {}).values()]
        wanted = [subject.card.fingerprint for subject in inputs.subjects if subject.name == name]
        gone = [fingerprint for fingerprint in stored if fingerprint not in wanted]
        new = [fingerprint for fingerprint in wanted if fingerprint not in stored]
        if gone and new:
            return f"model '{name}' of other weights ({gone[0][:4]}… ≠ {new[0][:4]}…)"
    return ""


def _data_change(inputs: Inputs, before: Mapping[str, Any]) -> str:
    for on, dataset in inputs.data.items():
        known = before["data"].get(on)
        if known is None or known["fingerprint"] == dataset.fingerprint:
            continue
        old, new = before["settings"]["limit"], inputs.settings.limit
        if old != new:
            return f"--limit {old or 'none'}, not {new or 'none'}"
        if known["text"] != dataset.text:
            return f"{on} data {known['text']}, not {dataset.text}"
        return (
            f"other files in {dataset.text} ({known['samples']:,} images then, {len(dataset):,} now, or changed ones)"
        )
    return ""


def _question_change(inputs: Inputs, before: Mapping[str, Any]) -> str:
    for key, label_map in inputs.labels.items():
        if before.get("labels", {}).get("/".join(key), label_map.fingerprint) != label_map.fingerprint:
            return f"another label map for model '{key[0]}'"
    old, new = before["settings"].get("keep"), inputs.settings.keep
    if old != new:
        return f"--keep {old or 'none'}, not {new or 'none'}"
    for name, pool in inputs.pools.to_json().items():
        known = before.get(name)
        if known and known["fingerprint"] != pool["fingerprint"]:
            same_text = known["text"] == pool["text"]
            change = f"changed in {pool['text']}" if same_text else f"{known['text']}, not {pool['text']}"
            return f"other {name} ({change})"
    return ""


def resume_settings(folder: Path, before: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Device, precision, batch and shard size of an earlier command in this folder, and the bits of its maps, which a later one
    keeps."""
    settings = {name: before["settings"][name] for name in ("device", "precision", "batch_size", "shard")}
    settings["map_bits"] = before["settings"].get("map_bits") or (COARSE if (folder / "maps").exists() else FINE)
    for name in ("device", "batch_size"):
        value = wanted.get(name)
        if value not in (None, "auto", settings[name], before["settings"].get(f"wanted_{name}")):
            flag = option(name)
            origin = f"{folder} was made with {flag} {settings[name] or 'auto'}"
            raise UserError(f"{origin}; leave {flag} out, choose another {option('out')} or pass {option('fresh')}")
    return settings


def hardware(device: str) -> dict[str, Any]:
    """The machine in a few words; the GPU is named only where one is used, since that needs torch."""
    facts: dict[str, Any] = {"machine": platform.machine(), "system": platform.platform(), "cores": os.cpu_count()}
    info = Path("/proc/cpuinfo")
    lines = read_text(info).splitlines() if info.exists() else []
    facts["cpu"] = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    if device.startswith("cuda") and "torch" in sys.modules:
        facts["gpu"] = sys.modules["torch"].cuda.get_device_name(device)
    return facts


def _alike(before: Sequence[Sequence[float]] | None, now: Sequence[Sequence[float]] | None) -> bool:
    if not before:
        return True
    if now is None or [len(row) for row in before] != [len(row) for row in now]:
        return False
    return np.allclose(np.array(before, float), np.array(now, float), atol=PROBE_TOLERANCE, equal_nan=True)


@functools.cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
