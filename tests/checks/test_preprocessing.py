"""Networks that get their pixels in a way they were not made for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import snellen
from snellen.checks.first_look import Look, Shown, look_at_model
from snellen.checks.preprocessing import (
    NORMALISATIONS,
    Preprocessing,
    _through,
    expected_gain,
    fits_better,
    promising_ways,
    ways,
)
from snellen.data import load_data
from snellen.engine.settings import Settings
from snellen.lazy_torch import torch
from snellen.models import Model, from_torch
from snellen.models.labels import AnswerReading, LabelMap
from snellen.models.subject import Subject

CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CLASSES = 4


def levels(folder: Path) -> str:
    """300 images of 16 × 16 pixels whose red level tells the class; the first 120 are of class 0, blue is always the same."""
    labels = np.repeat(np.arange(CLASSES), [120, 60, 60, 60])
    images = np.full((300, 16, 16, 3), 60, np.uint8)
    images[..., 0] = (40 + 50 * labels)[:, None, None]
    np.savez(folder / "levels.npz", images=images, labels=labels, ids=np.array([f"{i:03d}" for i in range(300)]))
    return f"arrays:{folder / 'levels.npz'}"


def reader(mean: float = 0.0, std: float = 1.0, channel: int = 0) -> Any:
    """A network that knows the four levels of one channel, normalised with this mean and std of 0…1 pixels."""

    class Reader(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            pixels = torch.tensor([40.0, 90, 140, 190])
            self.register_buffer("known", (pixels / 255 - mean) / std)

        def forward(self, images: Any) -> Any:
            return -(images[:, channel].mean((1, 2))[:, None] - self.known).abs() / 0.01

    return Reader()


def warnings(model: Model, data: str, **settings: Any) -> list[dict[str, str]]:
    return snellen.audit(model, data, [], quiet=True, report=False, **settings).results()["warnings"]


def preprocessing(model: Model, data: str, **settings: Any) -> str:
    told = [one for one in warnings(model, data, **settings) if one["name"] == "preprocessing"]
    return f"{told[0]['text']} — {told[0]['advice']}" if told else ""


def test_a_network_asked_as_it_was_made_raises_no_doubt(tmp_path: Path) -> None:
    data = levels(tmp_path)
    assert warnings(from_torch(reader(), size=16), data) == []
    normalised = from_torch(reader(0.5, 0.5), size=16, mean=[0.5] * 3, std=[0.5] * 3)
    assert warnings(normalised, data) == []


@pytest.mark.parametrize(
    ("mean", "std", "told"),
    [(0.5, 0.5, "mean and std of 0.5"), (0, 1 / 255, "pixels in 0…255"), (0.485, 0.229, "ImageNet's mean and std")],
)
def test_a_missing_normalisation_is_named(tmp_path: Path, mean: float, std: float, told: str) -> None:
    found = preprocessing(from_torch(reader(mean, std), size=16), levels(tmp_path))
    assert f"of 256 images given {told}" in found
    assert "from_torch(module, mean=[" in found


def test_a_normalisation_done_twice_is_named(tmp_path: Path) -> None:
    """The network wants plain pixels, and somebody normalises them."""
    model = from_torch(reader(), size=16, mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    found = preprocessing(model, levels(tmp_path))
    assert "plain pixels in 0…1" in found
    assert "leave mean and std out" in found


def test_exchanged_channels_are_named(tmp_path: Path) -> None:
    found = preprocessing(from_torch(reader(channel=2), size=16), levels(tmp_path))
    assert "red and blue exchanged (BGR)" in found
    assert "x[:, [2, 1, 0]]" in found


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_the_detour_through_a_models_own_normalisation_gives_the_wanted_one(name: str) -> None:
    images = torch.randint(0, 256, (2, 3, 4, 4), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    own = ((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))
    mean, std, other_mean, other_std = (
        torch.tensor(triple).view(1, 3, 1, 1) for pair in (own, NORMALISATIONS[name]) for triple in pair
    )
    seen = (_through(own, NORMALISATIONS[name])(images) / 255 - mean) / std
    torch.testing.assert_close(seen, (images / 255 - other_mean) / other_std, rtol=1e-4, atol=1e-4)


def test_a_models_own_way_is_not_tried_again() -> None:
    plain = [way.name for way in ways(from_torch(reader()))]
    assert "plain pixels in 0…1" not in plain
    assert len(plain) == len(NORMALISATIONS)


def test_a_few_images_are_too_few_to_doubt(tmp_path: Path) -> None:
    assert preprocessing(from_torch(reader(0.5, 0.5), size=16), levels(tmp_path), limit=20) == ""


def look_at(tables: list[np.ndarray]) -> tuple[Look, list[Preprocessing], list[int]]:
    """A look at images whose pixels are their numbers. The answers under each way are right where its table has a 1, and the
    list says how many images were shown at a time."""
    shown: list[int] = []
    count = len(tables[0])

    def answer(pixels: Any) -> Any:
        shown.append(len(pixels))
        way, number = (pixels.flatten().long() // 1000, pixels.flatten().long() % 1000)
        return torch.tensor([tables[w][n] for w, n in zip(way.tolist(), number.tolist())])

    def read(answers: Any, labels: Any) -> AnswerReading:
        return AnswerReading(torch.where(answers > 0, labels, labels + 1), *[torch.zeros(len(labels))] * 3)

    images = torch.arange(count, dtype=torch.float32).view(count, 1, 1, 1)
    first = Shown(tuple(map(str, range(count))), images, torch.zeros(count, dtype=torch.int64))
    found = [Preprocessing(str(w), "", lambda images, w=w: images + 1000 * w) for w in range(len(tables))]
    return Look(first, lambda: pytest.fail("the rest is not needed"), answer, read), found, shown


def test_ways_that_change_no_answer_are_given_up_on_the_images_that_the_model_gets_wrong() -> None:
    own = np.ones(64)
    own[[3, 9, 40]] = 0
    look, (same, also), shown = look_at([own, own])
    assert promising_ways([same, also], look, own) == {}
    assert shown == [6]  # both on three images


def test_a_way_that_loses_what_it_gains_is_given_up_and_one_that_gains_is_tried_on_all() -> None:
    own = np.repeat([0.0, 1.0], 32)
    losing, gaining = np.zeros(64), np.ones(64)
    losing[:16] = 1
    look, (first, second), shown = look_at([losing, gaining])
    assert list(promising_ways([first, second], look, own)) == [second]
    assert shown == [32, 32, 32]  # two ways on 16 wrong and 16 right ones, one way on the other 32


def test_the_expected_gain_is_what_is_gained_less_what_is_lost() -> None:
    own = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    untried = np.nan
    # Half of the wrong 40% become right, a quarter of the right 60% wrong: 20 points less 15.
    scores = np.array([1, 0, untried, untried, 1, 1, 1, 0, untried, untried])
    assert expected_gain(own, scores) == 0.05
    assert expected_gain(own, np.where(own == 0, scores, untried)) == 0.2


@given(arrays(np.int64, (2, 40), elements=st.integers(0, 1)))
def test_what_is_kept_is_right_more_often_than_the_model(tables: np.ndarray) -> None:
    own = tables[0].astype(float)
    perfect = np.ones(40)
    look, (other, best), _ = look_at([tables[1], perfect])
    kept = promising_ways([other, best], look, own)
    assert (best in kept) == (own.sum() < 40)
    for way, scores in kept.items():
        assert scores.sum() > own.sum()
        assert scores.tolist() == (tables[1] if way is other else perfect).tolist()


def test_the_first_look_reads_64_images_of_a_network_that_is_right(tmp_path: Path) -> None:
    read: list[int] = []
    data = load_data(levels(tmp_path))
    counted = replace(
        data, read=lambda positions: (read.extend(positions), data.read(positions))[1], read_together=None
    )
    model = from_torch(reader(), size=16)
    subject = Subject("reader", "reader", model.card, model)
    assert look_at_model(subject, counted, LabelMap(CLASSES), Settings()) == []
    assert len(read) == len(set(read)) == 64


@pytest.fixture(scope="module")
def cifar(shared: Path, realdata: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    images, labels, _ = realdata.load_small("cifar10", "test")
    path = tmp_path_factory.mktemp("cifar") / "cifar.npz"
    np.savez(path, images=images[:256], labels=labels[:256], classes=np.array(CIFAR10))
    return f"arrays:{path}"


def resnet20(shared: Path) -> Any:
    """The data pack's ResNet-20, which normalises inside."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("cifar_models", shared / "models" / "cifar_models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load("cifar10_resnet20")


@pytest.mark.slow
def test_a_healthy_resnet_raises_no_doubt_and_the_same_one_wrongly_fed_does(cifar: str, shared: Path) -> None:
    network = resnet20(shared)
    classes = dict(classes=CIFAR10, size=32)
    assert warnings(from_torch(network, **classes, stated=0.9174), cifar) == []
    twice = from_torch(network, **classes, mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225], stated=0.9174)
    told = {one["name"]: one for one in warnings(twice, cifar)}
    assert "plain pixels in 0…1" in told["preprocessing"]["text"]

    class BlueFirst(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, images: Any) -> Any:
            return self.network(images.flip(1))

    assert "BGR" in preprocessing(from_torch(BlueFirst(), **classes), cifar)


@pytest.mark.slow
def test_classes_in_another_order_are_seen_on_a_resnet(cifar: str, shared: Path) -> None:
    alphabet = sorted(CIFAR10, key=lambda name: name[::-1])
    model = from_torch(resnet20(shared), classes=alphabet, size=32, stated=0.9174)
    assert [one["name"] for one in warnings(model, cifar, limit=100)][:1] == ["class_order"]


def test_another_way_that_is_better_on_one_video_alone_raises_no_doubt() -> None:
    """Better on 60 frames of one video, and no better on the 24 other videos of 4 frames."""
    groups = np.repeat(np.arange(25), [60] + [4] * 24)
    better, own = (groups == 0).astype(float), np.zeros(len(groups))
    way = Preprocessing("plain pixels in 0…1", "leave mean and std out", lambda images: images)
    assert fits_better("net", own, {way: better}) is not None
    assert fits_better("net", own, {way: better}, groups) is None
    assert fits_better("net", own, {way: np.ones(len(groups))}, groups) is not None
