"""What a plan asks of web services: requests, what they cost, and the least time that a rate leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.engine.inputs import Inputs
from snellen.engine.keep.request_tally import requests_made
from snellen.engine.plan import Plan
from snellen.engine.requests.cell import BoundCell
from snellen.models.subject import Subject

if TYPE_CHECKING:
    from snellen.models.remote.address import Address


@dataclass(frozen=True)
class ServicePlan:
    """What is left to ask of one service, without requests that are sent again: `requests` for answers, searches and surveys, and
    at most so many for trials. `sent` are those that the run folder has counted. `price` is that of a thousand."""

    url: str
    requests: int
    trial_requests_at_most: int
    sent: int
    price: float | None
    budget: float
    rate: float

    def to_json(self) -> dict[str, Any]:
        """What the outline states; nothing of what is not known or not asked."""
        facts: dict[str, Any] = {"url": self.url, "requests": self.requests, "sent": self.sent}
        if self.trial_requests_at_most:
            facts["trial_requests_at_most"] = self.trial_requests_at_most
        if self.price is not None:
            facts["cost"] = cost_of(self.requests + self.trial_requests_at_most, self.price)
        if math.isfinite(self.budget):
            facts["budget"] = int(self.budget)
        if math.isfinite(self.rate):
            facts["seconds_at_rate"] = round((self.requests + self.trial_requests_at_most) / self.rate, 1)
        return facts


def cost_of(requests: int, price: float) -> float:
    """What so many requests cost, at the price of a thousand."""
    return round(requests * price / 1000, 6)


def service_plans(inputs: Inputs, plan: Plan, folder: Path, donors: int = 0) -> list[ServicePlan]:
    """What the plan leaves to ask of each service, by its URL."""
    addresses: dict[str, Address] = {}
    requests: dict[str, int] = {}
    trials: dict[str, int] = {}
    for subject in inputs.subjects:
        for fleet in () if subject.loaded is None else subject.loaded.fleets:
            url = fleet.address.url
            addresses[url] = fleet.address
            batch = fleet.address.batch
            requests[url] = requests.get(url, 0) + sum(math.ceil(size / batch) for size in _calls(subject, plan))
            most = (plan.most_images(trial, donors) for trial in plan.open_trials if _is_of(trial, subject))
            trials[url] = trials.get(url, 0) + math.ceil(sum(most) / batch)
    return [
        ServicePlan(
            url,
            requests[url],
            trials[url],
            requests_made(folder, url),
            address.price,
            address.budget,
            address.rate,
        )
        for url, address in addresses.items()
    ]


def _calls(subject: Subject, plan: Plan) -> Iterator[int]:
    """The number of images in each call of a model that the plan leaves to do."""
    for pass_ in plan.passes:
        for request in pass_.remaining:
            if (request.subject.name, request.subject.run) != (subject.name, subject.run):
                continue
            most = plan.batch_for(request.canvas)
            for shard in pass_.shards:
                yield from list(_parts(len(plan.samples_of(pass_.on, shard)), most)) * request.passes
    for asking in (*plan.open_searches, *plan.open_surveys):
        if _is_of(asking, subject):
            yield from _parts(plan.most_images(asking), plan.batch_for(asking.canvas))


def _parts(images: int, most: int) -> Iterator[int]:
    yield from [most] * (images // most)
    if images % most:
        yield images % most


def _is_of(asking: BoundCell, subject: Subject) -> bool:
    return (asking.subject.name, asking.subject.run) == (subject.name, subject.run)


def requests_so_far(inputs: Inputs, folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """By URL, how many requests a run folder has made to each service, and what they cost where a price is known."""
    facts: dict[str, dict[str, Any]] = {}
    for subject in inputs.subjects:
        for fleet in () if subject.loaded is None else subject.loaded.fleets:
            sent, price = requests_made(folder, fleet.address.url), fleet.address.price
            facts[fleet.address.url] = {"requests": sent} | ({} if price is None else {"cost": cost_of(sent, price)})
    return facts
