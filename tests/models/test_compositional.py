"""Compositional networks: the likelihood worked by hand, clusters that were planted, and a checkpoint that answers the same."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from snellen.errors import UserError
from snellen.models.compositional import Compositional, parse_compositional
from snellen.models.compositional.clustering import cluster_directions, sample_rows
from snellen.models.compositional.likelihood import (
    activations,
    by_place,
    clutter_likelihood,
    explain_places,
    part_likelihood,
)
from snellen.models.compositional.network import CompositionalNet, build_compositional, find_features
from snellen.models.zoo import build, check_name


def small_network(classes: int = 3, **settings: object) -> tuple[CompositionalNet, torch.Tensor]:
    """A network with random parts, and images it can explain."""
    torch.manual_seed(0)
    backbone = build("smallnet", classes).eval()
    images = torch.randn(4, 3, 32, 32)
    chosen = Compositional("smallnet", None, **{"kernels": 5, "mixtures": 2, **settings})  # type: ignore[arg-type]
    network = CompositionalNet(find_features(chosen, backbone, images), backbone, classes).eval()
    with torch.no_grad():
        network.part_logits.normal_()
        network.clutter_logits.normal_()
    return network, images


def test_the_likelihood_worked_by_hand_on_two_by_two_features() -> None:
    """Two kernels along the axes, concentration 2: a feature along an axis has activations 1 and e⁻²."""
    features = torch.tensor([[[[3.0, 0.0], [0.0, 0.5]], [[0.0, 1.0], [2.0, 0.0]]]])  # x, y; y, x
    off = math.exp(-2)
    active = activations(features, torch.eye(2), 2.0)
    assert active[0, 0].tolist() == [[1, pytest.approx(off)], [pytest.approx(off), 1]]
    # class 0 expects x everywhere (mixture 0) or y everywhere (mixture 1); class 1 half and half in both
    parts = torch.zeros(2, 2, 2, 2, 2)
    parts[0, 0, 0], parts[0, 1, 1], parts[1] = 1, 1, 0.5
    likelihood = part_likelihood(active, by_place(parts), parts.shape[1])
    assert likelihood[0, 0, 0].tolist() == [[1, pytest.approx(off)], [pytest.approx(off), 1]]
    assert likelihood[0, 1, 0].flatten().tolist() == [pytest.approx((1 + off) / 2)] * 4
    clutter = clutter_likelihood(active, torch.tensor([[0.5, 0.5], [0.0, 1.0]]))  # anything, or y
    assert clutter[0].flatten().tolist() == [pytest.approx((1 + off) / 2), 1, 1, pytest.approx((1 + off) / 2)]
    # with an occlusion of 1/4, places of y cost class 0 only what clutter costs: log ¼ instead of log ¾ − 2
    explained = explain_places(likelihood, clutter, 0.25)
    assert float(explained.scores[0, 0]) == pytest.approx(2 * math.log(0.75) + 2 * math.log(0.25))
    assert explained.odds[0, 0].flatten().tolist() == pytest.approx(
        [
            math.log((1 + off) / 2 / 3),  # x is expected: clear
            math.log(1 / 3) + 2,  # y instead of x: hidden
            math.log(1 / 3) + 2,
            math.log((1 + off) / 2 / 3),
        ]
    )
    assert float(explained.scores[0, 1]) == pytest.approx(4 * math.log(0.75 * (1 + off) / 2))


def test_a_place_with_hardly_any_feature_does_not_undo_a_training() -> None:
    features = torch.ones(1, 3, 2, 2)
    features[0, :, 0, 0] = torch.tensor([1e-7, 0.0, 0.0])
    features.requires_grad_()
    active = activations(features, torch.eye(3), 30)
    lengths = features.norm(dim=1, keepdim=True)
    expected = torch.exp(30 * (features / lengths - 1))  # the cosines with the axes
    torch.testing.assert_close(active, expected)
    active.log().sum().backward()
    assert features.grad is not None
    assert not features.grad[0, :, 0, 0].any()
    (plain,) = torch.autograd.grad(expected.log().sum(), features)
    torch.testing.assert_close(features.grad[0, :, 1], plain[0, :, 1])
    assert plain.abs().max() > 1e8


def test_without_occlusion_it_is_the_plain_mixture() -> None:
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(3, 6, 4, 5, generator=generator)
    kernels = torch.randn(7, 6, generator=generator)
    parts = torch.rand(2, 3, 7, 4, 5, generator=generator)
    parts /= parts.sum(2, keepdim=True)
    active = activations(features, kernels, 10.0)
    explained = explain_places(
        part_likelihood(active, by_place(parts), parts.shape[1]), torch.full((3, 4, 5), 1e9), 0.0
    )
    cosines = torch.einsum("bdhw,kd->bkhw", F.normalize(features, dim=1), F.normalize(kernels, dim=1))
    density = torch.einsum("bkhw,ymkhw->bymhw", torch.exp(10 * (cosines - 1)), parts)
    assert torch.allclose(explained.scores, density.log().sum((3, 4)).amax(2), atol=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_clusters_recover_planted_directions(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    planted = F.normalize(torch.randn(12, 16, generator=generator), dim=1)
    rows = planted.repeat_interleave(80, 0) + 0.05 * torch.randn(960, 16, generator=generator)
    lengths = 1 + 9 * torch.rand(960, 1, generator=generator)
    centres = cluster_directions(lengths * rows, 12, generator)
    assert float((centres @ planted.T).amax(0).min()) > 0.99  # each planted one has a centre


def test_fewer_different_rows_than_clusters_end() -> None:
    generator = torch.Generator().manual_seed(0)
    centres = cluster_directions(torch.ones(9, 3), 4, generator)
    assert centres.shape == (4, 3)
    assert torch.isfinite(centres).all()


def test_a_sample_of_rows_is_even_and_does_not_grow() -> None:
    """Of 20,000 rows that come in parts, 2,000 stay, as many of the first half as of the second."""
    generator = torch.Generator().manual_seed(0)
    parts = [torch.arange(start, start + 500.0)[:, None] for start in range(0, 20_000, 500)]
    kept = sample_rows(iter(parts), 2000, generator)[:, 0]
    assert len(kept) == len(set(kept.tolist())) == 2000
    assert abs(int((kept < 10_000).sum()) - 1000) < 5 * math.sqrt(2000 / 4)


def test_a_network_built_from_its_text_and_weights_gives_the_same_logits() -> None:
    network, images = small_network()
    again = build_compositional(network.text, 3).eval()
    again.load_state_dict(network.state_dict())
    assert str(parse_compositional(network.text)) == network.text
    assert torch.equal(network(images), again(images))


def test_part_maps_that_are_kept_follow_the_weights() -> None:
    """Without gradients the maps are kept between passes; weights that change or are loaded are seen at once."""
    network, images = small_network()
    with torch.no_grad():
        before = network(images)
        assert torch.equal(before, network(images))
        network.part_logits.mul_(-1)
        after = network(images)
    assert not torch.allclose(before, after)
    assert torch.allclose(network(images), after, atol=1e-5)  # with gradients nothing is kept
    other, _ = small_network()
    with torch.no_grad():
        network.load_state_dict(other.state_dict())
        assert torch.equal(network(images), before)


def test_scores_alone_are_those_of_the_explanation() -> None:
    network, images = small_network(occlusion=0.3)
    features = network.features(images)
    assert torch.equal(network.scores(features), network.explain(features).scores)


def test_hidden_places_cost_nothing_more_than_clutter_does() -> None:
    """Scores of all classes are bounded below by clutter alone, and odds are the chance that occluders are shown by."""
    network, images = small_network(occlusion=0.3)
    with torch.no_grad():
        features = network.features(images)
        explained = network.explain(features)
        active = activations(features, network.kernels, network.settings.concentration)
        clutter = clutter_likelihood(active, network.clutter_logits.softmax(1)).log() + math.log(0.3)
        assert (explained.scores >= clutter.sum((1, 2))[:, None] - 1e-3).all()
        chances = network.occluders(images, torch.tensor([0, 1, 2, 0]))
    assert torch.allclose(chances[1], explained.odds[1, 1].sigmoid())


def test_layers_behind_the_features_are_neither_run_nor_trained() -> None:
    network, images = small_network()
    network.freeze_unused(images)
    last = [part for part in network.backbone.modules() if isinstance(part, torch.nn.Linear)][-1]
    assert not last.weight.requires_grad
    last.weight.data.fill_(float("nan"))
    assert torch.isfinite(network(images)).all()
    network.train()
    loss = F.cross_entropy(network(images), torch.tensor([0, 1, 2, 0])) + network.regulariser(
        torch.tensor([0, 1, 2, 0])
    )
    loss.backward()
    assert all(weights.grad is not None for weights in network.parameters() if weights.requires_grad)


def test_the_regulariser_by_hand() -> None:
    """By weights 2 and 0 twice the mean 1 − cos to the nearest kernel; by 0 and 1 what the true class's best mixture lacks."""
    labels = torch.tensor([0, 1, 2, 0])
    network, images = small_network(cluster=2.0, mixture=0.0)
    network.train()
    network(images)
    features, kernels = network.last_features, F.normalize(network.kernels, dim=1)
    cosines = torch.einsum("bdhw,kd->bkhw", F.normalize(features, dim=1), kernels)
    assert network.regulariser(labels).item() == pytest.approx(2 * float((1 - cosines.amax(1)).mean()), rel=1e-4)
    network, images = small_network(cluster=0.0, mixture=1.0)
    network.train()
    network(images)
    parts = part_likelihood(activations(network.last_features, network.kernels, 30.0), by_place(network.parts), 2)
    own = torch.stack([parts[row, label].log().mean((1, 2)).max() for row, label in enumerate(labels)])
    assert network.regulariser(labels).item() == pytest.approx(float(-own.mean()) / 30, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("compositional(resnet21)", "unknown network 'resnet21'; did you mean 'resnet20'"),
        ("compositional(resnet20, kernel=4)", "unknown argument of compositional 'kernel'; did you mean 'kernels'"),
        ("compositional(resnet20, kernels=0)", "compositional: expected at least 1 of kernels, got 0"),
        ("compositional(resnet20, occlusion=1)", "expected occlusion from 0 to below 1, got 1"),
        ("compositional(resnet20, concentration=100)", "expected concentration above 0, up to 40, got 100"),
    ],
)
def test_texts_that_are_none_are_refused(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words.replace("(", r"\(")):
        check_name(text)


def test_backbones_without_places_and_layers_that_are_none_are_refused() -> None:
    images = torch.randn(1, 3, 32, 32)
    with pytest.raises(UserError, match="vit_small_p8 has no layer with a map of features"):
        find_features(Compositional("vit_small_p8"), torch.nn.Flatten(), images)
    with pytest.raises(UserError, match="layer 'top' of smallnet is no map of features; its last ones: "):
        find_features(Compositional("smallnet", "top"), build("smallnet", 2), images)
    with pytest.raises(UserError, match="vit_small_p8 has no layer with a map of features"):
        find_features(Compositional("vit_small_p8"), build("vit_small_p8", 2), images)
    network, _ = small_network()
    with pytest.raises(UserError, match="but the parts were learnt on .*show images of the size of the training"):
        network(torch.randn(1, 3, 64, 64))
    with pytest.raises(UserError, match="is complete once it is trained; for example: snellen train"):
        build("compositional(resnet20)", 3)
