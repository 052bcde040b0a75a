"""How a model's classes become a dataset's, as a proposal that people look at, correct, and save as a label map."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.files.plain import place_to_write
from snellen.models.class_match import ClassMatch, How, first_number, propose
from snellen.models.class_names import namings
from snellen.models.label_maps.geirhos16 import sixteen_targets
from snellen.models.label_maps.imagenet9 import in9_targets
from snellen.models.labels import LabelMap, Rule

if TYPE_CHECKING:
    import pandas as pd

WORDS: dict[How, str] = {
    "stated": "as stated",
    "id": "WordNet id",
    "group": "published group",
    "name": "name",
    "synonym": "synonym",
    "spelling": "spelling",
    "number": "number",
    "position": "position",
    "": "",
}


@dataclass(frozen=True)
class ClassProposal:
    """A match for each of the data's classes, `outputs` being what the model calls its own; `notes` are remarks on the whole.

    Only outputs of matches that are sure or likely are in the label map. Ambiguous ones wait for a choice in the saved file.
    """

    model: str
    data: str
    outputs: tuple[str, ...]
    classes: tuple[ClassMatch, ...]
    rule: Rule = "argmax"
    notes: tuple[str, ...] = ()

    @property
    def label_map(self) -> LabelMap:
        """The map that an audit would read."""
        targets = [-1] * len(self.outputs)
        for position, match in enumerate(self.classes):
            for output in match.outputs:
                targets[output] = position
        return LabelMap(len(self.classes), self.rule, tuple(targets))

    @property
    def left(self) -> tuple[ClassMatch, ...]:
        """The data's classes that have images and no output: ambiguous ones, and those that the model does not seem to have."""
        return tuple(match for match in self.classes if not match.outputs and match.images)

    @property
    def unused(self) -> tuple[int, ...]:
        """The model's outputs that are no class of the data; answers with them count as wrong."""
        return tuple(output for output, target in enumerate(self.label_map.targets or ()) if target < 0)

    def called(self, output: int) -> str:
        """An output by its number and first name."""
        return f"{output} {self.outputs[output].partition(',')[0]}".rstrip()

    def summary(self) -> list[str]:
        """How many classes were matched in which way, and what is left on both sides."""
        ways = Counter((WORDS[m.how], m.sure) for m in self.classes if m.outputs)
        lines = [f"{count:,} by {way}, {sure}" for (way, sure), count in ways.most_common()]
        doubtful = [match for match in self.left if match.sure == "ambiguous"]
        if doubtful:
            lines.append(f"{len(doubtful):,} ambiguous, none taken: {_few([match.name for match in doubtful])}")
        lost = [match.name for match in self.left if match.sure == "none"]
        if lost:
            lines.append(f"{len(lost):,} of the data without an output, never right: {_few(lost)}")
        if self.unused:
            names = [self.called(output) for output in self.unused]
            lines.append(f"{len(self.unused):,} outputs of the model left over, wrong where answered: {_few(names)}")
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """One row per class and output; of a class without one, what it might be."""
        return [
            {
                "class": match.name,
                "images": match.images,
                "output": "" if output is None else output,
                "model_class": "" if output is None else self.outputs[output],
                "how": WORDS[match.how],
                "sure": match.sure,
                "candidates": "; ".join(map(self.called, match.candidates)),
                "note": match.note,
                "rule": self.rule,
                "outputs": len(self.outputs),
            }
            for match in self.classes
            for output in match.outputs or (None,)
        ]

    def frame(self) -> pd.DataFrame:
        """The rows as a table."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "unused": self.unused, "summary": self.summary()}

    def save(self, path: Path | str) -> None:
        """Write the label map that `--labels` takes: `.json`, or `.csv` with every remark, to correct by hand."""
        path = place_to_write(path)
        if not any(match.outputs for match in self.classes):
            raise UserError(
                f"no class of {self.data} was matched with one of model '{self.model}', so there is no label map to save; "
                "state names by --synonyms FILE"
            )
        if path.suffix == ".csv":
            from snellen.files.spreadsheet import to_csv

            write_atomic(path, to_csv(self.frame()).encode())
        elif path.suffix == ".json":
            classes = {match.name: list(match.outputs) for match in self.classes}
            content = {"rule": self.rule, "outputs": len(self.outputs), "classes": classes}
            write_atomic(path, json.dumps(content, indent=1, ensure_ascii=False).encode())
        else:
            raise UserError(f"expected a label map's file as .csv or .json, got '{path}'")


def propose_classes(
    known: Sequence[str] | None,
    outputs: int,
    wanted: Mapping[str, int],
    stated: Mapping[str, Sequence[str]] | None = None,
) -> tuple[list[ClassMatch], Rule, list[str]]:
    """The matches of the data's classes (names with their numbers of images), the rule they ask for, and remarks.

    Geirhos' sixteen categories and the nine of ImageNet-9 are made of a model's finer classes by their published groups.
    """
    names = list(wanted)
    for rule, groups in (("mean", sixteen_targets), ("argmax", in9_targets)):
        targets = groups(known, names) if known is not None and not stated else None
        if targets is not None:
            members = {name: tuple(i for i, t in enumerate(targets) if t == at) for at, name in enumerate(names)}
            matches = [
                ClassMatch(name, n, members[name], "group", "sure") if members[name] else ClassMatch(name, n)
                for name, n in wanted.items()
            ]
            return matches, rule, []  # type: ignore[return-value]
    matches = propose(known, outputs, wanted, stated)
    return matches, "argmax", _remarks(known, outputs, wanted, matches)


def _remarks(
    known: Sequence[str] | None, outputs: int, wanted: Mapping[str, int], matches: Sequence[ClassMatch]
) -> list[str]:
    """What is known of sets of ImageNet's classes, and what was taken for granted."""
    ways = {match.how for match in matches if match.outputs}
    if "number" in ways:
        return [_on_numbers(outputs, wanted)]
    ids = {naming.synset for naming in namings(list(wanted))} - {None}
    remarks = []
    if len(ids) == len(wanted):
        remarks += _on_sets({str(synset) for synset in ids}, outputs)
    if known is None and "id" in ways:
        remarks.append(
            "the model names no classes; its outputs were taken in ImageNet's order: --look shows whether they are"
        )
    if known is None and "position" in ways:
        remarks.append("the model names no classes; they were matched by position: --look shows whether that is right")
    if known is not None and not ways and len(wanted) == outputs:
        remarks.append(
            "the model has as many classes under other names; audits without a label map take them by position"
        )
    return remarks


def _on_numbers(outputs: int, wanted: Mapping[str, int]) -> str:
    """From where numbered classes were counted."""
    if first_number(outputs, wanted):
        return "the data's numbers were counted from 1, since the highest is the number of outputs"
    lowest = min(int(name) for name, images in wanted.items() if images)
    unsure = "" if lowest == 0 else f"; the lowest is {lowest}, so they might count from 1: --look shows which"
    return f"the data's numbers were counted from 0{unsure}"


def _on_sets(ids: set[str], outputs: int) -> list[str]:
    """Which published set has these synsets, and how its accuracies are read."""
    from snellen.models.label_maps.imagenet import CHOSEN_AMONG, WHOLE, set_of

    published = set_of(ids)
    if published is None:
        return []
    if published == WHOLE:
        return [f"the data's classes are the 1,000 of {published}"]
    choice = outputs > len(ids) and published in CHOSEN_AMONG
    how = "; its published accuracies let models choose among these only: --rule mean" if choice else ""
    return [f"the data's {len(ids):,} classes are those of {published}{how}"]


def _few(names: Sequence[str], most: int = 5) -> str:
    return "; ".join(names[:most]) + ("; …" if len(names) > most else "")
