"""What a plan asks of web services: requests, tokens, what they cost, and the least time that a rate leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.engine.inputs import Inputs
from snellen.engine.keep.request_tally import requests_made, tokens_used
from snellen.engine.plan import Plan
from snellen.engine.requests.cell import BoundCell, canvas_for
from snellen.models.remote.token_use import TokenUse
from snellen.models.subject import Subject

if TYPE_CHECKING:
    from snellen.models.remote.address import Address


@dataclass(frozen=True)
class ServicePlan:
    """What is left to ask of one service, without requests that are sent again: `requests` for answers, searches and surveys, and
    at most so many for trials. `sent` are those that the run folder has counted. `tokens` are those of all these requests, where
    the service counts in tokens: the mean of what `known_answers` of the folder have stated, else an estimate."""

    address: Address
    requests: int
    trial_requests_at_most: int
    sent: int
    tokens: TokenUse
    known_answers: int

    def to_json(self) -> dict[str, Any]:
        """What the outline states; nothing of what is not known or not asked."""
        address, most = self.address, self.requests + self.trial_requests_at_most
        facts: dict[str, Any] = {"url": address.url, "requests": self.requests, "sent": self.sent}
        if self.trial_requests_at_most:
            facts["trial_requests_at_most"] = self.trial_requests_at_most
        if self.tokens.answers:
            facts |= {"input_tokens": self.tokens.input, "output_tokens": self.tokens.output}
            known = f"the mean of {self.known_answers:,} answers" if self.known_answers else "an estimate"
            facts["tokens_from"] = f"tokens by {known}"
        if (cost := cost_of(address, most, self.tokens)) is not None:
            facts["cost"] = cost
        if math.isfinite(address.budget):
            facts["budget"] = int(address.budget)
        if math.isfinite(address.rate):
            facts["seconds_at_rate"] = round(most / address.rate, 1)
        return facts


def cost_of(address: Address, requests: int, tokens: TokenUse) -> float | None:
    """What so many requests with so many tokens cost, by the prices that are known; None where there is none."""
    if address.price is None and address.token_price is None:
        return None
    by_request = requests * (address.price or 0.0) / 1000
    return round(by_request + (tokens.cost(address.token_price) if address.token_price else 0.0), 6)


def service_plans(inputs: Inputs, plan: Plan, folder: Path, donors: int = 0) -> list[ServicePlan]:
    """What the plan leaves to ask of each service, by its URL."""
    addresses: dict[str, Address] = {}
    requests: dict[str, int] = {}
    trials: dict[str, int] = {}
    estimates: dict[str, TokenUse] = {}
    for subject in inputs.subjects:
        for fleet in () if subject.loaded is None else subject.loaded.fleets:
            url = fleet.address.url
            addresses[url] = fleet.address
            batch = fleet.address.batch
            own = sum(math.ceil(size / batch) for size in _calls(subject, plan))
            most = (plan.most_images(trial, donors) for trial in plan.open_trials if _is_of(trial, subject))
            of_trials = math.ceil(sum(most) / batch)
            requests[url] = requests.get(url, 0) + own
            trials[url] = trials.get(url, 0) + of_trials
            if fleet.meter is not None:
                canvas = canvas_for(subject, inputs.data["test"])
                expected = fleet.meter.expected(canvas.height, canvas.width)
                estimates[url] = estimates.get(url, TokenUse()) + expected.times(own + of_trials)
    return [
        ServicePlan(address, requests[url], trials[url], requests_made(folder, url), *_tokens(folder, url, estimates))
        for url, address in addresses.items()
    ]


def _tokens(folder: Path, url: str, estimates: Mapping[str, TokenUse]) -> tuple[TokenUse, int]:
    """The tokens that are left to use at a URL, by what its answers have stated or else by estimates; and how many answers that
    were."""
    estimate, known = estimates.get(url, TokenUse()), tokens_used(folder, url)
    if not known.answers:
        return estimate, 0
    share = estimate.answers / known.answers
    return TokenUse(estimate.answers, round(known.input * share), round(known.output * share)), known.answers


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
    """By URL, how many requests a run folder has made to each service, the tokens that its answers state, and what that cost
    where a price is known."""
    facts: dict[str, dict[str, Any]] = {}
    for subject in inputs.subjects:
        for fleet in () if subject.loaded is None else subject.loaded.fleets:
            url = fleet.address.url
            sent, tokens = requests_made(folder, url), tokens_used(folder, url)
            cost = cost_of(fleet.address, sent, tokens)
            facts[url] = {"requests": sent} | ({} if cost is None else {"cost": cost})
            if tokens.answers:
                facts[url]["tokens"] = asdict(tokens)
    return facts
