"""Algorithm 3 of Volpi & Murino (2019) on planted weaknesses: when it searches, what it appends, what a batch draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.distort import apply
from snellen.search.spaces import SPACES
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.hardening import Lesson
from snellen.train.normalise import Normalise
from snellen.train.processes import Team
from snellen.train.shift.hardening import ShiftHardening
from snellen.train.shift.tuple_set import WorstTuple, pool_of, read_tuples, write_tuples
from snellen.train.shift.ways import Esda, Rda, Rsda, parse_shift

CPU = torch.device("cpu")


def lesson(steps: int = 14, per_epoch: int = 4, seed: int = 0) -> Lesson:
    images = torch.randint(0, 256, (40, 3, 12, 12), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    return Lesson(
        shown=ImagesInMemory(images, torch.arange(40) % 2), normalise=Normalise([0.5] * 3, [0.5] * 3).on(CPU),
        mean=(127.0, 127.0, 127.0), seed=seed, steps=steps, per_epoch=per_epoch, batch_size=8, team=Team(CPU),
    )  # fmt: skip


class Planted(ShiftHardening):
    """The network is the text of the edit it is weak to: under that one it has 0.25, else 0.5."""

    def fitness(self, network):
        return lambda edits: 0.25 if network in edits else 0.5


def run(way, weak, steps: int = 14, per_epoch: int = 4, **known) -> ShiftHardening:
    hardening = Planted(way, lesson(steps, per_epoch), **known)
    for step in range(steps):
        hardening.after(step, torch.nn.Sequential() if weak is None else weak(step))
    return hardening


@pytest.fixture(autouse=True)
def texts_for_networks(monkeypatch):
    """What puts a network into `eval` has nothing to do for a text."""
    from contextlib import nullcontext

    monkeypatch.setattr("snellen.train.shift.hardening.answering", lambda network: nullcontext())


def test_a_search_follows_every_j_updates_and_appends_its_worst_tuple():
    weaknesses = {3: "grayscale()", 7: "solarize(0)", 11: "grayscale()"}  # by the update after which there is a search
    way = Rsda(set="mnist", length=2, updates=4, evaluations=500)
    heard = []
    hardening = run(way, weaknesses.get, grow=lambda tuples: heard.append(len(tuples)))
    assert [one.update for one in hardening.tuples] == [4, 8, 12]
    assert [one.search for one in hardening.tuples] == [1, 2, 3]
    assert [one.epoch for one in hardening.tuples] == [1.0, 2.0, 3.0]
    assert [one.accuracy for one in hardening.tuples] == [0.25] * 3
    assert all(weak in one.edits for weak, one in zip(weaknesses.values(), hardening.tuples, strict=True))
    assert heard == [1, 2, 3]


@settings(max_examples=50, deadline=None)
@given(steps=st.integers(1, 60), period=st.integers(1, 20), most=st.none() | st.integers(0, 10))
def test_there_are_as_many_searches_as_periods_fit_and_at_most_as_many_as_allowed(steps, period, most):
    way = Rsda(updates=period, searches=most, length=1, evaluations=1)
    searches = len(run(way, lambda step: "none", steps).tuples)
    assert searches == min(steps // period, steps if most is None else most)
    assert searches == way.searches_in(steps, 4)


def test_the_published_numbers_of_searches():
    """A million updates, one search every 10,000: 100; 300 epochs, one every 10: 30; CIFAR-10's are counted: 100."""
    assert Esda(updates=10_000).searches_in(1_000_000, 1718) == 100
    assert Esda(every=10).searches_in(300 * 91, 91) == 30
    cifar = Esda(every=5, searches=100)
    assert (cifar.searches_in(645 * 390, 390), cifar.hold(390)) == (100, 505 * 390)


def test_the_first_batches_are_not_edited_and_later_ones_draw_uniformly_with_duplicates_weighted_or_merged():
    gray = WorstTuple(1, 4, 1.0, ("grayscale()",), 0.5)
    dark = WorstTuple(2, 8, 2.0, ("brightness(0.6)", "red(-120)"), 0.4)
    stored = [gray, dark, gray]
    assert pool_of([], "keep") == [()]
    assert pool_of(stored, "keep") == [(), gray.edits, dark.edits, gray.edits]
    assert pool_of(stored, "merge") == [(), gray.edits, dark.edits]
    for duplicates, shares in (("keep", (1 / 4, 1 / 2, 1 / 4)), ("merge", (1 / 3, 1 / 3, 1 / 3))):
        hardening = ShiftHardening(Rsda(duplicates=duplicates), lesson(), stored)
        draws = [hardening._draw(np.random.default_rng([0, step, 1])) for step in range(6000)]
        count = Counter(draws)
        for edits, share in zip(((), gray.edits, dark.edits), shares, strict=True):
            assert abs(count[edits] / 6000 - share) < 5 * (share * (1 - share) / 6000) ** 0.5


@pytest.mark.parametrize(("law", "share"), [("type", 1 / 10), ("object", 1 / 211)])
def test_random_tuples_follow_the_law_of_genes(law, share):
    hardening = ShiftHardening(Rda(set="mnist", length=3, genes=law), lesson())
    edits = [text for step in range(4000) for text in hardening._draw(np.random.default_rng([0, step, 1]))]
    assert len(edits) == 12_000
    assert abs(edits.count("grayscale()") / 12_000 - share) < 5 * (share * (1 - share) / 12_000) ** 0.5


def same_images(hardening, step: int, count: int = 16):
    """A batch of one image many times, as it is shown."""
    image = hardening.lesson.shown.images[:1].expand(count, -1, -1, -1)
    return hardening.change(step, np.arange(count), image, torch.zeros(count, dtype=torch.int64))[0]


def test_a_tuple_is_applied_to_the_whole_batch_and_is_the_one_that_was_drawn():
    hardening = ShiftHardening(Rda(set="mnist", length=3), lesson())
    seen = set()
    for step in range(20):
        shown = same_images(hardening, step)
        assert (shown == shown[:1]).all()
        edits = hardening._draw(np.random.default_rng([0, step, 1]))
        expected = apply(" | ".join(edits), hardening.lesson.shown.images[:1])
        assert torch.equal(shown[:1], expected)
        seen.add(edits)
    assert len(seen) == 20


def test_per_sample_each_image_has_a_tuple_of_its_own():
    hardening = ShiftHardening(Rda(set="mnist", length=3, unit="sample"), lesson())
    shown = same_images(hardening, 0)
    assert len({image.numpy().tobytes() for image in shown}) > 12
    random = np.random.default_rng([0, 0, 1])
    for image in shown:
        edits = " | ".join(hardening._draw(random))
        assert torch.equal(image[None], apply(edits, hardening.lesson.shown.images[:1]))


def test_parts_of_a_batch_have_a_tuple_each_by_turns():
    hardening = ShiftHardening(Rda(set="mnist", length=3, parts=4), lesson())
    shown = same_images(hardening, 0)
    assert len({image.numpy().tobytes() for image in shown}) == 4
    assert torch.equal(shown[:4], shown[4:8])
    assert torch.equal(shown[:4], shown[12:])


def test_searches_of_one_seed_are_the_same_and_those_of_others_and_later_ones_are_not():
    way = Rsda(length=3, updates=2, evaluations=3)
    first, again = (run(way, lambda step: "none", 6).tuples for _ in range(2))
    assert first == again
    assert len({one.edits for one in first}) == 3
    other = Planted(way, lesson(6, seed=1))
    other.after(1, "none")
    assert other.tuples[0].edits != first[0].edits


def test_searches_are_as_long_as_published():
    """Section 5: K = 100 for RS, and K = 10 with a population of 10 for ES, whose first generation is not counted."""
    assert ShiftHardening(Esda(), lesson()).search(1, lambda edits: 0.5).evaluations == 110
    assert ShiftHardening(Rsda(), lesson()).search(1, lambda edits: 0.5).evaluations == 100


def test_texts_round_trip_and_defaults_are_those_of_cifar10():
    assert parse_shift("esda") == Esda() == parse_shift(str(Esda()))
    way = Esda(
        set="mnist", length=3, updates=10_000, images=1000, start="a/b.transformations.json", selection="inverse"
    )
    assert parse_shift(str(way)) == way
    assert (Esda().set, Esda().length, Esda().every, Esda().images) == ("cifar10", 5, 5, 2000)
    assert SPACES[Esda().set].size == 190


def test_what_a_search_draws_does_not_depend_on_the_batches_before():
    way = Rsda(length=3, updates=2, evaluations=3)
    quiet, busy = Planted(way, lesson(4)), Planted(way, lesson(4))
    for step in range(4):
        same_images(busy, step)
        for one in (quiet, busy):
            one.after(step, "none")
    assert quiet.tuples == busy.tuples
    assert replace(way, searches=1).searches_in(4, 4) == 1


def test_a_set_is_written_to_a_path_or_to_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tuples = [WorstTuple(1, 0, 0.0, ("contrast(0.6)", "blue(-30)"), 0.5)]
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in ("mine.transformations.json", tmp_path / "other.transformations.json", "~/home.transformations.json"):
        write_tuples(place, "cifar10", tuples)
        assert read_tuples(place) == tuples
    assert (tmp_path / "home.transformations.json").is_file()
