"""What is printed never acts on a terminal, and how a command ends is told by its exit code."""

from __future__ import annotations

import ast
import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen import terminal
from snellen.cli import main
from snellen.cli.printing import print_table, show_outline
from snellen.cli.train import note
from snellen.engine import RunProgress
from snellen.errors import CONTROL, UserError

SOURCE = Path(__file__).parents[1] / "src" / "snellen"
NASTY = "a\x1b[31mb\x9bc\nd\re\x07\u202ef\udce9\u2028"
ESCAPES = r"a\x1b[31mb\x9bc\nd\re\x07\u202ef\udce9\u2028"


def test_only_one_module_prints() -> None:
    """So that a new command cannot forget to escape what it prints."""
    for file in SOURCE.rglob("*.py"):
        calls = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        names = {call.id for call in calls if isinstance(call, ast.Name)}
        if file.name != "terminal.py":
            assert "print" not in names, file


def test_notes_progress_tables_and_outlines_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    progress = RunProgress()
    progress.terminal = True
    for tell in (progress.say, progress.note, progress.warn, note):
        tell(NASTY)
    print_table([("head", "b"), (NASTY, "value")])
    show_outline({"list": [NASTY], "table": {NASTY: [NASTY]}, "text": NASTY, "number": 3_000})
    out, err = capsys.readouterr()
    for text in (out, err):
        assert not CONTROL.search(text.replace("\n", ""))
    assert err.splitlines() == [ESCAPES, f"note: {ESCAPES}", f"warning: {ESCAPES}", f"note: {ESCAPES}"]
    assert f"{ESCAPES}  value" in out
    assert out.endswith(f"list:\n  {ESCAPES}\ntable:\n  {ESCAPES}: {ESCAPES}\ntext: {ESCAPES}\nnumber: 3,000\n")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=20) | st.just(NASTY))
def test_json_and_blocks_only_show(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("builtins.print", lambda *words, **how: lines.extend(words))
        terminal.show_json({"a": [text]})
        terminal.show_block(f"{text}\nb\r\nc")
    plain, block = lines
    assert json.loads(plain) == {"a": [text]}
    for line in (*plain.splitlines(), *block.split("\n")):
        assert not CONTROL.search(line)
    assert block.endswith("\nb\nc")


class Odd(BaseException):
    """What no code catches."""


@pytest.mark.parametrize(
    ("error", "code", "last"),
    [
        (UserError("wrong \x1b[31m"), 2, r"error: wrong \x1b[31m"),
        (ZeroDivisionError("ours"), 3, "error: this is a defect of snellen"),
        (Odd("ours"), 3, "error: this is a defect of snellen"),
        (AssertionError(NASTY), 3, "error: this is a defect of snellen"),
        (SystemExit(0), 2, "error: a model, or other code that was loaded, called sys.exit(0)"),
        (SystemExit(1), 2, "error: a model, or other code that was loaded, called sys.exit(1)"),
        (KeyboardInterrupt(), 130, "stopped; the same command continues where it was"),
        (OSError(errno.ENOSPC, "No space left on device", "a/b"), 2, "error: cannot write a/b: no space left"),
        (OSError(errno.EROFS, "Read-only file system", "a/b"), 2, "error: cannot write a/b: read-only file system"),
        (OSError(errno.EIO, "Input/output error", "a/b"), 3, "error: this is a defect of snellen"),
    ],
)
def test_how_a_command_ends_is_told_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, last: str
) -> None:
    def fail(kind: str) -> None:
        raise error

    monkeypatch.setattr("snellen.catalogue.listing", fail)
    with pytest.raises(SystemExit) as stopped:
        main(["list", "models"])
    assert stopped.value.code == code
    told = capsys.readouterr()
    assert told.out == ""
    assert not CONTROL.search(told.err.replace("\n", ""))
    lines = told.err.strip().splitlines()
    assert lines[-1].startswith(last)
    assert len(lines) == 1 or code == 3


def test_debug_shows_the_traceback_of_sys_exit_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("snellen.catalogue.listing", lambda kind: sys.exit(0))
    with pytest.raises(SystemExit):
        main(["list", "models", "--debug"])
    assert "Traceback" in capsys.readouterr().err


def command(line: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `"$@"` is snellen."""
    words = ["bash", "-c", line, "_", sys.executable, "-m", "snellen"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_reader_that_has_enough_and_a_full_disk_are_no_defects() -> None:
    ended = command('("$@" list models; echo $? >&2) | true')
    assert ended.stderr.strip() in ("141", "0")
    full = command('"$@" list models > /dev/full')
    assert full.returncode == 2
    assert full.stderr.startswith("error: cannot write to the output: no space left on device")
    assert len(full.stderr.strip().splitlines()) == 1


def test_an_encoding_without_the_letter_gets_an_escape() -> None:
    done = command('PYTHONIOENCODING=ascii "$@" list audits')
    assert (done.returncode, done.stderr) == (0, "")
