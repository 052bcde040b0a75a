"""Deletion trials: tiles and pixels by hand, both directions one set of images, planted relevance, resume and batches."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import snellen
from snellen.audits.deletion_curves import hidden_pixels
from snellen.data import Dataset, from_arrays
from snellen.distort import Donors, View
from snellen.engine.keep.store import Store
from snellen.engine.requests.trial import Stage
from snellen.errors import UserError
from snellen.explain import methods
from snellen.models import Model, from_callable
from snellen.search.deletion import (
    DegradedImage,
    Deletion,
    DeletionRound,
    OrderedDeletion,
    RandomDeletion,
    samples_of,
    whole_samples,
)
from snellen.search.tiles import TileGrid, ranks_by_relevance


def stage_of(images: torch.Tensor, **known: Any) -> Stage:
    ids = [f"image {number}" for number in range(len(images))]
    view = View.of(ids, mean=(10.0, 20.0, 30.0), **known)
    return Stage(images, view, np.arange(len(images)), np.zeros(len(images), int), {})


def pictures(count: int = 3, height: int = 9, width: int = 11) -> torch.Tensor:
    return torch.randint(1, 255, (count, 3, height, width), dtype=torch.uint8, generator=torch.manual_seed(0))


def shown(trial: Deletion, stage: Stage, row: int, order: int, state: int) -> torch.Tensor:
    (image,) = DeletionRound(trial, stage).show([DegradedImage(row, np.array([order]), np.array([state]))])
    return image


# -- tiles ----------------------------------------------------------------------------------------------------------


def test_the_last_row_and_column_have_what_is_left_over() -> None:
    grid = TileGrid.of(5, 7, tile=2, grid=0)
    assert (grid.rows, grid.columns, len(grid)) == (2, 3, 6)
    assert grid.numbers.tolist() == [
        [0, 0, 1, 1, 2, 2, 2],
        [0, 0, 1, 1, 2, 2, 2],
        [3, 3, 4, 4, 5, 5, 5],
        [3, 3, 4, 4, 5, 5, 5],
        [3, 3, 4, 4, 5, 5, 5],
    ]
    assert len(TileGrid.of(224, 224, tile=7, grid=0)) == 1024
    cells = TileGrid.of(224, 200, tile=1, grid=7)
    assert (cells.rows, cells.columns, cells.tall, cells.wide) == (7, 7, 32, 28)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 25), st.integers(0, 4))
def test_every_pixel_has_one_tile_and_a_value_of_it_spreads_there(
    height: int, width: int, tile: int, grid: int
) -> None:
    tiles = TileGrid.of(height, width, tile, grid)
    assert set(np.unique(tiles.numbers)) == set(range(len(tiles)))
    values = torch.arange(len(tiles))[None]
    assert torch.equal(tiles.spread(values)[0], torch.from_numpy(tiles.numbers))


def test_tiles_rank_by_their_mean_not_by_their_sum() -> None:
    """The tile that took in what was left over has the largest sum, but a lower mean."""
    tiles = TileGrid.of(2, 5, tile=2, grid=0)
    maps = torch.tensor([[[9, 9, 8, 8, 8], [9, 9, 8, 8, 8]]], dtype=torch.uint8)
    assert tiles.means(maps).tolist() == [[9, 8]]
    assert ranks_by_relevance(tiles.means(maps), View.of(["a"]).draw).tolist() == [[1, 0]]


def test_tiles_of_equal_relevance_come_in_an_order_of_the_image_s_own() -> None:
    means = torch.zeros(40, 30, dtype=torch.float64)
    means[:, 3] = 1
    ranks = ranks_by_relevance(means, View.of([f"{n}" for n in range(40)]).draw)
    assert (ranks[:, 3] == 29).all()
    assert (ranks.sort(1).values == torch.arange(30)).all()
    others = ranks[:, [n for n in range(30) if n != 3]].double()
    assert len({tuple(row) for row in ranks.tolist()}) == 40
    assert others.mean(0).std() < 2.5  # no place is preferred: 14 on average, 8.4 / √40 around it


# -- images ---------------------------------------------------------------------------------------------------------


def test_a_tiny_example_by_hand() -> None:
    """Four tiles of one pixel with relevance 3, 1, 2, 0: the last goes first, then the second, then the third."""
    image = torch.tensor([10, 20, 30, 60], dtype=torch.uint8).view(1, 1, 2, 2).expand(1, 3, 2, 2).contiguous()
    maps = torch.tensor([[[3, 1], [2, 0]]], dtype=torch.uint8)
    trial = OrderedDeletion(tile=1)
    stage = stage_of(image, saliency=maps)
    states = [shown(trial, stage, 0, 0, state)[0].flatten().tolist() for state in range(5)]
    assert states == [[10, 20, 30, 60], [10, 20, 30, 30], [10, 30, 30, 30], [10, 30, 30, 30], [30, 30, 30, 30]]
    most = [shown(replace(trial, order="morf"), stage, 0, 0, state)[0].flatten().tolist() for state in range(5)]
    assert most == [[10, 20, 30, 60], [30, 20, 30, 60], [30, 20, 30, 60], [30, 30, 30, 60], [30, 30, 30, 30]]


def inserted(image: torch.Tensor, numbers: torch.Tensor, best_first: Sequence[int], count: int) -> torch.Tensor:
    """By definition: start from the fill, put back the `count` most relevant tiles."""
    picture = image.float().mean((1, 2), keepdim=True).add(0.5).floor().to(torch.uint8).expand(image.shape).clone()
    for tile in best_first[:count]:
        picture[:, numbers == tile] = image[:, numbers == tile]
    return picture


def test_inserting_the_most_relevant_is_deleting_the_least_relevant_pixel_by_pixel() -> None:
    images = pictures()
    maps = torch.randint(0, 255, (3, 9, 11), dtype=torch.uint8, generator=torch.manual_seed(1))
    stage, trial = stage_of(images, saliency=maps), OrderedDeletion(tile=2)
    tiles = TileGrid.of(9, 11, 2, 0)
    numbers = torch.from_numpy(tiles.numbers)
    count = len(tiles)
    for row in range(3):
        best_first = tiles.means(maps)[row].argsort(descending=True).tolist()
        for step in range(count + 1):
            deletion = shown(trial, stage, row, 0, count - step)
            assert torch.equal(deletion, inserted(images[row], numbers, best_first, step))


@pytest.mark.parametrize("levels", [255, 2, 1])  # with few levels many tiles are equal
@pytest.mark.parametrize("grid", [0, 4])
def test_what_a_page_shows_as_hidden_is_what_the_trial_hides(levels: int, grid: int) -> None:
    images = pictures()
    maps = torch.randint(0, levels, (3, 9, 11), dtype=torch.uint8, generator=torch.manual_seed(1))
    stage = stage_of(images, saliency=maps, seed=5)
    tiles = TileGrid.of(9, 11, 2, grid)
    for row, state in itertools.product(range(3), range(len(tiles) + 1)):
        image = shown(OrderedDeletion(tile=2, grid=grid, fill="zero"), stage, row, 0, state)
        hidden = (image == torch.tensor([10, 20, 30]).view(3, 1, 1)).all(0) & (image != images[row]).any(0)
        share = state / len(tiles)
        assert (hidden_pixels(maps[row].numpy(), f"image {row}", share, 2, grid, seed=5) == hidden.numpy()).all()


def test_random_orders_differ_by_image_and_repeat_and_are_the_same_for_any_map() -> None:
    stage, trial = stage_of(pictures()), RandomDeletion(tile=2, repeats=3)
    ranks = trial.ranks(TileGrid.of(9, 11, 2, 0), stage)
    assert ranks.shape == (3, 3, 20)
    assert len({tuple(one) for row in ranks.tolist() for one in row}) == 9
    again = trial.ranks(TileGrid.of(9, 11, 2, 0), stage_of(pictures(), saliency=torch.zeros(3, 9, 11)))
    assert torch.equal(ranks, again)


def test_hidden_pixels_are_those_of_the_fill_and_the_others_stay() -> None:
    images = pictures(2, 32, 32)
    donors = Donors(torch.full((4, 3, 32, 32), 7, dtype=torch.uint8), tuple("abcd"), "d")
    stage = stage_of(images, donors=donors)
    for fill, colour in {"zero": [10, 20, 30], "dataset_mean": [7, 7, 7]}.items():
        hidden = shown(RandomDeletion(tile=8, fill=fill), stage, 1, 0, 16)  # type: ignore[arg-type]
        assert hidden.flatten(1).unique(dim=1)[:, 0].tolist() == colour
    blurry = RandomDeletion(tile=8, fill="blur")
    whole, half, hidden = (shown(blurry, stage, 0, 0, state) for state in (0, 8, 16))
    assert torch.equal(whole, images[0])
    assert hidden.float().std() < 0.5 * images[0].float().std()
    assert torch.equal(torch.where((half == hidden).all(0), hidden, images[0]), half)
    assert RandomDeletion(fill="dataset_mean").needs == {"donors"}
    assert OrderedDeletion(fill="zero").needs == {"mean", "saliency"}


@pytest.mark.parametrize(
    ("how", "match"), [(dict(points=2), "points"), (dict(error=0), "error"), (dict(tile=0), "tile")]
)
def test_parameters_that_make_no_curve_are_refused(how: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=f"expected {match}"):
        RandomDeletion(**how)


# -- through the engine ---------------------------------------------------------------------------------------------

SIDE, REGION = 16, (slice(4, 12), slice(4, 12))  # the only pixels that the planted model looks at


def looker(name: str = "looker", size: int = SIDE) -> Model:
    """Knows the class by how many pixels of the region are left white: certain when all are, undecided when none is."""

    def answer(images: np.ndarray) -> np.ndarray:
        white = (images[:, REGION[0], REGION[1]] == 255).all(-1).mean((1, 2))
        return np.stack([white, (1 - white) / 2, (1 - white) / 2], 1)

    return from_callable(answer, size=size, name=name, version="1")


@pytest.fixture
def white() -> Dataset:
    """White regions on dark noise, so that no pixel of an image's mean is white."""
    images = np.random.default_rng(0).integers(0, 90, (90, SIDE, SIDE, 3), dtype=np.uint8)
    images[:, REGION[0], REGION[1]] = 255
    return from_arrays(
        {"images": images, "labels": np.zeros(90, int), "classes": np.array(list("abc"))}, "memory:w", "1"
    )


def plant(monkeypatch: pytest.MonkeyPatch, **maps: Any) -> None:
    """Add attribution methods that need no gradients."""
    for name, make in maps.items():
        method = methods.Method(lambda model, images, targets, layer, make=make: make(images), name, gradients=False)  # type: ignore[misc]
        monkeypatch.setitem(methods.METHODS, name, method)


def region(images: torch.Tensor) -> torch.Tensor:
    maps = torch.zeros(len(images), *images.shape[2:])
    maps[:, REGION[0], REGION[1]] = 1
    return maps


def opposite(images: torch.Tensor) -> torch.Tensor:
    return 1 - region(images)


def constant(value: float) -> Any:
    return lambda images: torch.full((len(images), *images.shape[2:]), value)


def area(data: Dataset, method: str, model: Model | None = None, **how: Any) -> dict[str, Any]:
    parameters = "tile=2, evaluation=full, points=65" if "text" not in how else how.pop("text")
    how = {"quiet": True, "report": False, **how}
    run = snellen.audit(model or looker(), data, f"faithfulness(method={method}, {parameters})", **how)
    findings = {one["name"]: one for one in run.results()["findings"] if one["audit"] == "faithfulness"}
    return {**findings, "run": run}


def test_the_map_of_what_a_model_looks_at_is_the_upper_line_and_one_that_says_nothing_the_zero_line(
    white: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 of 64 tiles matter, one after the other: kept to the last they leave an area of 1 − 1/8; at random, of 1/2."""
    plant(monkeypatch, oracle=region, wrong=opposite, zero=constant(0.0), nan=constant(float("nan")), one=constant(1.0))
    names = ("oracle", "wrong", "zero", "nan", "one")
    text = ",".join(f"faithfulness(method={name}, tile=2, evaluation=full, points=65)" for name in names)
    run = snellen.audit(looker(), white, text, quiet=True, report=False)
    deletions = [one for one in run.results()["findings"] if one["name"] == "inter_model_deletion"]
    by_method = {one["facts"]["method"]: one for one in deletions}
    best = by_method["oracle"]
    assert best["facts"]["order_area"] == pytest.approx(100 * (1 - 1 / 8), abs=1e-4)
    assert best["facts"]["random_area"] == pytest.approx(50, abs=1.0)
    assert best["value"] == pytest.approx(37.5, abs=1.0)
    assert by_method["wrong"]["value"] == pytest.approx(-37.5, abs=1.0)
    for nothing in ("zero", "nan", "one"):
        one = by_method[nothing]
        assert abs(one["value"]) < 3.5 * one["facts"]["se"]
        assert one["facts"]["se"] < 1


def test_insertion_is_the_same_area_seen_from_the_other_end(white: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, oracle=region)
    both = area(white, "oracle", text="tile=2, evaluation=full, points=65, orders=[lerf, morf]")
    deletion, insertion = (both[f"inter_model_{word}"] for word in ("deletion", "insertion"))
    assert insertion["value"] == pytest.approx(deletion["value"])
    for panel in ("order", "random", "difference"):
        first, second = (one["facts"]["curves"][panel]["value"] for one in (deletion, insertion))
        assert second == pytest.approx(first[::-1])
    assert (
        np.diff(deletion["facts"]["curves"]["order"]["value"]) <= 1e-9
    ).all()  # nothing hidden ever helps this model
    assert both["morf_deletion"]["value"] == pytest.approx(-37.5, abs=1.0)
    assert both["morf_deletion"]["facts"]["order_area"] == pytest.approx(100 / 8, abs=1e-4)
    assert both["lerf_insertion"]["better"] == "lower"


def test_random_orders_are_asked_once_for_all_methods(
    white: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant(monkeypatch, oracle=region, wrong=opposite)
    first = area(white, "oracle", out=tmp_path / "r")
    second = area(white, "wrong", out=tmp_path / "r")
    assert (
        first["inter_model_deletion"]["facts"]["random_area"] == second["inter_model_deletion"]["facts"]["random_area"]
    )
    kinds = second["run"].sql("select c.distortion, count(*) as n from trials t join cells c using (cell) group by 1")
    assert sorted(kinds["distortion"].str.partition("(")[0]) == [
        "ordered_deletion",
        "ordered_deletion",
        "random_deletion",
    ]
    assert (kinds["n"] == 90).all()


def rows_of(run: Any) -> pd.DataFrame:
    table = run.sql("select c.distortion, t.* from trials t join cells c using (cell) order by 1, t.sample")
    return table.drop(columns=["cell"])


def test_any_batch_size_gives_the_same_rows_and_batches_are_full(
    white: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant(monkeypatch, oracle=region)
    tables = []
    for batch in (7, 64, 1000):
        sizes: list[int] = []
        monkeypatch.setattr("snellen.engine.ask.trials._reply_to", counting(sizes))
        run = area(white, "oracle", text="tile=2, error=2", batch_size=batch)["run"]
        monkeypatch.undo()
        plant(monkeypatch, oracle=region)
        tables.append(rows_of(run))
        rounds = 4  # two trials, two rounds each
        assert sum(size == batch for size in sizes) >= len(sizes) - rounds
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other)
    assert tables[0]["asked"].sum() < 90 * (100 + 5 * 98)


def counting(sizes: list[int]) -> Any:
    from snellen.engine.ask import trials

    before = trials._reply_to

    def replied(bound: Any, pixels: torch.Tensor, *more: Any) -> Any:
        sizes.append(len(pixels))
        return before(bound, pixels, *more)

    return replied


def test_killed_trials_continue_to_the_same_rows(
    white: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant(monkeypatch, oracle=region)
    text = "tile=2, error=2"
    whole = rows_of(area(white, "oracle", text=text)["run"])
    monkeypatch.setattr("snellen.engine.ask.trials.KEEP_ROWS", 7)
    monkeypatch.setattr("snellen.engine.ask.trials.KEEP_SECONDS", float("inf"))
    write, stored = Store.add_trials, []

    def dying(self: Store, key: str, rows: Sequence[Any]) -> None:
        if len(stored) >= 80:
            raise KeyboardInterrupt
        stored.extend(rows)
        write(self, key, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add_trials", dying)
        with pytest.raises(KeyboardInterrupt):
            area(white, "oracle", text=text, out=tmp_path / "r")
    again = area(white, "oracle", text=text, out=tmp_path / "r")
    pd.testing.assert_frame_equal(whole, rows_of(again["run"]))


def test_an_adaptive_evaluation_is_within_its_error_of_the_full_one(
    white: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, oracle=region)
    full = area(white, "oracle", text="tile=1, evaluation=full")["inter_model_deletion"]
    adaptive = area(white, "oracle", text="tile=1, error=0.5")["inter_model_deletion"]
    assert adaptive["facts"]["sampling_error"] < 0.5
    assert abs(adaptive["value"] - full["value"]) < 2 * adaptive["facts"]["sampling_error"]
    assert sum(full["facts"]["asked"]) == sum(full["facts"]["full"]) == 90 * (100 + 492)
    assert sum(adaptive["facts"]["asked"]) < sum(full["facts"]["asked"]) / 5
    assert full["facts"]["sampling_error"] == 0


def test_an_image_without_a_map_has_no_curve_and_is_not_asked(white: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(images: torch.Tensor) -> torch.Tensor:
        if len(images) > 1 or int(images[0, 0, 0, 0]) == int(white.read([5])[0].image[0, 0, 0]):  # type: ignore[union-attr]
            raise ValueError("no map of this one")
        return region(images)

    plant(monkeypatch, oracle=failing)
    result = area(white, "oracle")
    rows = rows_of(result["run"])
    failed = rows[rows["error"] != ""]
    assert 1 <= len(failed) <= 4
    assert (failed["asked"] == 0).all()
    assert "no map of this one" in failed["error"].iloc[0]
    assert result["inter_model_deletion"]["n"] == 90 - len(failed)


@pytest.mark.parametrize("how", ["tile=9", "grid=17", "tile=16"])
def test_tiles_that_do_not_divide_the_images_are_refused(
    white: Dataset, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, oracle=region)
    with pytest.raises(UserError, match=r"images of 16 pixels cannot be divided into .*; give tiles of 1 to 8 pixels"):
        area(white, "oracle", text=how)


def test_whole_curves_are_the_first_of_each_image_and_those_alone() -> None:
    """Three inner points of two orders: the first image has both curves whole, the second neither."""
    points = np.tile([1, 2, 3], 2)
    whole = {"first": 1.0, "last": 0.0, "point": points, "order": np.repeat([0, 1], 3), "score": np.arange(6) / 10}
    partial = {**whole, "point": points[[0, 1, 3]], "order": np.array([0, 0, 1]), "score": np.arange(3) / 10}
    first, second = samples_of(whole, 2)
    assert (first.point.tolist(), first.score.tolist()) == ([1, 2, 3], [0.0, 0.1, 0.2])
    assert second.score == pytest.approx([0.3, 0.4, 0.5])
    (known,) = whole_samples([whole, partial], 5)
    assert known.score.tolist() == first.score.tolist()
