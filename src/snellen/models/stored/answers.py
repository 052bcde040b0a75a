"""What a stored network answers: one output of several, in batches of the size that it takes, as logits or probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from snellen.errors import UserError
from snellen.files.net import reason_of
from snellen.models.card import Card
from snellen.models.device import Device, choose_device, precision_on
from snellen.models.model import Model, from_torch, normaliser, probe_images
from snellen.models.stored.image_input import ImageInput
from snellen.models.stored.stored_card import StoredText, check_outputs

Outputs = Literal["logits", "probabilities"]
ROUNDING = 1e-2  # by which the sum of probabilities may differ from 1, as that of half-precision numbers does


class StoredNetwork(nn.Module):
    """A network that takes any number of images [n, 3, H, W] and gives numbers [n, classes].

    `ask` does the work; `batch` is the number of images that it takes at once, filled up where there are fewer, None for any.
    """

    def __init__(
        self, ask: Callable[[Tensor], Any], text: StoredText, batch: int | None, network: nn.Module | None = None
    ):
        super().__init__()
        self.ask, self.text, self.network = ask, text, network
        self.batch: int | None = text.further.get("batch") or batch

    def forward(self, pixels: Tensor) -> Tensor:
        if self.batch is None:
            return self._numbers(self.ask(pixels), len(pixels))
        missing = -len(pixels) % self.batch
        full = torch.cat([pixels, pixels.new_zeros((missing, *pixels.shape[1:]))]) if missing else pixels
        parts = [self._numbers(self.ask(part), self.batch) for part in full.split(self.batch)]
        return torch.cat(parts)[: len(pixels)]

    def _numbers(self, answer: Any, count: int) -> Tensor:
        """The answer as [n, classes]."""
        chosen = choose_output(answer, self.text.further.get("output"), self.text)
        while chosen.ndim > 2 and chosen.shape[-1] == 1:
            chosen = chosen[..., 0]
        if chosen.ndim != 2 or len(chosen) != count or not chosen.is_floating_point():
            raise UserError(
                f"'{self.text}' answered {list(chosen.shape)} of {chosen.dtype} for {count} images; expected numbers "
                f"[{count}, classes]; of several outputs choose one by #output=NAME"
            )
        return chosen.float()


def as_taken(pixels: Tensor, images: ImageInput) -> Tensor:
    """Pixels float [n, 3, H, W] in the layout and the numbers that an input takes; bytes are made of pixels in 0…1."""
    pixels = pixels.permute(0, 2, 3, 1) if images.layout == "NHWC" else pixels
    if images.normalised:
        return pixels.to(getattr(torch, images.numbers))
    return (pixels * 255).round().clamp(0, 255).to(torch.uint8)


def choose_output(answer: Any, wanted: str | None, text: StoredText) -> Tensor:
    """The tensor that is meant of what a network returned: alone, or one of several by its number or name."""
    if isinstance(answer, Tensor):
        return answer
    named: Mapping[str, Any]
    if isinstance(answer, Mapping):
        named = {str(key): value for key, value in answer.items()}
    elif isinstance(answer, Sequence):
        named = {str(number): value for number, value in enumerate(answer)}
    else:
        raise UserError(f"'{text}' returned {type(answer).__name__}; expected a tensor, or several by name or number")
    if wanted is None and len(named) == 1:
        wanted = next(iter(named))
    if wanted not in named or not isinstance(named[wanted], Tensor):
        raise UserError(f"'{text}' has the outputs {', '.join(named)[:200]}; choose one of them by #output=NAME")
    chosen: Tensor = named[wanted]
    return chosen


def model_of(network: StoredNetwork, card: Card, device: Device, floats: bool) -> Model:
    """The model of a stored network. A look at its answers to the probe images tells logits from probabilities, and whether it
    takes as many images at once as its file says; `floats` says that it can be given pixels that are no bytes."""
    assert card.canvas is not None
    where = choose_device(device)
    network = network.eval().to(where)
    pixels = normaliser(card, where)(probe_images((card.canvas.height, card.canvas.width)))
    with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=precision_on(where) == "bf16"):
        answers = _look(network, pixels)
    check_outputs(network.text, answers.shape[1])
    model = from_torch(
        network,
        card.classes,
        canvas=card.canvas,
        mean=card.mean,
        std=card.std,
        name=card.name,
        device=where,
        outputs=network.text.further.get("outputs") or outputs_of(answers, network.text),
    )
    return replace(model, card=card, module=None, predict_by=None, floats=floats)


def _look(network: StoredNetwork, pixels: Tensor) -> Tensor:
    """The answers to the probe images; a network that takes one image but not several is named."""
    try:
        return network(pixels)
    except UserError:
        raise
    except Exception as error:  # whatever a runtime raises
        if network.batch is None:
            with_one = _works(network, pixels[:1])
            if with_one:
                raise UserError(
                    f"'{network.text}' answers one image but not {len(pixels)} at once ({reason_of(error)}); add #batch=1, or "
                    "export it with a dynamic batch dimension"
                ) from None
        size = f"{pixels.shape[2]}x{pixels.shape[3]}"
        raise UserError(
            f"'{network.text}' fails on images of {size} ({reason_of(error)}); is that its size?"
        ) from error


def _works(network: StoredNetwork, pixels: Tensor) -> bool:
    try:
        network(pixels)
    except Exception:  # whatever a runtime raises
        return False
    return True


def outputs_of(answers: Tensor, text: StoredText) -> Outputs:
    """Whether answers [n, classes] are probabilities (none negative, each row sums to 1) or logits; what may be either is asked
    for."""
    if not answers.isfinite().all() or bool((answers < 0).any()) or bool((answers > 1 + ROUNDING).any()):
        return "logits"
    if bool(((answers.sum(1) - 1).abs() <= ROUNDING).all()):
        return "probabilities"
    raise UserError(
        f"'{text}' answers numbers in 0…1 that do not sum to 1, such as {answers[0].sum():.3g}; add #outputs=logits, or "
        "#outputs=probabilities where each is one class's own"
    )
