"""Fine-tuning: begin with the weights of a checkpoint, or of a library's network by name, instead of random ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.files import expand_home
from snellen.hashing import file_sha256
from snellen.lazy_torch import torch
from snellen.models.checkpoint import load_state, read_card
from snellen.models.subject import load_text

if TYPE_CHECKING:
    from torch import Tensor, nn

LIBRARIES = ("timm", "torchvision", "hf")  # kinds of models whose trained weights a training may begin with, by name


@dataclass(frozen=True)
class Start:
    """The weights of a file or of a named network, and what is known of them: class names and normalisation, None where not."""

    source: str
    fingerprint: str
    weights: dict[str, Tensor]
    card: dict[str, Any]

    @classmethod
    def of(cls, source: Path | str) -> Start:
        """What a file holds, or a text such as `timm:resnet50.a1_in1k`, `torchvision:resnet50@IMAGENET1K_V2` or `hf:FOLDER`."""
        start = _of_library(str(source)) if is_named(str(source)) else _of_file(expand_home(source))
        for name, tensor in start.weights.items():
            if tensor.is_floating_point() and not tensor.isfinite().all():
                raise UserError(f"'{source}': '{name}' holds nan or infinite numbers; begin with other weights")
        return start

    @property
    def statistics(self) -> tuple[list[float], list[float]] | None:
        """The mean and deviation that the weights are used to."""
        return (self.card["mean"], self.card["std"]) if self.card.get("mean") and self.card.get("std") else None

    def into(self, network: nn.Module, classes: tuple[str, ...]) -> str | None:
        """Give a network these weights; a head for other classes stays as it is, and the returned text tells the user."""
        own = network.state_dict()
        missing = [n for n in own if n not in self.weights and not n.endswith("num_batches_tracked")]
        foreign = [n for n in self.weights if n not in own]
        if missing or foreign:
            problem = f"lacks '{missing[0]}'" if missing else f"has the unknown '{foreign[0]}'"
            raise UserError(f"'{self.source}' does not fit this network: it {problem}; is it of another architecture?")
        head = last_layer(network)
        before = tuple(self.card.get("classes") or ())
        reshaped = [n for n in own if n in self.weights and own[n].shape != self.weights[n].shape]
        renewed = (
            {n for n in own if n.rpartition(".")[0] == head} if reshaped or (before and before != classes) else set()
        )
        wrong = [n for n in reshaped if n not in renewed]
        if wrong:
            shape, expected = list(self.weights[wrong[0]].shape), list(own[wrong[0]].shape)
            raise UserError(f"'{self.source}' does not fit: '{wrong[0]}' is {shape}, expected {expected}")
        weights = {n: t.to(own[n].dtype) for n, t in self.weights.items() if n not in renewed}
        network.load_state_dict(weights, strict=False)
        if not renewed:
            return None
        count = len(before) or len(self.weights[f"{head}.weight"])
        reset = f"its last layer '{head}' starts from random weights with {len(classes)}"
        return f"'{self.source}' knows {count} other classes: {reset}"


def is_named(source: str) -> bool:
    """Whether weights are named as a library has them, and are no file of ours."""
    return source.partition(":")[0] in LIBRARIES and ":" in source


def _of_file(path: Path) -> Start:
    weights = load_state(path)
    return Start(str(path), file_sha256(path)[:16], weights, read_card(path))


def _of_library(text: str) -> Start:
    """The weights that a library has under a name, with the classes and the normalisation that they were trained with."""
    model = load_text(text, "cpu")
    if model.module is None or model.card.task != "classification":
        raise UserError(f"'{text}' is no classifier whose weights a training can begin with")
    weights = {name: tensor.detach().clone() for name, tensor in model.module.state_dict().items()}
    facts = {"classes": model.classes, "mean": model.card.mean, "std": model.card.std}
    card = {name: list(values) for name, values in facts.items() if values is not None}
    return Start(text, model.card.fingerprint[:16], weights, card)


def last_layer(network: nn.Module) -> str:
    """The name of the last layer with weights."""
    layers = (torch.nn.Linear, torch.nn.Conv2d)
    return [name for name, part in network.named_modules() if isinstance(part, layers)][-1]
