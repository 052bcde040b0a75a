"""The address of a remote model, `http://host:port/path#timeout=10&rate=5`: where it is, and how it may be asked.

The settings stand in the fragment, which never leaves this machine; the URL's own `?query` is the service's.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import get_args
from urllib.parse import SplitResult, urlsplit

from snellen.errors import UserError
from snellen.models.card import Task
from snellen.models.text_settings import (
    Readers,
    choice_setting,
    number_setting,
    read_settings,
    size_setting,
    whole_setting,
)

LONGEST = 4_000  # characters of a text
MOST_PARALLEL = 256  # requests in flight
MOST_REPEATS = 1_000
ROUNDS, MOST_AT_ONCE = 8, 1024  # requests per connection in one call, where its images are no more than so many


@dataclass(frozen=True)
class Address:
    """Where a remote model is, and how it is asked.

    `timeout` is in seconds per request, from connecting to the last byte; `rate` the most requests per second; `batch` the most
    images per request; `retries` how often a request that failed is sent again; `parallel` the most requests in flight; `size`
    (height, width) of the images in pixels, else the data's own.
    `budget` is the most requests of a run, with those that are sent again; `price` is what a thousand cost, in any currency, and
    `token_price` what a million tokens cost that are read, and that are written.
    Of a service that is asked `repeats` times about each image, this is the `repeat`th run.
    `answers` are `probabilities` or `labels`, the names of classes.
    `token` names an environment variable whose value is sent as a bearer token: the secret itself stands in no text.
    """

    url: str
    timeout: float = 30.0
    rate: float = math.inf
    batch: int = 32
    retries: int = 3
    size: tuple[int, int] | None = None
    token: str = ""
    task: Task = "classification"
    answers: str = "probabilities"
    parallel: int = 1
    budget: float = math.inf
    price: float | None = None
    token_price: tuple[float, float] | None = None
    repeats: int = 1
    repeat: int = 1

    @property
    def of_repeat(self) -> list[str]:
        """What tells the fingerprint of one repeat from that of another; nothing of the first."""
        return [] if self.repeat == 1 else [f"repeat {self.repeat}"]

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url)

    @property
    def target(self) -> str:
        """What a request names: path and query."""
        return (self.parts.path or "/") + (f"?{self.parts.query}" if self.parts.query else "")

    @property
    def at_once(self) -> int:
        """Images that a call of the model should have for all connections to be busy most of its time; 0 where there is one."""
        full = self.parallel * self.batch
        return 0 if self.parallel == 1 else max(full, min(ROUNDS * full, MOST_AT_ONCE))

    @property
    def name(self) -> str:
        """A short name of the model: host, port and path."""
        return re.sub(r"[^\w.+]+", "-", self.parts.netloc + self.parts.path).strip("-")


def parse_address(text: str) -> Address:
    """The address of a text; what is wrong with it is named."""
    url, _, query = text.partition("#")
    _check_url(url)
    return Address(url, **read_settings(query, OPTIONS, url))


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"'{url}' is not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise UserError(f"expected a URL as http://host:port/path or https://host/path, got '{url}'")
    if parts.username is not None or parts.password is not None:
        raise UserError(
            f"'{parts.scheme}://{parts.hostname}…' holds a password, which every report would show; put a token into an "
            "environment variable and name it: #token=NAME"
        )
    if len(url) > LONGEST or not re.fullmatch(r"[!-~]+", url):
        raise UserError(f"'{url}' holds characters that no URL has; write them as %20 and so on")


def _variable(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError("as the name of an environment variable")
    return value


OPTIONS: Readers = {
    "timeout": number_setting(0.001, 86_400),
    "rate": number_setting(0.001, 1_000_000),
    "batch": whole_setting(1, 100_000),
    "retries": whole_setting(0, 1_000),
    "size": size_setting,
    "token": _variable,
    "task": choice_setting(*get_args(Task)),
    "answers": choice_setting("probabilities", "labels"),
    "parallel": whole_setting(1, MOST_PARALLEL),
    "budget": whole_setting(1, 999_999_999),
    "price": number_setting(0, 1_000_000),
    "repeats": whole_setting(1, MOST_REPEATS),
    "repeat": whole_setting(1, MOST_REPEATS),
}
