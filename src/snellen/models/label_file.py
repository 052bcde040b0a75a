"""Files of label maps: JSON with a rule, or a table with one row per pair of the data's class and the model's output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, get_args

import msgspec

from snellen.errors import UserError
from snellen.files import read_json
from snellen.files.table import Column, read_table
from snellen.models.label_maps import plain
from snellen.models.labels import LabelMap, Rule

MOST_CLASSES = 1_000_000


class LabelMapFile(msgspec.Struct):
    """A label map in JSON: `classes` names the model's outputs of each of the data's classes, `map` the class of each output.

    `outputs` is how many the model has; without it and without names of its classes, the last one that is named is its last.
    """

    rule: Rule = "argmax"
    classes: dict[str, list[int | str]] | None = None
    map: dict[str, str | int | None] | None = None
    outputs: Annotated[int, msgspec.Meta(ge=1, le=MOST_CLASSES)] | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(model output, dataset class) of either form."""
        if self.classes is not None:
            return [(str(output), name) for name, outputs in self.classes.items() for output in outputs]
        return [(output, str(name)) for output, name in (self.map or {}).items() if name not in (-1, None)]


def read_label_map(path: Path, known: Sequence[str] | None, wanted: Sequence[str]) -> LabelMap:
    """A map from a JSON file: `{"rule": "mean", "classes": {"dog": [151, "n02085620"], …}}` or `{"map": {"0": "dog"}}`.

    Or from a CSV file with the columns class and output, a number or a name, and the optional ones rule and outputs.
    """
    content = (
        _of_table(path, wanted) if path.suffix == ".csv" else read_json(path, LabelMapFile, "label map", unique=True)
    )
    if content.classes is None and content.map is None:
        raise UserError(f'label map \'{path}\': expected {{"rule": "argmax|mean|sum", "classes": {{name: [outputs]}}}}')
    position = {name: i for i, name in enumerate(wanted)}
    numbers = (int(output) for output, _ in content.pairs if _number(output))
    outputs = len(known) if known is not None else content.outputs or 1 + max(numbers, default=-1)
    if content.outputs not in (None, outputs):
        raise UserError(f"label map '{path}' is for a model with {content.outputs:,} outputs, this one has {outputs:,}")
    if outputs > MOST_CLASSES:
        raise UserError(f"label map '{path}' names output {outputs - 1}, more than {MOST_CLASSES:,} are not supported")
    targets: dict[int, str] = {}
    names = {plain(s): i for i, name in enumerate(known or ()) for s in (name, *name.split(","))}
    for output, target in content.pairs:
        at = int(output) if _number(output) else names.get(plain(output), -1)
        if not 0 <= at < outputs:
            raise UserError(f"label map '{path}' names the model class '{output}', which the model does not have")
        if target not in position:
            raise UserError(
                f"label map '{path}' names the data class '{target}'; the data has: {', '.join(wanted[:8])}"
            )
        if at in targets:
            raise UserError(
                f"label map '{path}' names the model's output {at} twice, for '{targets[at]}' and for '{target}'; "
                "leave one of them out"
            )
        targets[at] = target
    return LabelMap(
        len(wanted), content.rule, tuple(position[targets[at]] if at in targets else -1 for at in range(outputs))
    )


def _of_table(path: Path, wanted: Sequence[str]) -> LabelMapFile:
    """The content of a map in a CSV file; rows without an output, which are left out, may still be filled in."""
    table = read_table(path, {"class": Column(required=True), "output": Column(required=True)}, "label map")
    rules, counts = (sorted(set(table.get(name, ())) - {""}) for name in ("rule", "outputs"))
    if len(rules) > 1 or not set(rules) <= set(get_args(Rule)):
        raise UserError(f"label map '{path}': expected one rule of {', '.join(get_args(Rule))}, got {', '.join(rules)}")
    if len(counts) > 1 or not all(map(_number, counts)):
        raise UserError(f"label map '{path}': expected one number of outputs, got {', '.join(counts)}")
    classes: dict[str, list[int | str]] = {}
    for name, output in zip(table["class"], table["output"]):
        # Where a name begins as a formula does, `snellen match` wrote an apostrophe in front.
        bare = name if name in wanted else name.removeprefix("'")
        if output:
            classes.setdefault(bare, []).append(output)
    rule: Rule = rules[0] if rules else "argmax"
    return LabelMapFile(rule, classes, outputs=int(counts[0]) if counts else None)


def _number(output: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}", output) is not None
