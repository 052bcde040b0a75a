"""Maps by an information bottleneck: against a loop over single images written out, and where the truth is planted."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from snellen.data import from_arrays
from snellen.errors import UserError
from snellen.explain import iba
from snellen.explain.bottleneck import BottleneckFit, gaussian_weights
from snellen.explain.network import open_network
from snellen.explain.noise import NoiseOfImages, image_seeds
from snellen.explain.reference import estimate, load_statistics
from snellen.explain.splice import make_splice
from snellen.models import from_torch

pytestmark = pytest.mark.filterwarnings("ignore:iba estimates what is usual")


class Residual(nn.Module):
    """A convolution beside which the input passes."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return (features + self.inner(features)).relu()


class Small(nn.Module):
    """Three stages, the second with a residual block."""

    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU())
        self.layer2 = nn.Sequential(nn.Conv2d(6, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), Residual(8))
        self.layer3 = nn.Sequential(nn.Conv2d(8, 12, 3, 2, 1), nn.ReLU(inplace=True))
        self.head = nn.Linear(12, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer3(self.layer2(self.layer1(images))).mean((2, 3)))


@pytest.fixture
def network() -> nn.Module:
    torch.manual_seed(0)
    return Small().eval()


def pictures(count: int, side: int = 16, seed: int = 7) -> torch.Tensor:
    coarse = torch.randn(count, 3, 5, 5, generator=torch.Generator().manual_seed(seed))
    return nn.functional.interpolate(coarse, (side, side), mode="bicubic")


def plain_iba(
    network: nn.Module, layer: nn.Module, image: torch.Tensor, target: int, usual: torch.Tensor
) -> np.ndarray:
    """One image, step by step, the whole network forwards and backwards with ten copies; bits per pixel [H, W]."""
    features: list[torch.Tensor] = []
    handle = layer.register_forward_hook(lambda _, __, output: features.append(output.detach()))
    with torch.no_grad():
        network(usual)
        network(image[None])
    handle.remove()
    reference, own = features[0].numpy().astype(np.float64), features[1]
    mean = torch.from_numpy(reference.mean(0)).float()
    std = torch.from_numpy(np.maximum(reference.std(0, ddof=1), 0.01)).float()
    active = torch.from_numpy((reference != 0).mean(0) > 0.01).float()
    noise = NoiseOfImages(image_seeds(image[None], 0), torch.device("cpu"))
    kernel = torch.from_numpy(np.outer(gaussian_weights(1), gaussian_weights(1))).float()
    channels = own.shape[1]
    alpha = torch.full(own.shape, 5.0, requires_grad=True)
    adam = torch.optim.Adam([alpha], lr=1.0)
    for _ in range(10):
        padded = nn.functional.pad(torch.sigmoid(alpha), (2, 2, 2, 2), mode="reflect")
        share = nn.functional.conv2d(padded, kernel.expand(channels, 1, 5, 5), groups=channels)
        distance = (own - mean) / std
        variance = (1 - share) ** 2
        nats = -0.5 * (1 + torch.log(variance) - (share * distance) ** 2 - variance) * active
        epsilon = noise.draw(10, own)[0]
        mixed = (share * distance + (1 - share) * epsilon) * std + mean
        mixed = (mixed * active).clamp(min=0)
        handle = layer.register_forward_hook(lambda _, __, output, mixed=mixed: mixed)
        answers = network(image[None].expand(10, -1, -1, -1))
        handle.remove()
        loss = nn.functional.cross_entropy(answers, torch.full((10,), target)) + 10 * nats.mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    bits = nats.detach()[0].sum(0) / np.log(2)
    size = image.shape[1:]
    scale = bits.numel() / (size[0] * size[1])
    return nn.functional.interpolate(bits[None, None] * scale, size, mode="bilinear")[0, 0].numpy()


def test_a_batch_equals_a_loop_over_single_images_written_out(network) -> None:
    images, usual, targets = pictures(4), pictures(40, seed=8), [0, 3, 1, 4]
    ours = iba(network, images, targets, estimation_data=usual, bits=True).numpy()
    for image, target, map in zip(images, targets, ours):
        expected = plain_iba(network, network.layer2, image, target, usual)
        assert np.allclose(map, expected, rtol=1e-3, atol=1e-4 * expected.max())


def test_maps_do_not_depend_on_the_batch_and_are_repeated_by_the_seed(network) -> None:
    images, usual = pictures(5), pictures(30, seed=8)
    together = iba(network, images, estimation_data=usual)
    alone = torch.cat([iba(network, image[None], estimation_data=usual) for image in images])
    assert torch.allclose(together, alone, atol=1e-3)
    assert torch.allclose(iba(network, images.flip(0), estimation_data=usual).flip(0), together, atol=1e-3)
    assert torch.equal(iba(network, images, estimation_data=usual), together)
    other = iba(network, images, estimation_data=usual, seed=1)
    assert not torch.equal(other, together)
    assert float(together.max()) == 1
    assert float(together.min()) >= 0


def test_a_batch_that_does_not_fit_at_once_is_halved(network, monkeypatch) -> None:
    images, usual = pictures(5), pictures(30, seed=8)
    expected = iba(network, images, estimation_data=usual)
    real, sizes = BottleneckFit._bits, []

    def tight(self, pixels, classes, seeds):
        sizes.append(len(pixels))
        if len(pixels) > 2:
            raise torch.OutOfMemoryError
        return real(self, pixels, classes, seeds)

    monkeypatch.setattr(BottleneckFit, "_bits", tight)
    assert torch.allclose(iba(network, images, estimation_data=usual), expected, atol=1e-3)
    assert sizes == [5, 2, 2, 1]


class Corner(nn.Module):
    """Class 1 where the top left quarter is bright, else class 0; the rest is not read."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 2, 1)
        self.features.weight.data = torch.tensor([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]).view(2, 3, 1, 1)
        self.features.bias.data = torch.zeros(2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        seen = self.features(images).relu()
        return 20 * seen[:, :, : images.shape[2] // 2, : images.shape[3] // 2].mean((2, 3)).flip(1)


def test_the_map_lies_where_the_network_reads() -> None:
    random = torch.Generator().manual_seed(0)
    usual = torch.randn(200, 3, 12, 12, generator=random)
    images = usual[:6] + torch.tensor([2.0, -2.0, 2.0, -2.0, 2.0, -2.0]).view(6, 1, 1, 1)
    maps = iba(Corner().eval(), images, layer="features", estimation_data=usual, beta=1, steps=20)
    inside = maps[:, :6, :6].sum((1, 2)) / maps.sum((1, 2))  # a quarter, were the map even
    assert float(inside.min()) > 0.95


def test_layers_inside_a_residual_block_are_run_without_widening(network) -> None:
    images = pictures(3)
    opened = open_network(network, images)
    known = opened.layers(images)
    assert known.pick_bottleneck(None).name == "layer2"
    assert make_splice(opened, images, known.pick_bottleneck(None)).widens
    inner = make_splice(opened, images, known.pick_bottleneck("inner"))
    assert not inner.widens
    features = inner.features(images)
    with torch.no_grad():
        plain = network(images)
    assert torch.allclose(inner.answers(images, features), plain, atol=1e-5)
    doubled = inner.answers(images, features.repeat_interleave(2, 0))
    assert torch.allclose(doubled, plain.repeat_interleave(2, 0), atol=1e-5)
    assert iba(network, images, layer="inner", estimation_data=pictures(20, seed=8)).shape == (3, 16, 16)


def test_transformers_are_bottled_up_at_a_block_and_keep_their_class_token() -> None:
    import timm

    torch.manual_seed(0)
    vit = timm.create_model("vit_tiny_patch16_224", img_size=48, num_classes=4, depth=4).eval()
    nn.init.normal_(vit.head.weight, std=0.3)
    images, usual = pictures(2, 48), pictures(20, 48, seed=8)
    opened = open_network(vit, images)
    spot = opened.layers(images).pick_bottleneck(None)
    assert spot.name == "blocks.0"
    assert opened.layers(images).pick_bottleneck(-1).name == "blocks.3"
    splice = make_splice(opened, images, spot)
    assert splice.widens
    with torch.no_grad():
        assert torch.allclose(splice.answers(images, splice.features(images)), vit(images), atol=1e-4)
    maps = iba(vit, images, estimation_data=usual, steps=3, copies=2)
    alone = torch.cat([iba(vit, one[None], estimation_data=usual, steps=3, copies=2) for one in images])
    assert torch.allclose(maps, alone, atol=1e-3)


def test_probabilities_give_the_same_maps_as_logits(network) -> None:
    class Sure(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.network(images).softmax(1)

    images, usual = pictures(2), pictures(30, seed=8)
    expected = iba(network, images, estimation_data=usual, layer="layer2")
    assert torch.allclose(iba(Sure().eval(), images, estimation_data=usual, layer="layer2"), expected, atol=1e-3)


def test_nan_images_give_a_map_of_zeros_and_leave_others_alone(network) -> None:
    images, usual = pictures(3), pictures(30, seed=8)
    expected = iba(network, images, [0, 1, 2], estimation_data=usual)
    images[1] = torch.nan
    maps = iba(network, images, [0, 1, 2], estimation_data=usual)
    assert not maps[1].any()
    assert torch.allclose(maps[[0, 2]], expected[[0, 2]], atol=1e-3)


def test_nothing_of_the_network_is_changed(network) -> None:
    network.train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    iba(network, pictures(2), estimation_data=pictures(10, seed=8), steps=2)
    assert network.training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())
    assert not any(module._forward_hooks for module in network.modules())
    assert torch.is_grad_enabled()


def usual_data(count: int = 48):
    images = ((pictures(count, seed=8) * 60 + 120).clamp(0, 255)).to(torch.uint8).permute(0, 2, 3, 1).numpy()
    return from_arrays({"images": images, "labels": np.arange(count) % 5}, "memory:usual", "1")


def test_statistics_of_a_dataset_are_kept_and_read_back(network, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))
    model, data = from_torch(network, size=16, name="net", device="cpu"), usual_data()
    first = load_statistics(model, data, None)
    (file,) = (tmp_path / "statistics").iterdir()
    pixels = torch.from_numpy(np.stack([one.image for one in data.read(range(48))])).permute(0, 3, 1, 2)
    direct = estimate(model, [pixels], None)
    assert torch.allclose(first.mean, direct.mean, atol=1e-6)
    assert torch.allclose(first.std, direct.std, atol=1e-6)
    assert first.count == 48
    assert first.positive

    def never(*arguments: object) -> None:
        raise AssertionError("estimated again")

    monkeypatch.setattr("snellen.explain.reference.estimate", never)
    again = load_statistics(model, data, None)
    assert torch.equal(again.mean, first.mean)
    assert torch.equal(again.std, first.std)
    assert torch.equal(again.active, first.active)
    assert (again.count, again.positive) == (48, True)
    monkeypatch.undo()
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))
    load_statistics(model, data, "layer3")  # another layer, another file
    assert len(list((tmp_path / "statistics").iterdir())) == 2
    with monkeypatch.context() as patched:
        patched.setattr("snellen.explain.reference.VERSION", "another")  # another way to estimate, another file
        load_statistics(model, data, None)
    assert len(list((tmp_path / "statistics").iterdir())) == 3
    file.write_bytes(file.read_bytes()[:100])  # a damaged one is estimated again
    assert torch.equal(load_statistics(model, data, None).mean, first.mean)


@pytest.mark.filterwarnings("error:iba estimates what is usual")
def test_too_few_images_are_warned_of_and_one_is_refused(network) -> None:
    with pytest.warns(UserWarning, match=r"iba estimates what is usual from 30 images.*1,000"):
        iba(network, pictures(1), estimation_data=pictures(30, seed=8), steps=1)
    iba(network, pictures(1), estimation_data=pictures(1000, seed=8), steps=1)
    with pytest.warns(UserWarning, match="from 1 images"), pytest.raises(UserError, match="at least 2 images"):
        iba(network, pictures(1))


def test_wrong_settings_are_named(network) -> None:
    with pytest.raises(ValueError, match="steps and copies of at least 1, got 0 and 10"):
        iba(network, pictures(2), steps=0)
    with pytest.raises(UserError, match=r"estimated for features of \[8, 8, 8\].*\[8, 4, 4\]"):
        iba(network, pictures(2, 8), estimation_data=pictures(20))
    with pytest.raises(UserError, match="a bare network takes no dataset"):
        iba(network, pictures(2), estimation_data=usual_data())
