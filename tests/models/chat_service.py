"""A chat endpoint in a thread that answers by a known observer, in the words that a test gives it."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from PIL import Image

from .service import Behaviour, Reply, Server, reply, serve

Observer = Callable[[np.ndarray], str]  # the name of the class that an image uint8 [H, W, 3] shows
Style = Callable[[str], str]  # what is said of a name, or of the letter before it


def image_in(body: bytes) -> np.ndarray:
    """The image of a request, decoded from its data address."""
    (part,) = (part for part in json.loads(body)["messages"][0]["content"] if part["type"] == "image_url")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(part["image_url"]["url"].partition(",")[2]))))


def words_in(body: bytes) -> str:
    """The question of a request."""
    (part,) = (part for part in json.loads(body)["messages"][0]["content"] if part["type"] == "text")
    return str(part["text"])


def completion(content: str | None, finish: str = "stop", tokens: list[Any] | None = None, **message: Any) -> Reply:
    """A chat completion as services write it, with fields that nobody reads."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
    choice["message"] = {"role": "assistant", "content": content, **message}
    choice["logprobs"] = None if tokens is None else {"content": tokens}
    usage = {"prompt_tokens": 100, "completion_tokens": 3, "total_tokens": 103}
    return reply({"id": "chat-1", "object": "chat.completion", "choices": [choice], "usage": usage})


def token(text: str, share: float, **others: float) -> dict[str, Any]:
    """A token of some probability, and those that could have stood in its place."""
    tops = [{"token": word, "logprob": math.log(part)} for word, part in {text: share, **others}.items()]
    return {"token": text, "logprob": math.log(share), "bytes": None, "top_logprobs": tops}


def answering(observer: Observer, style: Style = str) -> Behaviour:
    """A model that follows its instructions: it answers the name that its observer sees, or the letter before it."""

    def behave(body: bytes) -> Reply:
        name, words = observer(image_in(body)), words_in(body)
        options = dict(re.findall(r"^(\w+)\. (.*)$", words, re.MULTILINE))
        marks = {option: mark for mark, option in options.items()}
        return completion(style(marks.get(name, name)))

    return behave


@contextmanager
def serve_chat(*behaviours: Behaviour) -> Iterator[Server]:
    """A chat endpoint on a free port of this machine; `url` is its base, as a model's text has it."""
    with serve(*behaviours) as server:
        server.url = server.url.removesuffix("/predict") + "/v1"
        yield server
