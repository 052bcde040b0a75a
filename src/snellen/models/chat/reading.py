"""How a reply becomes a class: the one that it names, or the state that it is in.

A reply that names no class, or several, is outside; the other states are a refusal, no words at all, and an end that was cut
off.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from snellen.models.chat.question import ChatQuestion
from snellen.models.chat.vocabulary import Mention, Vocabulary

LONGEST = 4_000  # characters of a reply that are read
OUTSIDE, REFUSED, EMPTY, CUT = range(4)  # places behind the classes, in the order of `text_answers.STATES`
SORRY = r"(?:(?:i['’]?m|i\s+am)(?:\s+(?:very|so))?\s+sorry|sorry|(?:my\s+)?apologies|i\s+apologi[sz]e|unfortunately)"
CANNOT = r"(?:can['’]?t|cannot|can\s+not|won['’]?t|will\s+not|(?:am|['’]m|are|['’]re)\s+(?:unable|not\s+able|not\s+allowed)\s+to)"
VERBS = "help|assist|identify|answer|provide|comply|determine|tell|classify|see|view|process|analy[sz]e|recogni[sz]e|name|say|do"
_REFUSAL = re.compile(
    rf"\W*(?:{SORRY}\b[\s,.;:!]*(?:but\s+)?)?(?:i|we|as an ai[^.]{{0,60}}?(?:i|we))\s*{CANNOT}\s+(?:{VERBS})\b"
    rf"|\W*{SORRY}\W*$",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]{1,200}>")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_STATED = re.compile(r"\banswer\b(?:\s+is\b)?\s*[:\-]?", re.IGNORECASE)


@dataclass(frozen=True)
class ChatReply:
    """What came back: the words, whether the service calls them a refusal, and whether it ended them for their length."""

    words: str
    refusal: bool = False
    cut: bool = False


@dataclass(frozen=True)
class Reading:
    """The class of a reply, or behind the classes its state; `start` and `stop` are the place of the words that name it."""

    number: int
    start: int = 0
    stop: int = 0


def read_reply(reply: ChatReply, question: ChatQuestion, vocabulary: Vocabulary) -> Reading:
    """The class that a reply names, or its state."""
    classes = len(vocabulary.names)
    if reply.refusal:
        return Reading(classes + REFUSED)
    text = clean(reply.words[:LONGEST])
    cut = reply.cut or len(reply.words) > LONGEST
    if not text.strip():
        return Reading(classes + (CUT if cut else EMPTY))
    if _REFUSAL.match(text):
        return Reading(classes + REFUSED)
    named = _option(text, question) if question.offered else None
    named = named or _only_name(text, vocabulary)
    if named is None or (question.offered and named.number not in question.offered):
        return Reading(classes + (CUT if cut else OUTSIDE))
    return Reading(*named)


def clean(text: str) -> str:
    """A reply with spaces in place of what a model thinks aloud (<think>), of tags and of escapes, so that all words keep their
    places."""
    for pattern in (_THOUGHT, _TAG, _COLOUR):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text


def _only_name(text: str, vocabulary: Vocabulary) -> Mention | None:
    """The one class that a text names; where it states an answer, the one named behind that."""
    for start in (*(match.end() for match in [*_STATED.finditer(text)][-1:]), 0):
        mentions = [mention for mention in vocabulary.mentions(text) if mention.start >= start]
        if len({mention.number for mention in mentions}) == 1:
            return mentions[0]
    return None


def _option(text: str, question: ChatQuestion) -> Mention | None:
    """The one option whose mark a text gives: alone, as "(B)", "B)", "B: …", behind "answer is" or "option", or as the only one
    in capital letters."""
    marks = "|".join(sorted(question.marks, key=len, reverse=True))
    places = dict(zip(question.marks, question.offered))
    for pattern in (
        rf"\W*({marks})\W*",
        rf"[\s\"'*(\[]*({marks})[).:\]*].*",
        rf".*\b(?:answer(?:\s+is)?|option)\s*[:\-]?[\s\"'*(\[]*({marks})(?!\w).*",
    ):
        if match := re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            return Mention(places[match[1].upper()], match.start(1), match.end(1))
    alone = list(re.finditer(rf"(?<![\w'’])({marks})(?![\w'’])", text))
    alone = [
        match for match in alone if match[1] not in ("A", "I") or not re.match(r"\s+\w", text[match.end() :])
    ]  # no word
    if len({match[1] for match in alone}) == 1:
        return Mention(places[alone[0][1]], alone[0].start(1), alone[0].end(1))
    return None
