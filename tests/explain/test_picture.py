"""Pictures of maps, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.cli import main
from snellen.errors import UserError
from snellen.explain import explain_images, overlay
from snellen.models import from_callable, from_torch, load_model

NETS = """
import torch
from torch import nn
from snellen.models import from_torch

class Reds(nn.Module):
    "Says 'red', whose only evidence is red."

    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(3, 1, 1, bias=False)
        self.features.weight.data = torch.tensor([1.0, 0, 0]).view(1, 3, 1, 1)
        self.head = nn.Linear(1, 2, bias=False)
        self.head.weight.data = torch.tensor([[-1.0], [1.0]])

    def forward(self, images):
        return self.head(self.features(images).mean((2, 3)))

def reds():
    return from_torch(Reds(), classes=["other", "red"], size=32, device="cpu")
"""


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network that sees red and a grey photo with a red corner."""
    (tmp_path / "nets.py").write_text(NETS)
    pixels = np.full((32, 32, 3), 90, np.uint8)
    pixels[:, :, 0] = 10
    pixels[:8, :8] = (250, 20, 20)
    Image.fromarray(pixels).save(tmp_path / "corner.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_overlay_colours_what_matters_and_leaves_the_rest() -> None:
    photo = np.full((4, 6, 3), 102, np.uint8)
    heat = np.zeros((4, 6))
    heat[1, 2] = 1
    shown = overlay(photo, heat)
    assert (shown != photo).any(2).sum() == 1
    assert shown[1, 2].tolist() == [167, 62, 57]  # 0.45 · 102 + 0.55 · (220, 30, 20), rounded
    assert (overlay(torch.from_numpy(photo).permute(2, 0, 1), torch.from_numpy(heat)) == shown).all()
    assert (overlay(photo, (heat * 255).astype(np.uint8)) == shown).all()
    with pytest.raises(ValueError, match=r"expected a map of \[4, 6\], got \[3, 6\]"):
        overlay(photo, heat[:3])


def test_the_command_writes_a_picture_beside_the_image_and_says_where(at, capsys) -> None:
    main_exit("explain", "python:nets.py:reds", "corner.png")
    assert capsys.readouterr().out.startswith("corner.gradcam.png: red (5")
    whole = np.asarray(Image.open(at / "corner.gradcam.png"))
    picture = whole[:224]  # the captions are below
    assert picture.shape == (224, 448, 3)
    assert len(whole) > 224
    before, after = picture[::7, ::7][:, :32], picture[::7, ::7][:, 32:]
    change = np.abs(after.astype(int) - before).sum(2)
    assert change[:8, :8].min() > change[8:, 8:].max()
    assert (before == np.asarray(Image.open(at / "corner.png"))).all()


def test_captions_name_method_class_and_scale(at, monkeypatch) -> None:
    """Text is noted as it is drawn; the bar runs through the colours of the overlay, from 0 to the maximum."""
    from PIL import ImageDraw

    drawn = []
    write = ImageDraw.ImageDraw.text
    monkeypatch.setattr(
        ImageDraw.ImageDraw,
        "text",
        lambda pen, at, text, *rest: (drawn.append((at[0], text)), write(pen, at, text, *rest))[1],
    )
    (told,) = explain_images(
        load_model("python:nets.py:reds"), ["corner.png"], method="gradcam,captum:Saliency", out="maps"
    )
    shown = f"for red ({100 * told.confidence:.0f}%)"
    assert [text for left, text in drawn if left < 224] == ["as the model sees it", "corner.png"]
    assert [text for left, text in drawn if 224 <= left < 448] == ["gradcam", shown, "0", "its maximum"]
    assert [text for left, text in drawn if left >= 448] == ["captum:Saliency", shown, "0", "its maximum"]
    strip = np.asarray(Image.open(told.picture))[224:]
    grey = np.full((1, 216, 3), 160, np.uint8)
    bar = overlay(grey, np.linspace(0, 1, 216)[None])[0]
    assert any((line[228:444] == bar).all() for line in strip)
    assert (strip[:, 0] == 255).all()


def test_a_map_that_knows_no_class_is_not_said_to_be_of_one(monkeypatch, tmp_path) -> None:
    from PIL import ImageDraw

    drawn: list[str] = []
    write = ImageDraw.ImageDraw.text
    monkeypatch.setattr(
        ImageDraw.ImageDraw, "text", lambda pen, at, text, *rest: (drawn.append(text), write(pen, at, text, *rest))[1]
    )
    Image.fromarray(np.arange(32 * 32 * 3, dtype=np.uint8).reshape(32, 32, 3)).save(tmp_path / "some.png")
    explain_images("observer:shape", [tmp_path / "some.png"], method="support", out=tmp_path / "maps")
    assert drawn[2:4] == ["support", "of no class"]


def test_a_long_name_is_cut_to_the_width_of_its_picture() -> None:
    from snellen.explain.captions import Caption, with_captions

    row = np.zeros((40, 120, 3), np.uint8)
    long = with_captions(row, [Caption(("a" * 200,)), Caption(("b",))])
    short = with_captions(row, [Caption(("",)), Caption(("b",))])
    assert (long[:40] == row).all()
    assert (long[:, 60:] == short[:, 60:]).all()
    assert (long[40:, :60] != short[40:, :60]).any()


def test_pictures_may_go_elsewhere_and_the_result_be_json(at, capsys) -> None:
    main_exit("explain", "python:nets.py:reds", "corner.png", "--out", "maps", "--layer", "-1", "--json")
    (told,) = json.loads(capsys.readouterr().out)
    assert told["picture"] == "maps/corner.gradcam.png"
    assert told["said"] == "red"
    assert (at / "maps" / "corner.gradcam.png").exists()


def test_what_cannot_be_explained_is_said_in_one_line(at, capsys) -> None:
    assert main_exit("explain", "python:nets.py:reds", "missing.png") == 2
    assert "missing.png cannot be read" in capsys.readouterr().err
    assert main_exit("explain", "python:nets.py:reds", "corner.png", "--layer", "layer4") == 2
    assert "unknown layer 'layer4'" in capsys.readouterr().err
    rule = from_callable(lambda images: np.full((len(images), 2), 0.5), size=8, name="rule", version="1")
    with pytest.raises(UserError, match="'rule' is not a torch network"):
        explain_images(rule, [at / "corner.png"])


def test_python_and_the_command_line_read_the_same_settings(at, capsys) -> None:
    """A model may be a text, and a wrong setting is refused in the words of the one who wrote it."""
    (explained,) = explain_images("python:nets.py:reds", ["corner.png"], "-1", "maps", ["gradcam"], device="cpu")
    assert explained.picture == Path("maps/corner.gradcam.png")
    with pytest.raises(UserError, match="unknown setting 'metod'; did you mean 'method'"):
        explain_images("python:nets.py:reds", ["corner.png"], metod="iba")
    with pytest.raises(UserError, match="^limit is for models side by side; name fewer image files instead"):
        explain_images("python:nets.py:reds", ["corner.png"], limit=3)
    assert main_exit("explain", "python:nets.py:reds", "corner.png", "--limit", "3") == 2
    assert "--limit is for models side by side" in capsys.readouterr().err
    with pytest.raises(UserError, match="no image given; name image files, or data with masks"):
        explain_images("python:nets.py:reds", [])


def test_a_bare_module_is_explained_as_it_is(at) -> None:
    module = load_model("python:nets.py:reds").module
    with pytest.warns(UserWarning, match="bare torch module"):
        (explained,) = explain_images(module, ["corner.png"], out="maps")
    assert explained.picture.exists()


def test_a_model_without_a_canvas_sees_the_image_as_it_is(at) -> None:
    network = load_model("python:nets.py:reds").module
    assert network is not None
    (told,) = explain_images(from_torch(network, device="cpu"), ["corner.png"], out="maps")
    assert told.said == "1"
    # a sixteenth of the reds is 250, the others are 10: 25 on average
    assert told.confidence == pytest.approx(float(torch.tensor([-1.0, 1.0]).mul(25 / 255).softmax(0)[1]), abs=1e-6)


def test_maps_of_real_photos_lie_on_the_thing(shared, monkeypatch) -> None:
    """The shared MobileNetV2, which has no modules of its own, looks at things where they are."""
    import importlib.util

    from snellen.data.canvas import render
    from snellen.data.decode import decode_file
    from snellen.explain import gradcam

    root = Path(__file__).resolve().parents[2]
    monkeypatch.setenv("SNELLEN_SHARED", str(shared.parent))
    spec = importlib.util.spec_from_file_location(
        "shared_networks", root / "examples" / "maintainers" / "shared_networks.py"
    )
    assert spec is not None
    assert spec.loader is not None
    networks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(networks)
    model = networks.mobilenet_v2()
    names = ["0360_n02444819_otter", "0633_n03692522_loupe"]
    photos = [decode_file(shared / "imagenet_samples" / "images" / f"{name}.jpg") for name in names]
    pixels = torch.from_numpy(np.stack([render(photo, model.canvas).image for photo in photos]))
    assert model(pixels).argmax(1).tolist() == [360, 633]
    maps = gradcam(model, pixels)
    boxes = [(80, 30, 170, 150), (10, 40, 90, 130)]  # rows and columns around otter and loupe, read off by eye
    for heat, (top, left, bottom, right) in zip(maps, boxes):
        inside = torch.zeros_like(heat, dtype=torch.bool)
        inside[top:bottom, left:right] = True
        assert heat[inside].mean() > 2 * heat[~inside].mean()
        assert heat[inside].max() == heat.max()


def main_exit(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)
