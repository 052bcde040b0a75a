"""Networks without gradients, without answers of their own or with nan are named, by every method that needs gradients."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from snellen.errors import UserError
from snellen.explain import gradcam, iba
from snellen.explain.captum_methods import captum_maps


class Plain(nn.Module):
    """Two convolutions and a head; what comes between them is for others to spoil."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 8, 3, padding=1, stride=2)
        self.head = nn.Linear(8, 4)

    def spoil(self, features: torch.Tensor) -> torch.Tensor:
        return features

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = self.spoil(torch.relu(self.second(torch.relu(self.first(images)))))
        return self.head(features.mean((2, 3)))


class Rounding(Plain):
    def spoil(self, features: torch.Tensor) -> torch.Tensor:
        return torch.round(features * 20)


class Detaching(Plain):
    def spoil(self, features: torch.Tensor) -> torch.Tensor:
        return features.detach()


class Frozen(Plain):
    """Its body runs without gradients; where it ends, so do they."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            features = self.second(torch.relu(self.first(images)))
        return self.head(features.mean((2, 3)))


class ZeroHead(Plain):
    def __init__(self) -> None:
        super().__init__()
        nn.init.zeros_(self.head.weight)


class NotANumber(Plain):
    def spoil(self, features: torch.Tensor) -> torch.Tensor:
        return features / 0 - features / 0


class Saturated(Plain):
    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return torch.softmax(super().forward(images) * 1e6, 1)


DEAD = "no gradient comes back .*rounds, detaches, runs without gradients or is saturated"
FAULTS = {
    Rounding: DEAD,
    Detaching: DEAD,
    Frozen: DEAD,
    ZeroHead: "gives the same answers whatever the image shows",
    NotANumber: "answers nan",
    Saturated: DEAD,
}
METHODS: dict[str, Callable[[nn.Module, torch.Tensor], torch.Tensor]] = {
    "gradcam": lambda network, images: gradcam(network, images),
    "gradcam, first layer": lambda network, images: gradcam(network, images, layer="first"),
    "iba": lambda network, images: iba(network, images, steps=2, copies=2),
    "saliency": lambda network, images: captum_maps("Saliency", network, images),
}


@pytest.mark.filterwarnings("ignore:iba estimates")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("network", FAULTS)
def test_the_fault_is_named_in_one_line(network: type[Plain], method: str) -> None:
    if method == "saliency":
        pytest.importorskip("captum")
    images = torch.randn(3, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    with pytest.raises(UserError, match=FAULTS[network]) as refusal:
        METHODS[method](network().eval(), images)
    assert "\n" not in str(refusal.value)
    assert "layer=-2" not in str(refusal.value)


@pytest.mark.filterwarnings("ignore:iba estimates")
@pytest.mark.parametrize("method", METHODS)
def test_a_sound_network_has_maps(method: str) -> None:
    if method == "saliency":
        pytest.importorskip("captum")
    images = torch.randn(3, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    maps = METHODS[method](Plain().eval(), images)
    assert maps.shape == (3, 16, 16)
    assert (maps.flatten(1).amax(1) > maps.flatten(1).amin(1)).all()
