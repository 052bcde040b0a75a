"""The trainings of Volpi & Murino (2019) by name: the published numbers, shortened ones, and what was given wins."""

from __future__ import annotations

import pytest

from snellen.errors import UserError
from snellen.models.checkpoint import read_card
from snellen.models.zoo import NETWORKS, SEGMENTATION
from snellen.train import Recipe, preset, train
from snellen.train.protocols import PROTOCOLS
from snellen.train.request import TrainRequest, resolve_training
from snellen.train.robust import parse_robust
from snellen.train.shift.ways import Esda, Rda, Rsda

DATA = "phantom:train?size=32&n=60"


def recipe(**settings):
    return resolve_training(TrainRequest, {"data": DATA, **settings}).how


def test_mnist_is_a_million_updates_with_a_search_every_10_000_on_1_000_images():
    way = Esda(set="mnist", length=3, updates=10_000, images=1000)
    for one in (recipe(protocol="mnist", robust="esda"), preset("volpi2019", arch="convnet", robust="esda")):
        assert (one.arch, one.updates, one.optimiser, one.lr, one.schedule) == (
            "convnet",
            10**6,
            "adam",
            3e-4,
            "constant",
        )
        assert parse_robust(one.robust) == way
    assert parse_robust(recipe(protocol="mnist", robust="rda").robust) == Rda(set="mnist", length=3)
    assert recipe(protocol="mnist").robust == "none"
    assert preset("003", robust="esda").robust == str(way)


def test_cifar10_decays_after_the_last_of_100_searches():
    """Section 5.2: 100 searches, each followed by 5 epochs, at the full rate; then ÷5 at once, after 60 and after 100 epochs."""
    one = recipe(protocol="cifar10", robust="rsda")
    assert parse_robust(one.robust) == Rsda(set="cifar10", length=5, every=5, images=2000, searches=100)
    assert (one.arch, one.epochs, one.momentum) == ("wide_resnet16_4", 645, 0.9)
    rates = [one.rate(epoch * 390, 645 * 390, 390) for epoch in (0, 500, 504, 505, 564, 566, 604, 606, 644)]
    assert rates == pytest.approx([0.1, 0.1, 0.1, 0.02, 0.02, 0.004, 0.004, 8e-4, 8e-4])
    plain = recipe(protocol="cifar10", robust="rda")
    assert (plain.epochs, plain.schedule) == (200, "steps(at=[0.3, 0.6, 0.8], factor=0.2)")


def test_camvid_searches_every_10_of_300_epochs_on_30_images():
    one = recipe(protocol="camvid", robust="esda")
    assert parse_robust(one.robust) == Esda(set="camvid", length=5, every=10, images=30)
    assert (one.epochs, one.optimiser, one.arch) == (300, "rmsprop", "fc_densenet103")


def test_every_protocol_names_a_network_and_a_set():
    for name, one in PROTOCOLS.items():
        assert one.arch in NETWORKS
        assert (one.arch in SEGMENTATION) == (name == "camvid")
        assert one.edits["set"] == name


def test_what_is_given_wins_and_how_often_counts_in_the_unit_that_was_given():
    one = recipe(protocol="mnist", robust="esda(every=2, length=4)", updates=500, arch="smallnet")
    way = parse_robust(one.robust)
    assert (way.every, way.updates, way.length, way.images, way.set) == (2, None, 4, 1000, "mnist")
    assert (one.updates, one.arch) == (500, "smallnet")
    assert recipe(protocol="mnist", epochs=3).updates is None
    assert parse_robust(preset("fast", robust="esda").robust) == Esda()


def test_a_scale_shortens_the_training_and_its_searches_but_not_a_search():
    one = recipe(protocol="cifar10", robust="esda", scale=0.1)
    way = parse_robust(one.robust)
    assert (one.epochs, way.searches, way.every, way.images, way.algorithm().evaluations) == (64, 10, 5, 2000, 110)
    assert recipe(protocol="mnist", scale=0.03).updates == 30_000
    assert recipe(protocol="cifar10", robust="esda(searches=4)", epochs=30, scale=0.1).epochs == 30
    assert parse_robust(recipe(protocol="cifar10", robust="esda(searches=4)", scale=0.1).robust).searches == 4


def test_the_card_says_the_protocol_and_how_much_of_it(tmp_path):
    (path,) = train(None, DATA, tmp_path, protocol="mnist", scale=4e-6, arch="smallnet", robust="rda")
    card = read_card(path)
    assert (card["protocol"], card["scale"], card["recipe"]["updates"]) == ("mnist", 4e-6, 4)
    (path,) = train(Recipe(updates=1), DATA, tmp_path / "plain")
    assert "protocol" not in read_card(path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scale": 0.5}, "scale 0.5 shortens a protocol; add protocol"),
        ({"protocol": "mnist", "scale": 0}, "expected scale"),
        ({"protocol": "mnits"}, "unknown protocol 'mnits'; did you mean 'mnist'"),
        ({"protocol": "mnist", "recipe": "fast"}, "--protocol mnist names the recipe itself; leave --recipe out"),
        ({"schedule": "after_searches", "robust": "esda"}, "the schedule after_searches needs a last search"),
        ({"schedule": "after_searches"}, "the schedule after_searches needs a last search"),
        ({"schedule": "after_searches(at=[-1])"}, "expected points of at least 0"),
    ],
)
def test_bad_requests_are_one_line(settings, message):
    with pytest.raises(UserError, match=message):
        recipe(**settings)


def test_a_rate_that_would_never_decay_is_noticed(tmp_path):
    notes = []
    robust = "rsda(every=1, searches=3, evaluations=1, images=4, length=1, parts=2)"
    train(None, DATA, tmp_path, epochs=2, batch_size=30, robust=robust, schedule="after_searches", notice=notes.append)
    assert notes == ["the rate never decays: searches hold it until update 8 of 4"]


@pytest.mark.parametrize(("arch", "robust", "count"), [
    ("smallnet", "rda", 1), ("smallnet", "rda(unit=sample)", 0), ("smallnet", "rda(parts=4)", 0), ("convnet", "rda", 0),
])  # fmt: skip
def test_a_network_that_normalises_batches_is_noticed_where_a_tuple_is_for_a_whole_one(tmp_path, arch, robust, count):
    notes = []
    train(None, DATA, tmp_path, arch=arch, updates=1, batch_size=4, robust=robust, notice=notes.append)
    assert ["has BatchNorm" in note for note in notes] == [True] * count
