"""Killed at any moment, a run continues and ends with the table of an uninterrupted one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.errors import UserError
from snellen.lock import writer_lock
from snellen.models import from_callable

from ..gates import kill_when_held, run_unheld

SCRIPT = """
import os, sys
from pathlib import Path
import numpy as np
import snellen
from snellen.models import from_callable

replace = os.replace

def give_name(half, whole):
    "Hold before a file that is written gets its own name, if the file is the one to be held at."
    if any(Path(whole).match(pattern) for pattern in sys.argv[2:]):
        hold()
    replace(half, whole)

os.replace = give_name
model = from_callable(lambda images: np.eye(12)[images[:, 3, 5, 0] % 12], size=16, name="plain", version="1")
how = dict(shard=10, batch_size=5, quiet=True, report=False)
snellen.audit(model, "phantom:test?size=16&n=120", "occlusion(areas=[0.3])", out=sys.argv[1], **how)
"""
MOMENTS = (
    "run.json",
    "samples/*/000000-*.parquet",
    "shown/*/000004-*.parquet",
    "answers/*/000007-*.parquet",
    "findings.json",
)


def shards(folder: Path) -> int:
    return len(list(folder.glob("answers/*/*.parquet")))


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_table(tmp_path: Path) -> None:
    """Each kill comes while one more file is written but has no name yet; other threads may be anywhere."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    environment = os.environ | {"SNELLEN_HOME": str(tmp_path / "home")}
    run_unheld(SCRIPT, whole, env=environment)
    assert shards(whole) == 12
    for moment in MOMENTS:
        kill_when_held(SCRIPT, killed, moment, env=environment)
        assert not list(killed.glob(moment))
        assert list(killed.glob(f"{moment}.*.part"))
    run_unheld(SCRIPT, killed, env=environment)
    first, second = (snellen.load_run(folder).predictions() for folder in (whole, killed))
    pd.testing.assert_frame_equal(first, second)
    assert len(second) == 120 * 4
    pd.testing.assert_frame_equal(snellen.load_run(whole).findings(), snellen.load_run(killed).findings())


def test_a_second_writer_is_refused_with_the_holder_named(tmp_path: Path) -> None:
    model = from_callable(lambda images: np.full((len(images), 12), 1 / 12), size=16, name="one", version="1")
    with writer_lock(tmp_path), pytest.raises(UserError, match=f"is being written by process {os.getpid()} on"):
        snellen.audit(model, "phantom:test?size=16&n=9", out=tmp_path, quiet=True)
