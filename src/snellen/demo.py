"""The demo: the phantom world, two small models, an audit and a report."""

from __future__ import annotations

import sys
from pathlib import Path

from snellen.run import Run

SIDE = 32  # pixels
TRAIN = f"phantom:train?size={SIDE}&n=3000&texture_bias=0.5"
TEST = f"phantom:test?size={SIDE}&n=900&texture_bias=0.5"
RUNS = 3


def run_demo(out: Path, quiet: bool = False) -> Run:
    """Train a plain and a CutMix network, three runs each, on the phantom world and audit them."""
    from snellen.data import load_data
    from snellen.examine import audit
    from snellen.train import Recipe, train

    models = out / "models"
    for name, mix in (("plain", "none"), ("cutmix", "cutmix")):
        if not quiet:
            print(f"training {RUNS} runs of a small network ({name}) on {TRAIN}", file=sys.stderr)
        train(Recipe(arch="smallnet", mix=mix), load_data(TRAIN), models / name, runs=RUNS)
    texts = [f"{name}={models / name}/*.safetensors" for name in ("plain", "cutmix")]
    return audit(texts, TEST, out=out / "run", quiet=quiet, command=["snellen", "demo", "--out", str(out)])
