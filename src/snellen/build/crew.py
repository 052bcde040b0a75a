"""Work spread over processes, whose results come back in the order of the work."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any

from snellen.errors import UserError, command, is_command, option
from snellen.plugins import load_plugin, plugin_files

AHEAD = 4  # tasks waiting per process
Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@contextmanager
def crew(workers: int | None) -> Iterator[Spread]:
    """A function that maps a picklable function over tasks, in `workers` processes, one thread in each.

    1 is this process alone, None one process per core. Tasks are made as they are needed, a few ahead of the work, so that memory
    does not grow with their number.
    """
    workers = (os.cpu_count() or 1) if workers is None else workers
    if workers == 1:
        threads = _opencv_threads(1)
        try:
            yield map
        finally:
            _opencv_threads(threads)
        return
    with ProcessPoolExecutor(workers, _Context(), _alone, (is_command(), [*plugin_files()])) as pool:

        def spread(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
            waiting: deque[Future[Any]] = deque()
            for task in tasks:
                waiting.append(pool.submit(function, task))
                if len(waiting) >= AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

        try:
            yield spread
        except BrokenProcessPool:
            raise UserError(
                "a process that builds died, perhaps for want of memory; "
                f"do the same again with fewer {option('workers')}; it resumes"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Process(SpawnProcess):
    """A new process that does not import the caller's script: what it works with is all in modules of ours, and a script
    without a `__main__` guard would begin to build again in every process."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = script


class _Context(SpawnContext):
    Process = _Process


def _alone(typed: bool, plugins: Sequence[str]) -> None:
    """One thread per process: the processes are what runs side by side. And none outlives the one that it works for.

    Its errors name settings as those of its parent do, and it knows the same plug-ins, which have named what is broken in them.
    """
    command(typed).__enter__()
    for file in plugins:
        load_plugin(file)
    os.environ["OMP_NUM_THREADS"] = "1"
    _opencv_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent does: one that was killed cannot tell them, and its workers would wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _opencv_threads(count: int) -> int:
    """Give OpenCV so many threads; how many it had. Where masks are given a machine need not have it."""
    try:
        import cv2
    except ImportError:
        return count
    before = cv2.getNumThreads()
    cv2.setNumThreads(count)
    return before
