"""The settings of a training or a sweep, written beside its results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic


def write_config(path: Path, settings: Mapping[str, Any]) -> None:
    """The settings that were given, as YAML."""
    import yaml

    plain = {key: str(value) if isinstance(value, Path) else value for key, value in settings.items()}
    given = {key: value for key, value in plain.items() if value is not None and value is not False and value != []}
    write_atomic(path, yaml.safe_dump(given, sort_keys=False).encode())
