"""A model that hangs: the run ends, what was answered stays, and the same command continues."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.engine.ask.watchdog import TookTooLong, Watchdog
from snellen.errors import UserError
from snellen.models import from_callable

from ..gates import PATIENCE, wait_until


def levels(folder: Path) -> str:
    """40 images of two grey levels."""
    labels = np.arange(40) % 2
    images = np.broadcast_to((60 + 90 * labels)[:, None, None], (40, 8, 8)).astype(np.uint8)
    np.savez(folder / "levels.npz", images=images, labels=labels)
    return f"arrays:{folder / 'levels.npz'}"


@pytest.fixture
def watchdogs(monkeypatch: pytest.MonkeyPatch) -> list[Watchdog]:
    """Every watchdog of the test, the last one last; none ends the process while shards are still being written."""
    everyone: list[Watchdog] = []
    set_up = Watchdog.__init__

    def remember(self: Watchdog, seconds: float) -> None:
        set_up(self, seconds)
        everyone.append(self)

    monkeypatch.setattr(Watchdog, "__init__", remember)
    monkeypatch.setattr("snellen.engine.ask.watchdog.GRACE", PATIENCE)
    return everyone


def hang(watchdog: Watchdog) -> None:
    """Never return: the watchdog's time, however long, is over in a moment, and only its signal ends the wait."""
    watchdog.seconds = 0.01
    watchdog.feed()
    for _ in range(2):
        with contextlib.suppress(Exception):  # like a model that retries whatever happens
            threading.Event().wait(PATIENCE)
    raise AssertionError(f"the watchdog did not bark within {2 * PATIENCE} s")


def test_a_model_that_hangs_ends_the_run_and_a_mended_one_finishes_it(
    tmp_path: Path, watchdogs: list[Watchdog]
) -> None:
    seen, hanging = [0], [True]

    def hangs_later(images: np.ndarray) -> np.ndarray:
        seen[0] += len(images)
        if hanging[0] and seen[0] > 90:
            hang(watchdogs[-1])
        return np.eye(2)[(images[:, 0, 0, 0] > 100).astype(int)]

    model = from_callable(hangs_later, size=8, version="1")
    how = dict(quiet=True, report=False, shard=10, batch_size=10, shard_timeout=PATIENCE)
    with pytest.raises(
        UserError, match=r"a shard took more than .* s \(--shard-timeout\).*run the same command again; it resumes"
    ):
        snellen.audit(model, levels(tmp_path), [], tmp_path / "run", **how)
    answered = len(list((tmp_path / "run").glob("answers/*/*.parquet")))
    assert 0 < answered < 4
    hanging[0], seen[0] = False, 0
    run = snellen.audit(model, levels(tmp_path), [], tmp_path / "run", **how)
    assert len(run.predictions()) == 2 * 40
    assert seen[0] == 2 * (40 - 10 * answered)


STUCK = """
import signal, threading
from snellen.engine.ask import watchdog
watchdog.GRACE = 0.5
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # like a call that no signal interrupts
with watchdog.Watchdog(0.5).watching():
    threading.Event().wait()
"""


def test_what_no_signal_interrupts_is_ended_with_exit_2() -> None:
    command = [sys.executable, "-c", STUCK]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: a shard took more than 0.5 s")


class WaitCounter(threading.Event):
    """An event that notes for how long it was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return super().wait(timeout)


def test_each_feeding_begins_the_whole_time_again() -> None:
    watchdog = Watchdog(PATIENCE)
    watchdog._done = meals = WaitCounter()
    with watchdog.watching():
        for number in (1, 2, 3):
            wait_until(lambda: len(meals.waits) == number, f"the watchdog to wait for the {number}. time")  # noqa: B023
            watchdog.feed()
        wait_until(lambda: len(meals.waits) == 4, "the watchdog to wait once more")
    assert meals.waits == [PATIENCE] * 4


class Alarm(threading.Event):
    """An event during whose setting the watchdog's signal arrives, before it is set or after."""

    def __init__(self, early: bool) -> None:
        super().__init__()
        self.early = early

    def set(self) -> None:
        if self.early:
            self.early = False
            signal.raise_signal(signal.SIGALRM)
        super().set()
        signal.raise_signal(signal.SIGALRM)


def test_a_bark_at_the_very_end_is_the_usual_error_or_nothing() -> None:
    watchdog = Watchdog(PATIENCE)
    watchdog._over = Alarm(early=True)
    with pytest.raises(TookTooLong), watchdog.watching():
        pass
    watchdog = Watchdog(PATIENCE)
    watchdog._over = Alarm(early=False)
    with watchdog.watching():
        pass


def test_only_the_main_thread_can_be_watched() -> None:
    errors: list[str] = []

    def elsewhere() -> None:
        try:
            with Watchdog(1).watching():
                pass
        except UserError as error:
            errors.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert errors == ["--shard-timeout needs the main thread; leave it out, or use --engine ray"]


def test_a_first_look_that_hangs_is_left_out_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], watchdogs: list[Watchdog]
) -> None:
    calls = [0]

    def hangs_once(images: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] == 1:
            hang(watchdogs[-1])
        return np.eye(2)[(images[:, 0, 0, 0] > 100).astype(int)]

    model = from_callable(hangs_once, size=8, version="1", name="sleepy")
    snellen.audit(model, levels(tmp_path), [], tmp_path / "run", shard_timeout=PATIENCE, report=False)
    assert f"note: the first look at sleepy took more than {PATIENCE} s and was left out" in capsys.readouterr().err
