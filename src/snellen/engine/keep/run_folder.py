"""The reading side of a run folder: where it is, its settings and its findings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snellen.engine.keep.store import Store
from snellen.errors import UserError
from snellen.files import GIB, decode_json, fit, read_bytes
from snellen.files.plain import place_here
from snellen.hashing import checksum

MOST = GIB  # bytes of findings.json


def open_run(path: Path | str) -> RunFolder:
    """The run in a folder; one that is not there, or is damaged, is refused."""
    run = RunFolder(check_run(path))
    _ = run.facts
    return run


def check_run(path: Path | str) -> Path:
    """The path of a run folder, which has a run.json."""
    path = place_here(path, "a run folder")
    if not os.path.exists(path / "run.json"):
        raise UserError(f"'{path}' is not a run folder: it has no run.json; give the --out of an audit")
    return path


class RunFolder:
    """A run folder that is there: its tables, `run.json` and `findings.json`."""

    def __init__(self, path: Path | str, store: Store | None = None) -> None:
        self.path = Path(path)
        self.store = Store(self.path) if store is None else store

    @property
    def facts(self) -> dict[str, Any]:
        """run.json: versions, fingerprints, seeds, hardware, settings, command line."""
        return self.store.facts()

    @property
    def task(self) -> str:
        """What the models of its findings are for; a run of before there were others than classifiers does not say it."""
        facts = self.facts
        cards = (card for model in facts.get("asked", ()) for card in facts["models"].get(model, {}).values())
        return str(next((card.get("task", "classification") for card in cards), "classification"))

    def results(self) -> dict[str, Any]:
        """The content of findings.json."""
        path = self.path / "findings.json"
        if not path.exists():
            raise UserError(
                f"{self.path} has no findings yet; run the same `snellen audit … --out {self.path}` again to finish it"
            )
        from snellen.engine.keep.schemas import Findings

        try:
            content = read_bytes(path, "findings", MOST)
            if self.facts.get("checksums", {}).get("findings.json", expected := checksum(content)) != expected:
                raise UserError(f"{path} does not fit the checksum in run.json, so it was damaged or changed")
            results: dict[str, Any] = decode_json(content, dict[str, Any], path)
            fit(results, Findings, path)
        except UserError as error:
            raise UserError(f"{error}; run the `snellen audit` that made it again to rewrite it") from error
        return results

    def check_files(self, tables: Sequence[str]) -> None:
        """Refuse tables that lack files which run.json counted when the run was complete."""
        now = self.store.count_files()
        for folder, count in self.facts.get("files", {}).items():
            if folder.partition("/")[0] in tables and now.get(folder, 0) < count:
                raise UserError(
                    f"{self.path / folder} has {now.get(folder, 0)} of {count} files; run the `snellen audit` command that "
                    "made it again to repair it"
                )
