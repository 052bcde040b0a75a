"""Models of transformers, saved to a folder by the library itself: the same answers as its own processor and network give."""

from __future__ import annotations

import json
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import snellen
from snellen.concepts.sources import PixelSource, open_sources
from snellen.data import load_data
from snellen.data.canvas import Canvas, render
from snellen.data.dataset import Photo
from snellen.errors import UserError
from snellen.explain import gradcam
from snellen.models.adapters.hf_parts import Logits, canvas_of, rule_of, statistics_of
from snellen.models.subject import subjects_of

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ResNet, a ViT and a UPerNet with random weights, each with the image processor that such models come with."""
    torch.manual_seed(0)
    root = tmp_path_factory.mktemp("hf")
    names = {0: "cat", 1: "dog", 2: "fox"}
    resnet = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", id2label=names
    )
    vit = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=32, patch_size=8
    )
    vit.id2label = names
    back = transformers.ConvNextConfig(
        depths=[1] * 4, hidden_sizes=[8] * 4, out_features=[f"stage{n}" for n in (1, 2, 3, 4)]
    )
    upernet = transformers.UperNetConfig(
        backbone_config=back,
        hidden_size=16,
        auxiliary_in_channels=8,
        pool_scales=[1, 2],
        id2label={**names, 3: "background"},
    )
    square = {"height": 32, "width": 32}
    shorter = transformers.ConvNextImageProcessor(size={"shortest_edge": 28})
    for name, model, processor in (
        ("resnet", transformers.ResNetForImageClassification(resnet), shorter),
        ("vit", transformers.ViTForImageClassification(vit), transformers.ViTImageProcessor(size=square, resample=2)),
        (
            "upernet",
            transformers.UperNetForSemanticSegmentation(upernet),
            transformers.SegformerImageProcessor(size=square, rescale_factor=1 / 127.5, resample=2),
        ),
    ):
        for value in model.state_dict().values():  # answers of fresh networks hardly depend on the image
            if value.is_floating_point() and value.ndim > 1:
                value.mul_(4)
        model.save_pretrained(root / name)
        processor.save_pretrained(root / name)
    return root


def photo() -> np.ndarray:
    """A smooth picture of 40 × 56 pixels, which every filter scales nearly alike."""
    coarse = np.random.default_rng(2).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(coarse).resize((56, 40), Image.Resampling.BICUBIC))


@pytest.mark.parametrize("name", ["resnet", "vit", "upernet"])
def test_answers_are_those_of_the_library(folder: Path, name: str) -> None:
    model = snellen.load_model(f"hf:{folder / name}", device="cpu")
    assert model.canvas is not None
    shown = torch.from_numpy(render(Photo(photo(), ""), model.canvas).image)[None]
    loader = (
        transformers.AutoModelForSemanticSegmentation
        if name == "upernet"
        else transformers.AutoModelForImageClassification
    )
    network = loader.from_pretrained(folder / name).eval()
    pixels = transformers.AutoImageProcessor.from_pretrained(folder / name)(
        Image.fromarray(photo()), return_tensors="pt"
    )
    with torch.no_grad():
        logits = network(**pixels).logits
    if name == "upernet":
        scaled = torch.nn.functional.interpolate(logits, (32, 32), mode="bilinear")
        assert (model(shown) == scaled.argmax(1)).float().mean() > 0.97  # filters round differently
        assert len(scaled.argmax(1).unique()) > 1
    else:
        torch.testing.assert_close(model(shown), logits.softmax(1), atol=0.01, rtol=0)
        assert (logits.softmax(1) - 1 / 3).abs().max() > 0.03  # not what any input gives
        assert (logits.softmax(1) - 1 / 3).abs().max() > 0.03  # not what every image gives


def test_the_input_of_the_network_is_that_of_the_processor(folder: Path) -> None:
    model = snellen.load_model(f"hf:{folder / 'upernet'}", device="cpu")
    card = model.card
    assert card.mean is not None
    assert card.std is not None
    shown = torch.from_numpy(render(Photo(photo(), ""), card.canvas).image)[None] / 255
    mine = (shown - torch.tensor(card.mean).view(3, 1, 1)) / torch.tensor(card.std).view(3, 1, 1)
    processor = transformers.AutoImageProcessor.from_pretrained(folder / "upernet")
    theirs = processor(Image.fromarray(photo()), return_tensors="pt")["pixel_values"]
    torch.testing.assert_close(mine, theirs, atol=0.04, rtol=0)


def test_the_card_names_classes_task_and_canvas(folder: Path) -> None:
    (subject,) = subjects_of(f"mine=hf:{folder / 'upernet'}")
    assert (subject.card.task, subject.card.classes) == ("segmentation", ("cat", "dog", "fox", "background"))
    resnet = snellen.load_model(f"hf:{folder / 'resnet'}", device="cpu")
    assert (resnet.card.task, resnet.classes) == ("classification", ("cat", "dog", "fox"))
    assert resnet.canvas == Canvas(28, 28, "crop", 32, "bicubic")
    assert resnet.card.fingerprint == snellen.load_model(f"hf:{folder / 'resnet'}", device="cpu").card.fingerprint


@pytest.mark.parametrize("name", ["resnet", "vit"])
def test_white_box_methods_reach_inside(folder: Path, name: str) -> None:
    model = snellen.load_model(f"hf:{folder / name}", device="cpu")
    side = model.canvas.height if model.canvas else 0
    images = torch.randint(0, 256, (2, 3, side, side), dtype=torch.uint8)
    maps = gradcam(model, images, np.array([0, 1]))
    assert tuple(maps.shape) == (2, side, side)
    assert isinstance(model.module, Logits)


def test_a_upernet_is_a_source_of_concepts(folder: Path) -> None:
    (source,) = open_sources([f"model:hf:{folder / 'upernet'}"], load_data("phantom:test?size=32&n=12"), "cpu")
    assert isinstance(source, PixelSource)
    assert [concept.name for concept in source.concepts] == ["cat", "dog", "fox"]
    images = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8)
    answers = snellen.load_model(f"hf:{folder / 'upernet'}", device="cpu")(images)
    assert torch.equal(source.read(images), torch.where(answers < 3, answers + 1, 0))


@pytest.mark.parametrize(
    ("facts", "canvas"),
    [
        ({"do_resize": False}, None),
        ({"size": {"shortest_edge": 384}, "crop_pct": 0.9}, Canvas(384, 384, "squash", 384, "bilinear")),
        (
            {"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}},
            Canvas(224, 224, "crop", 256, "bilinear"),
        ),
        (
            {"size": {"height": 256, "width": 256}, "crop_size": {"height": 224, "width": 224}},
            Canvas(224, 224, "squash", 256, "bilinear"),
        ),
        ({"size": {"height": 512, "width": 512}}, Canvas(512, 512, "squash", 512, "bilinear")),
    ],
)
def test_the_canvas_follows_the_rule_of_the_processor(facts: dict[str, Any], canvas: Canvas | None) -> None:
    processor = SimpleNamespace(**{"do_resize": True, "resample": 2, "do_center_crop": "crop_size" in facts, **facts})
    assert canvas_of(rule_of(processor, "a/b"), "a/b") == canvas


def test_a_rule_that_keeps_each_aspect_is_refused() -> None:
    processor = SimpleNamespace(do_resize=True, resample=2, size={"shortest_edge": 480, "longest_edge": 800})
    with pytest.raises(UserError, match="'hf:a/b' scales images by the rule .* which gives each its own size"):
        canvas_of(rule_of(processor, "a/b"), "a/b")


@pytest.mark.parametrize(
    ("facts", "statistics"),
    [
        ({"do_rescale": True, "rescale_factor": 1 / 255}, (None, None)),
        ({"do_rescale": False}, ([0, 0, 0], [1 / 255] * 3)),
        (
            {"do_normalize": True, "image_mean": (0.5, 0.5, 0.5), "image_std": (0.25, 0.25, 0.25), "do_rescale": True},
            ([0.5] * 3, [0.25] * 3),
        ),
    ],
)
def test_pixels_are_scaled_as_the_processor_does(facts: dict[str, Any], statistics: tuple[Any, Any]) -> None:
    mine = statistics_of(rule_of(SimpleNamespace(**facts), "a/b"))
    assert [one if one is None else pytest.approx(one) for one in mine] == list(statistics)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"image_std": (1, 0, 1)}, "image_std"),
        ({"image_mean": [{}, 1, 1]}, "image_mean"),
        ({"rescale_factor": float("nan")}, "rescale_factor"),
        ({"size": {"height": 0, "width": 3}}, "size"),
        ({"resample": 9}, "resample"),
        ({"do_normalize": True}, "normalises, but has no image_mean or image_std"),
    ],
)
def test_a_processor_of_odd_values_is_refused(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"image processor of 'hf:a/b'.*{message}"):
        rule_of(SimpleNamespace(**facts), "a/b")


def cut_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100])


def no_processor(folder: Path) -> None:
    (folder / "preprocessor_config.json").unlink()


def fewer_weights(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["classifier.1.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def other_task(folder: Path) -> None:
    file = folder / "config.json"
    file.write_text(file.read_text().replace("ResNetForImageClassification", "ResNetModel"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut_weights, "is not a safetensors file: its first 8 bytes state a header of"),
        (no_processor, "has no preprocessor_config.json, which says how images are made; save the image processor"),
        (fewer_weights, "lacks weights that its network needs, such as 'classifier.1.weight'"),
        (other_task, "is ResNetModel; expected one that ends in ForImageClassification or ForSemanticSegmentation"),
    ],
)
def test_a_damaged_folder_is_named(folder: Path, tmp_path: Path, damage: Callable[[Path], None], message: str) -> None:
    shutil.copytree(folder / "resnet", tmp_path / "net")
    damage(tmp_path / "net")
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(f"hf:{tmp_path / 'net'}", device="cpu")
    assert str(tmp_path / "net") in str(caught.value)


def test_what_is_nowhere_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no folder '.*none' of a model of transformers"):
        snellen.load_model(f"hf:{tmp_path / 'none'}")
    with pytest.raises(UserError, match="has no config.json"):
        snellen.load_model(f"hf:{tmp_path}")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    with pytest.raises(UserError, match="'hf:microsoft/resnet-18' could not be loaded .*are you offline"):
        snellen.load_model("hf:microsoft/resnet-18@main")


def edit_config(**values: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        file = folder / "config.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **values}))

    return damage


def edit_index(*names: str) -> Callable[[Path], None]:
    """Weights by an index that names these files, of which each is there."""

    def damage(folder: Path) -> None:
        (folder / "model.safetensors").rename(folder.parent / "outside.safetensors")
        shutil.copy(folder.parent / "outside.safetensors", folder / "pytorch_model.bin")
        index = {"metadata": {}, "weight_map": {f"tensor{number}": name for number, name in enumerate(names)}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    return damage


def adapter(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "/etc"}')


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (edit_config(id2label={"0": "cat", "2": "fox"}), "id2label has 2 classes, but not the numbers 0 to 1"),
        (edit_config(id2label={"0": "cat", "one": "fox"}), "id2label has 2 classes, but not the numbers 0 to 1"),
        (edit_config(id2label={}), "id2label: expected object of length >= 1"),
        (edit_config(id2label={"0": 5}), "id2label.*expected str, got int"),
        (edit_config(architectures=[5]), r"architectures\[0\]: expected str, got int"),
        (edit_config(architectures="net"), "architectures: expected array"),
        (edit_config(id2label=None, num_labels=100_000_000), "num_labels: expected int <= 100000"),
        (edit_config(backbone_config={"num_labels": 100_000_000}), "num_labels is 100,000,000, more than"),
        (edit_config(depths=[4_000_000, 1]), "describes a network of more than .* parts, far more than its weights"),
        (edit_config(hidden_sizes=[4_000_000, 16]), "describes a network of .* numbers, but its weights are .* bytes"),
        (edit_config(transformers_weights="a/b.safetensors"), "refers to weights elsewhere"),
        (adapter, "refers to weights elsewhere"),
        (
            edit_index("../outside.safetensors"),
            "names '../outside.safetensors'; expected .safetensors files in its own",
        ),
        (edit_index("pytorch_model.bin"), "names 'pytorch_model.bin'; expected .safetensors files in its own folder"),
        (edit_index("/etc/passwd"), "names '/etc/passwd'; expected .safetensors files in its own folder"),
        (edit_index("lost.safetensors"), "names 'lost.safetensors', which is not there"),
        (edit_index(), "weight_map: expected object of length >= 1"),
    ],
)
def test_a_folder_of_odd_files_is_refused_before_anything_is_allocated(
    folder: Path, tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    shutil.copytree(folder / "resnet", tmp_path / "net")
    damage(tmp_path / "net")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(f"hf:{tmp_path / 'net'}", device="cpu")
    assert str(tmp_path / "net") in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 << 10  # KiB: less than 512 MiB


def test_weights_in_several_files_are_read(folder: Path, tmp_path: Path) -> None:
    network = transformers.ResNetForImageClassification.from_pretrained(folder / "resnet")
    network.save_pretrained(tmp_path / "net", max_shard_size="10KB")
    shutil.copy(folder / "resnet" / "preprocessor_config.json", tmp_path / "net")
    assert len(list((tmp_path / "net").glob("*.safetensors"))) > 1
    images = torch.randint(0, 256, (2, 3, 28, 28), dtype=torch.uint8)
    models = [snellen.load_model(f"hf:{place}", device="cpu") for place in (folder / "resnet", tmp_path / "net")]
    assert torch.equal(models[0](images), models[1](images))
