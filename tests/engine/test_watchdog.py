"""A model that hangs: the run ends, what was answered stays, and the same command continues."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.engine.ask.watchdog import Watchdog
from snellen.errors import UserError
from snellen.models import from_callable


def levels(folder: Path) -> str:
    """40 images of two grey levels."""
    labels = np.arange(40) % 2
    images = np.broadcast_to((60 + 90 * labels)[:, None, None], (40, 8, 8)).astype(np.uint8)
    np.savez(folder / "levels.npz", images=images, labels=labels)
    return f"arrays:{folder / 'levels.npz'}"


def test_a_model_that_hangs_ends_the_run_and_a_mended_one_finishes_it(tmp_path: Path) -> None:
    asked, hanging = [0], [True]

    def hangs_later(images: np.ndarray) -> np.ndarray:
        asked[0] += len(images)
        while hanging[0] and asked[0] > 90:
            try:
                time.sleep(60)
            except Exception:  # one that retries whatever happens
                continue
        return np.eye(2)[(images[:, 0, 0, 0] > 100).astype(int)]

    model = from_callable(hangs_later, size=8, version="1")
    how = dict(quiet=True, report=False, shard=10, batch_size=10)
    with pytest.raises(UserError, match=r"a shard took more than 2 s \(--shard-timeout\).*the same command continues"):
        snellen.audit(model, levels(tmp_path), [], tmp_path / "run", shard_timeout=2, **how)
    hanging[0] = False
    run = snellen.audit(model, levels(tmp_path), [], tmp_path / "run", shard_timeout=600, **how)
    assert len(run.predictions()) == 2 * 40


STUCK = """
import signal, sys, time
from snellen.engine import watchdog
watchdog.GRACE = 0.5
with watchdog.Watchdog(0.5).watching():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # like a call that no signal interrupts
    time.sleep(60)
"""


def test_what_no_signal_interrupts_is_ended_with_exit_2() -> None:
    ended = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=50, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: a shard took more than 0.5 s")


def test_one_that_is_fed_does_not_bark() -> None:
    watchdog = Watchdog(0.4)
    with watchdog.watching():
        for _ in range(6):
            time.sleep(0.1)
            watchdog.fed()


def test_only_the_main_thread_can_be_watched() -> None:
    told: list[str] = []

    def elsewhere() -> None:
        try:
            with Watchdog(1).watching():
                pass
        except UserError as error:
            told.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert told == ["--shard-timeout needs the main thread; leave it out, or use --engine ray"]


def test_a_first_look_that_hangs_is_left_out_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = [0]

    def hangs_once(images: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] == 1:
            time.sleep(60)
        return np.eye(2)[(images[:, 0, 0, 0] > 100).astype(int)]

    model = from_callable(hangs_once, size=8, version="1", name="sleepy")
    snellen.audit(model, levels(tmp_path), [], tmp_path / "run", shard_timeout=2, report=False)
    assert "note: the first look at sleepy took more than 2 s and was left out" in capsys.readouterr().err
