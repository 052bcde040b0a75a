"""What a mixed batch is trained towards, and the losses against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

IGNORE = -100  # the label of a pixel that counts in no loss


class Targets(NamedTuple):
    """Two labels per image and the share of the first: a tuple, so that loaders and `pin_memory` pass it on.

    `own` and `partner` are int64 [B], or label maps [B, H, W]; `weight` is float32 [B] in 0 to 1 on the same device,
    the share of `own` in the loss. Where there is nothing to share, `partner` is the very same tensor as `own`.
    """

    own: Tensor
    partner: Tensor
    weight: Tensor


def whole(labels: Tensor) -> Targets:
    """Targets of these labels alone, with weight 1."""
    return Targets(labels, labels, torch.ones(len(labels), dtype=torch.float32, device=labels.device))


def mixed_loss(logits: Tensor, targets: Targets, smoothing: float = 0.0, ignore: int = IGNORE) -> Tensor:
    """Mean of weight · CE(own) + (1 − weight) · CE(partner), a scalar, in nats.

    Logits [B, K] with labels [B], or [B, K, H, W] with label maps. Entries labelled `ignore` count neither above nor
    below the line: the mean is over the weights of those that count, which with weight 1 is torch's own mean.

    >>> from snellen.train import mixed_loss
    >>> import torch
    >>> from snellen.train.mixing import Targets
    >>> targets = Targets(own=torch.tensor([0]), partner=torch.tensor([1]), weight=torch.tensor([0.75]))
    >>> logits = torch.tensor([[2.0, 0.0]])
    >>> round(float(mixed_loss(logits, targets)), 3)  # three parts of the loss for class 0, one of that for class 1
    0.627
    """
    own = _entropy(logits, targets.own, smoothing, ignore)
    if targets.partner is targets.own:
        counted = (targets.own != ignore).sum()
        return own.sum() / counted
    share = targets.weight.view(-1, *[1] * (own.dim() - 1)).to(own.dtype)
    partner = _entropy(logits, targets.partner, smoothing, ignore)
    total = share * own + (1 - share) * partner
    counted = share * (targets.own != ignore) + (1 - share) * (targets.partner != ignore)
    return total.sum() / counted.sum()


def majority_loss(logits: Tensor, targets: Targets) -> Tensor:
    """Mean cross-entropy against the label with the larger weight, own in a tie: "diversity" of Marcu et al. 2022.

    >>> from snellen.train import majority_loss
    >>> import torch
    >>> from snellen.train.mixing import Targets
    >>> targets = Targets(own=torch.tensor([0]), partner=torch.tensor([1]), weight=torch.tensor([0.75]))
    >>> logits = torch.tensor([[2.0, 0.0]])
    >>> round(float(majority_loss(logits, targets)), 3)  # the loss for class 0
    0.127
    """
    share = targets.weight.view(-1, *[1] * (targets.own.dim() - 1))
    label = torch.where(share >= 0.5, targets.own, targets.partner)
    return torch.nn.functional.cross_entropy(logits, label, ignore_index=IGNORE)


def _entropy(logits: Tensor, labels: Tensor, smoothing: float, ignore: int) -> Tensor:
    return torch.nn.functional.cross_entropy(
        logits, labels, reduction="none", ignore_index=ignore, label_smoothing=smoothing
    )
