"""Several requests to one service in flight at once, each on a connection of its own; answers come back in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from snellen.hashing import checksum
from snellen.models.remote.address import Address
from snellen.models.remote.ahead import Body, MadeAhead
from snellen.models.remote.client import Client, Declined, turns_of
from snellen.models.remote.token_use import TokenMeter
from snellen.models.remote.turns import Turns

T = TypeVar("T")


class Journal(Protocol):
    """What keeps answers by the key of their request, and gives each of an earlier command back once."""

    def take(self, key: str) -> bytes | None: ...
    def add(self, key: str, answer: bytes) -> None: ...


def as_it_is(number: int, content: bytes) -> bytes:
    """An answer that is not read here."""
    return content


def fleet_of(
    address: Address, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
) -> Fleet:
    """As many connections to an address as it may have requests in flight; they share its rate and its pauses."""
    turns = turns_of(address, clock, sleep)
    return Fleet([Client(address, clock, sleep, turns) for _ in range(address.parallel)])


def _reconnected(address: Address, meter: TokenMeter | None) -> Fleet:
    fleet = fleet_of(address)
    fleet.meter = meter
    return fleet


@dataclass
class Fleet:
    """Connections to one service, each of which has one request in flight. What it answers is kept in the `journal`, where there
    is one; a `meter` counts the tokens of services that state them."""

    clients: Sequence[Client]
    journal: Journal | None = None
    meter: TokenMeter | None = None

    def __reduce__(self) -> Any:
        return _reconnected, (self.address, self.meter)  # where it travels to it connects again

    @property
    def address(self) -> Address:
        return self.clients[0].address

    @property
    def turns(self) -> Turns:
        """What all connections share."""
        return self.clients[0].turns

    def post_all(
        self,
        bodies: Iterable[Body],
        read: Callable[[int, bytes], T] = as_it_is,  # type: ignore[assignment]
    ) -> list[T | Declined]:
        """What `read` makes of the answers to some requests and of their numbers, in their order; as they are without it.

        Each request is sent again by itself where it fails, or where `read` raises UnreadableAnswer. One that the service
        declines, or whose answer stays unreadable, is a Declined among the answers. Bodies are taken one by one; those that have
        to be made are made side by side while others are in flight, as many ahead as there are connections. A request that
        fails for good ends the work: those in flight are waited for, and its error is raised.
        """
        work = _Work(MadeAhead(iter(bodies), len(self.clients)), read, self)
        work.share(self.clients)
        if work.error is not None:
            raise work.error
        return [work.answers[number] for number in range(len(work.answers))]

    def key_of(self, body: bytes) -> str:
        """What a request is known by in the journal: repeats have answers of their own."""
        return checksum(" ".join([self.address.url, *self.address.of_repeat]).encode() + b"\n" + body)


@dataclass
class _Work(Generic[T]):
    """The requests of one call: those that are left, what came of the others by number, and the first error."""

    bodies: MadeAhead
    read: Callable[[int, bytes], T]
    fleet: Fleet
    answers: dict[int, T | Declined] = field(default_factory=dict)
    error: BaseException | None = None

    def share(self, clients: Sequence[Client]) -> None:
        """Carry the requests out in a thread per connection. Ctrl-C does not wait for them; they end with their request."""
        sending = [threading.Thread(target=self.carry_out, args=(client,), daemon=True) for client in clients]
        try:
            for thread in (*self.bodies.threads(), *sending):
                thread.start()
            for thread in sending:
                thread.join()
        except BaseException as error:
            self.error = error
            self.bodies.stop()
            raise

    def carry_out(self, client: Client) -> None:
        """Send one request after the other until none is left or one fails."""
        try:
            while (request := self.bodies.next()) is not None:
                number, body = request
                self.answers[number] = self._post(client, number, body)
        except BaseException as error:
            self.error = self.error or error
            self.bodies.stop()

    def _post(self, client: Client, number: int, body: bytes) -> T | Declined:
        """The answer to one request: that of an earlier command, or the service's, kept as soon as it can be read."""
        journal, answers = self.fleet.journal, list[T]()
        key = "" if journal is None else self.fleet.key_of(body)
        if journal is not None and (known := journal.take(key)) is not None:
            return self.read(number, known)
        try:
            content = client.post(body, lambda content: answers.append(self.read(number, content)))
        except Declined as declined:
            return declined
        if self.fleet.meter is not None and (use := self.fleet.meter.used(content)) is not None:
            self.fleet.turns.count_tokens(use)
        if journal is not None:
            journal.add(key, content)
        return answers[-1]
