"""Several models as one, and a model asked twice: the mean of their probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import snellen
from snellen.errors import UserError
from snellen.models.adapters.ensemble import average, split_members
from snellen.models.adapters.tta import with_flip
from snellen.models.model import Model, from_callable, from_torch

from .stored_networks import MEAN, NORMALISED, STD, Small, some_images, write


def constant(name: str, probabilities: list[float], **settings: object) -> Model:
    rows = np.array([probabilities], np.float32)
    return from_callable(
        lambda images: np.repeat(rows, len(images), 0),
        ["cat", "dog"],
        8,
        name=name,
        version=name,
        **settings,  # type: ignore[arg-type]
    )


def left_of_middle(images: np.ndarray) -> np.ndarray:
    """How bright the left half is, and the rest of 1."""
    share = images[:, :, : images.shape[2] // 2].mean((1, 2, 3)) / 255
    return np.stack([share, 1 - share], 1)


def test_an_ensemble_answers_the_mean_probability() -> None:
    model = average(
        [constant("a", [0.9, 0.1]), constant("b", [0.5, 0.5]), constant("c", [0.1, 0.9])], "ensemble:a,b,c", "cpu"
    )
    torch.testing.assert_close(model(torch.zeros(2, 3, 8, 8, dtype=torch.uint8)), torch.full((2, 2), 0.5))
    model = average([constant("a", [0.9, 0.1]), constant("b", [0.5, 0.5])], "ensemble:a,b", "cpu")
    torch.testing.assert_close(model(torch.zeros(1, 3, 8, 8, dtype=torch.uint8)), torch.tensor([[0.7, 0.3]]))
    assert model.classes == ("cat", "dog")


def test_the_fingerprint_does_not_depend_on_the_order_and_follows_the_members() -> None:
    a, b, c = (constant(name, [0.5, 0.5]) for name in "abc")
    first = average([a, b], "ensemble:a,b", "cpu").card.fingerprint
    assert average([b, a], "ensemble:b,a", "cpu").card.fingerprint == first
    assert average([a, c], "ensemble:a,c", "cpu").card.fingerprint != first


def test_a_flipped_model_sees_both_sides() -> None:
    model = with_flip(from_callable(left_of_middle, ["left", "right"], 8, version="1"))
    images = torch.zeros(1, 3, 8, 8, dtype=torch.uint8)
    images[..., :4] = 255
    torch.testing.assert_close(model(images), torch.tensor([[0.5, 0.5]]))
    images[..., 4:] = 255
    torch.testing.assert_close(model(images), torch.tensor([[1.0, 0.0]]))


def test_texts_name_ensembles_of_any_kind_and_nest(tmp_path: Path) -> None:
    write(Small(), tmp_path / "a.pt2")
    torch.manual_seed(9)
    other = Small()
    torch.nn.init.normal_(other.head.weight)
    write(other, tmp_path / "b.pt2")
    images = some_images()
    one, two = (from_torch(net, None, 16, MEAN, STD, device="cpu")(images) for net in (Small(), other))
    a, b = f"{tmp_path}/a.pt2#{NORMALISED}", f"exported:{tmp_path}/b.pt2#{NORMALISED}"
    torch.testing.assert_close(snellen.load_model(f"ensemble:{a},{b}", device="cpu")(images), (one + two) / 2)
    stars = f"ensemble:{tmp_path}/*.pt2#{NORMALISED}"
    torch.testing.assert_close(snellen.load_model(stars, device="cpu")(images), (one + two) / 2)
    nested = snellen.load_model(f"mine=ensemble:(tta(flip):{a}),{b}", device="cpu")
    mirrored = from_torch(Small(), None, 16, MEAN, STD, device="cpu")(images.flip(3))
    torch.testing.assert_close(nested(images), ((one + mirrored) / 2 + two) / 2)
    assert nested.name == "mine"
    again = snellen.load_model(snellen.load_model(f"tta(flip):{a}", device="cpu").card.text, device="cpu")
    torch.testing.assert_close(again(images), (one + mirrored) / 2)


@pytest.mark.parametrize(
    ("place", "members"),
    [
        ("timm:a.b,timm:c.d", ["timm:a.b", "timm:c.d"]),
        ("a.onnx#mean=0.1,0.2,0.3&std=1,1,1,b.pt2", ["a.onnx#mean=0.1,0.2,0.3&std=1,1,1", "b.pt2"]),
        (
            "zoo:resnet20@a.pt#classes=cat,dog,x=zoo:resnet20@b.pt",
            ["zoo:resnet20@a.pt#classes=cat,dog", "x=zoo:resnet20@b.pt"],
        ),
        ("observer:mixture(oracle, guess), observer:oracle", ["observer:mixture(oracle, guess)", "observer:oracle"]),
        ("(ensemble:a.onnx,b.onnx),c.onnx", ["ensemble:a.onnx,b.onnx", "c.onnx"]),
        ("timm/a.b,http://host:1/p,", ["timm/a.b", "http://host:1/p,"]),
    ],
)
def test_members_are_told_apart_from_commas_in_settings(place: str, members: list[str]) -> None:
    assert split_members(place) == members


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([constant("a", [1, 0])], "has 1 member; expected two or more"),
        ([constant("a", [1, 0])] * 2, "names the same model twice; name each once"),
        (
            [constant("a", [1, 0]), from_callable(left_of_middle, ["dog", "cat"], 8, name="b", version="1")],
            "'a' and 'b' have other classes .*cat, dog.* and .*dog, cat",
        ),
        (
            [constant("a", [1, 0]), from_callable(left_of_middle, ["cat", "dog"], 16, name="b", version="1")],
            "'a' and 'b' see images of 8x8 crop 8 bicubic and 16x16 crop 16 bicubic; an ensemble needs one canvas",
        ),
        (
            [
                constant("a", [1, 0]),
                from_callable(lambda i: i, ["cat", "dog"], 8, name="b", version="1", task="detection"),
            ],
            "'b' gives no probabilities of new images",
        ),
    ],
)
def test_models_that_cannot_be_averaged_are_named(members: list[Model], message: str) -> None:
    with pytest.raises(UserError, match=message):
        average(members, "ensemble:a,b", "cpu")


def test_members_of_other_widths_are_told_when_they_answer() -> None:
    two = from_callable(lambda images: np.full((len(images), 2), 0.5), size=8, name="two", version="1")
    three = from_callable(lambda images: np.full((len(images), 3), 1 / 3), size=8, name="three", version="1")
    with pytest.raises(UserError, match="answer 2 and 3 classes; expected the same"):
        average([two, three], "ensemble:two,three", "cpu")(torch.zeros(1, 3, 8, 8, dtype=torch.uint8))


def test_recorded_answers_are_no_member(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("sample,pred\na,1\n")
    with pytest.raises(UserError, match="'p' gives no probabilities of new images"):
        snellen.load_model(f"tta(flip):predictions:{tmp_path}/p.csv")
