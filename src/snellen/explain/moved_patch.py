"""Proof that the places of a layer lie as the image does: what a patch of noise changes moves where the patch moves.

A layer's shape alone does not tell: tokens may be in an order of their own (Hiera), four dimensions may be an attention matrix
(TNT), and channels may come last where all sides are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from snellen.explain.feature_grid import Places, tensor_in
from snellen.explain.hooks import hook_calls, hook_modules
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor, nn

AGREEMENT = (
    0.35  # seen: about 0 where tokens are in another order, 0.5 and more where a layer is local, 1 at first layers
)
SPEAKS = 0.1  # below it the response is the same wherever the patch is, and agreement is chance
QUIET, LOUD = (
    0.5,
    1.0,
)  # spread of the noise that all images share, and of that in the patch, in units of normalised pixels
SEED = 11


class Evidence(NamedTuple):
    """What moving a patch shows of a layer.

    `agreement`, −1 to 1, is the correlation of how the layer's response moves with how the patch does, the lowest of its moves
    down, across and crosswise; `strength` is the share of the response that moves at all.
    """

    agreement: float
    strength: float

    @property
    def proves(self) -> bool:
        return self.speaks and self.agreement >= AGREEMENT

    @property
    def contradicts(self) -> bool:
        """The response moves elsewhere, or some other way; not where it hardly moves, or moves too little along."""
        return self.speaks and self.agreement < 0

    @property
    def speaks(self) -> bool:
        return self.strength >= SPEAKS


def gather_evidence(
    network: nn.Module, pixels: Tensor, readings: Mapping[str, Sequence[Places]], calls: bool
) -> dict[str, list[Evidence | None]]:
    """By layer, what moving a patch shows of each way to read its output; None where it does not respond.

    Input is made of noise, of the shape of `pixels` [1, channels, H, W]. Costs one forward pass per place of the patch and one
    without it.
    """
    plain, patched, patches = moved_patches(pixels)
    before = _outputs(network, plain, readings, calls)
    responses: dict[str, list[list[Tensor]]] = {name: [[] for _ in ways] for name, ways in readings.items()}
    for image in patched:
        after = _outputs(network, image[None], readings, calls)
        for name, ways in readings.items():
            if name in before and name in after and before[name].shape == after[name].shape:
                change = (after[name] - before[name]).abs()
                for places, maps in zip(ways, responses[name]):
                    maps.append(places.features(change).sum(1)[0])
    return {
        name: [judge(torch.stack(maps), patches) if len(maps) == len(patched) else None for maps in ways]
        for name, ways in responses.items()
    }


def moved_patches(pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Noise of the shape of an image [1, …, H, W], the same with a patch in the middle of each quarter, [4, …, H, W], and where
    the patches lie, bool [4, H, W]."""
    height, width = pixels.shape[2:]
    draws = torch.Generator().manual_seed(SEED)
    quiet, loud = (torch.randn(pixels.shape[1:], generator=draws) for _ in range(2))
    patches = torch.zeros(4, height, width, dtype=torch.bool)
    tall, wide = max(height // 4, 1), max(width // 4, 1)
    for number, patch in enumerate(patches):
        top, left = (1 + 4 * (number // 2)) * height // 8, (1 + 4 * (number % 2)) * width // 8
        patch[top : top + tall, left : left + wide] = True
    plain = QUIET * quiet[None]
    shown = torch.where(patches[:, None], plain + LOUD * loud, plain)
    return plain.to(pixels), shown.to(pixels), patches.to(pixels.device)


def judge(responses: Tensor, patches: Tensor) -> Evidence | None:
    """The evidence of responses [4, h, w] to patches bool [4, H, W] as `moved_patches` has them; None where one is missing.

    What a place answers to all patches, and what a patch makes all places answer, is left out on both sides: some places
    respond more than others, and deep layers respond everywhere.
    """
    heard = responses.flatten(1).sum(1)
    if not bool((heard.isfinite() & (heard > 0)).all()):
        return None
    response = responses.double()
    grid = (response.shape[1], response.shape[2])
    where = torch.nn.functional.adaptive_avg_pool2d(patches[:, None].double(), grid)[:, 0]
    response, where = (values.flatten(1) / values.flatten(1).mean(1, keepdim=True) for values in (response, where))
    moves = torch.tensor([[-1, -1, 1, 1], [-1, 1, -1, 1], [1, -1, -1, 1]], dtype=torch.float64, device=response.device)
    moving, moved = moves @ response, moves @ where
    known = moved.norm(dim=1) > 0  # there is no down in a single row
    agreement = torch.nn.functional.cosine_similarity(moving[known], moved[known], eps=1e-30)
    strength = float((response - response.mean(0)).norm() / response.norm())
    return Evidence(float(agreement.min()) if len(agreement) else 0.0, strength)


def _outputs(network: nn.Module, image: Tensor, names: Mapping[str, Any], calls: bool) -> dict[str, Tensor]:
    """What the layers of these names answered last."""
    outputs: dict[str, Tensor] = {}

    def note(name: str, output: Any) -> None:
        tensor = tensor_in(output)
        if name in names and tensor is not None:
            outputs[name] = tensor.detach().float()

    hooks = hook_calls(note) if calls else hook_modules(network, note, lambda name, _: name in names)
    with torch.no_grad(), hooks:
        network(image)
    return outputs
