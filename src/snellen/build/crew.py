"""Work spread over processes, whose results come back in the order of the work."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any

from snellen.errors import UserError

AHEAD = 4  # tasks waiting per process
MOST_WORKERS = 1024


@contextmanager
def crew(workers: int | None) -> Iterator[Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]]:
    """A function that maps a picklable function over tasks, in `workers` processes, one thread in each.

    1 is this process alone, None one process per core. Tasks are made as they are needed, a few ahead of the work, so that memory
    does not grow with their number.
    """
    workers = (os.cpu_count() or 1) if workers is None else workers
    if workers < 1:
        raise UserError(f"expected --workers of at least 1, got {workers}")
    if workers > MOST_WORKERS:
        raise UserError(f"expected --workers of at most {MOST_WORKERS:,}, got {workers}")
    if workers == 1:
        threads = _opencv_threads(1)
        try:
            yield map
        finally:
            _opencv_threads(threads)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _alone) as pool:

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
                "run the same command again with fewer --workers; it resumes"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _alone() -> None:
    """One thread per process: the processes are what runs side by side. And none outlives the one that it works for."""
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
