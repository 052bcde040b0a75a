"""The processes that build: results in order, and nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from snellen.build.crew import crew

from ..gates import is_alive, wait_until

WORK = """
import os, sys, threading

def work(number):
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
    threading.Event().wait()
"""
SCRIPT = """
from endless import work
from snellen.build.crew import crew

with crew(2) as spread:
    list(spread(work, range(2)))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_work(workers: int) -> None:
    with crew(workers) as spread:
        assert list(spread(abs, range(-20, 0))) == list(range(20, 0, -1))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="whether a process is alive is read from /proc")
def test_workers_end_with_a_build_that_is_killed(tmp_path: Path) -> None:
    """Each of two processes is in the middle of work that never ends."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "endless.py").write_text(WORK)
    seen = tmp_path / "seen"
    seen.mkdir()
    build = subprocess.Popen([sys.executable, str(tmp_path / "script.py"), str(seen)])
    try:
        wait_until(lambda: len(list(seen.iterdir())) == 2, "two processes at work")
    finally:
        build.kill()
        build.wait()
    workers = [int(file.name) for file in seen.iterdir()]
    try:
        wait_until(lambda: not any(map(is_alive, workers)), f"the end of processes {workers}, whose build was killed")
    finally:
        for worker in filter(is_alive, workers):
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
