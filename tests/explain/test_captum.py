"""Attributions of Captum by name: its own numbers, as maps; what it lacks or cannot do is said in one line."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from torch import nn

from snellen.catalogue import catalogue
from snellen.errors import UserError
from snellen.explain.captum_methods import captum_maps
from snellen.explain.methods import method_of, methods_of
from snellen.models import from_torch

captum = pytest.importorskip("captum.attr")


@pytest.fixture
def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(6, 8, 3, 2, 1), nn.ReLU(inplace=True)),
        *(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 4)),
    ).eval()


def pictures(count: int = 3) -> torch.Tensor:
    return torch.randn(count, 3, 16, 16, generator=torch.Generator().manual_seed(7))


def scaled(values: torch.Tensor) -> np.ndarray:
    maps = values.detach().abs().sum(1).numpy()
    return maps / maps.max((1, 2), keepdims=True)


@pytest.mark.parametrize("name", ["IntegratedGradients", "Saliency", "InputXGradient", "DeepLift"])
def test_maps_are_captums_values_summed_over_channels(network, name) -> None:
    images, targets = pictures(), [2, 0, 1]
    plain = nn.Sequential(*(nn.ReLU() if isinstance(one, nn.ReLU) else one for one in network))
    theirs = getattr(captum, name)(plain).attribute(images.clone(), target=torch.tensor(targets))
    ours = method_of(f"captum:{name}").maps(network, images, targets, None)
    assert np.allclose(ours, scaled(theirs), atol=1e-5)
    assert all(one.inplace for one in network if isinstance(one, nn.ReLU))


def test_a_layers_values_are_enlarged(network) -> None:
    images = pictures()
    theirs = captum.LayerActivation(network, network[2]).attribute(images)
    coarse = theirs.detach().abs().sum(1)[:, None]
    expected = nn.functional.interpolate(coarse, (16, 16), mode="bilinear")
    maps = captum_maps("LayerActivation", network, images, layer="2")
    assert np.allclose(maps, scaled(expected), atol=1e-5)


@pytest.mark.parametrize("name", ["Occlusion", "FeatureAblation", "KernelShap", "GradientShap", "LayerConductance"])
def test_maps_do_not_depend_on_the_batch_nor_on_what_was_drawn_before(network, name) -> None:
    images = pictures(2)
    together = captum_maps(name, network, images)
    torch.manual_seed(5)
    np.random.seed(5)
    state = torch.get_rng_state(), np.random.get_state()[1].copy()
    alone = torch.cat([captum_maps(name, network, image[None]) for image in images])
    assert torch.allclose(together, alone, atol=1e-4)
    assert torch.equal(torch.get_rng_state(), state[0])
    assert np.array_equal(np.random.get_state()[1], state[1])
    assert together.shape == (2, 16, 16)
    assert np.allclose(together.amax((1, 2)), 1)


def test_our_model_takes_bytes(network) -> None:
    model = from_torch(network, size=16, name="net", device="cpu")
    images = (pictures(2) * 50 + 120).clamp(0, 255).to(torch.uint8)
    assert torch.allclose(
        captum_maps("Saliency", model, images), captum_maps("Saliency", network, images / 255), atol=1e-4
    )


def test_what_does_not_work_is_said_in_one_line(network) -> None:
    with pytest.raises(UserError, match="unknown method of captum 'Saliencie'; did you mean 'Saliency'"):
        method_of("captum:Saliencie")
    with pytest.raises(UserError, match="would depend on the batch"):
        method_of("captum:FeaturePermutation")
    with pytest.raises(UserError, match="captum:NeuronGradient needs neuron_selector"):
        captum_maps("NeuronGradient", network, pictures())
    with pytest.raises(UserError, match="looks at the image, not at a layer; leave out layer=-2"):
        captum_maps("Saliency", network, pictures(), layer=-2)
    with pytest.raises(UserError, match=r"captum:LRP does not work with the model: [^\n]*$"):
        captum_maps("LRP", nn.Sequential(network, nn.Hardswish()), pictures())


def test_missing_captum_is_named_with_its_install_command(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "captum", None)
    monkeypatch.setattr("snellen.explain.methods._captum", method_of.__globals__["_captum"].__wrapped__)
    monkeypatch.setattr("importlib.import_module", _without_captum)
    with pytest.raises(UserError, match=r"captum:… needs Captum; pip install 'snellen\[captum\]'"):
        method_of("captum:Saliency")


def _without_captum(name: str) -> None:
    raise ModuleNotFoundError(f"No module named '{name}'", name=name)


def test_several_methods_are_named_with_commas_and_listed() -> None:
    assert list(methods_of("gradcam, iba,captum:Saliency")) == ["gradcam", "iba", "captum:Saliency"]
    assert {"gradcam", "iba", "attention", "captum:NAME"} <= {name for name, _ in catalogue("methods")}
    with pytest.raises(UserError, match="unknown method of maps 'gradcan'; did you mean 'gradcam'"):
        methods_of("gradcan,iba")
