"""Label maps: from the classes a model knows to the classes of a dataset."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.label_maps import plain
from snellen.models.label_maps.geirhos16 import sixteen_targets
from snellen.models.label_maps.imagenet9 import in9_targets
from snellen.models.text_answers import without_states

if TYPE_CHECKING:
    from torch import Tensor

Rule = Literal["argmax", "mean", "sum"]
LARGEST_MATRIX = 1 << 24  # outputs times classes


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
        named = set(range(len(names)) if self.targets is None else self.targets)
        return tuple(name for number, name in enumerate(names) if number not in named)

    def outputs_of(self, labels: np.ndarray) -> np.ndarray:
        """The model's output for each label, int [n], the first of several; −1 where there is none or the label is not known."""
        outputs = np.full(self.classes + 1, -1)  # the last one is that of −1
        targets = range(self.classes) if self.targets is None else self.targets
        for output, target in reversed([*enumerate(targets)]):
            if target >= 0:
                outputs[target] = output
        return outputs[labels]

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
            targets = _targets(self, probabilities.device)
            by_class = _by_class(self, probabilities)
            if self.rule == "argmax":
                pred = targets[raw]
            else:
                confidence = by_class.amax(1)
                share, pred = _by_class(self, probabilities.nan_to_num(nan=1.0)).max(1)
                pred = pred.where(share > 0, -1)
        label_prob = by_class.gather(1, labels.clamp(min=0)[:, None])[:, 0]
        return AnswerReading(pred, raw, confidence, label_prob.where(labels >= 0, torch.nan))


def _by_class(label_map: LabelMap, probabilities: Tensor) -> Tensor:
    """The probability of each dataset class [B, classes] by the rule; a nan makes all of its row nan.

    Few outputs and classes are a product with a matrix. Many would make it gigabytes, of which nearly all is 0.
    """
    if len(label_map.targets or ()) * label_map.classes <= LARGEST_MATRIX:
        return probabilities @ _matrix(label_map, probabilities.device)
    outputs, places, share = _mapped(label_map, probabilities.device)
    if len(places.unique()) == len(places):  # each class has one output at most: far faster than adding
        source = places.new_full((label_map.classes,), -1).index_copy_(0, places, outputs)
        by_class = probabilities.index_select(1, source.clamp(min=0)).masked_fill_(source < 0, 0)
    else:
        by_class = probabilities.new_zeros(len(probabilities), label_map.classes)
        by_class.index_add_(1, places, probabilities.index_select(1, outputs) * share)
    return by_class.masked_fill_(probabilities.isnan().any(1, keepdim=True), torch.nan)


@functools.lru_cache(maxsize=64)
def _targets(label_map: LabelMap, device: torch.device) -> Tensor:
    return torch.from_numpy(np.array(label_map.targets)).to(device)


@functools.lru_cache(maxsize=64)
def _matrix(label_map: LabelMap, device: torch.device) -> Tensor:
    """Which output counts for which class and how much, [outputs, classes]."""
    targets = np.array(label_map.targets)
    matrix = np.zeros((len(targets), label_map.classes), np.float32)
    mapped = np.flatnonzero(targets >= 0)
    matrix[mapped, targets[mapped]] = 1
    if label_map.rule == "mean":
        matrix /= np.maximum(matrix.sum(0), 1)
    return torch.from_numpy(matrix).to(device)


@functools.lru_cache(maxsize=64)
def _mapped(label_map: LabelMap, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """The outputs that count, the class that each counts for, and how much."""
    targets = np.array(label_map.targets)
    outputs = np.flatnonzero(targets >= 0)
    places = targets[outputs]
    share = np.ones(len(places), np.float32)
    if label_map.rule == "mean":
        share /= np.bincount(places, minlength=label_map.classes).astype(np.float32)[places]
    return tuple(torch.from_numpy(part).to(device) for part in (outputs, places, share))  # type: ignore[return-value]


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
    if list(known) == list(wanted):
        return LabelMap(len(wanted)), []
    positions, notices = _outputs_of(known, wanted, model)
    if positions == list(range(len(known))):
        return LabelMap(len(wanted)), notices
    targets = [-1] * len(known)
    for target, position in enumerate(positions):
        if position >= 0:
            targets[position] = target
    lost = [name for name, position in zip(wanted, positions) if position < 0]
    if lost:
        few = ", ".join(lost[:5])
        warn = f"{len(lost)} of {len(wanted)} classes are unknown to model '{model}' and can never be right: {few}"
        notices.append(warn)
    return LabelMap(len(wanted), "argmax", tuple(targets)), notices


def _outputs_of(known: Sequence[str], wanted: Sequence[str], model: str) -> tuple[list[int], list[str]]:
    """For each of the data's classes the model's output, −1 for none, and what to tell: by name; where no name is known, or two
    classes bear names of one output, by looser ways; else by position.
    """
    positions, twice = _positions(known, wanted)
    matched = [position for position in positions if position >= 0]
    if matched and len(set(matched)) == len(matched):
        few = "; ".join(f"'{name}' ({', '.join(map(str, outputs))})" for name, outputs in list(twice.items())[:5])
        warn = (
            f"{len(twice)} of the data's classes bear a name of several classes of model '{model}', of which the first is "
            f"taken: {few}; look with `snellen match` and pass --labels"
        )
        return positions, [warn] if twice else []
    proposed = _proposed(known, wanted, by_name=bool(matched))
    if proposed is not None:
        positions, how = proposed
        if positions == list(range(len(known))):
            return positions, []
        count = sum(position >= 0 for position in positions)
        return positions, [
            f"{count} of {len(wanted)} classes are matched with those of model '{model}' {how}; see `snellen match`"
        ]
    if len(known) == len(wanted):
        names = f"'{known[0]}' and '{wanted[0]}'"
        warn = f"model '{model}' and the data name their classes differently ({names}): matched by position"
        return list(range(len(known))), [] if all(map(str.isdecimal, wanted)) else [warn]
    raise UserError(
        f"none of the data's {len(wanted)} classes ('{wanted[0]}', …) is among the {len(known)} of model '{model}' "
        f"('{known[0]}', …); name them alike (ImageNet: wnid such as n01443537, or name) or pass --labels map.json, "
        "which `snellen match` proposes"
    )


def _positions(known: Sequence[str], wanted: Sequence[str]) -> tuple[list[int], dict[str, list[int]]]:
    """The first output that bears each class's name, −1 for none; and the classes whose name several outputs bear."""
    bearing: dict[str, list[int]] = {}
    for position, name in enumerate(known):
        for synonym in dict.fromkeys(plain(part) for part in (name, *name.split(","))):
            bearing.setdefault(synonym, []).append(position)
    outputs = {name: bearing.get(plain(name), []) for name in wanted}
    return (
        [places[0] if places else -1 for places in outputs.values()],
        {name: places for name, places in outputs.items() if len(places) > 1},
    )


def _proposed(known: Sequence[str], wanted: Sequence[str], by_name: bool) -> tuple[list[int], str] | None:
    """The outputs of the classes by looser ways to match than a name that one output bears, −1 for none, and the way.

    None where nothing is found, where numbers lie outside, or, if no class matches by name, where all that is found speaks for
    the positions.
    """
    from snellen.models.class_match import propose

    matches = propose(known, len(known), dict.fromkeys(wanted, 1))
    positions = [match.outputs[0] if match.outputs else -1 for match in matches]
    matched = {place: position for place, position in enumerate(positions) if position >= 0}
    if not matched or (matches[0].how == "number" and len(matched) < len(wanted)):
        return None
    agrees = len(matched) < len(wanted) and all(place == position for place, position in matched.items())
    if agrees and not by_name and len(known) == len(wanted):
        return None
    ways = dict.fromkeys(match.how for match in matches if match.outputs)
    return positions, f"by {' and '.join('WordNet id' if how == 'id' else how for how in ways)}"


def _describe_groups(targets: Sequence[int], wanted: Sequence[str], model: str, how: str) -> list[str]:
    """What is done with a model's finer classes, and which groups of them it cannot name."""
    used = sum(target >= 0 for target in targets)
    notices = [f"{used} of the {len(targets)} classes of model '{model}' are read as {len(wanted)} {how}"]
    named = set(targets)
    lost = [name for i, name in enumerate(wanted) if i not in named]
    if lost:
        kind = how.partition(",")[0]
        notices.append(f"{len(lost)} {kind} are unknown to model '{model}' and can never be right: {', '.join(lost)}")
    return notices
