"""First weights of convolutions, as the papers of the zoo draw them."""

from __future__ import annotations

from torch import nn


def he_normal(network: nn.Module) -> None:
    """Draw every convolution from N(0, 2 / (kernel area × output channels)), in place (He et al. 2015, backward form)."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
