"""Fine-tuned checkpoints without code: how their images are made stands behind the `#` of their text."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
import timm
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torchvision.models import ResNet18_Weights

import snellen
from snellen.data.canvas import Canvas
from snellen.errors import UserError
from snellen.models import load_model, subjects_of
from snellen.models.network_settings import NetworkInput, NetworkSettings, read_network_settings
from snellen.models.text import ModelText, parse_text

NAME = "test_resnet.r160_in1k"  # small, with a preprocessing of its own: 160 px, crop 0.95


@pytest.fixture
def tuned(tmp_path: Path) -> tuple[nn.Module, Path]:
    """A network of timm with three classes, and its weights as safetensors."""
    torch.manual_seed(0)
    network = timm.create_model("test_resnet", num_classes=3).eval()
    save_file(network.state_dict(), tmp_path / "ft.safetensors")
    return network, tmp_path / "ft.safetensors"


def pictures(size: int) -> Tensor:
    return torch.randint(0, 256, (2, 3, size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def test_a_fine_tuned_checkpoint_is_preprocessed_as_its_text_says(tuned: tuple[nn.Module, Path]) -> None:
    network, file = tuned
    text = f"zoo:timm:test_resnet@{file}#size=64&resize=72&interpolation=bilinear&mean=0.4,0.5,0.6&std=0.2"
    model = load_model(text)
    assert model.canvas == Canvas(64, 64, "crop", 72, "bilinear")
    shown = pictures(64)
    mean = torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1)
    with torch.inference_mode():
        expected = network((shown / 255 - mean) / 0.2).softmax(1)
    torch.testing.assert_close(model(shown), expected, atol=1e-5, rtol=1e-4)
    planned = subjects_of(text)[0]
    assert (planned.name, planned.run) == ("ft", "ft")
    assert planned.card.fingerprint == model.card.fingerprint
    assert not model.card.notices


def test_like_takes_what_timm_states_for_a_name_and_settings_win(tuned: tuple[nn.Module, Path]) -> None:
    stated = timm.data.resolve_data_config(pretrained_cfg=timm.models.get_pretrained_cfg(NAME).to_dict())
    model = load_model(f"zoo:timm:test_resnet@{tuned[1]}#like={NAME}")
    assert model.canvas == Canvas(160, 160, "crop", 168, stated["interpolation"])
    assert model.card.mean == tuple(stated["mean"])
    assert model.card.std == tuple(stated["std"])
    smaller = load_model(f"zoo:timm:test_resnet@{tuned[1]}#like={NAME}&size=80")
    assert smaller.canvas == Canvas(80, 80, "crop", 84, stated["interpolation"])
    assert smaller.card.mean == model.card.mean


def test_like_takes_what_torchvision_states_for_weights() -> None:
    preset = ResNet18_Weights.IMAGENET1K_V1.transforms()
    found = NetworkSettings(like="torchvision:resnet18@IMAGENET1K_V1").complete(NetworkInput())
    assert found.canvas == Canvas(224, 224, "crop", 256, "bilinear")
    assert list(found.mean or ()) == preset.mean
    assert list(found.std or ()) == preset.std


@pytest.mark.parametrize("setting", ["size=32", "resize=48", "fit=squash", "interpolation=nearest", "mean=0.4&std=0.2",
                                     "mean=0.5&std=0.3"])  # fmt: skip
def test_every_setting_of_the_images_is_in_the_fingerprint(setting: str, tuned: tuple[nn.Module, Path]) -> None:
    text = f"zoo:timm:test_resnet@{tuned[1]}#size=40&mean=0.5&std=0.2"
    own = {name.partition("=")[0] for name in setting.split("&")}
    changed = "&".join(
        [part for part in text.partition("#")[2].split("&") if part.partition("=")[0] not in own] + [setting]
    )
    before, after = subjects_of(text)[0].card, subjects_of(f"{text.partition('#')[0]}#{changed}")[0].card
    assert before.fingerprint != after.fingerprint


def test_names_of_classes_come_from_a_file_or_the_text_and_change_what_is_right(
    tuned: tuple[nn.Module, Path], tmp_path: Path
) -> None:
    names = tmp_path / "names.txt"
    names.write_text("disc\nsquare\nstar\n")
    assert load_model(f"zoo:timm:test_resnet@{tuned[1]}#size=32&classes={names}").classes == ("disc", "square", "star")
    data = "phantom:test?size=32&n=24"
    by_names = {}
    for order in ("disc,square,star", "square,disc,star"):
        text = f"mine=zoo:timm:test_resnet@{tuned[1]}#size=32&mean=0.5&std=0.5&classes={order}"
        run = snellen.audit(text, data, "interference([shuffle(2)])", report=False, quiet=True)
        by_names[order] = run.predictions().query("distortion == 'none()'")
    first, second = by_names.values()
    assert (first["raw"] == second["raw"]).all()
    named = first["raw"].isin([0, 1])
    assert named.any()
    assert (first["pred"] != second["pred"])[named].all()
    with pytest.raises(
        UserError, match=r"ft.safetensors' has 3 outputs, but 2 classes are named; give one name for each"
    ):
        load_model(f"zoo:timm:test_resnet@{tuned[1]}#size=32&classes=cat,dog")


def test_files_of_torch_save_open_as_trainers_write_them(tuned: tuple[nn.Module, Path], tmp_path: Path) -> None:
    network, _ = tuned
    state, shown = network.state_dict(), pictures(32)
    expected = load_model(f"zoo:timm:test_resnet@{tuned[1]}#size=32")(shown)
    kept = {
        "timm": {"state_dict": state, "epoch": 3, "arch": "test_resnet", "args": argparse.Namespace(lr=0.1, model="x")},
        "lightning": {"state_dict": {f"model.{n}": t for n, t in state.items()} | {"loss.weight": torch.ones(3)}},
        "compiled": {f"_orig_mod.{n}": t for n, t in state.items()},
        "parallel": {f"module.{n}": t for n, t in state.items()},
    }
    for name, content in kept.items():
        torch.save(content, tmp_path / f"{name}.pt")
        torch.testing.assert_close(load_model(f"zoo:timm:test_resnet@{tmp_path}/{name}.pt#size=32")(shown), expected)
    torch.save({f"{n}.{key}": t for n in ("online", "target") for key, t in state.items()}, tmp_path / "two.pt")
    with pytest.raises(UserError, match=r"holds several networks, under 'online.' and 'target.'; save the one to use"):
        load_model(f"zoo:timm:test_resnet@{tmp_path}/two.pt#size=32")


def test_a_file_that_says_nothing_is_shown_plain_pixels_and_told(tuned: tuple[nn.Module, Path]) -> None:
    (notice,) = load_model(f"zoo:timm:test_resnet@{tuned[1]}").card.notices
    assert "at the data's own size and with pixels in 0…1, not normalised" in notice
    assert "#size=224&mean=…&std=…" in notice
    (notice,) = load_model(f"zoo:timm:test_resnet@{tuned[1]}#size=32").card.notices
    assert "they are shown with pixels in 0…1, not normalised; if" in notice


def test_a_text_with_settings_makes_runs_by_a_star(tuned: tuple[nn.Module, Path]) -> None:
    for run in (2, 10):
        (tuned[1].parent / f"run-{run}.safetensors").write_bytes(tuned[1].read_bytes())
    texts = subjects_of(f"zoo:timm:test_resnet@{tuned[1].parent}/run-*.safetensors#size=32&mean=0.5&std=0.5")
    assert [subject.run for subject in texts] == ["run-2", "run-10"]
    assert all(subject.name == "run" and subject.card.canvas == Canvas(32, 32, "crop", 32) for subject in texts)
    assert load_model(texts[1].card.text).canvas == Canvas(32, 32, "crop", 32)


def test_a_sign_in_the_name_of_a_file_is_no_setting(tuned: tuple[nn.Module, Path]) -> None:
    odd = tuned[1].with_name("run#2.safetensors")
    odd.write_bytes(tuned[1].read_bytes())
    assert subjects_of(f"zoo:timm:test_resnet@{odd}")[0].run == "run#2"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("sice=3", "unknown setting of 'net' 'sice'; did you mean 'size'?"),
        ("size=0", "expected size in pixels, as 224 or HEIGHTxWIDTH, up to 10,000, got '0'"),
        ("mean=0.5", "sets mean without std; give both, such as #mean=0.5&std=0.5"),
        ("size=8&mean=1,2&std=1", "expected mean as one number or three with commas between, each from -1000 to 1000"),
        ("size=8&mean=0&std=0", "expected std as one number or three"),
        ("resize=256", "sets resize without a size; add #size=224"),
        ("size=224&resize=200", "less than its size; expected resize of size or more"),
        ("size=224&resize=256&fit=pad", "sets resize, which fit=pad does not use"),
        (
            "size=8&classes=none.txt",
            "expected classes as a file with one name per line, or as names with commas between",
        ),
        ("size=8&size=9", "sets size twice"),
        ("like=", "expected like as the name of a network"),
    ],
)
def test_settings_that_cannot_be_used_are_one_line(query: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        read_network_settings(query, "net")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("like", "message"),
    [
        ("resnet81", "unknown timm model 'resnet81'; did you mean 'resnet"),
        ("test_resnet.r161", "unknown weights of test_resnet 'r161'; did you mean 'r160_in1k'?"),
        ("torchvision:resnet18@V9", "unknown weights of resnet18 'V9'"),
    ],
)
def test_a_network_to_be_like_must_be_known(like: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        NetworkSettings(like=like).complete(NetworkInput())


def test_a_model_without_a_size_is_told_how_to_get_one(tuned: tuple[nn.Module, Path], tmp_path: Path) -> None:
    from PIL import Image

    for name, size in (("a/1.png", (40, 40)), ("b/2.png", (50, 40))):
        (tmp_path / "photos" / name).parent.mkdir(parents=True)
        Image.new("RGB", size).save(tmp_path / "photos" / name)
    with pytest.raises(
        UserError, match=r"names no image size .*; give it one: 'zoo:timm:test_resnet@.*#size=224', .*#like=NAME"
    ):
        snellen.audit(f"zoo:timm:test_resnet@{tuned[1]}", f"folder:{tmp_path}/photos", dry_run=True)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("nets/ft.safetensors#size=32", ModelText("zoo", "", "nets/ft.safetensors#size=32")),
        ("ft.safetensors#like=torchvision:vgg11@V", ModelText("zoo", "", "ft.safetensors#like=torchvision:vgg11@V")),
        ("answers.csv", ModelText("predictions", "answers.csv")),
    ],
)  # fmt: skip
def test_a_bare_path_is_of_the_kind_that_its_ending_tells(text: str, parts: ModelText) -> None:
    assert parse_text(text) == parts
    assert parse_text(str(parts)) == parts


def test_a_bare_path_that_is_no_model_is_told_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    messages = {
        "nets.py": "name the function that returns the model: 'python:nets.py:FUNCTION'",
        "ft.pth": "weights and no architecture; name it, for example 'zoo:timm:resnet18@ft.pth#like=resnet18.a1_in1k'",
        str(tmp_path / "photos"): "is a folder without config.json, so it is no model",
        "resnet18": "for example 'timm:resnet18.TAG'",
    }
    for text, message in messages.items():
        with pytest.raises(UserError) as error:
            parse_text(text)
        assert message in str(error.value)
    (tmp_path / "photos" / "config.json").touch()
    assert parse_text(str(tmp_path / "photos")) == ModelText("hf", str(tmp_path / "photos"))
