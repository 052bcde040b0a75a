"""The text of a chat model: what it says, what of it stands for the answers, and how what is wrong is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import snellen
from snellen.errors import UserError
from snellen.models import subjects_of
from snellen.models.chat.picture import SentPicture
from snellen.models.chat.settings import ChatSettings, parse_chat

BASE = "http://127.0.0.1:9/v1"
TEXT = f"chat:{BASE}#model=llava:7b&classes=cat,dog"


def print_of(settings: str, text: str = TEXT) -> str:
    return snellen.load_model(f"{text}&{settings}" if settings else text).card.fingerprint


def test_every_setting_is_read() -> None:
    address, settings = parse_chat(
        "https://h/v1/?api-version=2#model=a/b&protocol=choice&none=yes&order=3&options=2&distractors=names&format=jpeg(85)&side=512&detail=low"
        "&max_tokens=9&temperature=0.5&logprobs=no&classes=cat,dog&size=32&timeout=5&rate=2&retries=1&token=KEY"
    )
    assert address.url == "https://h/v1/chat/completions?api-version=2"
    assert (address.size, address.timeout, address.rate, address.retries) == ((32, 32), 5, 2, 1)
    assert (address.token, address.batch) == ("KEY", 1)
    picture = SentPicture("jpeg(85)", 512, "low")
    assert settings == ChatSettings("a/b", "choice", True, 3, 2, "names", picture, 9, 0.5, False, ("cat", "dog"))
    address, settings = parse_chat("http://h:11434/v1#model=llava:7b")
    assert (address.url, address.timeout) == ("http://h:11434/v1/chat/completions", 120)
    assert settings == ChatSettings("llava:7b")


def test_loading_a_chat_model_asks_nothing() -> None:
    model = snellen.load_model(TEXT)  # nobody listens there
    assert model.name == "llava-7b-closed"
    assert model.classes == ("cat", "dog", "(none of these)", "(refused)", "(no answer)", "(cut off)")
    (subject,) = subjects_of(f"chat:{BASE}#model=llava:7b&protocol=free", classes=["cow"])
    assert (subject.name, subject.card.classes[0]) == ("llava-7b-free", "cow")


@pytest.mark.parametrize(
    "settings",
    [
        *("protocol=choice", "protocol=free", "none=yes", "format=jpeg(85)", "side=512", "detail=low", "max_tokens=9"),
        *("temperature=0.5", "logprobs=no", "size=32"),
    ],
)
def test_what_changes_the_question_changes_the_key(settings: str) -> None:
    assert print_of(settings) != print_of("")


def test_each_way_of_delivery_has_a_key_of_its_own() -> None:
    ways = [
        "",
        "format=jpeg(85)",
        "format=jpeg(50)",
        "side=512",
        "side=256",
        "size=32",
        "size=48",
        "detail=low",
        "detail=high",
    ]
    assert len({print_of(way) for way in ways}) == len(ways)


def test_the_order_of_options_is_in_the_key_of_a_choice_alone() -> None:
    assert print_of("protocol=choice&order=1") != print_of("protocol=choice")
    assert print_of("order=1") == print_of("")


@pytest.mark.parametrize(
    "settings", ["timeout=5", "rate=2", "retries=0", "token=KEY", "parallel=2", "budget=9", "price=1"]
)
def test_how_the_endpoint_is_reached_changes_no_key(settings: str) -> None:
    assert print_of(settings) == print_of("")


def test_model_url_classes_and_synonyms_are_in_the_key(tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text(json.dumps({"cat": ["cat", "tabby"]}))
    prints = [
        print_of(""),
        print_of(f"synonyms={tmp_path}/names.json"),
        print_of("", f"chat:{BASE}#model=llava:13b&classes=cat,dog"),
        print_of("", f"chat:{BASE}x#model=llava:7b&classes=cat,dog"),
        print_of("", f"chat:{BASE}#model=llava:7b&classes=cat,cow"),
        print_of("", f"chat:{BASE}#model=llava:7b&classes=dog,cat"),
    ]
    assert len(set(prints)) == len(prints)


def test_pictures_that_are_scaled_after_the_distortion_are_noticed() -> None:
    assert snellen.load_model(TEXT).card.notices == ()
    (notice,) = snellen.load_model(f"{TEXT}&side=512").card.notices
    assert notice == "model 'llava-7b-closed' is sent pictures that are scaled to 512 pixels after they were distorted"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"chat:{BASE}", f"'chat:{BASE}' names no model; add #model=NAME, as the endpoint calls it"),
        (f"chat:{BASE}#model=", "expected model as the endpoint calls it, got ''"),
        (f"chat:{BASE}#model=m", "has no classes of its own; add #classes=FILE"),
        ("chat:localhost:8000#model=m", "expected a URL as http://host:port/path"),
        ("chat:http://me:s3cret@h/v1#model=m", "holds a password, which every report would show"),
        ("chat:http://h/v1?api_key=s3cret#model=m", "holds 'api_key', which every report would show; put it into an env"),
        ("chat:http://h/v1?key=s3cret#model=m", "holds 'key', which every report would show"),
        (f"{TEXT}&protocol=open", "expected protocol as one of closed, choice, free, got 'open'"),
        (f"{TEXT}&format=webp", r"expected format as png or jpeg\(QUALITY\), with a quality from 1 to 100, got 'webp'"),
        (f"{TEXT}&format=jpeg(0)", r"expected format as png or jpeg\(QUALITY\)"),
        (f"{TEXT}&side=4", "expected side as a whole number from 8 to 10,000"),
        (f"{TEXT}&none=1", "expected none as one of yes, no, got '1'"),
        (f"{TEXT}&temperature=3", "expected temperature from 0 to 2"),
        (f"{TEXT}&batch=2", "unknown setting of 'chat:http://127.0.0.1:9/v1' 'batch'"),
        (f"{TEXT}&model=n", "sets model twice"),
        (f"{TEXT}&options=2", "sets options, which only a choice has; add &protocol=choice, or leave options out"),
        (f"{TEXT}&protocol=choice&options=1", "expected options as a whole number from 2 to 1,000, got '1'"),
        (f"{TEXT}&protocol=choice&options=3", "#options=3 are more than the 2 classes; leave it out to offer all of them"),
        (f"{TEXT}&protocol=choice&distractors=names", "sets distractors, and offers all classes; add #options=4"),
        (f"chat:{BASE}#model=m&classes=cat,Cat", "the classes 'cat' and 'Cat' are both called 'Cat'"),
        (f"chat:{BASE}#model=m&classes=cat,(refused)", "stands for replies that name no class"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_read_is_told(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(text)
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
