"""Layers are proved by moving a patch of the image: what lies otherwise is refused, or read the other way, never mapped."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import timm
import torch
from torch import nn

from snellen.errors import UserError
from snellen.explain import attention, gradcam
from snellen.explain.layers import find_layers
from snellen.explain.moved_patch import Evidence, judge, moved_patches
from snellen.explain.network import find_layer

ROOT = Path(__file__).parents[2]


class Body(nn.Module):
    """A convolution of stride 2, then what a subclass does with its features [B, 16, 16, 16]."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.early = nn.Conv2d(3, 16, 3, padding=1, stride=2)
        self.late, self.head = nn.Identity(), nn.Linear(16, 4)

    def order(self, features: torch.Tensor) -> torch.Tensor:
        return features

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = self.order(torch.relu(self.early(images)))
        return self.head(self.late(features).flatten(2).transpose(1, 2).mean(1))


class Shuffled(Body):
    """Places in an order of their own, on a coarser grid."""

    def order(self, features: torch.Tensor) -> torch.Tensor:
        order = torch.randperm(64, generator=torch.Generator().manual_seed(3))
        return nn.functional.avg_pool2d(features, 2).flatten(2)[:, :, order].unflatten(2, (8, 8))


class Turned(Body):
    """Rows are columns."""

    def order(self, features: torch.Tensor) -> torch.Tensor:
        return nn.functional.avg_pool2d(features, 2).transpose(2, 3)


class ChannelsLast(Body):
    """Sixteen channels behind sixteen rows and columns: the shape does not tell which are which."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = self.late(torch.relu(self.early(images)).permute(0, 2, 3, 1))
        return self.head(features.mean((1, 2)))


class Similarity(Body):
    """Each place against each: a matrix, not a picture."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        places = nn.functional.avg_pool2d(torch.relu(self.early(images)), 4).flatten(2)
        matrix = self.late((places.transpose(1, 2) @ places)[:, None])
        return self.head((matrix @ places.transpose(1, 2)[:, None]).mean((1, 2)))


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("kind", [Shuffled, Turned, Similarity])
def test_a_layer_that_does_not_lie_as_the_image_is_refused_and_not_offered(kind: type[Body]) -> None:
    network, images = kind().eval(), noise(2, 3, 32, 32)
    assert find_layer(network, images[:1], None).name == "early"
    with pytest.raises(UserError, match=r"layer 'late' of the model is not laid out like the image.*try early"):
        gradcam(network, images, layer="late")


def test_where_channels_lie_is_found_out_where_the_shape_does_not_tell() -> None:
    network, images = ChannelsLast().eval(), noise(2, 3, 32, 32)
    spot = find_layer(network, images[:1], "late")
    assert spot.places.layout == "channels last"
    assert find_layer(network, images[:1], "early").places.layout == "channels first"
    assert torch.allclose(
        gradcam(network, images, [1, 2], "late"), gradcam(Body().eval(), images, [1, 2], "late"), atol=1e-5
    )


def test_a_network_is_tried_once() -> None:
    network, images = Body().eval(), noise(2, 3, 32, 32)
    shown = []
    network.early.register_forward_hook(lambda _, args, __: shown.append(len(args[0])))
    gradcam(network, images)
    assert shown == [1] * 8 + [
        2
    ]  # a look at its layers, five images of the proof, two whether its last layer matters, the map
    shown.clear()
    gradcam(network, images)
    assert shown == [2]
    gradcam(network, images, layer="early")  # no stage, so it was not tried before
    shown.clear()
    gradcam(network, images, layer="early")
    assert shown == [2]


def test_a_layer_that_responds_everywhere_alike_is_not_offered() -> None:
    """Its last layer sees the whole image at every place; of larger images it does not."""

    class Wide(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.early, self.late = nn.Conv2d(3, 8, 4, stride=4), nn.Conv2d(8, 8, 31, padding=15, stride=4)
            nn.init.ones_(self.late.weight)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.late(torch.relu(self.early(images))).mean((2, 3))

    network = Wide().eval()
    assert [stage.name for stage in find_layers(network, torch.zeros(1, 3, 32, 32)).stages] == ["early"]
    assert [stage.name for stage in find_layers(network, torch.zeros(1, 3, 256, 256)).stages] == ["early", "late"]


def test_responses_that_move_along_stay_or_go_elsewhere_are_told_apart() -> None:
    _, _, patches = moved_patches(torch.zeros(1, 3, 16, 16))
    assert patches.sum((1, 2)).tolist() == [16] * 4
    where = nn.functional.adaptive_avg_pool2d(patches[:, None].double(), (4, 4))[:, 0]
    assert judge(where, patches) == Evidence(pytest.approx(1), pytest.approx(0.75**0.5))
    assert judge(where + 10, patches).agreement == pytest.approx(1)  # what is everywhere does not matter
    assert judge(where[[1, 0, 3, 2]], patches).agreement == pytest.approx(-1)  # left for right
    assert judge(where[[0, 2, 1, 3]], patches).agreement == pytest.approx(0)  # rows for columns
    assert judge(torch.ones(4, 4, 4), patches) == Evidence(0.0, 0.0)
    assert judge(torch.zeros(4, 4, 4), patches) is None
    assert Evidence(0.5, 0.5).proves
    assert not Evidence(0.9, 0.01).proves  # what hardly moves agrees by chance


@pytest.mark.parametrize("name", ["hiera_tiny_224", "tnt_s_patch16_224"])
def test_maps_of_transformers_with_tokens_of_their_own_follow_the_image(name: str) -> None:
    """The truth does not look at layers: where the image is rolled by half of its side, so is the map."""
    torch.manual_seed(0)
    network = timm.create_model(name, pretrained=False, num_classes=4, img_size=128).eval()
    nn.init.normal_(network.get_classifier().weight)
    images = nn.functional.interpolate(noise(4, 3, 8, 8), 128, mode="bicubic") * torch.linspace(0.2, 2, 128)
    maps = gradcam(network, images, [1] * 4)
    for shift in ((64, 0), (0, 64)):
        rolled = gradcam(network, images.roll(shift, (2, 3)), [1] * 4)
        along, still = (
            torch.corrcoef(torch.stack([rolled.flatten(), other.flatten()]))[0, 1]
            for other in (maps.roll(shift, (1, 2)), maps)
        )
        assert along > 0.5 > still


def test_the_inner_stages_of_hiera_are_refused_by_name() -> None:
    torch.manual_seed(0)
    network = timm.create_model("hiera_tiny_224", pretrained=False, num_classes=4, img_size=64).eval()
    assert "blocks.2" not in [stage.name for stage in find_layers(network, torch.zeros(1, 3, 64, 64)).stages]
    with pytest.raises(UserError, match=r"layer 'blocks.2' of the model is not laid out like the image"):
        gradcam(network, noise(1, 3, 64, 64), layer="blocks.2")


def test_attention_over_tokens_of_another_order_is_refused() -> None:
    torch.manual_seed(0)
    network = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=64, depth=2, num_classes=4).eval()
    assert attention(network, noise(1, 3, 64, 64)).shape == (1, 64, 64)
    embed, order = network._pos_embed, torch.tensor([0, *(1 + torch.randperm(16)).tolist()])
    network._pos_embed = lambda tokens: embed(tokens)[:, order]
    moved = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=64, depth=2, num_classes=4).eval()
    moved._pos_embed = network._pos_embed
    with pytest.raises(UserError, match=r"layer 'blocks.1' of the model is not laid out like the image"):
        attention(moved, noise(1, 3, 64, 64))


def test_of_a_layer_that_answers_more_than_once_the_last_answer_counts() -> None:
    """Its places are those of the answer that is mapped, not of one before."""

    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.first, self.second = nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.Conv2d(8, 8, 3, padding=1, stride=2)
            self.relu, self.head = nn.ReLU(), nn.Linear(8, 3)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.head(self.relu(self.second(self.relu(self.first(images)))).mean((2, 3)))

    found = find_layers(Shared().eval(), torch.zeros(1, 3, 32, 32))
    assert [(stage.name, stage.places.height) for stage in found.stages] == [("first", 16), ("relu", 8)]


def test_every_family_of_timm_is_in_the_table_of_what_maps() -> None:
    """docs/results/layers.md, which benchmarks/layers.py makes of the members in its list."""
    page = (ROOT / "docs/results/layers.md").read_text()
    if f"timm {timm.__version__} " not in page:
        pytest.skip(f"the table was made with another timm than {timm.__version__}")
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("| ")}
    with (ROOT / "benchmarks/layers.csv").open(newline="") as file:
        members = {row["family"]: row["member"] for row in csv.DictReader(file)}
    assert members.keys() == set(timm.list_modules()) == rows.keys() - {"family"}
    assert all(f"| `{member}` |" in rows[family] for family, member in members.items())
    verdicts = {line.rpartition(" | ")[2].split(":")[0].strip(" |") for name, line in rows.items() if name != "family"}
    assert verdicts <= {"maps", "refused"}
