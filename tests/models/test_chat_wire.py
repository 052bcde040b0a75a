"""What goes over the wire to a chat endpoint and back: pictures, bodies, completions and their probabilities."""

from __future__ import annotations

import base64
import io
import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.distort import apply
from snellen.errors import UserError
from snellen.models.chat.picture import SentPicture
from snellen.models.chat.settings import ChatSettings
from snellen.models.chat.wire import body_of, read_completion

from .chat_service import completion, token

IMAGE = np.random.default_rng(3).integers(0, 256, (20, 30, 3), np.uint8)


def decoded(picture: SentPicture) -> np.ndarray:
    head, _, content = picture.address(IMAGE).partition(",")
    file = Image.open(io.BytesIO(base64.b64decode(content)))
    assert head == f"data:image/{str(file.format).lower()};base64"
    return np.asarray(file)


def test_png_keeps_every_pixel_and_jpeg_is_that_of_the_distortion() -> None:
    assert (decoded(SentPicture()) == IMAGE).all()
    images = torch.from_numpy(IMAGE).permute(2, 0, 1)[None]
    distorted = apply("jpeg(40)", images)[0].permute(1, 2, 0).numpy()
    assert (decoded(SentPicture("jpeg(40)")) == distorted).all()


def test_the_longer_side_gets_the_pixels_that_are_asked_for() -> None:
    assert decoded(SentPicture(side=60)).shape == (40, 60, 3)
    assert decoded(SentPicture("jpeg(90)", side=15)).shape == (10, 15, 3)
    scaled = np.asarray(Image.fromarray(IMAGE).resize((15, 10), Image.Resampling.BICUBIC))
    assert (decoded(SentPicture(side=15)) == scaled).all()


def test_a_body_is_that_of_the_published_interface() -> None:
    body = json.loads(body_of(ChatSettings("m", picture=SentPicture(detail="low"), max_tokens=5), "what?", "data:x"))
    assert body == {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}},
                    {"type": "text", "text": "what?"},
                ],
            }
        ],
        "temperature": 0.0,
        "max_tokens": 5,
        "seed": 0,
        "logprobs": True,
        "top_logprobs": 20,
    }
    plain = json.loads(body_of(ChatSettings("m", logprobs=False), "what?", "data:x"))
    assert not {"logprobs", "top_logprobs"} & set(plain)
    assert plain["messages"][0]["content"][0]["image_url"] == {"url": "data:x"}


def read(content: str | None, **more: Any) -> Any:
    return read_completion(completion(content, **more)[2], "the answer")


def test_a_reply_is_its_words_and_how_it_ended() -> None:
    reply = read("dog").reply
    assert (reply.words, reply.refusal, reply.cut) == ("dog", False, False)
    assert read(None).reply.words == ""
    assert read("do", finish="length").reply.cut
    assert read(None, refusal="I can't").reply.refusal
    assert read("", finish="content_filter").reply.refusal


def test_the_probability_of_words_is_that_of_their_tokens_after_those_before() -> None:
    answer = read("It is a hot dog.", tokens=[token(word, share) for word, share in
        [("It", 0.5), (" is", 0.5), (" a", 0.9), (" hot", 0.8), (" d", 0.5), ("og", 0.25), (".", 0.1)]])  # fmt: skip
    assert answer.probability(8, 15) == pytest.approx(0.8 * 0.5 * 0.25)
    assert answer.probability(12, 15) == pytest.approx(0.5 * 0.25)


def test_the_other_letters_have_the_shares_of_their_tokens() -> None:
    answer = read(" B", tokens=[token(" B", 0.6, **{"B": 0.1, " A": 0.2, "(C": 0.05})])
    assert answer.alternatives(1, 2) == pytest.approx({"B": 0.7, "A": 0.2, "C": 0.05})
    assert read("B", tokens=[{"token": "B", "logprob": -0.1}]).alternatives(0, 1) == {}
    assert read("dog", tokens=[token("d", 0.5), token("og", 0.5)]).alternatives(0, 3) == {}


@pytest.mark.parametrize("tokens", [None, [], [token("cat", 0.5)]])
def test_without_the_tokens_of_the_reply_nothing_is_known(tokens: list[Any] | None) -> None:
    answer = read("dog", tokens=tokens)
    assert math.isnan(answer.probability(0, 3))
    assert answer.alternatives(0, 3) == {}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"<html><body>502</body></html>", "cannot be read as JSON"),
        (b"", "cannot be read as JSON"),
        (b'{"choices": []}', "expected array of length >= 1"),
        (b'{"error": {"message": "overloaded"}}', "object missing required field 'choices'"),
        (b'{"choices": [{"message": {"content": ["dog"]}}]}', "expected str | null, got array"),
        (b'{"choices": [{"message": {"content": "dog"}, "logprobs": {"content": [{"token": "d"}]}}]}', "'logprob'"),
    ],
)
def test_what_is_no_completion_is_refused_in_one_line(content: bytes, text: str) -> None:
    with pytest.raises(UserError, match=text.replace("|", r"\|")) as caught:
        read_completion(content, "the answer of http://h/v1")
    assert str(caught.value).startswith("the answer of http://h/v1")
    assert "\n" not in str(caught.value)
