"""Training against shifts, end to end: identity before the first search, resume to the bit, stored sets, a real gain."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import nn

from snellen.cli import main
from snellen.distort import Moving, View
from snellen.errors import UserError
from snellen.models.checkpoint import load_state, read_card
from snellen.models.zoo import NETWORKS, build
from snellen.search.algorithms import RandomSearch
from snellen.search.run_search import Search
from snellen.search.spaces import SPACES
from snellen.train import Recipe, train
from snellen.train.device_dataset import ImagesInMemory, remember
from snellen.train.normalise import Normalise
from snellen.train.shift.edit_batch import edit_batch
from snellen.train.shift.hardening import network_fitness, search_rows
from snellen.train.shift.tuple_set import WorstTuple, read_tuples, write_tuples

from .test_resume import Killed, killer, same
from .test_ways import PerPixel, coloured

QUICK = "set=mnist, length=2, images=40"
RECIPE = Recipe(epochs=4, batch_size=16, robust=f"rsda({QUICK}, every=1, evaluations=6)")


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr("snellen.train.state._SHARE", 1e9)


def stored(path):
    return path.with_name(path.stem + ".transformations.json")


@pytest.mark.parametrize("unit", ["batch", "sample"])
def test_before_the_first_search_the_training_is_the_plain_one(tmp_path, bars, unit):
    data = bars(64)
    (plain,) = train(Recipe(epochs=2, batch_size=16), data, tmp_path / "plain")
    late = f"esda({QUICK}, every=50, unit={unit})"
    (robust,) = train(Recipe(epochs=2, batch_size=16, robust=late), data, tmp_path / "robust")
    assert same(plain, robust)
    assert read_tuples(stored(robust)) == []


def test_the_set_is_beside_the_checkpoint_on_the_card_and_printed(tmp_path, bars, capsys):
    (path,) = train(RECIPE, bars(64), tmp_path)
    tuples = read_tuples(stored(path))
    assert path.name == "smallnet-none-rsda-0.safetensors"
    assert [(one.search, one.update, one.epoch) for one in tuples] == [(1, 4, 1), (2, 8, 2), (3, 12, 3), (4, 16, 4)]
    assert [one.to_json() | {"edits": list(one.edits)} for one in tuples] == read_card(path)["transformations"]
    history = read_card(path)["history"]
    assert all(0 < row["hardening_seconds"] <= row["seconds"] for row in history)
    data = "phantom:train?size=28&n=48"
    with pytest.raises(SystemExit, match="0"):
        main(["train", "smallnet", "--data", data, "--out", str(tmp_path / "c"), "--epochs", "1", "--batch-size", "16",
              "--robust", f"esda({QUICK}, updates=2, population=4, steps=1)"])  # fmt: skip
    printed = capsys.readouterr().out
    assert "worst edits of smallnet-none-esda-0" in printed
    row = read_card(tmp_path / "c" / "smallnet-none-esda-0.safetensors")["transformations"][0]
    assert " | ".join(row["edits"]) in printed


@pytest.mark.parametrize(
    "robust",
    [
        f"rda({QUICK.replace(', images=40', '')})",
        f"rsda({QUICK}, updates=3, evaluations=5)",
        f"esda({QUICK}, every=1, population=4, steps=1, unit=sample)",
        "ada(phases=3, updates=5, steps=2, size=100)",
    ],
)
@pytest.mark.parametrize("after", [1, 3])
def test_a_run_that_was_killed_ends_with_the_same_weights_and_tuples(tmp_path, bars, eager, robust, after):
    recipe, data = replace(RECIPE, robust=robust), bars(64)
    (whole,) = train(recipe, data, tmp_path / "whole")
    with pytest.raises(Killed):
        train(recipe, data, tmp_path / "cut", progress=killer(after))
    (again,) = train(recipe, data, tmp_path / "cut")
    assert same(whole, again)
    assert read_card(whole).get("transformations") == read_card(again).get("transformations")
    assert read_card(whole).get("adversarial") == read_card(again).get("adversarial")
    if robust.startswith(("rsda", "esda")):
        assert stored(whole).read_bytes() == stored(again).read_bytes()


def test_a_stored_set_is_where_a_fine_tuning_begins(tmp_path, bars):
    data = bars(64)
    (first,) = train(RECIPE, data, tmp_path / "first")
    begin = replace(RECIPE, epochs=2, robust=f"rsda({QUICK}, every=1, evaluations=6, start='{stored(first)}')")
    (second,) = train(begin, data, tmp_path / "second", init=first)
    before, after = read_tuples(stored(first)), read_tuples(stored(second))
    assert after[:4] == before
    assert [(one.search, one.update) for one in after[4:]] == [(5, 4), (6, 8)]
    (kept,) = train(begin, data, tmp_path / "second", init=first)
    assert kept == second
    write_tuples(stored(first), "mnist", before[:1])
    with pytest.raises(UserError, match="was trained otherwise \\(start_set"):
        train(begin, data, tmp_path / "second", init=first)


def test_searches_show_the_same_images_of_a_seed():
    rows = search_rows(1000, 100, 3)
    assert len(set(rows)) == 100
    assert (np.diff(rows) > 0).all()
    assert (rows == search_rows(1000, 100, 3)).all()
    assert (rows != search_rows(1000, 100, 4)).any()
    assert len(search_rows(50, 2000, 0)) == 50


def test_label_maps_are_trained_and_searched_by_pixels(tmp_path, monkeypatch):
    monkeypatch.setitem(NETWORKS, "perpixel", PerPixel)
    recipe = Recipe(
        arch="perpixel", epochs=5, batch_size=8, padding=0, ignore=255, lr=0.5,
        robust="esda(set=camvid, length=2, every=2, images=10, population=4, steps=2)",
    )  # fmt: skip
    (path,) = train(recipe, coloured(64), tmp_path, test=coloured(16, seed=1))
    assert read_card(path)["accuracy"] == 1.0
    assert [row["epoch"] for row in read_card(path)["transformations"]] == [2, 4]
    with pytest.raises(UserError, match="ada is for classes of whole images"):
        train(replace(recipe, robust="ada"), coloured(64), tmp_path / "ada")


def test_pixel_accuracy_by_hand_without_the_pixels_that_do_not_count():
    maps = torch.tensor([[[0, 1], [1, -100]], [[-100, -100], [-100, 1]]], dtype=torch.int16)
    memory = ImagesInMemory(torch.zeros(2, 3, 2, 2, dtype=torch.uint8), maps)
    view = View(np.arange(2, dtype=np.uint64))
    always_one = network_fitness(lambda images: torch.ones(len(images), 2, 2, dtype=torch.int64), memory, view, 1)
    assert always_one(()) == pytest.approx(3 / 4)  # of four pixels that count three are 1
    assert always_one.many([(), ("red(4)",)]) == pytest.approx([3 / 4, 3 / 4])
    nothing = ImagesInMemory(memory.images, torch.full_like(maps, -100))
    assert network_fitness(lambda images: torch.ones(len(images), 2, 2), nothing, view, 1)(()) == 0


def test_label_maps_move_with_the_pixels_in_batches_and_in_searches():
    """The first channel is the label: a model that reads it is right as long as pixels and labels move alike."""
    labels = torch.randint(0, 250, (6, 8, 8), dtype=torch.int16, generator=torch.Generator().manual_seed(0))
    images = labels.to(torch.uint8)[:, None].repeat(1, 3, 1, 1)
    view = View(np.arange(6, dtype=np.uint64), 5)
    edited, maps = edit_batch(("shuffle(grid=4)", "blue(4)"), images, labels, view)
    assert (edited[:, 0] != images[:, 0]).any()
    assert torch.equal(edited[:, 0].short(), maps)
    fitness = network_fitness(lambda images: images[:, 0].long(), ImagesInMemory(images, labels), view, 4)
    assert fitness.many([("shuffle(grid=4)",), ("red(4)",), ("blue(4)",)]) == [1.0, pytest.approx(0, abs=0.03), 1.0]


def plain(classes):
    """No BatchNorm, whose statistics would be those of one tuple in each batch."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 5, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
        nn.Linear(512, classes),
    )  # fmt: skip


@dataclass(frozen=True)
class Right(Moving):
    """Moves pixels one to the right, and black in."""

    def __call__(self, images, view):
        return torch.nn.functional.pad(images, (1, 0))[..., :-1]

    def move(self, maps, view):
        return torch.nn.functional.pad(maps, (1, 0))[..., :-1]


def test_what_an_edit_moves_in_from_outside_does_not_count(monkeypatch):
    monkeypatch.setattr("snellen.train.shift.edit_batch.distortion_of", lambda edits: Right())
    labels = torch.tensor([[[3, 4], [5, -100]]], dtype=torch.int16)
    images = labels.clamp(min=0).to(torch.uint8)[:, None].repeat(1, 3, 1, 1)
    _, maps = edit_batch(("right()",), images, labels, View(np.arange(1, dtype=np.uint64)))
    assert maps.tolist() == [[[-100, 3], [-100, 5]]]
    assert maps.dtype == labels.dtype


def test_a_users_set_is_drawn_from_and_another_of_that_name_is_another_training(tmp_path, bars):
    mine, data = tmp_path / "mine.yaml", bars(32)
    mine.write_text("rotate: {from: -15, to: 15, count: 11}\ngrayscale:\n")
    recipe = Recipe(epochs=1, batch_size=16, robust=f"rsda(set='{mine}', length=2, every=1, evaluations=3, images=8)")
    (first,) = train(recipe, data, tmp_path / "a")
    assert train(recipe, data, tmp_path / "a") == [first]
    (one,) = read_tuples(stored(first))
    assert all(text.startswith(("rotate(", "grayscale(")) for text in one.edits)
    mine.write_text("rotate: {from: -15, to: 15, count: 5}\ngrayscale:\n")
    with pytest.raises(UserError, match="edit_set"):
        train(recipe, data, tmp_path / "a")
    mine.write_text('"background({})": [only_fg, mixed_rand]\n')
    with pytest.raises(UserError, match="which a training does not give"):
        replace(recipe)


def test_a_network_trained_by_esda_stands_the_worst_tuple_of_a_fresh_search_better(tmp_path, bars, monkeypatch):
    monkeypatch.setitem(NETWORKS, "plain", plain)
    data, test = bars(300), remember(bars(120, seed=1), torch.device("cpu"))
    recipe = Recipe(arch="plain", epochs=20, batch_size=32, optimiser="adam", lr=2e-3, padding=0)
    esda = "esda(set=mnist, length=2, every=1, searches=12, images=100, population=6, steps=2)"

    def worst(robust):
        (path,) = train(replace(recipe, robust=robust), data, tmp_path / robust[:4])
        card, network = read_card(path), build("plain", 2).eval()
        network.load_state_dict(load_state(path))
        ready = Normalise(card["mean"], card["std"])
        with torch.no_grad():
            view = View(np.arange(120, dtype=np.uint64))
            fitness = network_fitness(lambda images: network(ready(images)).argmax(1), test, view, 1)
            result = Search(SPACES["mnist"], 2, RandomSearch(60), 99).run(fitness)
            return fitness(()), result.value

    (plain_clean, plain_worst), (clean, robust_worst) = worst("none"), worst(esda)
    assert min(plain_clean, clean) > 0.9
    assert clean - robust_worst < (plain_clean - plain_worst) / 2


@pytest.mark.parametrize(
    ("robust", "message"),
    [
        ("esda(set=cifra10)", "unknown space 'cifra10'; did you mean 'cifar10'"),
        ("esda(length=0)", "esda: expected length of at least 1, got 0"),
        ("esda(population=3)", "esda: expected an even population, got 3"),
        ("rsda(evaluations=0)", "rsda: expected tries"),
        ("esda(every=0)", "esda: expected every of at least 1, got 0"),
        ("esda(unit=image)", "unit"),
        ("rda(unit=sample, parts=4)", "rda: expected unit=batch with parts=4"),
        ("rda(parts=0)", "rda: expected parts of at least 1, got 0"),
        ("ada(steps=-1)", "ada: expected steps of at least 0, got -1"),
        ("edsa", "did you mean 'esda'"),
    ],
)
def test_bad_texts_are_one_line(robust, message):
    with pytest.raises(UserError, match=message):
        Recipe(robust=robust)


def test_a_damaged_or_foreign_set_is_refused_with_its_name(tmp_path):
    file = tmp_path / "a.transformations.json"
    row = {"search": 1, "update": 2, "epoch": 1.0, "edits": ["grayscale()"], "accuracy": 0.5}

    def reading(**changes):
        file.write_text(json.dumps({"format": 1, "set": "mnist", "tuples": [{**row, **changes}]}))
        return read_tuples(file)

    assert reading() == [WorstTuple(1, 2, 1.0, ("grayscale()",), 0.5)]
    for changes, message in (
        ({"edits": ["gryscale()"]}, "did you mean 'grayscale'"),
        ({"edits": ["red(4) | blue(4)"]}, "expected one edit, got the chain"),
        ({"edits": ["background(only_fg)"]}, "a.transformations.json"),
        ({"accuracy": 2}, "a.transformations.json"),
        ({"search": -1}, "a.transformations.json"),
    ):
        with pytest.raises(UserError, match=message):
            reading(**changes)
    file.write_text('{"format": 2, "set": "mnist", "tuples": []}')
    with pytest.raises(UserError, match="expected format 1, got 2"):
        read_tuples(file)
    with pytest.raises(UserError, match="b.json"):
        train(replace(RECIPE, robust=f"rsda(start='{tmp_path}/b.json')"), "phantom:train?size=28&n=48", tmp_path)
