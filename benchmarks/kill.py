"""Kill an audit at random moments, again and again: does every resumed run end with the uninterrupted table?

    python benchmarks/kill.py 100        # at least 100 SIGKILLs

Each audit runs in a forked child, so that a kill costs no import; the moment is drawn uniformly from the time that an
uninterrupted audit takes. A run is killed until it finishes by itself, then its tables are compared with the whole one's.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet  # noqa: F401  imported here so that the children need not
import scipy.stats  # noqa: F401
import torch

import snellen
import snellen.engine.ask.local
import snellen.report
from snellen.models import from_callable

DATA = "phantom:test?size=16&n=120"
AUDITS = "occlusion(areas=[0.3], fills=[black, white])"
TABLES = (
    "select * from cells order by cell",
    "select * from samples order by sample",
    "select shown, sample, covered, object_covered, donor, excluded from shown order by 1, 2",
)


def audit(folder: Path) -> None:
    """Two models, four cells, 12 shards."""

    def answer(images: np.ndarray) -> np.ndarray:
        time.sleep(0.001)
        return np.eye(12)[images[:, 3, 5, 0] % 12]

    models = [from_callable(answer, size=16, name=name, version="1") for name in ("one", "two")]
    snellen.audit(models, DATA, AUDITS, folder, shard=10, batch_size=5, quiet=True, report=False)


def child(folder: Path) -> int:
    """Start an audit in a child process; its id."""
    pid = os.fork()
    if pid == 0:
        try:
            audit(folder)
        except BaseException as error:
            print(f"child: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return pid


def ended(pid: int, folder: Path) -> bool:
    """Whether the child finished its run; False where it was killed, any other failure is an error."""
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status):
        raise SystemExit(f"a resumed run failed in {folder}")
    return True


def killed_after(folder: Path, seconds: float) -> bool:
    """Whether the audit was still running after some seconds, and so was killed."""
    pid = child(folder)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)  # a child that has ended waits to be reaped, so its id is still its own
    return not ended(pid, folder)


def rows_equal(whole: Path, resumed: Path) -> int:
    """How many rows were compared; the first difference is an error."""
    first, second = snellen.load_run(whole), snellen.load_run(resumed)
    pairs = [(first.sql(query), second.sql(query)) for query in TABLES]
    pairs += [(first.predictions(), second.predictions()), (first.findings(), second.findings())]
    for one, two in pairs:
        pd.testing.assert_frame_equal(one, two)
    return sum(len(one) for one, _ in pairs)


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    torch.set_num_threads(1)  # no thread pool exists when the children are forked
    place = Path(tempfile.mkdtemp(prefix="snellen-kill-"))
    draw = random.Random(0)
    start = time.perf_counter()
    ended(child(place / "whole"), place / "whole")
    needed = time.perf_counter() - start
    kills = runs = rows = 0
    while kills < wanted:
        folder = place / "run"
        tries = draw.randint(1, 8)
        while tries and killed_after(folder, draw.uniform(0, needed)):
            kills, tries = kills + 1, tries - 1
        ended(child(folder), folder)
        runs += 1
        rows += rows_equal(place / "whole", folder)
        shutil.rmtree(folder)
        print(f"{kills} kills, {runs} runs, {rows:,} rows equal", file=sys.stderr, flush=True)
    shutil.rmtree(place)
    seconds = time.perf_counter() - start
    print(f"{kills} kills in {runs} runs, {rows:,} rows compared, all equal; {seconds:.0f} s, {needed:.1f} s a run")


if __name__ == "__main__":
    main()
