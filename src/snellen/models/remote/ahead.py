"""Bodies of requests made ahead: while connections wait for answers, the next pictures are encoded."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Body: TypeAlias = bytes | Callable[[], bytes]  # of a request, or what makes it
MAKERS = 4  # threads that make bodies; a fleet of fewer connections has as many as these


@dataclass
class MadeAhead:
    """Bodies by number, taken from an iterator one by one and made by some threads, at most `room` of them ahead of those that
    were given out. What goes wrong is raised by `next`."""

    bodies: Iterator[Body]
    room: int
    _ready: deque[tuple[int, bytes]] = field(default_factory=deque, init=False)
    _making: int = field(default=0, init=False)
    _count: int = field(default=0, init=False)
    _ended: bool = field(default=False, init=False)  # no body is left to make
    _stopped: bool = field(default=False, init=False)
    _error: BaseException | None = field(default=None, init=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)

    def threads(self) -> list[threading.Thread]:
        """Those that make them, to be started."""
        return [threading.Thread(target=self._make, daemon=True) for _ in range(min(self.room, MAKERS))]

    def next(self) -> tuple[int, bytes] | None:
        """The next body and its number; None where none is left or the work was stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._stopped or (self._ended and not self._making))
            if self._error is not None:
                raise self._error
            self._changed.notify_all()
            return self._ready.popleft() if self._ready and not self._stopped else None

    def stop(self, error: BaseException | None = None) -> None:
        """Make and give out no more; an error is raised where the next is asked for."""
        with self._changed:
            self._stopped, self._error = True, self._error or error
            self._changed.notify_all()

    def _make(self) -> None:
        try:
            while (request := self._take()) is not None:
                number, body = request
                content = body if isinstance(body, bytes) else body()
                with self._changed:
                    self._making -= 1
                    self._ready.append((number, content))
                    self._changed.notify_all()
        except BaseException as error:
            self.stop(error)

    def _take(self) -> tuple[int, Body] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self._ready) + self._making < self.room)
            body = None if self._stopped else next(self.bodies, None)
            if body is None:
                self._ended = True
                self._changed.notify_all()
                return None
            self._making += 1
            self._count += 1
            return self._count - 1, body
