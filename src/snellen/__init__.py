"""snellen: an eye exam for vision models."""

from __future__ import annotations

import importlib
from typing import Any

from snellen.version import __version__

# Names come from their modules on first use, so that `import snellen` and `snellen --help` stay fast.
_HOMES = {
    "audit": "snellen.exam.audit",
    "load_data": "snellen.data",
    "load_model": "snellen.models",
    "load_run": "snellen.exam.run",
    "RequirementFailed": "snellen.exam.conditions",
    "Run": "snellen.exam.run",
    "UserError": "snellen.errors",
}
_ROOMS = (
    *(
        "attention",
        "audits",
        "build",
        "calibrate",
        "checks",
        "concepts",
        "data",
        "distort",
        "engine",
        "exam",
        "explain",
        "files",
        "measure",
    ),
    *("models", "report", "search", "sweep", "train"),
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"snellen.{name}")
    raise AttributeError(f"module 'snellen' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "RequirementFailed",
    "Run",
    "UserError",
    "__version__",
    "audit",
    "load_data",
    "load_model",
    "load_run",
    *_ROOMS,
]
