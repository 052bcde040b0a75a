"""The demo: the phantom world, two small models, an audit and a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from snellen.run import Run

TRAIN = "phantom:train?size=32&n=3000&texture_bias=0.5"
TEST = "phantom:test?size=32&n=900&texture_bias=0.5"
MIXES = {"plain": "none", "cutmix": "cutmix"}
RUNS = 3


def run_demo(out: Path, quiet: bool = False) -> Run:
    """Train a plain and a CutMix network, three runs each, on the phantom world and audit them.

    What is already there is not done again; a world of another version trains anew and replaces the run.
    """
    from snellen.data import load_data
    from snellen.examine import audit
    from snellen.train import Recipe, train

    data = load_data(TRAIN)
    models = out / "models" / data.fingerprint[:8]
    trained = models.exists()
    for name, mix in MIXES.items():
        if not quiet and sys.stderr.isatty():
            print(f"{name}: {RUNS} runs of a small network on {TRAIN}", file=sys.stderr)
        train(Recipe(mix=mix), data, models / name, runs=RUNS, progress=None if quiet else _said)
    texts = [f"{name}={models / name}/*.safetensors" for name in MIXES]
    command = ["snellen", "demo", "--out", str(out)]
    return audit(texts, TEST, out=out / "run", quiet=quiet, command=command, fresh=not trained)


def _said(epoch: Any) -> None:
    """One line that rewrites itself, on a terminal only."""
    if sys.stderr.isatty():
        end = "\n" if epoch.epoch == epoch.epochs else "\r"
        print(f"  {epoch.run}: epoch {epoch.epoch} of {epoch.epochs}, loss {epoch.loss:.3f} ", end=end, file=sys.stderr)
