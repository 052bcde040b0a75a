"""The demo: the phantom world, two small models, an audit and a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from snellen.atomic import check_place
from snellen.exam.run import Run
from snellen.files.plain import place_to_write
from snellen.terminal import tell

TRAIN = "phantom:train?size=32&n=3000&texture_bias=0.5"
TEST = "phantom:test?size=32&n=900&texture_bias=0.5"
MIXES = {"plain": "none", "cutmix": "cutmix"}
RUNS = 3
AUDITS = "occlusion,interference"


def run_demo(out: Path, quiet: bool = False) -> Run:
    """Train a plain and a CutMix network, three runs each, on the phantom world and audit them.

    What is already there is not done again; where the world or the networks are others than those of the run, it is replaced.
    """
    from snellen.data import load_data
    from snellen.exam.auditing import run_audit
    from snellen.exam.request import AuditRequest
    from snellen.train import Recipe, train

    out = place_to_write(out)
    check_place(out)
    data = load_data(TRAIN)
    models = out / "models" / data.fingerprint[:8]
    for name, mix in MIXES.items():
        if not quiet and sys.stderr.isatty():
            tell(f"{name}: {RUNS} runs of a small network on {TRAIN}")
        train(Recipe(mix=mix), data, models / name, runs=RUNS, progress=None if quiet else _print_epoch)
    texts = [f"{name}={models / name}/*.safetensors" for name in MIXES]
    fresh = _is_outdated(out / "run", texts)
    request = AuditRequest(models=tuple(texts), data=TEST, audits=(AUDITS,), out=out / "run", quiet=quiet, fresh=fresh)
    return run_audit(request, ["snellen", "demo", "--out", str(out)])


def _is_outdated(folder: Path, models: list[str]) -> bool:
    """Whether a run is of another world or of other networks."""
    from snellen.data import load_data
    from snellen.engine import Store
    from snellen.models import subjects_of

    facts = Store(folder).facts()
    if not facts:
        return False
    now = {(s.name, s.run): s.card.fingerprint for text in models for s in subjects_of(text)}
    then = {(name, run): card["fingerprint"] for name, runs in facts["models"].items() for run, card in runs.items()}
    return now != then or facts["data"]["test"]["fingerprint"] != load_data(TEST).fingerprint


def _print_epoch(epoch: Any) -> None:
    """One line that rewrites itself, on a terminal only."""
    if sys.stderr.isatty():
        end = "\n" if epoch.epoch == epoch.epochs else "\r"
        tell(f"  {epoch.run}: epoch {epoch.epoch} of {epoch.epochs}, loss {epoch.loss:.3f} ", end)
