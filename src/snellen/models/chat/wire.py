"""What goes over the wire: OpenAI's chat completions, as vLLM, Ollama, LM Studio and hosted services speak them."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import msgspec

from snellen.errors import UserError
from snellen.files import decode_json
from snellen.models.chat.reading import ChatReply
from snellen.models.chat.settings import ChatSettings

MOST_TOKENS = 1_000_000  # of one reply
FILTERED = ("content_filter", "content_policy_violation")  # codes of errors that are refusals
ALTERNATIVES = 20  # likeliest tokens that are asked for at each place, the most that services give


class _Alternative(msgspec.Struct):
    token: str
    logprob: float


class _Token(_Alternative):
    top_logprobs: Annotated[list[_Alternative], msgspec.Meta(max_length=1000)] | None = None


class _LogProbs(msgspec.Struct):
    content: Annotated[list[_Token], msgspec.Meta(max_length=MOST_TOKENS)] | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _LogProbs | None = None


class Completion(msgspec.Struct):
    """The parts of a chat completion that are read."""

    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1, max_length=100)]

    @property
    def reply(self) -> ChatReply:
        choice = self.choices[0]
        refused = bool(choice.message.refusal) or choice.finish_reason == "content_filter"
        return ChatReply(choice.message.content or "", refused, choice.finish_reason == "length")

    def probability(self, start: int, stop: int) -> float:
        """How likely the words from `start` to `stop` were, given those before; nan where the service does not tell."""
        tokens = self._tokens_at(start, stop)
        return math.exp(min(0.0, sum(token.logprob for token in tokens))) if tokens else math.nan

    def alternatives(self, start: int, stop: int) -> dict[str, float]:
        """The probability of each word that could have stood in place of one that is a single token, by the word without what
        stands around it; nothing where the service does not tell."""
        tokens = self._tokens_at(start, stop)
        if len(tokens) != 1 or tokens[0].top_logprobs is None:
            return {}
        shares: dict[str, float] = {}
        for other in tokens[0].top_logprobs:
            word = other.token.strip(" \n\t().:*\"'[]")
            shares[word] = shares.get(word, 0.0) + math.exp(min(0.0, other.logprob))
        return shares

    def _tokens_at(self, start: int, stop: int) -> list[_Token]:
        """The tokens that some words are made of; none where they do not spell the reply."""
        choice = self.choices[0]
        tokens = (choice.logprobs.content if choice.logprobs else None) or []
        if "".join(token.token for token in tokens) != (choice.message.content or ""):
            return []
        spelling, end = [], 0
        for token in tokens:
            begin, end = end, end + len(token.token)
            if begin < stop and end > start:
                spelling.append(token)
        return spelling


class _Error(msgspec.Struct):
    code: str | None = None


class _ErrorAnswer(msgspec.Struct):
    error: _Error


def is_filtered(content: bytes) -> bool:
    """Whether an error of a service says that its filter of content stopped a question or a reply."""
    try:
        answer: _ErrorAnswer = decode_json(content, _ErrorAnswer, "its answer")
    except UserError:
        return False
    return answer.error.code in FILTERED


def body_of(settings: ChatSettings, words: str, image: str, seed: int = 0) -> bytes:
    """The body of a request: a question, the data address of an image, and the seed of the sampling."""
    picture: dict[str, Any] = {"url": image}
    if settings.picture.detail is not None:
        picture["detail"] = settings.picture.detail
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": picture}, {"type": "text", "text": words}]}
        ],
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "seed": seed,
    }
    if settings.logprobs:
        body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    return json.dumps(body).encode()


def read_completion(content: bytes, source: str = "its answer") -> Completion:
    """A chat completion of the bytes of an answer; UserError where they are none."""
    completion: Completion = decode_json(content, Completion, source)
    return completion
