"""Begin with weights that a library has under a name: of transformers from a folder, of timm and torchvision by their loaders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.models import load_model
from snellen.models.checkpoint import load_state, read_card
from snellen.train import Recipe, train
from snellen.train.init_from import Start


@pytest.fixture
def timm_weights(monkeypatch: pytest.MonkeyPatch) -> dict[str, torch.Tensor]:
    """timm with weights for `test_resnet.r160_in1k` that need no download."""
    import timm

    build, kept = timm.create_model, timm.create_model("test_resnet.r160_in1k", pretrained=False).eval()

    def create(name: str, pretrained: bool = False, **settings: Any) -> torch.nn.Module:
        return kept if pretrained else build(name, pretrained=False, **settings)

    monkeypatch.setattr(timm, "create_model", create)
    return kept.state_dict()


def test_a_network_of_timm_begins_with_its_weights_but_for_the_head(
    tmp_path: Path, bars: Callable[..., Dataset], timm_weights: dict[str, torch.Tensor]
) -> None:
    """With so small a rate that nothing moves, all layers but the last are those of timm afterwards."""
    notes: list[str] = []
    recipe = Recipe(arch="timm:test_resnet", epochs=1, batch_size=16, lr=1e-30, weight_decay=0)
    (path,) = train(recipe, bars(32), tmp_path, init="timm:test_resnet.r160_in1k", notice=notes.append)
    learnt = load_state(path)
    assert notes == ["'timm:test_resnet.r160_in1k' knows 1000 other classes: its last layer 'fc' starts from random "
                     "weights with 2"]  # fmt: skip
    assert len(learnt["fc.bias"]) == 2
    same = [name for name in learnt if name.endswith("conv1.weight") or name == "conv1.0.weight"]
    assert same
    assert all(torch.equal(learnt[name], timm_weights[name]) for name in same)
    assert read_card(path)["mean"] == [0.5, 0.5, 0.5]  # what the weights are used to
    assert train(recipe, bars(32), tmp_path, init="timm:test_resnet.r160_in1k") == [path]  # recognised by its weights


def test_weights_of_torchvision_are_found_by_their_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchvision import models

    downloaded = tmp_path / "checkpoints" / "squeezenet1_1-b8a52dc0.pth"
    downloaded.parent.mkdir()
    downloaded.touch()
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    kept, build = models.get_model("squeezenet1_1", weights=None), models.get_model
    monkeypatch.setattr(
        models, "get_model", lambda name, weights=None, **other: kept if weights else build(name, **other)
    )
    start = Start.of("torchvision:squeezenet1_1@IMAGENET1K_V1")
    assert start.weights.keys() == kept.state_dict().keys()
    assert len(start.card["classes"]) == 1000
    assert start.statistics == (pytest.approx([0.485, 0.456, 0.406]), pytest.approx([0.229, 0.224, 0.225]))


@pytest.fixture
def hf_folder(tmp_path: Path) -> Path:
    """A small ResNet as transformers writes it."""
    transformers = pytest.importorskip("transformers")
    names = {0: "cat", 1: "dog", 2: "fox"}
    torch.manual_seed(0)
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", id2label=names
    )
    folder = tmp_path / "hf-resnet"
    transformers.ResNetForImageClassification(config).save_pretrained(folder)
    transformers.ConvNextImageProcessor(size={"shortest_edge": 28}).save_pretrained(folder)
    return folder


def test_a_network_of_transformers_is_fine_tuned_and_audited_like_any_other(
    tmp_path: Path, bars: Callable[..., Dataset], hf_folder: Path
) -> None:
    recipe = Recipe(arch=f"hf:{hf_folder}", epochs=1, batch_size=16, lr=1e-30, weight_decay=0)
    (path,) = train(recipe, bars(32), tmp_path / "out", init=f"hf:{hf_folder}")
    before, learnt = Start.of(f"hf:{hf_folder}").weights, load_state(path)
    assert learnt.keys() == before.keys()
    convolutions = [name for name in learnt if name.endswith("convolution.weight")]
    assert convolutions
    assert all(torch.equal(learnt[name], before[name]) for name in convolutions)
    answers = load_model(str(path), "cpu")(torch.zeros(2, 3, 28, 28, dtype=torch.uint8))
    assert answers.shape == (2, 2)


def test_weights_that_cannot_be_had_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="unknown timm model 'resnet5o'; did you mean 'resnet50"):
        Start.of("timm:resnet5o.a1_in1k")
    with pytest.raises(UserError, match="names no weights; choose one of"):
        Start.of("timm:resnet50")
