"""Shifted hue and saturation: one trial per image, which ends at the first shift that fools the model.

The semantic adversarial examples of Hosseini and Poovendran (2018), as Volpi & Murino (2019) compare with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.distort.draws import on_device
from snellen.distort.law import expect_within
from snellen.engine.requests.trial import Stage, Trial, TrialSteps
from snellen.lazy_torch import torch
from snellen.notation import text_form

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class HueShift(Trial):
    """Shift `i` of `shifts` adds U(0, 1) to the hue, modulo 1, and U(−1, 1) · i / `shifts` to the saturation, cut to 0…1.

    Columns: `fooled`, whether an answer was wrong, and `tried`, how many shifts were tried up to it. An image that the model
    gets wrong as it is counts as fooled after 0. One without a label has no columns.
    """

    shifts: int = 1000
    version: ClassVar[int] = 1
    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    def __post_init__(self) -> None:
        expect_within("shifts", self.shifts, 1, 1_000_000)

    __str__ = text_form

    def rounds(self, samples: int) -> list[range]:
        return [range(start, min(start + 1024, samples)) for start in range(0, samples, 1024)]

    def begin(self, stage: Stage) -> HueRound:
        return HueRound(self, stage)

    def most(self, samples: int, donors: int) -> int:
        return samples * (self.shifts + 1)


@dataclass(frozen=True)
class ShiftedImage:
    """A question: one image under the shifts from `first` on; shift 0 is the image itself."""

    row: int
    first: int
    count: int

    def __len__(self) -> int:
        return self.count


class HueRound:
    """One round of `HueShift`."""

    def __init__(self, trial: HueShift, stage: Stage) -> None:
        assert stage.view.labels is not None
        self.trial, self.images, self.labels = trial, stage.images, stage.view.labels
        draw = stage.view.draw
        self.hue, self.saturation = draw.uniforms("hue", trial.shifts), draw.uniforms("saturation", trial.shifts)

    def start(self, row: int, room: int) -> TrialSteps:
        label, tried = int(self.labels[row]), 0
        if label < 0:
            return {"fooled": None, "tried": None}
        count = 1
        while tried <= self.trial.shifts:
            reply = yield ShiftedImage(row, tried, min(count, self.trial.shifts + 1 - tried))
            wrong = np.flatnonzero(reply.pred != label)
            if len(wrong):
                return {"fooled": True, "tried": tried + int(wrong[0])}
            tried += len(reply.pred)
            count = max(1, min(tried, reply.room))  # the longer none fools, the more are tried at once
        return {"fooled": False, "tried": self.trial.shifts}

    def show(self, questions: Sequence[ShiftedImage]) -> Tensor:
        rows = np.repeat([question.row for question in questions], [len(question) for question in questions])
        number = np.concatenate([np.arange(question.first, question.first + question.count) for question in questions])
        at = np.maximum(number - 1, 0)
        hue = np.where(number > 0, self.hue[rows, at], 0)
        reach = (2 * self.saturation[rows, at] - 1) * number / self.trial.shifts
        device = self.images.device
        pixels = self.images[on_device(rows, device)]
        shifted = shift_hue(
            pixels, on_device(hue.astype(np.float32), device), on_device(reach.astype(np.float32), device)
        )
        return torch.where(on_device(number > 0, device).view(-1, 1, 1, 1), shifted, pixels)


def shift_hue(images: Tensor, hue: Tensor, saturation: Tensor) -> Tensor:
    """uint8 [B, 3, H, W] with `hue` [B] added to the hue, modulo 1, and `saturation` [B] to the saturation, cut to 0…1.

    The conversions are those of Python's `colorsys`; the value stays. Rounded to the nearest level.
    """
    pixels = images.float() / 255
    value, low = pixels.amax(1), pixels.amin(1)
    span = value - low
    divisor = torch.where(span > 0, span, 1)
    red, green, blue = ((value[:, None] - pixels) / divisor[:, None]).unbind(1)
    is_red, is_green = pixels[:, 0] == value, pixels[:, 1] == value
    angle = torch.where(is_red, blue - green, torch.where(is_green, 2 + red - blue, 4 + green - red)) / 6
    angle = torch.where(span > 0, angle, 0)
    strength = torch.where(value > 0, span / torch.where(value > 0, value, 1), 0)
    angle = (angle + hue.view(-1, 1, 1)) % 1
    strength = (strength + saturation.view(-1, 1, 1)).clamp(0, 1)
    return _as_rgb(angle, strength, value).mul_(255).round_().clamp_(0, 255).to(torch.uint8)


def _as_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """float [B, 3, H, W] in 0…1. A channel is the value less what the saturation takes of it at its distance from the hue."""
    offset = torch.tensor([5.0, 3.0, 1.0], device=hue.device).view(1, 3, 1, 1)
    place = (offset + 6 * hue[:, None]) % 6
    share = torch.minimum(place, 4 - place).clamp(0, 1)
    return value[:, None] * (1 - saturation[:, None] * share)
