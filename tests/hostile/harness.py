"""Hostile inputs through every reader, in processes that may hang or crash, and what came of each."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from .corpus import make_corpus
from .outcome import Outcome
from .patience import POLL, Patience, look_at
from .readers import READERS
from .sandbox import Sandbox

PATIENCE = 120.0  # seconds of processor time for one input, or of waiting: far more than any takes

PART = 50  # inputs that one process reads in a row
WORKER = Path(__file__).with_name("worker.py")


class Harness:
    """A process that reads inputs, started again where one hangs or crashes; `with` removes its folders."""

    def __init__(
        self, seed: int = 0, patience: float = PATIENCE, corpus: Path | None = None, worker: Path = WORKER
    ) -> None:
        self.seed, self.patience, self.worker = seed, Patience(patience), worker
        self._folder = tempfile.TemporaryDirectory(prefix="hostile-")
        self.root = Path(self._folder.name)
        self.sandbox = Sandbox(self.root / "sandbox")
        self.corpus = corpus or make_corpus(self.root / "corpus")
        self._process: subprocess.Popen[str] | None = None
        self._replies = -1
        self._rest = b""

    def __enter__(self) -> Harness:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()
        self._folder.cleanup()

    def run(self, cases: Sequence[tuple[str, int]]) -> Iterator[Outcome]:
        """The outcome of each input, named by its reader and its number."""
        for name, number in cases:
            yield self.attempt(name, number)

    def attempt(self, name: str, number: int) -> Outcome:
        process = self._start() if self._process is None else self._process
        assert process.stdin is not None
        self.patience.start(look_at(process.pid)[0])
        try:
            process.stdin.write(f"{name}\t{number}\n")
            process.stdin.flush()
            line = self._reply()
        except BrokenPipeError:
            line = b""
        if line is None:
            self._stop()
            spent = f"{self.patience.last - self.patience.begun:.0f} s of processor time"
            return Outcome(name, number, "hang", self._change(), f"no answer after {spent}")
        if not line:
            code = process.wait()
            self._stop()
            if code == 1:  # an exception outside the reader
                log = (self.root / "worker.log").read_text(errors="replace")
                raise RuntimeError(f"the harness failed on {name} #{number}:\n{log[-3000:]}")
            return Outcome(name, number, "crash", self._change(), f"the process ended with {code}")
        return Outcome(**json.loads(line))

    def _change(self) -> str:
        """What was done to the files that the process did not survive."""
        return self.sandbox.notes.read_text() if self.sandbox.notes.exists() else ""

    def _start(self) -> subprocess.Popen[str]:
        self._replies, writing = os.pipe()
        with (self.root / "worker.log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(self.worker), str(self.sandbox.root), str(self.corpus), str(self.seed)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                text=True,
                pass_fds=(writing,),
                env={**os.environ, "HOSTILE_REPLY": str(writing)},
            )
        os.close(writing)
        self._rest = b""
        return self._process

    def _reply(self) -> bytes | None:
        """One line of the process; None where it hangs, empty where it ended."""
        assert self._process is not None
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._replies], [], [], POLL)
            if not ready and self.patience.is_over(*look_at(self._process.pid)):
                return None
            if not ready:
                continue
            more = os.read(self._replies, 1 << 16)
            if not more:
                return b""
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._replies)
        self._process = None


def cases_of(inputs: int, only: Sequence[str] = ()) -> list[tuple[str, int]]:
    """About so many inputs, shared out among the readers by their shares; number 0, the undamaged one, is among them."""
    chosen = {name: reader for name, reader in READERS.items() if not only or name in only}
    shares = sum(reader.share for reader in chosen.values())
    counts = {name: max(1, round(inputs * reader.share / shares)) for name, reader in chosen.items()}
    return [(name, number) for name, count in counts.items() for number in range(count + 1)]


def run_together(cases: Sequence[tuple[str, int]], seed: int, patience: float, jobs: int) -> Iterator[Outcome]:
    """The outcomes of the inputs in `jobs` processes, as they come; each process has folders of its own."""
    with Harness(seed, patience) as first, ExitStack() as others, ThreadPoolExecutor(jobs) as pool:
        harnesses = [first, *(others.enter_context(Harness(seed, patience, first.corpus)) for _ in range(jobs - 1))]
        free: queue.SimpleQueue[Harness] = queue.SimpleQueue()
        for harness in harnesses:
            free.put(harness)

        def run(part: Sequence[tuple[str, int]]) -> list[Outcome]:
            harness = free.get()
            try:
                return list(harness.run(part))
            finally:
                free.put(harness)

        parts = [cases[start : start + PART] for start in range(0, len(cases), PART)]
        for done in as_completed([pool.submit(run, part) for part in parts]):
            yield from done.result()
