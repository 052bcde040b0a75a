"""Docs, "what you have → what to type": every text of both tables is typed as it stands, in a folder that has such files."""

from __future__ import annotations

import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
import torchvision
from PIL import Image
from timm.models import save_for_hf

import snellen
from snellen.data.phantom import export
from snellen.models import from_callable, from_labels
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import build

from .commands import exit_code
from .models.stored_networks import Small, write
from .models.tiny_encoders import save_encoder

transformers = pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")
datasets = pytest.importorskip("datasets")

PAGE = Path(__file__).parents[1] / "docs/start/own-model.md"
NAMES = ["cat", "dog", "fox"]
AUDIT = ["--audits", "interference([shuffle(2)])", "--device", "cpu", "--no-report", "--quiet"]
FACTORY = (
    "import torch\nfrom snellen.models import from_torch\n\n"
    "def classifier(side=8):\n    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 3))\n"
    "    return from_torch(net, ['cat', 'dog', 'fox'], int(side))\n"
)
# What cannot be typed here: it needs a server, or a name that only stands for one.
ELSEWHERE = {
    "timm:resnet18.a1_in1k": "downloaded",
    "torchvision:resnet50@IMAGENET1K_V2": "downloaded",
    "hf:microsoft/resnet-18@main": "downloaded",
    "zeroshot:hf:openai/clip-vit-base-patch32@main": "downloaded",
    "http://host:port/path": "tests/models/test_http_page.py asks the service of its page",
    "https://…": "the same",
    "hf:owner/name?split=test": "downloaded from the hub: tests/data/test_image_tables.py",
    "chat:http://host/v1#model=NAME": "tests/models/test_chat_page.py asks the endpoint of its page",
    "nets.py:model": "tests/models/test_maite.py has one of MAITE's",
    "file.py:name": "the same",
    "snellen.audit(network, \"images.npz\")": "in Python, below",
    "from_callable(function, classes, size)": "in Python, below",
    "from_labels(function, classes)": "in Python, below",
    "python examples/download.py cifar10": "downloads",
    "arrays:datasets/cifar10-test.npz": "downloaded",
    'snellen.audit(network, CIFAR10("data", train=False))': "in Python, below",
}  # fmt: skip


def typed(heading: str) -> list[str]:
    """The texts in the second column of the table below a heading of the page, apart from bare endings of files."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = section.partition("| you have | you type |\n|---|---|\n")[2].partition("\n\n")[0]
    cells = [re.split(r"(?<!\\)\|", row)[2] for row in table.splitlines()]
    return [text for cell in cells for text in re.findall(r"`([^`]+)`", cell) if not re.fullmatch(r"\.\w+", text)]


MODELS, DATA = (
    [text for text in typed(heading) if text not in ELSEWHERE] for heading in ("1. Name the model", "2. Name the data")
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of a user who has one of everything."""
    folder = tmp_path_factory.mktemp("user")
    with chdir(folder):
        _data()
        _networks()
        Path("names.txt").write_text("\n".join(NAMES))
        Path("nets.py").write_text(FACTORY)
        Path("package").mkdir()
        Path("package/module.py").write_text(FACTORY.replace("classifier", "factory"))
        asked = ("none()", "shuffle(2)", "noise(uniform(0,0.025))")
        rows = [f'{i:06d},{i // 4},"{text}"' for i in range(12) for text in asked]
        Path("answers.csv").write_text("sample,pred,distortion\n" + "\n".join(rows) + "\n")
        yield folder


def _data() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (12, 64, 64, 3), dtype=np.uint8)
    rows = []
    for i, image in enumerate(pixels):
        path = Path("photos", NAMES[i // 4], f"{i}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path)
        rows.append(f"{path},{NAMES[i // 4]}")
    Path("photos.csv").write_text("path,label\n" + "\n".join(rows))
    with tarfile.open("photos.tar", "w") as tar:
        tar.add("photos")
    with zipfile.ZipFile("photos.zip", "w") as archive:
        for path in sorted(Path("photos").rglob("*.png")):
            archive.write(path)
    contents = [Path("photos", NAMES[i // 4], f"{i}.png").read_bytes() for i in range(12)]
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=NAMES)})
    rows = {"image": [{"bytes": content, "path": None} for content in contents], "label": [i // 4 for i in range(12)]}
    saved = datasets.Dataset.from_dict(rows, features=features)
    saved.save_to_disk("saved")
    saved.to_parquet("set.parquet")
    small = np.random.default_rng(0).integers(0, 10, (12, 3073), dtype=np.uint8)
    Path("cifar-10-batches-bin").mkdir()
    (small % 3).tofile("cifar-10-batches-bin/test_batch.bin")
    Path("cifar-10-batches-bin/batches.meta.txt").write_text("\n".join(NAMES))
    for place in ("MNIST/raw", "FashionMNIST/raw"):
        Path(place).mkdir(parents=True)
        for split in ("train", "t10k"):
            for name, sides in (("images-idx3", (12, 28, 28)), ("labels-idx1", (12,))):
                values = small[:, : sides[1] * sides[2]] if len(sides) > 1 else small[:, 0]
                header = bytes([0, 0, 8, len(sides)]) + b"".join(side.to_bytes(4, "big") for side in sides)
                Path(place, f"{split}-{name}-ubyte").write_bytes(header + values.tobytes())
    for shard in range(3):
        with tarfile.open(f"shards-{shard:03d}.tar", "w") as tar:
            for i in range(shard, 12, 3):
                Path("cls").write_text(NAMES[i // 4])
                tar.add(f"photos/{NAMES[i // 4]}/{i}.png", f"{i:04d}.png")
                tar.add("cls", f"{i:04d}.cls")
    np.savez("images.npz", images=pixels, labels=np.arange(12) // 4, classes=np.array(NAMES))
    export("phantom:test?n=6&size=32", "voc", Path("voc"))
    images = [{"id": i, "file_name": f"{NAMES[i // 4]}/{i}.png", "width": 64, "height": 64} for i in range(12)]
    boxes = [
        {"id": i, "image_id": i, "category_id": i // 4, "bbox": [8, 8, 32, 32], "area": 1024, "iscrowd": 0}
        for i in range(12)
    ]
    categories = [{"id": i, "name": name} for i, name in enumerate(NAMES)]
    Path("annotations.json").write_text(json.dumps({"images": images, "annotations": boxes, "categories": categories}))


def _networks() -> None:
    torch.manual_seed(0)
    save_for_hf(
        timm.create_model("test_resnet", num_classes=3),
        "from-timm",
        model_config={"label_names": NAMES},
        safe_serialization=True,
    )
    resnet = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", id2label=dict(enumerate(NAMES))
    )
    transformers.ResNetForImageClassification(resnet).save_pretrained("from-transformers")
    transformers.ConvNextImageProcessor(size={"shortest_edge": 28}).save_pretrained("from-transformers")
    torch.save(timm.create_model("resnet18", num_classes=3).state_dict(), "ft.pt")
    torch.save(torchvision.models.resnet18(num_classes=3).state_dict(), "tv.pt")
    Path("runs/cutmix").mkdir(parents=True)
    for run in (0, 1):
        torch.manual_seed(run)
        card = {"arch": "smallnet", "classes": NAMES, "size": [32, 32], "mean": [0.5] * 3, "std": [0.25] * 3}
        save_checkpoint(Path(f"runs/cutmix/cutmix-{run}.safetensors"), build("smallnet", 3), card)
    for ending in ("onnx", "pt2", "pt"):
        write(Small(), Path(f"net.{ending}"), 224)
    save_encoder(Path("clip"), "clip")


def test_every_row_is_typed_or_says_why_not() -> None:
    assert len(MODELS) >= 14
    assert len(DATA) >= 12
    assert set(ELSEWHERE) <= {*typed("1. Name the model"), *typed("2. Name the data")}


@pytest.mark.slow
@pytest.mark.parametrize("text", MODELS)
def test_what_the_table_of_models_says_is_audited(
    text: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    text = text.replace("factory@argument", "factory@8")
    data = "images.npz" if text.startswith("predictions:") else "photos"
    assert exit_code(["audit", text, "--data", data, *AUDIT, "--out", f"out-{abs(hash(text))}"]) == 0, (
        capsys.readouterr().err
    )


@pytest.mark.slow
@pytest.mark.parametrize("text", DATA)
def test_what_the_table_of_data_says_is_audited(
    text: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    model = "observer:shape" if text.startswith("phantom:") else "python:nets.py:classifier"
    if any(name in text for name in ("voc", "mnist:", "torchvision:")):
        classes = list(snellen.load_data(text).classes)
        code = FACTORY.replace("192, 3", f"192, {len(classes)}").replace(str(NAMES), str(classes))
        Path("vocnet.py").write_text(code)
        model = "python:vocnet.py:classifier"
    out = f"out-{abs(hash(text))}"
    assert exit_code(["audit", model, "--data", text, *AUDIT, "--limit", "12", "--out", out]) == 0, (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "text", [text for text, why in ELSEWHERE.items() if why == "downloaded" and not text.startswith("arrays")]
)
def test_names_of_hubs_are_known_and_lack_nothing_but_the_network(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(snellen.UserError, match="run once without offline=True|are you offline"):
        snellen.audit(text, "phantom:test?n=4", offline=True, dry_run=True)


def black_box(images: np.ndarray) -> np.ndarray:
    return np.eye(3)[images.sum((1, 2, 3)) % 3]


def words(images: np.ndarray) -> list[str]:
    return [NAMES[i] for i in images.sum((1, 2, 3)) % 3]


class Photographs(torch.utils.data.Dataset):
    classes = NAMES

    def __len__(self) -> int:
        return 6

    def __getitem__(self, i: int) -> tuple[Image.Image, int]:
        return Image.new("RGB", (16, 16), (40 * i, 9, 9)), i // 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (lambda: Small(), "images.npz"),
        (lambda: from_callable(black_box, NAMES, 32), "photos"),
        (lambda: from_labels(words, NAMES, 32), "photos"),
        (lambda: Small(), Photographs()),
    ],
    ids=["module", "function", "words", "dataset"],
)
def test_the_rows_in_python(model: Callable[[], Any], data: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    run = snellen.audit(model(), data, ["interference([shuffle(2)])"], quiet=True, device="cpu", report=False)
    assert len(run.predictions()) > 0
