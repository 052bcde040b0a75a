"""The text of a chat model, `http://host/v1#model=NAME&protocol=closed`: where it is, and what it is asked.

The settings of an address (`timeout`, `rate`, `token`, …) say how it is reached; they change no answer and stand in no key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import parse_qsl

from snellen.errors import UserError
from snellen.files import expand_home
from snellen.models.chat.picture import PNG, SentPicture, picture_format
from snellen.models.network_settings import SETTINGS
from snellen.models.remote.address import OPTIONS, Address, parse_address
from snellen.models.text_settings import Readers, choice_setting, number_setting, read_settings, whole_setting

Distractors: TypeAlias = 'Literal["random", "names"] | Path'
ChatProtocol = Literal["closed", "choice", "free"]
VERSION = 2  # bumped by hand when the same text leads to other questions, or to other readings of a reply
SECRETS = re.compile(r"(api|access|auth)?[-_]?(key|token|secret|password|sig|signature)", re.IGNORECASE)
MOST_REPLY = 100_000  # tokens


@dataclass(frozen=True)
class ChatSettings:
    """What stands behind the `#` of a chat model's text, but for how it is reached.

    `model` is its name at the endpoint; `protocol` what it is asked. `none` offers "none of these" as well. `order` is the seed
    of the order in which `choice` offers the classes, `options` how many of them, all where None, and `distractors` which ones:
    at `random`, with alike `names`, or those that a table of confusions says are taken for each other. `picture` is how an image
    is sent. `max_tokens` bounds a reply, `temperature` is that of the sampling; `logprobs` asks how likely the words of the reply
    were. `classes` and `synonyms` are files, where the data's own names are not to be used.
    """

    model: str
    protocol: ChatProtocol = "closed"
    none: bool = False
    order: int = 0
    options: int | None = None
    distractors: Distractors = "random"
    picture: SentPicture = PNG
    max_tokens: int = 64
    temperature: float = 0.0
    logprobs: bool = True
    classes: tuple[str, ...] | None = None
    synonyms: Path | None = None

    @property
    def called(self) -> str:
        """The protocol in words: `closed`, `choice of 4, hard by names`."""
        if self.options is None:
            return self.protocol
        kinds = {"random": "others at random", "names": "hard by names"}
        return f"{self.protocol} of {self.options}, {kinds.get(str(self.distractors), 'hard by confusions')}"

    @property
    def facts(self) -> list[Any]:
        """What of them an answer depends on, beside the names of the classes."""
        order = self.order if self.protocol == "choice" else 0
        sampling = [self.max_tokens, self.temperature, self.logprobs]
        return [VERSION, self.model, self.protocol, self.none, order, asdict(self.picture), sampling]


def parse_chat(place: str) -> tuple[Address, ChatSettings]:
    """Where a chat model is, with the path of its completions, and what it is asked; what is wrong with the text is named."""
    url, _, query = place.partition("#")
    values = read_settings(query, {**REACHING, **ASKING}, f"chat:{url}")
    _check_options(values, url)
    if "model" not in values:
        raise UserError(f"'chat:{url}' names no model; add #model=NAME, as the endpoint calls it")
    _refuse_secrets(url)
    reaching = {name: values.pop(name) for name in list(values) if name in REACHING}
    picture = SentPicture(**{name: values.pop(name) for name in ("format", "side", "detail") if name in values})
    return replace(_completions(url), **reaching), ChatSettings(picture=picture, **values)


def _check_options(values: Mapping[str, Any], url: str) -> None:
    """Refuse settings of options where there is no choice among some."""
    if "options" in values and values.get("protocol") != "choice":
        raise UserError(
            f"'chat:{url}' sets options, which only a choice has; add &protocol=choice, or leave options out"
        )
    if "distractors" in values and "options" not in values:
        raise UserError(
            f"'chat:{url}' sets distractors, and offers all classes; add #options=4, or leave distractors out"
        )


def _completions(url: str) -> Address:
    """The address that questions are posted to: `/chat/completions` below that of the endpoint."""
    path, mark, query = url.partition("?")
    return replace(parse_address(path.rstrip("/") + "/chat/completions" + mark + query), **DEFAULTS)


def _refuse_secrets(url: str) -> None:
    """Refuse a key in the URL, which every message and report would show."""
    for name, _ in parse_qsl(url.partition("?")[2], keep_blank_values=True):
        if SECRETS.fullmatch(name):
            raise UserError(
                f"the URL of 'chat:{url.partition('?')[0]}' holds '{name}', which every report would show; put it into an "
                "environment variable and name that: #token=NAME"
            )


def _name(value: str) -> str:
    if not value.isprintable() or not 1 <= len(value) <= 300:
        raise ValueError("as the endpoint calls it")
    return value


def _prices(value: str) -> tuple[float, float]:
    prices = [float(part) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", part) else -1.0 for part in value.split(",")]
    if len(prices) > 2 or min(prices) < 0:
        raise ValueError("as what a million tokens cost that are read, and that are written, such as 0.15,0.6")
    return prices[0], prices[-1]


def _distractors(value: str) -> Distractors:
    return value if value in ("random", "names") else expand_home(value)  # type: ignore[return-value]


def _yes(value: str) -> bool:
    return choice_setting("yes", "no")(value) == "yes"


DEFAULTS: dict[str, Any] = {
    "timeout": 120.0,
    "batch": 1,
    "parallel": 4,
}  # where a chat model is reached otherwise than another service
REACHING: Readers = {
    **{name: read for name, read in OPTIONS.items() if name not in ("batch", "task", "answers")},
    "token_price": _prices,
}
ASKING: Readers = {
    "model": _name,
    "protocol": choice_setting(*get_args(ChatProtocol)),
    "none": _yes,
    "order": whole_setting(0, 999_999_999),
    "options": whole_setting(2, 1_000),
    "distractors": _distractors,
    "format": picture_format,
    "side": whole_setting(8, 10_000),
    "detail": choice_setting("auto", "low", "high"),
    "max_tokens": whole_setting(1, MOST_REPLY),
    "temperature": number_setting(0, 2),
    "logprobs": _yes,
    "classes": SETTINGS["classes"],
    "synonyms": expand_home,
}
