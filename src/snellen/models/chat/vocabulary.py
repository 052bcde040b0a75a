"""The names of classes, and where a text names them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from snellen.errors import UserError
from snellen.models.text_answers import plain
from snellen.models.zero_shot.prompts import spoken

_DENIED = re.compile(r"(?:\bnot|n['’]t|\bno|\bnor|\bneither)(?:\s+(?:a|an|the))?\s+$", re.IGNORECASE)


class Mention(NamedTuple):
    """A class that is named in a text from `start` to `stop`."""

    number: int
    start: int
    stop: int


@dataclass(frozen=True)
class Vocabulary:
    """By class the names that a reply may give it; the first one is that of the questions."""

    names: tuple[tuple[str, ...], ...]

    @property
    def spoken(self) -> tuple[str, ...]:
        return tuple(names[0] for names in self.names)

    def mentions(self, text: str) -> list[Mention]:
        """The classes that a text names, in its order: whole words, whatever their case, the longest name first.

        Spaces, hyphens and underscores are alike, and a name may end in the s of a plural. "Not a dog" names none.
        """
        mentions = []
        for match in self._pattern.finditer(text):
            if not _DENIED.search(text, max(0, match.start() - 20), match.start()):
                mentions.append(Mention(self._numbers[plain(match[1])], match.start(1), match.end(1)))
        return mentions

    @functools.cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {plain(name): number for number, names in enumerate(self.names) for name in names}

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._numbers, key=lambda name: (-len(name), name))
        words = (r"[\s_-]+".join(map(re.escape, name.split(" "))) for name in longest_first)
        return re.compile(rf"(?<!\w)({'|'.join(words)})(?:e?s)?(?!\w)", re.IGNORECASE)


def vocabulary_of(classes: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> Vocabulary:
    """What classes are called: the names of a file of synonyms, else what stands between the commas of the class's own name.

    Two classes of one name are refused: no reply could tell them apart.
    """
    names = tuple(tuple(synonyms.get(label) or _own_names(label)) for label in classes)
    owner: dict[str, str] = {}
    for label, some in zip(classes, names):
        for name in some:
            first = owner.setdefault(plain(name), label)
            if first != label:
                raise UserError(
                    f"the classes '{first}' and '{label}' are both called '{name}', so a reply cannot tell them apart; name them "
                    'by #synonyms=FILE, as {"' + label + '": ["other name"]}'
                )
    return Vocabulary(names)


def _own_names(label: str) -> list[str]:
    first = spoken(label)
    others = [re.sub(r"[_\s]+", " ", part).strip() for part in label.split(",")[1:]]
    return list(dict.fromkeys([first, *filter(None, others)]))
