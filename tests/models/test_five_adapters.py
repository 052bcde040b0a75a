"""One network through five adapters: the same audit gives the same table, and a wrong preprocessing the same doubt."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import timm
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

import snellen
from snellen.models import from_torch

from .stored_networks import MEAN, NORMALISED, STD, Small, write

MARGIN = 1e-4  # between the first two probabilities, below which either may be first (design, 6)
ROUNDING = 1e-5  # of one probability, from one runtime to another
AUDITS = ["occlusion(areas=[0.3], fills=[black])"]


def table(model: Any, data: str) -> pd.DataFrame:
    run = snellen.audit(model, data, AUDITS, quiet=True, device="cpu")
    try:
        return run.predictions().sort_values(["distortion", "seed", "sample"], ignore_index=True)
    finally:
        run.remove()  # type: ignore[attr-defined]


def assert_same(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """The same questions, and the same answers but where the first two classes are within the margin."""
    assert first[["distortion", "seed", "sample"]].equals(second[["distortion", "seed", "sample"]])
    same = (first["raw"] == second["raw"]).to_numpy()
    near = np.abs(first["confidence"] - second["confidence"]).to_numpy() < MARGIN
    assert (same | near).all()
    assert same.mean() > 0.95
    np.testing.assert_allclose(first["label_prob"][same], second["label_prob"][same], atol=ROUNDING)
    assert first["raw"].nunique() > 1


def texts(network: nn.Module, folder: Path, side: int, **settings: Any) -> Iterator[str]:
    write(network, folder / "net.onnx", side, **settings)
    write(network, folder / "net.pt2", side)
    write(network, folder / "net.pt", side)
    yield f"onnx:{folder}/net.onnx"
    yield f"exported:{folder}/net.pt2"
    yield f"torchscript:{folder}/net.pt"


@pytest.mark.slow
def test_a_network_of_timm_gives_one_table_through_five_adapters(tmp_path: Path) -> None:
    side, data = 32, "phantom:test?size=32&n=48"
    classes = list(snellen.load_data(data).classes)
    torch.manual_seed(0)
    network = timm.create_model("resnet10t", num_classes=len(classes)).eval()
    nn.init.normal_(network.get_classifier().weight)
    truth = table(from_torch(network, classes, side, MEAN, STD, name="net", device="cpu"), data)
    (tmp_path / "names.txt").write_text("\n".join(classes))
    settings = f"#size={side}&{NORMALISED}&classes={tmp_path}/names.txt"
    save_file({name: value.contiguous() for name, value in network.state_dict().items()}, tmp_path / "net.safetensors")
    for text in (
        f"zoo:timm:resnet10t@{tmp_path}/net.safetensors",
        *texts(network, tmp_path, side, external_data=False),
    ):
        assert_same(truth, table(text + settings, data))


@pytest.mark.slow
def test_the_packs_mobilenet_gives_one_table_through_four_adapters(shared: Path, tmp_path: Path) -> None:
    """MobileNetV2 of ImageNet on photographs, 1,001 outputs; its graph takes pixels in 0…1."""
    spec = importlib.util.spec_from_file_location("qgraph", shared / "models" / "qgraph.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.QGraph(shared / "models" / "mobilenet_v2_imagenet.safetensors")
    names = (shared / "models" / "imagenet_labels_1001.txt").read_text().split("\n")[:1001]
    names = [f"{name} ({number})" for number, name in enumerate(names)]
    images = photographs(shared)
    labels = np.arange(len(images)) % 2
    np.savez(tmp_path / "set.npz", images=images, labels=labels, classes=names[1:3])
    data = f"arrays:{tmp_path}/set.npz"
    truth = table(from_torch(network, names, 224, (0, 0, 0), (1, 1, 1), name="net", device="cpu"), data)
    (tmp_path / "names.txt").write_text("\n".join(names))
    settings = f"#size=224&mean=0&std=1&classes={tmp_path}/names.txt"
    for text in texts(network, tmp_path, 224, external_data=False):
        assert_same(truth, table(text + settings, data))


def photographs(shared: Path) -> np.ndarray:
    """A few photographs of ImageNet, their middle at 224 px."""
    from PIL import Image, ImageOps

    files = sorted((shared / "imagenet_samples").rglob("*.jp*g"))[:6]
    assert files
    return np.stack([np.asarray(ImageOps.fit(Image.open(file).convert("RGB"), (224, 224))) for file in files])


class Bright(nn.Module):
    """Right about which of three grey levels an image has, if it is normalised by MEAN and STD."""

    def forward(self, pixels: Tensor) -> Tensor:
        mean, std = torch.tensor(MEAN).view(3, 1, 1), torch.tensor(STD).view(3, 1, 1)
        level = (pixels * std + mean).mean((1, 2, 3))
        return -40 * (level[:, None] - torch.tensor([0.2, 0.5, 0.8])).abs()


@pytest.mark.parametrize("ending", ["onnx", "pt2"])
def test_a_wrong_normalisation_is_doubted_as_of_any_model(tmp_path: Path, ending: str) -> None:
    levels = np.repeat([51, 128, 204], 32).astype(np.uint8)
    noise = np.random.default_rng(0).integers(-9, 9, (96, 16, 16, 3))
    images = (levels[:, None, None, None] + noise).clip(0, 255).astype(np.uint8)
    np.savez(tmp_path / "set.npz", images=images, labels=np.repeat([0, 1, 2], 32), classes=["dark", "grey", "bright"])

    class Half(Bright):
        """The same for pixels less 0.5, divided by 0.5, as the settings should say."""

        def forward(self, pixels: Tensor) -> Tensor:
            level = (pixels * 0.5 + 0.5).mean((1, 2, 3))
            return -40 * (level[:, None] - torch.tensor([0.2, 0.5, 0.8])).abs()

    path = write(Half(), tmp_path / f"net.{ending}")
    text, data = f"{path}#mean=0&std=1&classes=dark,grey,bright", f"arrays:{tmp_path}/set.npz"
    wrong = snellen.audit(text, data, [], out=tmp_path / "wrong", quiet=True, device="cpu")
    warnings = (wrong.path / "findings.json").read_text()
    assert "'net' is right on 100.0% of 96 images given" in warnings
    assert "write them behind its text: #mean=0." in warnings
    right = snellen.audit(
        text.replace("mean=0&std=1", "mean=0.5&std=0.5"), data, [], out=tmp_path / "right", quiet=True, device="cpu"
    )
    assert "images given" not in (right.path / "findings.json").read_text()


def test_the_order_of_classes_is_doubted_as_of_any_model(tmp_path: Path) -> None:
    levels = np.repeat([51, 128, 204], 32).astype(np.uint8)
    images = np.broadcast_to(levels[:, None, None, None], (96, 16, 16, 3))
    np.savez(tmp_path / "set.npz", images=images, labels=np.repeat([0, 1, 2], 32), classes=["dark", "grey", "bright"])
    path = write(Bright(), tmp_path / "net.onnx")
    text = f"{path}#{NORMALISED}&classes=grey,bright,dark"
    run = snellen.audit(text, f"arrays:{tmp_path}/set.npz", [], out=tmp_path / "run", quiet=True, device="cpu")
    assert "order" in (run.path / "findings.json").read_text()


def test_small_networks_of_every_format_agree(tmp_path: Path) -> None:
    data = "phantom:test?size=16&n=24"
    classes = "classes=disc,square,triangle"
    truth = table(
        from_torch(
            Small().eval(), classes.removeprefix("classes=").split(","), 16, MEAN, STD, name="net", device="cpu"
        ),
        data,
    )
    for text in texts(Small(), tmp_path, 16):
        assert_same(truth, table(f"{text}#size=16&{NORMALISED}&{classes}", data))
