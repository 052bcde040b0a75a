"""The scripts of examples/replication, imported by name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

SCRIPTS = Path(__file__).resolve().parents[2] / "examples" / "replication"


def script(name: str) -> ModuleType:
    """A script, which finds those beside it while it is imported."""
    with patch.object(sys, "path", [str(SCRIPTS), *sys.path]):
        return importlib.import_module(name)
