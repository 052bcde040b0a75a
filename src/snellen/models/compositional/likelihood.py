"""How well a model of parts explains features, place by place, and where an occluder explains them better.

Symbols as in Kortylewski et al. (2020, section 3): features f_p of length 1 at places p; kernels μ_k; part maps α of a class y
and mixture m; clutter models β; a prior chance of occlusion. Likelihoods are in units of a von Mises–Fisher density's peak, a
constant that is the same for every kernel and falls out of all comparisons.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

FAINT = 0.1  # of the mean length of a batch's features: no direction is learnt from shorter ones


class Explained(NamedTuple):
    """Log-likelihoods [B, Y] of each class, summed over places, the mixture [B, Y] that explains best, and for that mixture the
    log odds [B, Y, H, W] that a place is hidden."""

    scores: Tensor
    mixtures: Tensor
    odds: Tensor


def activations(features: Tensor, kernels: Tensor, concentration: float) -> Tensor:
    """exp(concentration · (cos − 1)) of every kernel [K, D] at every place of features [B, D, H, W]: [B, K, H, W] in (0, 1]."""
    cosines = F.conv2d(_directions(features.float()), F.normalize(kernels, dim=1)[:, :, None, None])
    return torch.exp(concentration * (cosines - 1))


def _directions(features: Tensor) -> Tensor:
    """Features of length 1, [B, D, H, W]. A place with hardly any feature teaches the layers below nothing: the gradient of its
    direction is as large as its length is small, and one such place undoes a training."""
    directions = F.normalize(features, dim=1)
    if not torch.is_grad_enabled():
        return directions
    lengths = features.detach().norm(dim=1, keepdim=True)
    return torch.where(lengths < FAINT * lengths.mean(), directions.detach(), directions)


def by_place(parts: Tensor) -> Tensor:
    """Part maps [Y, M, K, H, W] as one matrix [K, Y·M] per place, [H·W, K, Y·M]: the form that `part_likelihood` takes."""
    return parts.flatten(0, 1).flatten(2).permute(2, 1, 0).contiguous()


def part_likelihood(active: Tensor, matrices: Tensor, mixtures: int) -> Tensor:
    """Σ_k α · activation: [B, Y, M, H, W] from activations [B, K, H, W] and `by_place` of part maps that sum to 1 over k."""
    likelihood = torch.bmm(active.flatten(2).permute(2, 0, 1), matrices)
    return likelihood.permute(1, 2, 0).unflatten(1, (-1, mixtures)).unflatten(3, active.shape[2:])


def clutter_likelihood(active: Tensor, clutter: Tensor) -> Tensor:
    """That of the clutter model which explains a place best: [B, H, W] from clutter [N, K] that sums to 1 over k."""
    return F.conv2d(active, clutter[:, :, None, None]).amax(1)


def scores_of_mixtures(parts: Tensor, clutter: Tensor, occlusion: float) -> Tensor:
    """Log-likelihoods [B, Y, M] summed over places: each by the object (chance 1 − occlusion) or by clutter, if that is likelier.

    `parts` is what `part_likelihood` gives, `clutter` what `clutter_likelihood` gives. Occlusion 0 is the plain mixture.
    """
    return torch.maximum((1 - occlusion) * parts, occlusion * clutter[:, None, None]).log().sum((3, 4))


def explain_places(parts: Tensor, clutter: Tensor, occlusion: float) -> Explained:
    """The scores of `scores_of_mixtures`, each class by its best mixture, and how that one explains each place."""
    scores, mixtures = scores_of_mixtures(parts, clutter, occlusion).max(2)
    chosen = mixtures[:, :, None, None, None].expand(-1, -1, 1, *parts.shape[3:])
    clear = ((1 - occlusion) * parts.gather(2, chosen)[:, :, 0]).log()
    return Explained(scores, mixtures, (occlusion * clutter).log()[:, None] - clear)
