"""Progress says what is asked, how much is left and how fast it goes, on a terminal alone."""

from __future__ import annotations

import io
import re
import sys

import pytest

from snellen.engine.progress import WIDEST, RunProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_names_what_is_asked_with_what_is_left_and_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(
        sys, "stderr", terminal
    )  # in the test itself: pytest puts its own back between fixtures and test
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    progress = RunProgress()
    progress.start(200)
    progress.describe("14 conditions, [bold]basic")
    progress.advance(50)
    progress._bar.refresh()
    progress.stop()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    assert "14 conditions, [bold]basic" in shown
    assert "50/200" in shown
    assert "images/s" in shown
    assert all(len(line) <= 80 for line in re.split(r"[\r\n]+", shown))


def test_a_long_name_is_cut_and_nothing_is_shown_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress = RunProgress()
    progress.describe("x" * 100)
    assert progress.about == "x" * (WIDEST - 1) + "…"
    progress.start(10)
    progress.advance(10)
    progress.stop()
    assert capsys.readouterr().err == ""
