"""Tokens of a chat model: as its answers state them, and before there are any, an estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import msgspec

from snellen.errors import UserError
from snellen.files import decode_json
from snellen.models.chat.picture import SentPicture
from snellen.models.remote.token_use import MOST, TokenUse

CHARACTERS = 4  # of English, per token
PATCH = 28  # pixels of the side of a square that is one token, as in Qwen2.5-VL; others cut pictures otherwise

_Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]


class _Usage(msgspec.Struct):
    prompt_tokens: _Count
    completion_tokens: _Count


class _Answer(msgspec.Struct):
    usage: _Usage


@dataclass(frozen=True)
class ChatTokens:
    """The tokens of a model that is asked questions of so many `characters` about a `picture`, for replies of `most` tokens."""

    characters: int
    picture: SentPicture
    most: int

    def used(self, answer: bytes) -> TokenUse | None:
        """What an answer states as its usage; None where it states none."""
        try:
            stated: _Answer = decode_json(answer, _Answer, "its answer")
        except UserError:
            return None
        usage = stated.usage
        return TokenUse(1, usage.prompt_tokens, usage.completion_tokens)

    def expected(self, height: int, width: int) -> TokenUse:
        """An estimate for one image: a token per four characters and per square of 28 pixels; of a reply the most."""
        height, width = self.picture.scaled(height, width)
        patches = math.ceil(height / PATCH) * math.ceil(width / PATCH)
        return TokenUse(1, math.ceil(self.characters / CHARACTERS) + patches, self.most)
