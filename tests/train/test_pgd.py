"""PGD: exact on linear networks, inside ball and range always, and as strong as published on real networks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest
from torch import nn

from snellen.errors import UserError
from snellen.train.loop import Normalise
from snellen.train.pgd import Pgd, parse_pgd, projected, random_offset, steepest

cross_entropy = nn.functional.cross_entropy
NORMALISE = Normalise([0.5] * 3, [0.25] * 3)


def draws(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def linear(seed: int = 0) -> nn.Module:
    """Two logits, linear in the pixels of 5 × 4 images."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(60, 2))
    nn.init.normal_(network[1].weight, std=0.05, generator=draws(seed))  # small: slopes of a sure network are coarse
    return network


def slope_against(network: nn.Module, labels: torch.Tensor) -> torch.Tensor:
    """The pixels' direction away from each label: the other class's weights less its own, [B, 3, 5, 4]."""
    weight = network[1].weight.detach()
    return (weight[1 - labels] - weight[labels]).view(-1, 3, 5, 4)


def middling(count: int = 6) -> torch.Tensor:
    return torch.randint(60, 190, (count, 3, 5, 4), dtype=torch.uint8, generator=draws(1))


LABELS = torch.tensor([0, 1, 1, 0, 1, 0])


@pytest.mark.parametrize("start", ["random", "image"])
def test_the_linf_optimum_on_a_linear_network_is_the_sign_of_its_weights(start):
    network, images = linear(), middling()
    shown = Pgd("linf", 8 / 255, steps=7, start=start).attack(
        network, NORMALISE, images, LABELS, cross_entropy, draws()
    )
    expected = images + 8 * slope_against(network, LABELS).sign()
    assert torch.allclose(shown, expected, atol=1e-3)


def test_the_l2_optimum_on_a_linear_network_is_along_its_weights():
    network, images = linear(), middling()
    slope = slope_against(network, LABELS)
    unit = slope / slope.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
    exact = Pgd("l2", 0.2, steps=3, start="image").attack(network, NORMALISE, images, LABELS, cross_entropy, draws())
    assert torch.allclose(exact, images + 0.2 * 255 * unit, atol=1e-3)
    near = Pgd("l2", 0.2, 0.2, 30, "random").attack(network, NORMALISE, images, LABELS, cross_entropy, draws())
    assert torch.allclose(near, images + 0.2 * 255 * unit, atol=0.5)


def test_one_step_from_the_image_moves_by_the_step():
    network, images = linear(), middling()
    shown = Pgd("linf", 8 / 255, 3 / 255, 1, "image").attack(network, NORMALISE, images, LABELS, cross_entropy, draws())
    assert torch.allclose((shown - images).abs(), torch.full_like(shown, 3), atol=1e-4)


@settings(max_examples=40)
@given(
    norm=st.sampled_from(["linf", "l2"]),
    radius=st.sampled_from([0.0, 1 / 255, 0.1, 0.5, 3.0]),
    steps=st.integers(1, 4),
    start=st.sampled_from(["random", "image"]),
    seed=st.integers(0, 2**32),
    floats=st.booleans(),
)
def test_attacked_images_stay_in_the_ball_and_in_the_range(norm, radius, steps, start, seed, floats):
    images = torch.randint(0, 256, (4, 3, 5, 4), dtype=torch.uint8, generator=draws(seed))
    given_images = images.float() if floats else images
    labels = torch.tensor([0, 1, 1, 0])
    pgd = Pgd(norm, radius, steps=steps, start=start)
    shown = pgd.attack(linear(seed), NORMALISE, given_images, labels, cross_entropy, draws(seed))
    assert shown.dtype == torch.float32
    assert not shown.requires_grad
    assert float(shown.min()) >= 0
    assert float(shown.max()) <= 255
    offset = (shown - images).flatten(1)
    size = offset.abs().amax(1) if norm == "linf" else offset.norm(dim=1)
    assert float(size.max()) <= radius * 255 * (1 + 1e-5) + 1e-3
    assert torch.equal(given_images, images.float() if floats else images)


RADII = st.just(0.0) | st.floats(1e-6, 1e3)  # in grey levels; the squares of far smaller ones float32 cannot hold


@settings(max_examples=60)
@given(norm=st.sampled_from(["linf", "l2"]), radius=RADII, size=st.floats(1e-6, 1e6), seed=st.integers(0, 99))
def test_projection_is_the_nearest_point_of_the_ball(norm, radius, size, seed):
    offset = torch.randn(3, 2, 4, 4, generator=draws(seed)) * size
    inside = projected(offset, norm, radius)
    length = (lambda x: x.abs().amax((1, 2, 3))) if norm == "linf" else (lambda x: x.double().flatten(1).norm(dim=1))
    assert (length(inside) <= radius * (1 + 1e-5)).all()
    assert torch.allclose(projected(inside, norm, radius), inside, rtol=1e-5)
    kept = length(offset) <= radius * (1 - 1e-6)  # the code measures in float32
    assert torch.equal(inside[kept], offset[kept])
    other = random_offset(offset, norm, radius, seed)  # no other point of the ball is nearer
    assert ((offset - inside).flatten(1).norm(dim=1) <= (offset - other).flatten(1).norm(dim=1) * (1 + 1e-5)).all()


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_the_steepest_l2_step_has_length_one_however_small_the_slope(scale):
    slope = torch.randn(4, 3, 8, 8, generator=draws()) * scale
    slope[3] = 0
    step = steepest(slope, "l2")
    assert torch.allclose(step.flatten(1).norm(dim=1), torch.tensor([1.0, 1, 1, 0]), atol=1e-5)


def test_random_starts_are_uniform_in_the_ball():
    few = torch.empty(4000, 3, 1, 1)
    assert kstest(random_offset(few, "linf", 2.0, 0).flatten().numpy(), "uniform", (-2, 4)).pvalue > 1e-3
    distance = random_offset(few, "l2", 2.0, 0).flatten(1).norm(dim=1).numpy()
    assert kstest((distance / 2) ** 3, "uniform").pvalue > 1e-3  # a ball's share within r grows as r³


class Watched(nn.Module):
    """Convolution, BatchNorm and dropout, as networks in training have them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5), nn.Flatten())
        self.head = nn.Linear(24, 2)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(seen))


def test_an_attack_leaves_the_network_as_it_was():
    torch.manual_seed(0)
    network = Watched().train()
    network.layers[3].eval()  # a part that is kept frozen stays so
    before = {name: value.clone() for name, value in network.state_dict().items()}
    state = torch.get_rng_state()
    Pgd().attack(network, NORMALISE, middling(), LABELS, cross_entropy, draws())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(weight.grad is None and weight.requires_grad for weight in network.parameters())
    assert [m.training for m in (network, network.layers[1], network.layers[3])] == [True, True, False]
    assert torch.equal(torch.get_rng_state(), state)


def test_an_interrupted_attack_leaves_the_training_mode():
    network = Watched().train()

    def broken(logits, targets):
        raise RuntimeError("no loss")

    with pytest.raises(RuntimeError, match="no loss"):
        Pgd().attack(network, NORMALISE, middling(), LABELS, broken, draws())
    assert network.training
    assert network.layers[1].training


def test_an_image_is_attacked_the_same_whatever_else_is_in_the_batch():
    torch.manual_seed(0)
    network, images = Watched().train(), middling()
    pgd = Pgd(start="image")
    whole = pgd.attack(network, NORMALISE, images, LABELS, cross_entropy, draws())
    alone = pgd.attack(network, NORMALISE, images[:1], LABELS[:1], cross_entropy, draws())
    assert torch.allclose(whole[:1], alone, atol=1e-4)


def test_the_same_draws_give_the_same_attack_and_channels_last_images_too():
    torch.manual_seed(0)
    network, images = Watched(), middling()
    first, again, other = (
        Pgd(steps=1).attack(network, NORMALISE, images, LABELS, cross_entropy, draws(seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    last = images.float().contiguous(memory_format=torch.channels_last)  # normalising these happens in place
    pgd = Pgd(start="image")
    plain = pgd.attack(network, NORMALISE, images, LABELS, cross_entropy, draws())
    assert torch.allclose(pgd.attack(network, NORMALISE, last, LABELS, cross_entropy, draws()), plain, atol=1e-4)
    assert torch.equal(last, images.float())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pgd", Pgd("linf", 8 / 255, None, 7, "random")),
        ("pgd(norm=l2, radius=0.5, steps=7)", Pgd("l2", 0.5, None, 7, "random")),
        ("pgd(l2, 1, 0.25, 20, image)", Pgd("l2", 1.0, 0.25, 20, "image")),
    ],
)
def test_texts_name_attacks_and_print_back(text, wanted):
    assert parse_pgd(text) == wanted
    assert parse_pgd(str(wanted)) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pdg", "unknown attack 'pdg'; did you mean 'pgd'"),
        ("pgd(norm=l3)", "unknown norm of pgd 'l3'"),
        ("pgd(radius=-1)", "pgd: expected radius of at least 0 .pixels in 0…1., got -1"),
        ("pgd(steps=0)", "pgd: expected at least 1 step, got 0"),
        ("pgd(step=0)", "pgd: expected step above 0"),
        ("pgd(eps=1)", "unknown argument of pgd 'eps'"),
    ],
)
def test_bad_texts_are_told(text, said):
    with pytest.raises(UserError, match=said):
        parse_pgd(text)


@pytest.fixture(scope="module")
def networks(shared: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("cifar_models", shared / "models" / "cifar_models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kept(network: nn.Module, images: np.ndarray, labels: np.ndarray) -> float:
    """The share of images still answered right under ℓ∞ 2/255, 10 steps."""
    pixels, targets = torch.from_numpy(images).permute(0, 3, 1, 2), torch.from_numpy(labels).long()
    pgd = Pgd("linf", 2 / 255, steps=10)
    shown = pgd.attack(network, lambda x: x / 255, pixels, targets, cross_entropy, draws())
    with torch.inference_mode():
        return float((network(shown / 255).argmax(1) == targets).float().mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "low", "high"),  # the data pack states 63.0 % and 0.6 % on 500 images
    [("cifar10_resnet4b_adv", 0.62, 0.64), ("cifar10_resnet20", 0.0, 0.015)],
)
def test_real_networks_keep_what_the_data_pack_states(networks, realdata, name, low, high):
    images, labels, _ = realdata.load_small("cifar10", "test")
    assert low <= kept(networks.load(name).eval(), images[:500], labels[:500]) <= high


def weak_and_strong(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Images 5 × 4 of two classes: one row says which loudly (± 20 levels) but lies one time in five, the rest softly.

    The soft rows (± 6 levels) never lie, but an attack of 8 levels turns them round.
    """
    labels = torch.randint(2, (count,), generator=draws(seed))
    sign = (2 * labels - 1).view(-1, 1, 1, 1)
    lies = torch.where(torch.rand(count, 1, 1, 1, generator=draws(seed + 1)) < 0.2, -1, 1)
    images = (128 + 6 * sign).expand(count, 3, 5, 4).clone()
    images[:, :, :1] = 128 + 20 * sign * lies
    return images.to(torch.uint8), labels


def trained(pgd: Pgd | None) -> nn.Module:
    network = linear()
    optimiser = torch.optim.SGD(network.parameters(), lr=0.5)
    generator = draws(5)
    images, labels = weak_and_strong(128, 0)
    for _ in range(150):
        shown = images if pgd is None else pgd.attack(network, NORMALISE, images, labels, cross_entropy, generator)
        optimiser.zero_grad()
        cross_entropy(network(NORMALISE(shown)), labels).backward()
        optimiser.step()
    return network


def test_training_on_attacked_images_hardens_and_costs_what_the_soft_feature_gave():
    images, labels = weak_and_strong(500, 10)
    attack = Pgd("linf", 8 / 255, steps=5)

    def right(network: nn.Module, shown: torch.Tensor) -> float:
        return float((network(NORMALISE(shown)).argmax(1) == labels).float().mean())

    plain, hard = trained(None), trained(attack)
    attacked = {
        net: right(net, attack.attack(net, NORMALISE, images, labels, cross_entropy, draws(9))) for net in (plain, hard)
    }
    assert right(plain, images) > 0.97
    assert attacked[plain] < 0.5
    assert right(hard, images) == pytest.approx(0.8, abs=0.05)
    assert attacked[hard] == pytest.approx(0.8, abs=0.05)
