"""Walks: which files of snellen one thing enters on its way; docs/understanding/design.md shows the counts.

One image through the passes of an audit, one tuple of edits through a search, one clip of four frames through `build iruo`, one
batch through a training. Only calls count, not imports.

    python benchmarks/walks.py
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import snellen
import snellen.engine.ask.local as local
from snellen.build import iruo
from snellen.data import load_data
from snellen.data.phantom import export
from snellen.models import from_callable
from snellen.search import fitness_of, random_search
from snellen.train import train

SOURCE = str(Path(snellen.__file__).parent) + "/"


def files_entered(work: Callable[[], object]) -> list[str]:
    """The files of snellen whose functions are called, in the order they are entered, in this thread and in new ones."""
    entered: dict[str, None] = {}

    def note(frame: Any, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and code.co_name != "<module>":
            entered.setdefault(code.co_filename.removeprefix(SOURCE))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(entered)


def undecided(images: np.ndarray) -> np.ndarray:
    """A model of two classes."""
    return np.full((len(images), 2), 0.5, np.float32)


def image_walk(data: str, folder: Path) -> list[str]:
    """The passes of an audit of one image under one square; what is before and after them is not counted."""
    entered: list[str] = []
    run_local = local.run_local

    def traced(*arguments: Any, **settings: Any) -> Any:
        results: list[Any] = []
        entered.extend(files_entered(lambda: results.append(run_local(*arguments, **settings))))
        return results[0]

    for module in [module for name, module in sys.modules.items() if name.startswith("snellen")]:
        if getattr(module, "run_local", None) is run_local:
            module.run_local = traced  # type: ignore[attr-defined]
    audits = ["occlusion(areas=[0.3], fills=[black])"]
    snellen.audit(undecided, data, audits, out=folder, limit=1, quiet=True, report=False)
    return entered


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    file = folder / "images.npz"
    images = np.random.default_rng(0).integers(0, 255, (8, 64, 64, 3), dtype=np.uint8)
    np.savez(file, images=images, labels=np.arange(8) % 2)
    data = f"arrays:{file}"
    export("phantom:test?frames=4&occlusion=0.3", "ovis", folder / "ovis", limit=4)
    fitness = fitness_of(from_callable(undecided, ["0", "1"], 64), load_data(data), limit=4)
    annotations = folder / "ovis" / "annotations_test.json"
    walks = {
        "one image, asked": image_walk(data, folder / "run"),
        "one tuple of a search": files_entered(lambda: random_search(fitness, "mnist", length=2, evaluations=1)),
        "one clip of four frames, built": files_entered(
            lambda: iruo.build(annotations, None, folder / "iruo", workers=1, min_clear=0)
        ),
        "one batch, trained": files_entered(
            lambda: train("fast", data, folder / "nets", limit=8, epochs=1, batch_size=8)
        ),
    }
    for name, files in walks.items():
        print(f"{name}: {len(files)} files")
        for entered in files:
            print(f"    {entered}")


if __name__ == "__main__":
    main()
