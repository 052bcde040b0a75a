"""First weights of convolutions, as the papers of the zoo draw them."""

from __future__ import annotations

from torch import nn


def he_normal(network: nn.Module) -> None:
    """Draw every convolution from N(0, 2 / (kernel area × output channels)), in place (He et al. 2015, backward form)."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


def glorot_uniform(network: nn.Module) -> None:
    """Draw every layer from U(±√(6 / (inputs + outputs))) and set its bias to 0, in place (Glorot & Bengio 2010).

    Inputs and outputs of a convolution count once for each pixel of its kernel. TF-slim begins so.
    """
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
