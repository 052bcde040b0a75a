"""Checkpoints of every family, and of timm's and torchvision's networks, with a card and without."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from snellen.errors import UserError
from snellen.models import load_model, subjects_of
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import build

# One of each family; squeezenet ends in a convolution, and a regnet cannot be built without memory.
NAMES = [
    "smallnet", "convnet", "resnet20", "wide_resnet16_4", "densenet_bc100", "pyramidnet110", "bagnet9", "vit_small_p8",
    "timm:test_vit", "timm:test_efficientnet.r160_in1k", "torchvision:squeezenet1_1", "torchvision:regnet_y_400mf",
]  # fmt: skip


def made(name: str, classes: int) -> nn.Module:
    torch.manual_seed(0)
    return build(name, classes).eval()


def pictures(size: int) -> Tensor:
    return torch.randint(0, 256, (2, 3, size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def side(name: str) -> int:
    return 160 if name.startswith("timm:") else 64 if name.startswith("torchvision:") else 32


@pytest.mark.parametrize("name", NAMES)
def test_without_a_card_the_classes_are_counted_in_the_file(name, tmp_path):
    network = made(name, 7)
    save_file(network.state_dict(), tmp_path / "net.safetensors")
    model = load_model(f"zoo:{name}@{tmp_path}/net.safetensors")
    shown = pictures(side(name))
    with torch.inference_mode():
        expected = network(shown / 255).softmax(1)
    assert expected.shape == (2, 7)
    torch.testing.assert_close(model(shown), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["bagnet9", "timm:test_resnet", "torchvision:squeezenet1_1"])
def test_a_card_names_the_architecture(name, tmp_path):
    size = side(name)
    card = {"arch": name, "classes": list("abc"), "size": [size, size], "mean": [0.5] * 3, "std": [0.25] * 3}
    network, file = made(name, 3), tmp_path / "net.safetensors"
    save_checkpoint(file, network, card)
    model = load_model(str(file))
    assert model.classes == ("a", "b", "c")
    shown = pictures(size)
    with torch.inference_mode():
        expected = network((shown / 255 - 0.5) / 0.25).softmax(1)
    torch.testing.assert_close(model(shown), expected, atol=1e-5, rtol=1e-4)
    planned = subjects_of(str(file))[0].card
    assert planned.fingerprint == model.card.fingerprint
    assert subjects_of(f"zoo:{name}@{file}")[0].card.fingerprint == planned.fingerprint


def test_a_segmentation_network_says_its_task_and_its_last_convolution_counts_the_classes(tmp_path):
    save_file(made("fc_densenet56", 7).state_dict(), tmp_path / "net.safetensors")
    model = load_model(f"zoo:fc_densenet56@{tmp_path}/net.safetensors")
    assert model.card.task == "segmentation"
    assert model.module is not None
    assert model.module.classifier.out_channels == 7


def test_weights_of_another_network_are_refused(tmp_path):
    save_file(made("smallnet", 2).state_dict(), tmp_path / "net.safetensors")
    with pytest.raises(UserError, match="does not fit bagnet9: it lacks 'fc.weight'"):
        load_model(f"zoo:bagnet9@{tmp_path}/net.safetensors")
    with pytest.raises(UserError, match="unknown network 'bagnet8'; did you mean 'bagnet"):
        load_model(f"zoo:bagnet8@{tmp_path}/net.safetensors")


def test_networks_of_timm_and_torchvision_are_built_untrained_with_the_asked_classes():
    with torch.device("meta"):
        for name in ("timm:resnet18", "timm:resnet18.a1_in1k", "torchvision:resnet18"):
            assert build(name, 7).fc.out_features == 7
        for name in ("googlenet", "inception_v3"):
            logits = build(f"torchvision:{name}", 7).train()(torch.empty(2, 3, 128, 128))
            assert logits.shape == (2, 7)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("timm:resnet81", "unknown timm network 'resnet81'; did you mean 'resnet"),
        ("timm:resnet18.a1_in2k", "unknown timm network 'resnet18.a1_in2k'; did you mean 'resnet18.a1_in1k'"),
        ("torchvision:resnet81", "unknown torchvision classifier 'resnet81'; did you mean 'resnet18'"),
    ],
)
def test_an_unknown_name_of_a_library_is_answered_with_the_nearest(name, message):
    with pytest.raises(UserError, match=message):
        build(name, 10)


def test_the_card_of_a_timm_network_is_read_without_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    save_checkpoint(
        tmp_path / "n.safetensors", made("timm:test_vit", 2), {"arch": "timm:test_vit", "classes": ["a", "b"]}
    )
    code = (
        "import sys; from snellen.models import subjects_of; subjects_of(sys.argv[1]); sys.exit('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "n.safetensors")]
    assert subprocess.run(command, check=False).returncode == 0
