"""Splicing: a network answers with other features at one layer, several sets of them per image."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_layer
from snellen.explain.layer_trail import Layer
from snellen.explain.network import OpenNetwork, class_answers
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


class _Reached(Exception):
    """The layer has answered; what comes behind it is not needed."""


@dataclass(frozen=True)
class Splice:
    """A layer of an open network whose features are read and replaced.

    `calls` says that layers are calls of torch functions. `times` is how often the layer answers for one input; its last
    answer counts. `widens`: the batch may grow at the layer, so that what lies in front is computed once per image, not
    once per set of features; inside a residual block, where the batch of the other branch stays, it may not.
    """

    opened: OpenNetwork
    spot: Layer
    calls: bool
    times: int = 1
    widens: bool = False

    def features(self, pixels: Tensor) -> Tensor:
        """The layer's features float32 [B, channels, h, w]; nothing behind it is run."""
        outputs: list[Tensor] = []

        def read(output: Any, tensor: Tensor) -> None:
            outputs.append(tensor)
            raise _Reached

        with suppress(_Reached):
            self._run(pixels, read)
        return self.spot.places.features(outputs[0]).float()

    def answers(self, pixels: Tensor, features: Tensor) -> Tensor:
        """Answers [B · sets, classes] with features [B · sets, channels, h, w], the sets of an image side by side.

        Only what lies behind the layer is differentiated.
        """
        sets = len(features) // len(pixels)

        def write(output: Any, tensor: Tensor) -> Any:
            torch.set_grad_enabled(features.requires_grad)
            wide = tensor if len(tensor) == len(features) or not self.spot.places.extra else _repeat(tensor, sets)
            behind = self.spot.places.fill(wide, features)
            return behind if tensor is output else type(output)((behind, *output[1:]))

        return class_answers(self._run(pixels if self.widens else _repeat(pixels, sets), write))

    def _run(self, pixels: Tensor, at_layer: Any) -> Any:
        count = 0

        def each(name: str, output: Any) -> Any:
            nonlocal count
            tensor = tensor_in(output)
            if name != self.spot.name or tensor is None:
                return None
            count += 1
            return at_layer(output, tensor) if count == self.times else None

        before = torch.is_grad_enabled()
        try:
            hooks = hook_layer(self.opened.network, each, self.spot.name, self.calls)
            with torch.no_grad(), self.opened.autocast(), hooks:
                return self.opened.network(pixels)
        finally:
            torch.set_grad_enabled(before)


def make_splice(opened: OpenNetwork, pixels: Tensor, spot: Layer) -> Splice:
    """A splice at a layer of the network, tried out on one image (twice: a batch of one grows by broadcasting anywhere)."""
    pair = _repeat(pixels[:1], 2)
    calls = opened.layers(pixels).calls
    times = 0

    def note(name: str, output: Any) -> None:
        nonlocal times
        times += name == spot.name and tensor_in(output) is not None

    with torch.no_grad(), opened.autocast(), hook_layer(opened.network, note, spot.name, calls):
        expected = class_answers(opened.network(pair))
    if bool(expected.isnan().any()):
        raise UserError(f"{opened.name} answers nan; check its weights and preprocessing")
    narrow = Splice(opened, spot, calls, times)
    wide = Splice(opened, spot, calls, times, widens=True)
    try:
        answers = wide.answers(pair, _repeat(narrow.features(pair), 2))
    except Exception:  # whatever layers make of a batch that has grown
        return narrow
    expected = _repeat(expected, 2).float()
    same = answers.shape == expected.shape and torch.allclose(
        answers.float(), expected, rtol=1e-2, atol=1e-2 * float(expected.abs().max())
    )
    return wide if same else narrow


def _repeat(tensor: Tensor, sets: int) -> Tensor:
    """Each entry of a batch as often as there are sets, side by side, in the same memory format."""
    return tensor if sets == 1 else tensor.repeat_interleave(sets, 0)
