"""Several requests to one service in flight at once, each on a connection of its own; answers come back in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from snellen.models.remote.address import Address
from snellen.models.remote.client import Accept, Client, Declined
from snellen.models.remote.turns import Turns


def fleet_of(
    address: Address, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
) -> Fleet:
    """As many connections to an address as it may have requests in flight; they share its rate and its pauses."""
    turns = Turns(address.rate, clock, sleep)
    return Fleet([Client(address, clock, sleep, turns) for _ in range(address.parallel)])


@dataclass(frozen=True)
class Fleet:
    """Connections to one service, each of which has one request in flight."""

    clients: Sequence[Client]

    @property
    def address(self) -> Address:
        return self.clients[0].address

    def post_all(self, bodies: Iterable[bytes], accept: Accept = lambda content: None) -> list[bytes | Declined]:
        """The answers to some requests, in their order; each is sent again by itself where it fails.

        Bodies are taken one by one, when a connection is free for them. A request that the service declines, or answers in a
        way that cannot be read, is a Declined among the answers. One that fails for good ends the work: those in flight are
        waited for, and its error is raised.
        """
        work = _Work(iter(bodies), accept)
        if len(self.clients) == 1:
            work.carry_out(self.clients[0])
        else:
            work.share(self.clients)
        if work.error is not None:
            raise work.error
        return [work.answers[number] for number in range(len(work.answers))]


@dataclass
class _Work:
    """The requests of one call: those that are left, what came of the others by number, and the first error."""

    bodies: Iterator[bytes]
    accept: Accept
    answers: dict[int, bytes | Declined] = field(default_factory=dict)
    error: BaseException | None = None
    _taken: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def share(self, clients: Sequence[Client]) -> None:
        """Carry the requests out in a thread per connection. Ctrl-C does not wait for them; they end with their request."""
        threads = [threading.Thread(target=self.carry_out, args=(client,), daemon=True) for client in clients]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as error:
            self.error = error
            raise

    def carry_out(self, client: Client) -> None:
        """Send one request after the other until none is left or one fails."""
        try:
            while (request := self._next()) is not None:
                number, body = request
                self.answers[number] = self._post(client, body)
        except BaseException as error:
            self.error = self.error or error

    def _next(self) -> tuple[int, bytes] | None:
        with self._lock:
            body = None if self.error is not None else next(self.bodies, None)
            if body is None:
                return None
            self._taken += 1
            return self._taken - 1, body

    def _post(self, client: Client, body: bytes) -> bytes | Declined:
        try:
            return client.post(body, self.accept)
        except Declined as declined:
            return declined
