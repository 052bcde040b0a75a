"""snellen: an eye exam for vision models."""

from __future__ import annotations

from snellen.lazy_names import finder, lister
from snellen.version import __version__

# Names come from their modules on first use, so that `import snellen` and `snellen --help` stay fast.
_HOMES = {
    "RequirementFailed": "snellen.exam.conditions",
    "Run": "snellen.exam.run",
    "UserError": "snellen.errors",
    "audit": "snellen.exam.auditing",
    "gate": "snellen.check.gatekeeper",
    "load_data": "snellen.data",
    "load_model": "snellen.models",
    "load_plugin": "snellen.plugins",
    "load_run": "snellen.exam.run",
    "match": "snellen.exam.matching",
    # rooms
    "attention": "snellen.attention",
    "audits": "snellen.audits",
    "build": "snellen.build",
    "calibrate": "snellen.calibrate",
    "check": "snellen.check",
    "checks": "snellen.checks",
    "concepts": "snellen.concepts",
    "data": "snellen.data",
    "distort": "snellen.distort",
    "engine": "snellen.engine",
    "exam": "snellen.exam",
    "explain": "snellen.explain",
    "export": "snellen.export",
    "files": "snellen.files",
    "measure": "snellen.measure",
    "models": "snellen.models",
    "plugins": "snellen.plugins",
    "report": "snellen.report",
    "search": "snellen.search",
    "sweep": "snellen.sweep",
    "train": "snellen.train",
    "web": "snellen.web",
}

__all__ = ["__version__", *_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
