"""The blocks of a page that a reader can run: their script, why one is not run, and how a script is carried out here.

A block that cannot be run in a test has the reason in a comment of HTML on the line above it:

    <!-- not run: needs the network -->

and so has an output that is not compared with what the block above it gives: `not compared: REASON`, `compared by TEST`.

The script goes through a real shell; only `snellen` is carried out in this process, so that packages are imported once.
"""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import IO

from .pages import blocks

PROGRAMS = "snellen|pip|python3?|printf|cp|docker|vllm|ollama|ray|accelerate|export|make"
MARK = re.compile(r"<!-- not run: (.+) -->")
SHOWN_MARK = re.compile(r"<!-- ((?:not compared: |compared by ).+) -->")
FILES = ("csv", "json", "yaml", "toml", "dockerfile", "nginx", "markdown")  # fences of what the reader writes
BEFORE = """exec 3>&1 4<&0 1>&2 </dev/null
snellen() { printf '%s\\n' $# >&3; printf '%s\\0' "$@" >&3; read -r code <&4; return "$code"; }
"""


@dataclass(frozen=True)
class Block:
    """A script for the shell or a piece of Python: `reason` why it is not run, else empty; `shown` its output on the page."""

    language: str
    text: str
    reason: str = ""
    shown: str = ""


def runnable(page: str) -> list[Block]:
    """The blocks of a page that hold commands or Python, in order."""
    found: list[Block] = []
    before = ""
    for kind, lines in blocks(page):
        mark = MARK.fullmatch(before.strip())
        before = lines[-1] if kind == "prose" else ""
        if kind == "code" and lines[0] == "```text":
            found[-1] = replace(found[-1], shown="\n".join(lines[1:-1]))
        elif kind == "code" and (block := _block(lines, mark[1] if mark else "")):
            found.append(block)
        elif mark:
            raise ValueError(f"no command follows the mark {mark[0]}")
    return found


@dataclass(frozen=True)
class Shown:
    """What a page shows and is no command, Python or content of a file: the script that it follows at once, and its mark."""

    text: str
    follows: Block | None = None
    mark: str = ""


def shown(page: str) -> Iterator[Shown]:
    """The outputs of a page, in order; a console has its own script."""
    above, mark, script = "", None, None
    for kind, lines in blocks(page):
        if kind != "code":
            above, script = lines[-1].strip(), None
            continue
        mark, fence = SHOWN_MARK.fullmatch(above), re.match(r"\s*```(\w*)", lines[0])
        reason = MARK.fullmatch(above)
        above, before, script = "", script, _block(lines, reason[1] if reason else "")
        if script and script.shown:
            yield Shown(script.shown, script)
        elif not script and not (fence and fence[1] in FILES):
            yield Shown("\n".join(lines), before, mark[1] if mark else "")


def _block(lines: list[str], reason: str) -> Block | None:
    fence = re.match(r"\s*```(\w*)", lines[0])
    text = textwrap.dedent("\n".join(lines[1:-1] if fence else lines)) + "\n"
    if fence and fence[1] == "python":
        return Block("python", text, reason)
    if fence and fence[1] == "console":
        (command,) = re.findall(r"^\$ ((?:.*\\\n)*.*\n)", text, re.M)
        return Block("sh", command, reason, text.partition(command)[2])
    starts = any(re.match(rf"({PROGRAMS}) ", line) for line in text.splitlines())
    return Block("sh", text, reason) if starts and (not fence or fence[1] in ("", "sh")) else None


def carry_out(script: str, command: Callable[[list[str]], int]) -> int:
    """The exit code of a script whose `snellen …` are given to `command`; the first one that fails ends it."""
    shell = ["sh", "-e", "-c", BEFORE + script]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        while count := process.stdout.readline():
            code = command([_word(process.stdout) for _ in range(int(count))])
            process.stdin.write(f"{code}\n".encode())
            process.stdin.flush()
    return process.returncode


def _word(stream: IO[bytes]) -> str:
    read = bytearray()
    while (letter := stream.read(1)) not in (b"", b"\0"):
        read += letter
    return os.fsdecode(bytes(read))
