"""Progress is for people at a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from snellen.engine import RunProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(progress: RunProgress) -> None:
    progress.start(100)
    progress.advance(60)
    progress.advance(40)
    progress.stop()


def test_nothing_is_said_without_a_terminal_or_when_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, quiet in ((io.StringIO(), False), (Terminal(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        run(RunProgress(quiet))
        assert stream.getvalue() == ""


def test_a_terminal_sees_rate_and_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(RunProgress())
    assert "asked 100 images in" in sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "images/s" in sys.stderr.getvalue()  # type: ignore[attr-defined]
