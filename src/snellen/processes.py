"""Processes of ours beside this one: they import no script of the caller's, know the same plug-ins and end with it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any

from snellen.errors import command
from snellen.plugins import load_plugin

_starting = threading.Lock()


class _Process(SpawnProcess):
    """A new process that does not import the caller's script: what it works with is all in modules of ours, and a script
    without a `__main__` guard would begin its work again in every process."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with _starting:
            script = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                sys.modules["__main__"] = script


class Context(SpawnContext):
    """What multiprocessing starts such processes by."""

    Process = _Process


def begin_beside(typed: bool, plugins: Sequence[str]) -> None:
    """What such a process does first. One thread each: the processes are what runs side by side.

    Its errors name settings as those of its parent do, and it knows the same plug-ins, which have named what is broken in them.
    """
    command(typed).__enter__()
    for file in plugins:
        load_plugin(file)
    os.environ["OMP_NUM_THREADS"] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent does: one that was killed cannot tell them, and its workers would wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
