"""Zero-shot classifiers of CLIP and SigLIP: the library's own logits, the published prompts, and features made once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.errors import UserError
from snellen.explain import gradcam, iba
from snellen.files.plain import snellen_home
from snellen.models.subject import subjects_of
from snellen.models.zero_shot import network as zero_shot_network
from snellen.models.zero_shot.prompts import PUBLISHED, spoken

from .tiny_encoders import CLASSES, LONGEST, save_encoder

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Any]]:
    root = tmp_path_factory.mktemp("encoders")
    return {name: (root / name, save_encoder(root / name, name)) for name in ("clip", "siglip")}


def images(count: int = 4) -> torch.Tensor:
    return torch.randint(0, 256, (count, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(2))


def pixels_of(model: Any) -> torch.Tensor:
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in (model.card.mean, model.card.std))
    return (images() / 255 - mean) / std


@pytest.mark.parametrize("name", ["clip", "siglip"])
def test_logits_are_those_of_the_library_for_the_same_texts(
    encoders: dict[str, tuple[Path, Any]], tmp_path: Path, name: str
) -> None:
    folder, network = encoders[name]
    (tmp_path / "prompts.txt").write_text("a photo of a {}.\n")
    text = f"zeroshot:hf:{folder}#classes={','.join(CLASSES)}&prompts={tmp_path}/prompts.txt"
    model = snellen.load_model(text, device="cpu")
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(
        [f"a photo of a {one}." for one in CLASSES], padding="max_length", max_length=LONGEST, return_tensors="pt"
    )
    given = {"input_ids": tokens.input_ids, "pixel_values": pixels_of(model)}
    if name == "clip":
        given["attention_mask"] = tokens.attention_mask
    with torch.no_grad():
        truth = network(**given).logits_per_image.softmax(1)
    torch.testing.assert_close(model(images()), truth, atol=1e-5, rtol=0)
    assert (truth[0] - truth[1]).abs().max() > 1e-3  # the images differ
    assert (truth[0, 0] - truth[0, 1]).abs() > 1e-4  # and the classes
    assert model.classes == CLASSES


def test_features_of_several_prompts_are_averaged_as_published(
    encoders: dict[str, tuple[Path, Any]], tmp_path: Path
) -> None:
    """Written out from section 3.1.4 and the published notebook: unit features, their mean, of unit length again."""
    folder, network = encoders["clip"]
    prompts = ["a photo of a {}.", "graffiti of a {}.", "a toy {}."]
    (tmp_path / "prompts.txt").write_text("\n".join(prompts))
    model = snellen.load_model(f"zeroshot:hf:{folder}#classes=cat,dog&prompts={tmp_path}/prompts.txt", device="cpu")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    with torch.no_grad():
        for name in ("cat", "dog"):
            tokens = tokenizer([prompt.replace("{}", name) for prompt in prompts], padding=True, return_tensors="pt")
            given = {"input_ids": tokens.input_ids, "attention_mask": tokens.attention_mask}
            features = network.get_text_features(**given).pooler_output
            features = features / features.norm(dim=1, keepdim=True)
            rows.append(features.mean(0) / features.mean(0).norm())
        seen = network.get_image_features(pixel_values=pixels_of(model)).pooler_output
        seen = seen / seen.norm(dim=1, keepdim=True)
        truth = (network.logit_scale.exp() * seen @ torch.stack(rows).T).softmax(1)
    torch.testing.assert_close(model(images()), truth, atol=1e-5, rtol=0)


def test_the_published_prompts_are_eighty_different_sentences() -> None:
    """The counts are those of the published list: eighty, of which these begin and end it."""
    assert (len(PUBLISHED), len(set(PUBLISHED))) == (80, 80)
    assert all(prompt.count("{}") == 1 and prompt.endswith(".") for prompt in PUBLISHED)
    assert (PUBLISHED[0], PUBLISHED[35], PUBLISHED[39], PUBLISHED[-1]) == (
        "a bad photo of a {}.",
        "a {} in a video game.",
        "a photo of a {}.",
        "a tattoo of the {}.",
    )


def test_features_of_texts_are_made_once(
    encoders: dict[str, tuple[Path, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"zeroshot:hf:{encoders['clip'][0]}#classes=fox,dog"
    before = set((snellen_home() / "zero-shot").glob("*"))
    first = snellen.load_model(text, device="cpu")
    (file,) = set((snellen_home() / "zero-shot").glob("*")) - before
    monkeypatch.setattr(zero_shot_network, "_mean", lambda *_: pytest.fail("made again"))
    again = snellen.load_model(text, device="cpu")
    assert torch.equal(first(images()), again(images()))
    assert first.card.fingerprint == again.card.fingerprint
    monkeypatch.undo()
    file.write_bytes(b"damaged")
    torch.testing.assert_close(snellen.load_model(text, device="cpu")(images()), first(images()))


def test_an_audit_gives_the_classes_of_its_data(encoders: dict[str, tuple[Path, Any]], tmp_path: Path) -> None:
    run = snellen.audit(
        [f"tiny=zeroshot:hf:{encoders['clip'][0]}"], "phantom:test?size=32&n=24", ["occlusion(areas=[0.3], fills=[black])"],
        out=tmp_path / "run", quiet=True, device="cpu",
    )  # fmt: skip
    answers = run.predictions()
    assert set(answers["pred"]) <= set(range(12))
    with pytest.raises(UserError, match="has no classes of its own; add #classes=FILE"):
        snellen.load_model(f"zeroshot:hf:{encoders['clip'][0]}")


def test_classes_in_the_text_are_the_models_own(encoders: dict[str, tuple[Path, Any]]) -> None:
    (subject,) = subjects_of(f"zeroshot:hf:{encoders['clip'][0]}#classes=cat,dog", "cpu", ["a", "b", "c"])
    assert (subject.card.classes, subject.by_text) == (("cat", "dog"), True)
    (subject,) = subjects_of(f"zeroshot:hf:{encoders['clip'][0]}", "cpu", ["cat", "dog", "fox"])
    assert (subject.card.classes, subject.by_text) == (CLASSES, False)


@pytest.mark.parametrize("name", ["clip", "siglip"])
def test_white_box_methods_reach_the_vision_tower(encoders: dict[str, tuple[Path, Any]], name: str) -> None:
    model = snellen.load_model(f"zeroshot:hf:{encoders[name][0]}#classes=cat,dog", device="cpu")
    assert model.card.gradients
    heat = gradcam(model, images(2), np.array([0, 1]))
    assert tuple(heat.shape) == (2, 32, 32)
    assert float(np.asarray(heat).max()) > 0
    assert tuple(iba(model, images(2), np.array([0, 1]), steps=2, copies=2).shape) == (2, 32, 32)


def test_synonyms_are_what_a_class_is_called(encoders: dict[str, tuple[Path, Any]], tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text(json.dumps({"n1": ["cat"], "n2": "dog"}))
    folder = encoders["clip"][0]
    plain = snellen.load_model(f"zeroshot:hf:{folder}#classes=cat,dog", device="cpu")
    renamed = snellen.load_model(f"zeroshot:hf:{folder}#classes=n1,n2&synonyms={tmp_path}/names.json", device="cpu")
    assert torch.equal(plain(images()), renamed(images()))
    assert renamed.classes == ("n1", "n2")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("traffic_light", "traffic light"),
        ("tench, Tinca tinca", "tench"),
        ("n01440764", "tench"),
        ("7", "7"),
        (",", ","),
    ],
)
def test_names_are_spoken_as_words(name: str, words: str) -> None:
    assert spoken(name) == words


def no_processor(folder: Path) -> None:
    (folder / "preprocessor_config.json").unlink()


def no_tokenizer(folder: Path) -> None:
    for file in folder.glob("token*"):
        file.unlink()


def other_architecture(folder: Path) -> None:
    file = folder / "config.json"
    file.write_text(file.read_text().replace("CLIPModel", "ViTForImageClassification"))


def fewer_weights(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["text_projection.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (no_processor, "has no preprocessor_config.json, which says how images are made; save the image processor"),
        (no_tokenizer, "has no tokenizer.json, which says how words are read; save the tokenizer"),
        (other_architecture, "is ViTForImageClassification; expected one of CLIPModel, SiglipModel"),
        (fewer_weights, "lacks weights that its network needs, such as 'text_projection.weight'"),
    ],
)
def test_a_damaged_folder_is_named(
    encoders: dict[str, tuple[Path, Any]], tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    shutil.copytree(encoders["clip"][0], tmp_path / "net")
    damage(tmp_path / "net")
    with pytest.raises(UserError, match=message) as caught:
        snellen.load_model(f"zeroshot:hf:{tmp_path}/net#classes=cat,dog", device="cpu")
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "net") in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a photo of a cat", r"line 1: expected \{\} once"),
        ("", "has 0 prompts; expected 1 to 1,000"),
        ("{} and {}", r"expected \{\} once"),
    ],
)
def test_prompts_that_name_no_class_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "prompts.txt").write_text(content)
    with pytest.raises(UserError, match=message):
        snellen.load_model(f"zeroshot:hf:{tmp_path}#classes=cat,dog&prompts={tmp_path}/prompts.txt")


def test_a_text_that_names_no_library_is_refused() -> None:
    with pytest.raises(
        UserError, match="expected 'zeroshot:hf:owner/name' or 'zeroshot:hf:FOLDER', got 'zeroshot:clip'"
    ):
        snellen.load_model("zeroshot:clip#classes=cat,dog")
