"""`zoo:arch@file.safetensors` (or the file alone, if its card names the architecture): networks that were trained here.

ARCH is a network of the zoo, or one of `timm:…` or `torchvision:…` with weights of one's own, such as a fine-tuned one. What
its file does not say stands behind a `#`: `zoo:timm:resnet18@ft.pt#like=resnet18.a1_in1k&classes=names.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.data.canvas import Canvas
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.hashing import file_sha256, key_of
from snellen.models.card import MOST_CLASSES, Card
from snellen.models.checkpoint import load_into, load_state, read_card, unwrapped
from snellen.models.device import Device
from snellen.models.model import Model, from_torch
from snellen.models.network_settings import Preprocessing, check_count, read_network_settings
from snellen.models.text_settings import split_settings
from snellen.models.zoo import SEGMENTATION, build, check_name

if TYPE_CHECKING:
    from torch import Size


def zoo_card(architecture: str, path: str | None) -> Card:
    """The card of a zoo checkpoint, read from its header without torch."""
    if path is None:
        raise UserError(f"'zoo:{architecture}' names no weights; write zoo:{architecture}@file.safetensors")
    place, query = split_settings(path)
    file = expand_home(place)
    header = read_card(file)
    architecture = architecture or header.get("arch") or ""
    if not architecture:
        raise UserError(
            f"'{place}' does not say its architecture; write zoo:ARCH@{path}; `snellen list models` names them"
        )
    check_name(architecture)
    settings = read_network_settings(query, f"zoo:{architecture}@{place}")
    used = settings.complete(_stated(header))
    mean, std = (None if values is None else list(values) for values in (used.mean, used.std))
    classes = settings.classes or (tuple(header["classes"]) if header.get("classes") else None)
    return Card(
        name=file.stem,
        text=f"zoo:{architecture}@{path}",
        fingerprint=key_of(["zoo", architecture, file_sha256(file), str(used.canvas), mean, std]),
        classes=classes,
        canvas=used.canvas,
        mean=used.mean,
        std=used.std,
        task="segmentation" if architecture in SEGMENTATION else "classification",
        notices=tuple(_notices(place, header, used)),
        stated=header.get("accuracy"),
        losses=last_losses(header.get("history")),
        gradients=True,
    )


def _stated(header: Mapping[str, Any]) -> Preprocessing:
    """The preprocessing that a checkpoint's card states."""
    size, mean, std = header.get("size"), header.get("mean"), header.get("std")
    return Preprocessing(
        Canvas(size[0], size[1], "crop", min(size)) if size else None,
        (mean[0], mean[1], mean[2]) if mean else None,
        (std[0], std[1], std[2]) if std else None,
    )


def _notices(place: str, header: Mapping[str, Any], used: Preprocessing) -> Iterator[str]:
    """What is assumed of a file without a card, and how to state it."""
    unknown = [
        *(["at the data's own size"] if used.canvas is None else []),
        *(["with pixels in 0…1, not normalised"] if used.mean is None else []),
    ]
    if unknown and not header:
        yield (
            f"'{place}' does not say how its images are made: they are shown {' and '.join(unknown)}; if it was trained on "
            "others, add #size=224&mean=…&std=…, or #like=NAME of a network of timm"
        )


def last_losses(history: Any) -> dict[str, float] | None:
    """The last epoch's `diversity`, `mix_diversity` and `loss` of a card's history; None where it has none of them.

    A history is a list of epochs ({name: value}) or a list per name ({name: [values]}).
    """
    if isinstance(history, dict):
        history = [{name: values[-1] for name, values in history.items() if isinstance(values, list) and values}]
    last = history[-1] if isinstance(history, list) and history else None
    if not isinstance(last, dict):
        return None
    known = {name: last[name] for name in ("diversity", "mix_diversity", "loss") if name in last}
    numbers = {name: value for name, value in known.items() if isinstance(value, int | float) and abs(value) < 1e300}
    return {name: float(value) for name, value in numbers.items()} or None


def load_zoo(architecture: str, path: str | None, device: Device) -> Model:
    """A network with the weights of a checkpoint; without a card the class count is read from its last layer."""
    card = zoo_card(architecture, path)
    assert path is not None
    architecture = card.text.removeprefix("zoo:").partition("@")[0]
    place, query = split_settings(path)
    file = expand_home(place)
    named = len(card.classes) if card.classes else None
    outputs = _outputs(architecture, file) if query or named is None else named
    check_count(card.classes, outputs, place)
    module = load_into(build(architecture, outputs), file)
    model = from_torch(
        module,
        card.classes,
        mean=card.mean,
        std=card.std,
        canvas=card.canvas,
        name=card.name,
        device=device,
        task=card.task,
    )
    return replace(model, card=card)


def _outputs(architecture: str, file: Path) -> int:
    """The class count of a checkpoint without a card: the rows of the first tensor that grows with the classes."""
    two, three = _shapes(architecture, 2), _shapes(architecture, 3)
    name = next(name for name in two if two[name] != three[name])
    state = unwrapped(load_state(file), two, file)
    if name not in state:
        raise UserError(f"'{file}' does not fit {architecture}: it lacks '{name}'")
    rows = int(state[name].shape[0]) if state[name].ndim else 0
    if not 1 <= rows <= MOST_CLASSES:
        raise UserError(f"'{file}': '{name}' has {rows:,} rows; expected one for each of 1 to {MOST_CLASSES:,} classes")
    return rows


def _shapes(architecture: str, classes: int) -> dict[str, Size]:
    """The shape of each tensor of a network, by name, where possible without taking memory for them."""
    import torch

    try:
        with torch.device("meta"):
            network = build(architecture, classes)
    except NotImplementedError:  # torchvision's RegNets compute with tensors while they are built
        network = build(architecture, classes)
    return {name: tensor.shape for name, tensor in network.state_dict().items()}
