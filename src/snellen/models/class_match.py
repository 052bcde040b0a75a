"""Which outputs of a model are which of the data's classes: how each was matched, and how sure that is.

Of the ways to match a class the first that names an output counts: what a file states, WordNet id, name, synonym, spelling; for
numbered classes the number; where the model names no classes the position. Where several outputs bear a name, none is taken
unless it is the main name of one of them alone.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from snellen.models.class_names import Naming, loose, namings, spelling

How = Literal["stated", "id", "group", "name", "synonym", "spelling", "number", "position", ""]
Sure = Literal["sure", "likely", "ambiguous", "none"]
RANK: tuple[How, ...] = ("stated", "id", "group", "name", "synonym", "spelling", "number", "position", "")
HINTS = 5  # outputs of a like name that are named where none is matched
ALIKE = 0.85  # of two spellings, by difflib's ratio
MOST_PAIRS = 4_000_000  # of names that are compared for hints: some 40 s


@dataclass(frozen=True)
class ClassMatch:
    """One of the data's classes with how many images it has: the model's outputs that are taken for it, how they were matched and
    how sure that is; `candidates` are outputs that it might be, none of which is taken; `note` is a remark."""

    name: str
    images: int
    outputs: tuple[int, ...] = ()
    how: How = ""
    sure: Sure = "none"
    candidates: tuple[int, ...] = ()
    note: str = ""


def propose(
    known: Sequence[str] | None,
    outputs: int,
    wanted: Mapping[str, int],
    stated: Mapping[str, Sequence[str]] | None = None,
) -> list[ClassMatch]:
    """A match for each of the data's classes, which are `wanted` with their numbers of images.

    `known` are the names of the model's outputs, where it names them; `stated` are other names of the data's classes, or numbers
    of outputs, each of which is part of the class.
    """
    if all(re.fullmatch(r"\d{1,9}", name) for name in wanted) and not set(wanted) <= set(known or ()):
        return _by_number(outputs, wanted)
    if known is not None and list(known) == list(wanted):
        return [ClassMatch(name, n, (i,), "name", "sure") for i, (name, n) in enumerate(wanted.items())]
    model = _Outputs.of(known if known is not None else [""] * outputs)
    words = {spelling(name): tuple(other) for name, other in (stated or {}).items()}
    every = namings(list(wanted))
    matches = [
        _stated(ClassMatch(name, n), words[spelling(name)], model)
        if spelling(name) in words
        else _named(ClassMatch(name, n), naming, model)
        for (name, n), naming in zip(wanted.items(), every)
    ]
    lacking = [row for row, match in enumerate(matches) if match == ClassMatch(match.name, match.images)]
    for row in lacking[: MOST_PAIRS // max(len(model.by_name), 1)]:
        naming = every[row]
        matches[row] = replace(matches[row], candidates=model.hints(naming.names or naming.beside))
    if known is None and not any(match.outputs or match.candidates for match in matches):
        return _by_place(outputs, wanted)
    return _settled(matches)


@dataclass(frozen=True)
class _Outputs:
    """The model's outputs by what they are called."""

    namings: Sequence[Naming]
    by_id: Mapping[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_main: Mapping[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_name: Mapping[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_spelling: Mapping[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, classes: Sequence[str]) -> _Outputs:
        model = cls(_as_imagenet(classes) if not any(classes) else namings(classes))
        for output, naming in enumerate(model.namings):
            every = dict.fromkeys((*naming.names, *naming.beside))
            if naming.synset:
                model.by_id[naming.synset].append(output)
            if every:
                model.by_main[next(iter(every))].append(output)
            for name in every:
                model.by_name[name].append(output)
            for form in dict.fromkeys(filter(None, map(loose, every))):
                model.by_spelling[form].append(output)
        return model

    def bearing(self, names: Iterable[str]) -> list[int]:
        """The outputs that bear one of some names, those that bear most of them first."""
        shared = Counter(output for name in names for output in self.by_name.get(name, ()))
        return sorted(shared, key=lambda output: (-shared[output], output))

    def spelt_like(self, names: Iterable[str]) -> list[int]:
        """The outputs of which a name is one of some names in another spelling."""
        return sorted({output for name in names for output in self.by_spelling.get(loose(name), ())})

    def not_another(self, naming: Naming, outputs: Iterable[int]) -> list[int]:
        """Of some outputs those that can be a class: not those of another WordNet id."""
        return [output for output in outputs if not (naming.synset and self.namings[output].synset)]

    def hints(self, names: Sequence[str]) -> tuple[int, ...]:
        """Outputs whose names have a class's name in them as whole words, or are in it, or are spelt nearly alike."""
        near: dict[int, None] = {}
        for name in names:
            inside = (other for other in self.by_name if f" {name} " in f" {other} " or f" {other} " in f" {name} ")
            for other in (*inside, *difflib.get_close_matches(name, self.by_name, 3, ALIKE)):
                near |= dict.fromkeys(self.by_name[other])
        return tuple(near)[:HINTS]


def _as_imagenet(classes: Sequence[str]) -> list[Naming]:
    """The namings of nameless outputs: those of ImageNet where there are as many."""
    from snellen.models.label_maps import PLACES

    if len(classes) not in PLACES:
        return [Naming(None, ()) for _ in classes]
    from snellen.models.label_maps.imagenet import lemmas, synsets

    return [Naming(None, ())] * PLACES[len(classes)] + namings(
        [f"{lemmas()[synset]}, {synset}" for synset in synsets()]
    )


def _named(match: ClassMatch, naming: Naming, model: _Outputs) -> ClassMatch:
    """The match of a class by its WordNet id, else by its names, else by another spelling of them."""
    if naming.synset in model.by_id:
        return _taken(match, model.by_id[str(naming.synset)], "id", "sure")
    names = naming.names or naming.beside
    bearing = model.not_another(naming, model.bearing(names))
    if not bearing:
        like = model.not_another(naming, model.spelt_like(names))
        if like:
            return _taken(match, like, "spelling", "likely")
        return match
    mains = model.by_main.get(names[0], [])
    how: How = "name" if mains and naming.names else "synonym"
    if bearing == mains and len(mains) == 1 and naming.names:
        return _taken(match, mains, how, "sure")
    alike = [output for output in mains if model.namings[output].written == naming.written]
    main = mains if len(mains) == 1 else alike
    if len(main) == 1:
        others = _listed(output for output in bearing if output != main[0])
        return replace(_taken(match, main, how, "likely"), note=f"also a name of output {others}" if others else "")
    shared = [len(set(names) & {*model.namings[i].names, *model.namings[i].beside}) for i in bearing]
    most = [output for output, count in zip(bearing, shared) if count == max(shared)]
    return _taken(match, most, how, "likely")


def _taken(match: ClassMatch, outputs: Sequence[int], how: How, sure: Sure) -> ClassMatch:
    """The match with its only output; with several, none of them."""
    if len(outputs) == 1:
        return replace(match, outputs=tuple(outputs), how=how, sure=sure)
    return replace(match, candidates=tuple(outputs), how=how, sure="ambiguous")


def _stated(match: ClassMatch, words: Sequence[str], model: _Outputs) -> ClassMatch:
    """The match of a class for which names or numbers of outputs are stated: all of them are part of it."""
    parts = [_part(match, word, model) for word in words]
    outputs = tuple(dict.fromkeys(output for part in parts for output in part.outputs))
    missing = [word for word, part in zip(words, parts) if not part.outputs]
    note = f"the model has no single class '{missing[0]}'" if missing else ""
    candidates = tuple(dict.fromkeys(output for part in parts for output in part.candidates))
    if not outputs:
        sure: Sure = "ambiguous" if any(part.sure == "ambiguous" for part in parts) else "none"
        return replace(match, candidates=candidates, how="stated", sure=sure, note=note)
    return replace(match, outputs=outputs, how="stated", sure="likely" if missing else "sure", note=note)


def _part(match: ClassMatch, word: str, model: _Outputs) -> ClassMatch:
    """The match of one name, or number of an output, that is stated for a class."""
    if re.fullmatch(r"\d{1,9}", word):
        return replace(match, outputs=(int(word),) if int(word) < len(model.namings) else ())
    naming = namings([word])[0]
    part = _named(match, naming, model)
    return replace(part, candidates=model.hints(naming.names or naming.beside)) if part == match else part


def _by_number(outputs: int, wanted: Mapping[str, int]) -> list[ClassMatch]:
    """Numbered classes as the outputs of these numbers, from 0, or from 1 where only that fits."""
    first = first_number(outputs, wanted)
    return [
        ClassMatch(name, images, (number,), "number", "likely")
        if 0 <= (number := int(name) - first) < outputs
        else ClassMatch(name, images, note=f"the model has {outputs:,} outputs" if images else "")
        for name, images in wanted.items()
    ]


def first_number(outputs: int, wanted: Mapping[str, int]) -> int:
    """The number of the first output as numbered classes count: 1 where only that fits, else 0."""
    used = [int(name) for name, images in wanted.items() if images] or [0]
    return 1 if min(used) > 0 and max(used) == outputs else 0


def _by_place(outputs: int, wanted: Mapping[str, int]) -> list[ClassMatch]:
    """Classes of a model that names none: the places of the data's, where there are as many."""
    fit = outputs == len(wanted)
    return [
        ClassMatch(name, images, (place,), "position", "likely") if fit else ClassMatch(name, images)
        for place, (name, images) in enumerate(wanted.items())
    ]


def _settled(matches: Sequence[ClassMatch]) -> list[ClassMatch]:
    """The matches without outputs that several classes claim: those matched by less lose them; of equals all do."""
    claims: dict[int, list[ClassMatch]] = defaultdict(list)
    for match in matches:
        for output in match.outputs:
            claims[output].append(match)
    owner: dict[int, str] = {}
    for output, rivals in claims.items():
        best = min(RANK.index(rival.how) for rival in rivals)
        firsts = [rival for rival in rivals if RANK.index(rival.how) == best]
        owner[output] = firsts[0].name if len(firsts) == 1 else ""
    return [_without_taken(match, owner) for match in matches]


def _without_taken(match: ClassMatch, owner: Mapping[int, str]) -> ClassMatch:
    """A match after other classes have got theirs: an ambiguous class may have a single output left."""
    lost = [output for output in match.outputs if owner[output] != match.name]
    if lost:
        why = f"'{owner[lost[0]]}' has it" if owner[lost[0]] else "several of the data's classes have this name"
        return replace(match, outputs=(), candidates=match.outputs, sure="ambiguous", note=why)
    rest = [output for output in match.candidates if not owner.get(output)]
    if match.sure == "ambiguous" and len(rest) == 1 and len(match.candidates) > 1:
        note = f"{_listed(o for o in match.candidates if o != rest[0])} taken by other classes"
        return replace(match, outputs=tuple(rest), candidates=(), sure="likely", note=note)
    return match


def _listed(outputs: Iterable[int]) -> str:
    return ", ".join(map(str, outputs))
