"""The reading side of a run folder: where it is, its settings and its findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from snellen.engine.keep.store import Store
from snellen.errors import UserError


class RunFolder:
    """A run folder that is there: its tables, `run.json` and `findings.json`."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.store = Store(self.path)

    @property
    def facts(self) -> dict[str, Any]:
        """run.json: versions, fingerprints, seeds, hardware, settings, command line."""
        return self.store.facts()

    def results(self) -> dict[str, Any]:
        """The content of findings.json."""
        path = self.path / "findings.json"
        if not path.exists():
            raise UserError(
                f"{self.path} has no findings yet; run the same `snellen audit … --out {self.path}` again to finish it"
            )
        try:
            content = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise UserError(
                f"{path} is not JSON ({error}); run the `snellen audit` that made it again to rewrite it"
            ) from None
        return dict(content)
