"""Killed at any moment, a run continues and ends with the table of an uninterrupted one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.engine.keep.lock import writer_lock
from snellen.errors import UserError
from snellen.models import from_callable

SCRIPT = """
import sys, time
import numpy as np
import snellen
from snellen.models import from_callable

def slowly(images):
    time.sleep(0.02)
    return np.eye(12)[images[:, 3, 5, 0] % 12]

model = from_callable(slowly, size=16, name="slow", version="1")
how = dict(shard=10, batch_size=5, quiet=True, report=False)
snellen.audit(model, "phantom:test?size=16&n=120", "occlusion(areas=[0.3])", out=sys.argv[1], **how)
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"SNELLEN_HOME": str(folder.parent / "home")}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], env=environment)


def shards(folder: Path) -> int:
    return len(list(folder.glob("answers/*/*.parquet")))


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_table(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(whole).wait() == 0
    total = shards(whole)
    assert total == 12
    kills = 0
    for wanted in (1, 5, 9):
        process = start(killed)
        while process.poll() is None and shards(killed) < wanted:
            time.sleep(0.002)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills >= 2
    assert shards(killed) < total
    for seconds in random.Random(0).sample(range(20, 40), 2):  # tenths, most of which an import takes
        process = start(killed)
        time.sleep(seconds / 10)
        process.kill()
        process.wait()
    assert start(killed).wait() == 0
    first, second = (snellen.load_run(folder).predictions() for folder in (whole, killed))
    pd.testing.assert_frame_equal(first, second)
    assert len(second) == 120 * 4
    pd.testing.assert_frame_equal(snellen.load_run(whole).findings(), snellen.load_run(killed).findings())


def test_a_second_writer_is_refused_with_the_holder_named(tmp_path: Path) -> None:
    model = from_callable(lambda images: np.full((len(images), 12), 1 / 12), size=16, name="one", version="1")
    with writer_lock(tmp_path), pytest.raises(UserError, match=f"is being written by process {os.getpid()} on"):
        snellen.audit(model, "phantom:test?size=16&n=9", out=tmp_path, quiet=True)
