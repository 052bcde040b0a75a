"""Label maps: from the classes a model knows to the classes of a dataset."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
import numpy as np

from snellen.errors import UserError
from snellen.files import read_json
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.label_maps.geirhos16 import sixteen_targets
from snellen.models.label_maps.imagenet9 import in9_targets
from snellen.models.text_answers import without_states

if TYPE_CHECKING:
    from torch import Tensor

Rule = Literal["argmax", "mean", "sum"]
MOST_CLASSES = 1_000_000


class AnswerReading(NamedTuple):
    """Per-sample answers read from probabilities: dataset class (−1 outside), model class, and two probabilities."""

    pred: Tensor
    raw: Tensor
    confidence: Tensor
    label_prob: Tensor


@dataclass(frozen=True)
class LabelMap:
    """`targets[i]` is the dataset class of the model's output i, or −1.

    `argmax`: the model's own best output, mapped. `mean` and `sum`: the best dataset class by the mean or sum of its
    outputs' probabilities, −1 where none of them has any. Without targets the outputs are the dataset's classes, one to one.
    """

    classes: int
    rule: Rule = "argmax"
    targets: tuple[int, ...] | None = None

    @property
    def outputs(self) -> int:
        """How many classes the model must answer."""
        return self.classes if self.targets is None else len(self.targets)

    def lost(self, names: Sequence[str]) -> tuple[str, ...]:
        """Of the dataset's classes those that the model has no output for."""
        return () if self.targets is None else tuple(n for i, n in enumerate(names) if i not in self.targets)

    @property
    def fingerprint(self) -> str:
        return key_of([self.rule, self.targets, self.classes])

    def read(self, probabilities: Tensor, labels: Tensor) -> AnswerReading:
        """The answers of a batch; labels −1 give a label probability of nan.

        A nan stands for a class that was named without saying how surely: it is the answer, of confidence nan.
        """
        outputs = probabilities.shape[1]
        if outputs != self.outputs:
            raise UserError(
                f"the model answers {outputs} classes where {self.outputs} were expected; give a label map (--labels)"
            )
        confidence, raw = probabilities.max(1)
        if self.targets is None:
            pred, by_class = raw, probabilities
        else:
            targets, matrix = _on_device(self, probabilities.device)
            by_class = probabilities @ matrix
            if self.rule == "argmax":
                pred = targets[raw]
            else:
                confidence = by_class.amax(1)
                share, pred = (probabilities.nan_to_num(nan=1.0) @ matrix).max(1)
                pred = pred.where(share > 0, -1)
        label_prob = by_class.gather(1, labels.clamp(min=0)[:, None])[:, 0]
        return AnswerReading(pred, raw, confidence, label_prob.where(labels >= 0, torch.nan))


@functools.lru_cache(maxsize=64)
def _on_device(label_map: LabelMap, device: torch.device) -> tuple[Tensor, Tensor]:
    """The targets, and the matrix [outputs, classes] of which output counts for which class and how much."""
    targets = np.array(label_map.targets)
    matrix = np.zeros((len(targets), label_map.classes), np.float32)
    mapped = np.flatnonzero(targets >= 0)
    matrix[mapped, targets[mapped]] = 1
    if label_map.rule == "mean":
        matrix /= np.maximum(matrix.sum(0), 1)
    return torch.from_numpy(targets).to(device), torch.from_numpy(matrix).to(device)


def match_classes(known: Sequence[str] | None, wanted: Sequence[str], model: str) -> tuple[LabelMap, list[str]]:
    """The map from a model's class names to a dataset's by name (synonyms count), else by position; and what to warn of.

    Data of Geirhos' sixteen categories is matched with finer classes by the published rule, the mean of theirs; data of the
    nine of ImageNet-9 by its own, the class of the best one.
    """
    if known is None:
        return LabelMap(len(wanted)), []
    named = without_states(known)
    if len(named) < len(known):
        inner, notices = match_classes(named, wanted, model)
        own = inner.targets or tuple(range(len(named)))
        return replace(inner, targets=(*own, *[-1] * (len(known) - len(named)))), notices
    sixteen = sixteen_targets(known, wanted)
    if sixteen is not None:
        return LabelMap(len(wanted), "mean", sixteen), _describe_groups(
            sixteen, wanted, model, "categories, by their mean"
        )
    nine = in9_targets(known, wanted)
    if nine is not None:
        notices = _describe_groups(nine, wanted, model, "classes, any other answer as wrong")
        return LabelMap(len(wanted), "argmax", nine), notices if len(known) > len(wanted) else []
    index: dict[str, int] = {}
    for position, name in reversed(list(enumerate(known))):
        for synonym in name.split(","):
            index[_plain(synonym)] = position
        index[_plain(name)] = position
    positions = [index.get(_plain(name), -1) for name in wanted]
    numbered = all(re.fullmatch(r"\d+", name) for name in wanted)
    if all(position < 0 for position in positions) or numbered:
        if len(known) == len(wanted):
            names = f"'{known[0]}' and '{wanted[0]}'"
            warn = f"model '{model}' and the data name their classes differently ({names}): matched by position"
            return LabelMap(len(wanted)), [] if numbered else [warn]
        if numbered and len(wanted) < len(known):
            targets = [i if i < len(wanted) else -1 for i in range(len(known))]
            warn = f"the data has {len(wanted)} numbered classes, model '{model}' {len(known)}: matched by position"
            return LabelMap(len(wanted), "argmax", tuple(targets)), [warn]
        raise UserError(
            f"none of the data's {len(wanted)} classes ('{wanted[0]}', …) is among the {len(known)} of model '{model}' "
            f"('{known[0]}', …); name them alike (ImageNet: wnid such as n01443537, or name) or pass --labels map.json"
        )
    if positions == list(range(len(known))):
        return LabelMap(len(wanted)), []
    targets = [-1] * len(known)
    for target, position in enumerate(positions):
        if position >= 0:
            targets[position] = target
    lost = [name for name, position in zip(wanted, positions) if position < 0]
    few = ", ".join(lost[:5])
    warn = f"{len(lost)} of {len(wanted)} classes are unknown to model '{model}' and can never be right: {few}"
    return LabelMap(len(wanted), "argmax", tuple(targets)), [warn] if lost else []


def _describe_groups(targets: Sequence[int], wanted: Sequence[str], model: str, how: str) -> list[str]:
    """What is done with a model's finer classes, and which groups of them it cannot name."""
    used = sum(target >= 0 for target in targets)
    notices = [f"{used} of the {len(targets)} classes of model '{model}' are read as {len(wanted)} {how}"]
    lost = [name for i, name in enumerate(wanted) if i not in targets]
    if lost:
        kind = how.partition(",")[0]
        notices.append(f"{len(lost)} {kind} are unknown to model '{model}' and can never be right: {', '.join(lost)}")
    return notices


class LabelMapFile(msgspec.Struct):
    """A label map in JSON: `classes` names the model's outputs of each of the data's classes, `map` the class of each output."""

    rule: Rule = "argmax"
    classes: dict[str, list[int | str]] | None = None
    map: dict[str, str | int | None] | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(model output, dataset class) of either form."""
        if self.classes is not None:
            return [(str(output), name) for name, outputs in self.classes.items() for output in outputs]
        return [(output, str(name)) for output, name in (self.map or {}).items() if name not in (-1, None)]


def read_label_map(path: Path, known: Sequence[str] | None, wanted: Sequence[str]) -> LabelMap:
    """A map from a JSON file: `{"rule": "mean", "classes": {"dog": [151, "n02085620"], …}}` or `{"map": {"0": "dog"}}`."""
    content: LabelMapFile = read_json(path, LabelMapFile, "label map", unique=True)
    if content.classes is None and content.map is None:
        raise UserError(f'label map \'{path}\': expected {{"rule": "argmax|mean|sum", "classes": {{name: [outputs]}}}}')
    position = {name: i for i, name in enumerate(wanted)}
    numbers = (int(output) for output, _ in content.pairs if _number(output))
    outputs = len(known) if known is not None else 1 + max(numbers, default=-1)
    if outputs > MOST_CLASSES:
        raise UserError(f"label map '{path}' names output {outputs - 1}, more than {MOST_CLASSES:,} are not supported")
    targets: dict[int, str] = {}
    names = {_plain(s): i for i, name in enumerate(known or ()) for s in (name, *name.split(","))}
    for output, target in content.pairs:
        at = int(output) if _number(output) else names.get(_plain(output), -1)
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


def _number(output: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}", output) is not None


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().lower())
