"""Grad-CAM against a worked example, Captum and pytorch-grad-cam; and that it finds the right layer in many networks."""

from __future__ import annotations

import numpy as np
import pytest
import timm
import torch
import torchvision
from torch import nn

import snellen
from snellen.errors import UserError
from snellen.explain import gradcam
from snellen.explain.feature_grid import places_of
from snellen.explain.network import find_layer
from snellen.models import from_callable, from_torch
from snellen.models.zoo import NETWORKS


class TwoChannels(nn.Module):
    """Red and green as features; class 0 counts twice the red less the green, class 1 the green."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 2, 1, bias=False)
        self.features.weight.data = torch.tensor([[1.0, 0, 0], [0, 1.0, 0]]).view(2, 3, 1, 1)
        self.head = nn.Linear(2, 2, bias=False)
        self.head.weight.data = torch.tensor([[2.0, -1.0], [0.0, 1.0]])

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(images).mean((2, 3)))


def seeded(build, *arguments, **settings) -> nn.Module:
    """A network with random weights, the same every time; heads that start at zero are made to say something."""
    torch.manual_seed(0)
    network = build(*arguments, **settings).eval()
    for part in network.modules():
        if isinstance(part, nn.Linear) and not part.weight.any():
            nn.init.normal_(part.weight, std=0.1)
    return network


def pictures(count: int = 3, height: int = 64, width: int = 64) -> torch.Tensor:
    """Smooth random images, float [count, 3, height, width]."""
    draws = torch.Generator().manual_seed(7)
    coarse = torch.randn(count, 3, 6, 6, generator=draws)
    return nn.functional.interpolate(coarse, (height, width), mode="bicubic")


def alike(ours: torch.Tensor, theirs: np.ndarray) -> list[float]:
    """The correlation of each pair of maps; a constant one has none, so it may not be among them."""
    assert all(np.ptp(one) > 0 for one in (*ours.numpy(), *np.asarray(theirs)))
    return [float(np.corrcoef(a.flatten(), b.flatten())[0, 1]) for a, b in zip(ours.numpy(), np.asarray(theirs))]


def test_the_map_of_two_channels_is_the_one_worked_out_by_hand() -> None:
    red = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    green = torch.tensor([[1.0, 4.0], [0.0, 2.0]])
    images = torch.stack([red, green, torch.zeros(2, 2)])[None]
    # weights are the head's row / 4, so the map is (2 red − green), here [[1, −4], [4, 4]], without what is negative
    for_red = gradcam(TwoChannels(), images, targets=[0])
    assert torch.allclose(for_red[0], torch.tensor([[0.25, 0.0], [1.0, 1.0]]))
    for_green = gradcam(TwoChannels(), images, targets=[1])
    assert torch.allclose(for_green[0], green / 4)
    # class 0 scores 2 · 1.5 − 1.75 = 1.25, class 1 scores 1.75, so class 1 is what the network says
    assert torch.equal(gradcam(TwoChannels(), images), for_green)


def test_a_map_without_anything_in_favour_is_zero_not_nan() -> None:
    images = torch.zeros(1, 3, 2, 2)
    images[0, 1, 0, 0] = 1  # only green, which speaks against class 0
    assert torch.equal(gradcam(TwoChannels(), images, targets=[0]), torch.zeros(1, 2, 2))


@pytest.mark.parametrize(("layer", "name"), [(None, "layer4"), (-2, "layer3"), ("layer2.1", "layer2.1")])
def test_a_resnet_agrees_with_captum_and_pytorch_grad_cam(layer, name) -> None:
    captum = pytest.importorskip("captum.attr")
    peer = pytest.importorskip("pytorch_grad_cam")
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    network = seeded(torchvision.models.resnet18, num_classes=10)
    images, targets = pictures(3, 96, 96), [9, 8, 6]
    ours = gradcam(network, images, targets, layer)
    at = network.get_submodule(name)
    coarse = captum.LayerGradCam(network, at).attribute(images, torch.tensor(targets), relu_attributions=True)
    enlarged = nn.functional.interpolate(coarse, (96, 96), mode="bilinear")[:, 0].detach().numpy()
    assert min(alike(ours, enlarged)) > 0.9999
    theirs = peer.GradCAM(network, [at])(images, [ClassifierOutputTarget(t) for t in targets])
    assert min(alike(ours, theirs)) > 0.999


def plain_gradcam(network: nn.Module, images: torch.Tensor, target: int, norm: nn.Module, places) -> np.ndarray:
    """The definition, written out: everything is gone through backwards, one image after the other."""
    maps = []
    for image in images:
        held = []
        handle = norm.register_forward_hook(lambda _, __, out, held=held: (out.retain_grad(), held.append(out))[0])
        network(image[None])[0, target].backward()
        handle.remove()
        features, gradient = (places(one)[0] for one in (held[0].detach(), held[0].grad))
        heat = sum(gradient[channel].mean() * features[channel] for channel in range(len(features))).clamp(min=0)
        enlarged = nn.functional.interpolate(heat[None, None], image.shape[1:], mode="bilinear")
        maps.append((enlarged / enlarged.max())[0, 0].numpy())
    return np.stack(maps)


@pytest.mark.parametrize(
    ("name", "settings", "size"),
    [
        ("vit_tiny_patch16_224", {"img_size": 96}, (96, 96)),
        ("vit_tiny_patch16_224", {"img_size": (64, 112)}, (64, 112)),
        ("deit_tiny_distilled_patch16_224", {"img_size": 96}, (96, 96)),
        ("vit_small_patch14_reg4_dinov2", {"img_size": (70, 98), "depth": 3}, (70, 98)),
    ],
)
def test_transformers_agree_with_the_definition_and_pytorch_grad_cam(name, settings, size) -> None:
    network = seeded(timm.create_model, name, num_classes=10, **settings)
    extra, grid = network.num_prefix_tokens, network.patch_embed.grid_size
    norm = network.blocks[-1].norm1

    def reshape(tokens: torch.Tensor) -> torch.Tensor:
        return tokens[:, extra:].reshape(len(tokens), *grid, -1).permute(0, 3, 1, 2)

    images = pictures(2, *size)
    ours = gradcam(network, images, [3, 3])
    assert ours.shape == (2, *size)
    assert np.allclose(ours, plain_gradcam(network, images, 3, norm, reshape), atol=1e-3)
    peer = pytest.importorskip("pytorch_grad_cam", reason="needs grad-cam: pip install --no-deps grad-cam")
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    theirs = peer.GradCAM(network, [norm], reshape_transform=reshape)(images, [ClassifierOutputTarget(3)] * 2)
    assert min(alike(ours, theirs)) > 0.999


def test_swin_with_its_channels_last_agrees_with_pytorch_grad_cam() -> None:
    peer = pytest.importorskip("pytorch_grad_cam")
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    size = (128, 64)
    network = seeded(
        timm.create_model, "swin_tiny_patch4_window7_224", num_classes=10, img_size=size, window_size=2, embed_dim=48
    )
    images = pictures(2, *size)
    for layer, module in ((None, network.norm), (-2, network.layers[2]), ("stage3", network.layers[2])):
        camera = peer.GradCAM(network, [module], reshape_transform=lambda out: out.permute(0, 3, 1, 2))
        theirs = camera(images, [ClassifierOutputTarget(5)] * 2)
        assert min(alike(gradcam(network, images, [5, 5], layer), theirs)) > 0.999


def vgg(classes: int) -> nn.Module:
    return torchvision.models.vgg11(num_classes=classes)


@pytest.mark.parametrize(
    ("build", "size", "layer", "name", "grid"),
    [
        (NETWORKS["preact_resnet18"], 32, None, "layer4", (4, 4)),
        (NETWORKS["preact_resnet18"], 32, "stage3", "layer3", (8, 8)),
        (NETWORKS["preact_resnet18"], 32, -2, "layer3", (8, 8)),
        (NETWORKS["resnet20"], 32, None, "layer3", (8, 8)),
        (NETWORKS["vit_small_p4"], 32, None, "blocks.8.norm1", (8, 8)),
        (NETWORKS["vit_small_p4"], 32, -3, "blocks.6.norm1", (8, 8)),
        (vgg, 224, -2, "features.19", (14, 14)),
    ],
)
def test_layers_are_found_by_themselves(build, size, layer, name, grid) -> None:
    network = seeded(build, 10)
    spot = find_layer(network, pictures(1, size, size), layer)
    assert spot.name == name
    assert (spot.places.height, spot.places.width) == grid


def test_a_strided_bottleneck_does_not_hide_the_stage_before_it() -> None:
    """Its first convolution still has the finer resolution and answers after that stage."""
    network = seeded(torchvision.models.resnet50, num_classes=10)
    assert find_layer(network, pictures(1, 64, 64), -2).name == "layer3"


class Graph(nn.Module):
    """The two channels again, without modules of their own."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        held = nn.functional.conv2d(images, torch.tensor([[1.0, 0, 0], [0, 1.0, 0]]).view(2, 3, 1, 1))
        return held.mean((2, 3)) @ torch.tensor([[2.0, -1.0], [0.0, 1.0]]).T


def test_a_network_without_modules_is_watched_by_its_calls() -> None:
    images = pictures(3, 8, 8)
    assert torch.allclose(gradcam(Graph(), images, [0, 1, 0]), gradcam(TwoChannels(), images, [0, 1, 0]), atol=1e-6)


@pytest.mark.parametrize("name", ["resnet20", "vit_small_p4"])
def test_an_image_has_the_same_map_in_any_batch(name) -> None:
    network = seeded(NETWORKS[name], 10)
    images = pictures(5, 32, 32)
    together = gradcam(network, images, layer=-2)
    alone = torch.cat([gradcam(network, image[None], layer=-2) for image in images])
    assert torch.allclose(together, alone, atol=1e-4)


def test_our_model_takes_bytes_and_normalises_them_itself() -> None:
    network = seeded(NETWORKS["resnet20"], 10)
    images = (pictures(4, 32, 32) * 60 + 120).clamp(0, 255).to(torch.uint8)
    mean, std = torch.tensor([0.4, 0.5, 0.6]).view(1, 3, 1, 1), torch.tensor([0.2, 0.3, 0.4]).view(1, 3, 1, 1)
    expected = gradcam(network, (images / 255 - mean) / std)
    model = from_torch(network, size=32, mean=[0.4, 0.5, 0.6], std=[0.2, 0.3, 0.4], device="cpu")
    maps = snellen.explain.gradcam(model, images)
    assert torch.allclose(maps, expected, atol=1e-3)
    assert maps.dtype == torch.float32
    assert float(maps.min()) >= 0
    assert float(maps.max()) <= 1


def test_nothing_of_the_network_is_changed() -> None:
    network = seeded(NETWORKS["resnet20"], 10)
    network.train()
    network.layer1.eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    gradcam(network, pictures(2, 32, 32))
    assert network.training
    assert network.layer2[0].bn1.training
    assert not network.layer1[0].bn1.training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())
    assert not any(module._forward_hooks for module in network.modules())
    assert torch.is_grad_enabled()


def test_a_map_that_is_the_same_everywhere_is_refused_with_the_layer_and_what_to_try() -> None:
    network = seeded(NETWORKS["vit_small_p4"], 10)
    with pytest.raises(UserError, match=r"at layer 'blocks.8' is the same everywhere.*layer=-2"):
        gradcam(network, pictures(2, 32, 32), layer="blocks.8")  # behind it only the class token counts


class Idle(TwoChannels):
    """With a layer that answers but is not listened to."""

    def __init__(self) -> None:
        super().__init__()
        self.idle = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        self.idle(images)
        return super().forward(images)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_layer_that_nobody_listens_to_is_refused_too(frozen) -> None:
    network = Idle().requires_grad_(not frozen)
    with pytest.raises(UserError, match="at layer 'idle' is the same everywhere"):
        gradcam(network, pictures(2, 8, 8), layer="idle")
    assert torch.allclose(gradcam(network, pictures(2, 8, 8)), gradcam(TwoChannels(), pictures(2, 8, 8)))


def test_images_of_one_colour_say_nothing_about_a_layer() -> None:
    network = NETWORKS["resnet20"](10).eval()
    flat = TwoChannels()
    assert torch.equal(gradcam(flat, torch.ones(2, 3, 4, 4), [1, 1]), torch.ones(2, 4, 4))
    assert gradcam(network, torch.zeros(1, 3, 32, 32)).shape == (1, 32, 32)


def test_networks_without_places_are_told_which_maskings_remain() -> None:
    flat = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 4))
    with pytest.raises(UserError, match="neither convolutional features nor tokens.*occlude, tiles and fourier"):
        gradcam(flat, pictures(1, 8, 8))
    asked = from_callable(lambda images: np.full((len(images), 2), 0.5), size=8, name="rule", version="1")
    with pytest.raises(UserError, match="'rule' is not a torch network.*occlude, tiles and fourier"):
        gradcam(asked, torch.zeros(1, 3, 8, 8, dtype=torch.uint8))


def test_wrong_layers_and_targets_are_named() -> None:
    network = seeded(NETWORKS["resnet20"], 10)
    with pytest.raises(UserError, match="unknown layer 'layer9'; did you mean"):
        gradcam(network, pictures(1, 32, 32), layer="layer9")
    with pytest.raises(UserError, match=r"expected layer from -3 to -1 \(layer1, layer2, layer3\), got -4"):
        gradcam(network, pictures(1, 32, 32), layer=-4)
    with pytest.raises(ValueError, match="expected targets in 0…9, got 12 to 12"):
        gradcam(network, pictures(1, 32, 32), targets=[12])
    with pytest.raises(ValueError, match="expected one target per image"):
        gradcam(network, pictures(2, 32, 32), targets=[1])
    with pytest.raises(ValueError, match="expected float images"):
        gradcam(network, torch.zeros(1, 3, 32, 32, dtype=torch.uint8))


def test_only_what_lies_behind_the_layer_is_gone_through_backwards() -> None:
    """Convolutions in front of the layer leave nothing to differentiate."""
    network = seeded(NETWORKS["resnet20"], 10)
    tracked = {}
    for name, module in network.named_modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(lambda _, __, out, name=name: tracked.__setitem__(name, out.requires_grad))
    gradcam(network, pictures(1, 32, 32), layer="layer2")
    assert {name for name, on in tracked.items() if on} == {name for name in tracked if name.startswith("layer3")}


@pytest.mark.parametrize(
    ("shape", "image", "grid", "expected"),
    [
        ((1, 64, 7, 7), (224, 224), None, ("channels first", 7, 7, 0)),
        ((1, 7, 7, 64), (224, 224), None, ("channels last", 7, 7, 0)),
        ((1, 8, 8, 8), (64, 64), None, ("channels first", 8, 8, 0)),
        ((1, 3, 5, 96), (96, 160), None, ("channels last", 3, 5, 0)),
        ((1, 197, 192), (224, 224), (14, 14), ("tokens", 14, 14, 1)),
        ((1, 40, 32), (70, 98), (5, 7), ("tokens", 5, 7, 5)),
        ((1, 49, 32), (224, 224), (14, 14), ("tokens", 7, 7, 0)),
        ((1, 400, 32), (224, 224), (14, 14), None),
        ((1, 197, 192), (224, 224), None, ("tokens", 14, 14, 1)),
        ((1, 40, 32), (70, 98), None, ("tokens", 5, 7, 5)),
        ((1, 230, 32), (224, 224), None, ("tokens", 15, 15, 5)),
        ((1, 215, 32), (224, 224), None, None),
        ((1, 10), (224, 224), None, None),
    ],
)
def test_how_an_output_is_laid_out(shape, image, grid, expected) -> None:
    places = places_of(shape, image, grid)
    assert expected == (None if places is None else (places.layout, places.height, places.width, places.extra))
