"""Work spread over processes, whose results come back in the order of the work."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from snellen.errors import UserError, is_command, option
from snellen.plugins import plugin_files
from snellen.processes import Context, begin_beside

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
    with ProcessPoolExecutor(workers, Context(), _alone, (is_command(), [*plugin_files()])) as pool:

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


def _alone(typed: bool, plugins: Sequence[str]) -> None:
    begin_beside(typed, plugins)
    _opencv_threads(1)


def _opencv_threads(count: int) -> int:
    """Give OpenCV so many threads; how many it had. Where masks are given a machine need not have it."""
    try:
        import cv2
    except ImportError:
        return count
    before = cv2.getNumThreads()
    cv2.setNumThreads(count)
    return before
