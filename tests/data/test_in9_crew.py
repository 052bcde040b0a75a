"""The processes that build: results in order, and nobody left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from snellen.build.in9.crew import crew

SCRIPT = """
import os, sys, time
from snellen.build.in9.crew import crew

def work(number):
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
    time.sleep(0.1)

if __name__ == "__main__":
    with crew(2) as spread:
        list(spread(work, range(10_000)))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_work(workers: int) -> None:
    with crew(workers) as spread:
        assert list(spread(abs, range(-20, 0))) == list(range(20, 0, -1))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="whether a process is alive is read from /proc")
def test_workers_end_with_a_build_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    seen = tmp_path / "seen"
    seen.mkdir()
    build = subprocess.Popen([sys.executable, str(tmp_path / "script.py"), str(seen)])
    try:
        _until(lambda: len(list(seen.iterdir())) == 2)
    finally:
        build.kill()
        build.wait()
    _until(lambda: not any(_alive(int(file.name)) for file in seen.iterdir()))


def _until(true: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
