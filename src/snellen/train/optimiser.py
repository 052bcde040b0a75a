"""The optimisers of the papers, and which weights decay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import nn

    from snellen.train.recipe import Recipe


def make_optimiser(recipe: Recipe, network: nn.Module) -> torch.optim.Optimizer:
    """SGD with momentum, Adam or RMSprop over a network's weights, as a recipe says."""
    groups = decay_groups(network, recipe.weight_decay, recipe.decay)
    on_gpu = all(weight.is_cuda for weight in network.parameters())
    options: dict[str, Any] = {"lr": recipe.lr}
    if recipe.optimiser == "adam":
        return torch.optim.Adam(groups, **options, fused=on_gpu)
    if recipe.optimiser == "rmsprop":
        return torch.optim.RMSprop(groups, **options, momentum=recipe.momentum)
    return torch.optim.SGD(groups, **options, momentum=recipe.momentum, nesterov=recipe.nesterov, fused=on_gpu)


def decay_groups(network: nn.Module, decay: float, which: str) -> list[dict[str, Any]]:
    """Parameter groups: all weights decay (`all`), or biases and normalisation scales do not (`weights`)."""
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    if which == "all":
        return [{"params": weights, "weight_decay": decay}]
    # What has fewer than two dimensions is a bias or the scale of a normalisation.
    kernels = [weight for weight in weights if weight.ndim > 1]
    rest = [weight for weight in weights if weight.ndim <= 1]
    return [{"params": kernels, "weight_decay": decay}, {"params": rest, "weight_decay": 0.0}]
