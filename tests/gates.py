"""Waiting for a state and never for a time: what tests of threads, processes and signals share.

A test that needs a thread or a process to be in the middle of something holds it there, at a gate, until it has seen what
it waits for. So no test depends on how busy the machine is. PATIENCE decides nothing: it ends a test that would hang.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 900  # seconds; what a test waits for takes a few of them on an idle machine

HOLD = f"""
import faulthandler, sys
faulthandler.dump_traceback_later({PATIENCE}, exit=True)

def hold():
    "Tell the test, and stay here for as long as it lives."
    print("held", flush=True)
    sys.stdin.read()
"""


def wait_until(state: Callable[[], bool], what: str) -> None:
    """Return as soon as the state has come; `what` says in words what was waited for."""
    end = time.monotonic() + PATIENCE
    while not state():
        assert time.monotonic() < end, f"waited {PATIENCE} s in vain for {what}"
        time.sleep(0.01)


@contextmanager
def meanwhile(steps: Callable[[], None]) -> Iterator[None]:
    """Do the steps in a thread beside the body; what fails there fails the test here."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="meanwhile") as pool:
        outcome = pool.submit(steps)
        yield
        outcome.result()


def kill_when_held(script: str, *arguments: str | Path, env: Mapping[str, str]) -> None:
    """Carry out a script that calls `hold()` somewhere, and end it there with SIGKILL."""
    command = [sys.executable, "-c", HOLD + script, *arguments]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.kill()
    assert line == "held\n", f"the script was to be held, but ended with status {process.returncode}"


def run_unheld(script: str, *arguments: str | Path, env: Mapping[str, str]) -> None:
    """Carry out the same script to its end: where it calls `hold()`, it goes on."""
    command = [sys.executable, "-c", HOLD + script, *arguments]
    subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def is_alive(process: int) -> bool:
    """Whether a process of this machine is there and has not ended."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
