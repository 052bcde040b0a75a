"""What classes are called: names in plain letters, WordNet ids, and looser forms in which two spellings are one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from snellen.models.label_maps import PLACES, plain

_SYNSET = re.compile(r"(?<![a-z0-9])n\d{8}(?![0-9])")


@dataclass(frozen=True)
class Naming:
    """A class's WordNet id where it is known, its own names, the main one first, and what the id is called `beside`; all plain.
    `written` is the main name as it is written."""

    synset: str | None
    names: tuple[str, ...]
    beside: tuple[str, ...] = ()
    written: str = ""


def loose(name: str) -> str:
    """A plain name without spaces, points, numbers in front and the ending of a plural."""
    words = re.sub(r"^\d+[ .:]+(?=\D)", "", name).split()
    bare = [re.sub(r"[^\w]", "", word) for word in words]
    return "".join([*bare[:-1], _singular(bare[-1])]) if bare else ""


def spelling(text: str) -> str:
    """A class's name so that two ways to write it are one; as it is where nothing but marks would be left out."""
    return loose(plain(text)) or plain(text)


def synset_in(text: str) -> str | None:
    """The WordNet id that stands in a class's name, such as n01440764 or n01440764-tench."""
    match = _SYNSET.search(text.lower())
    return match[0] if match else None


def namings(classes: Sequence[str]) -> list[Naming]:
    """What each of a list's classes is called; ids are read from names, or follow from ImageNet's order."""
    ids = [synset_in(name) for name in classes]
    names = [_own_names(name) for name in classes]
    if not any(ids):
        ids = list(_by_place(names) or ids)
    return [
        Naming(synset, own, _names_of(synset), text.partition(",")[0].strip())
        for synset, own, text in zip(ids, names, classes)
    ]


def _own_names(text: str) -> tuple[str, ...]:
    """The names that a class's text lists, without its WordNet id; none is left of an id alone."""
    parts = (plain(_SYNSET.sub(" ", part.lower())) for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _names_of(synset: str | None) -> tuple[str, ...]:
    if synset is None:
        return ()
    from snellen.models.label_maps.imagenet import lemmas

    return tuple(dict.fromkeys(plain(name) for name in lemmas().get(synset, "").split(",") if name.strip()))


def _by_place(names: Sequence[tuple[str, ...]]) -> Sequence[str | None] | None:
    if len(names) not in PLACES:
        return None  # timm, which is slow to import, is not needed
    from snellen.models.label_maps.imagenet import synsets_by_place

    return synsets_by_place(names)


def _singular(word: str) -> str:
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("ss", "ss")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + rest
    return word.removesuffix("s") if len(word) > 3 else word
