"""Train on each, test on each: the truth of the planted scenes, the stored answers, and going on after a kill."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from snellen.data import load_data
from snellen.data.arrays import from_arrays
from snellen.errors import UserError
from snellen.exam.run import load_run
from snellen.measure import Estimate
from snellen.sweep import load_sweep, methods, variants
from snellen.sweep.points import SweepPlan, SweepPoint
from snellen.sweep.run_sweep import Left
from snellen.sweep.scores import SweepScores, SweepValue, accuracy_of, gap_between
from snellen.train import Recipe

RECIPE = Recipe(epochs=4, batch_size=32)
TESTS = {"mixed_same": "phantom:test?size=24&n=150&background_bias=1", "mixed_rand": "phantom:test?size=24&n=150"}
SCENES = "phantom:train?size=24&n=480&background_bias=1"  # the scene tells the class
SHAPES = "phantom:train?size=24&n=480"  # it tells nothing


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Two trainings of two runs, two tests."""
    out = tmp_path_factory.mktemp("grid") / "out"
    return variants(
        RECIPE, {"scenes": SCENES, "shapes": SHAPES}, TESTS, out, runs=2, command="snellen sweep variants …"
    )


def test_a_network_that_learnt_scenes_fails_on_mixed_scenes(grid):
    wide = grid.wide()
    assert wide.loc["scenes", "mixed_same"] > 0.8
    assert wide.loc["scenes", "mixed_rand"] < 0.3
    assert wide.loc["scenes", "mixed_same-mixed_rand"] > 0.6
    assert abs(wide.loc["shapes", "mixed_same-mixed_rand"]) < 0.2
    table = grid.table()
    gap = table.query("point == 'scenes' and measure == 'bg_gap'").iloc[0]
    assert gap["low"] < gap["value"] < gap["high"]
    assert gap["value"] == pytest.approx(wide.loc["scenes", "mixed_same"] - wide.loc["scenes", "mixed_rand"])


def test_the_table_is_that_of_the_stored_answers(grid):
    table = grid.table()
    assert list(table.columns) == [
        *("point", "x", "trained_on", "images", "classes", "runs", "test", "test_data", "measure"),
        *("value", "low", "high", "n", "std", "per_run", "warnings"),
    ]
    assert len(table) == 2 * (2 + 1)
    for row in table.query("measure == 'accuracy'").itertuples():
        (folder,) = grid.folder.glob(f"runs/{row.point}-on-{row.test}-*")
        answers = load_run(folder).predictions().query("distortion == 'none()'")
        per_run = answers.groupby("run").score.mean()
        assert row.value == pytest.approx(answers.score.mean())
        assert [float(value) for value in row.per_run.split()] == pytest.approx(per_run.tolist(), abs=1e-6)
        assert row.std == pytest.approx(per_run.std(ddof=1))
        assert (row.runs, row.n) == (2, 150)
        (found,) = [one for one in load_run(folder).results()["findings"] if one["name"] == "accuracy"]
        assert (row.value, row.low, row.high) == pytest.approx((found["value"], found["low"], found["high"]))


def test_the_files_hold_one_table_and_the_page_has_it_too(grid):
    table = grid.table()
    pd.testing.assert_frame_equal(pd.read_parquet(grid.folder / "sweep.parquet"), table)
    again = pd.read_csv(
        grid.folder / "sweep.csv", dtype={"per_run": str}, keep_default_na=False, na_values={"x": "", "std": ""}
    )
    assert again["value"].tolist() == pytest.approx(table["value"].tolist())
    pd.testing.assert_frame_equal(load_sweep(grid.folder).table(), table)
    html = (grid.folder / "sweep.html").read_text()
    assert html.count("<svg") == 1  # mixed_rand against mixed_same
    for row in table.itertuples():
        assert f"{100 * row.value:.1f}%".replace("-", "−") in html
    assert "snellen train smallnet --data &#39;phantom:train?size=24&amp;n=480&#39; --runs 2" in html


def test_a_second_time_nothing_is_trained_and_the_table_is_the_same(grid, monkeypatch):
    monkeypatch.setattr("snellen.train.runs.fit", lambda *_: pytest.fail("trained again"))
    monkeypatch.setattr("snellen.exam.carry_out._run_passes", lambda *_: pytest.fail("asked again"))
    again = variants(RECIPE, {"scenes": SCENES, "shapes": SHAPES}, TESTS, grid.folder, runs=2)
    pd.testing.assert_frame_equal(again.table(), grid.table())


class Killed(Exception):
    pass


def test_a_killed_sweep_goes_on_with_what_is_missing(grid, tmp_path, monkeypatch):
    from snellen.train import runs

    fit, trained = runs.fit, []

    def second_dies(job, *others):
        trained.append((job.recipe.seed, job.shown.images.float().mean().item()))
        if len(trained) == 4:
            raise Killed
        return fit(job, *others)

    monkeypatch.setattr("snellen.train.runs.fit", second_dies)
    wanted = (RECIPE, {"scenes": SCENES, "shapes": SHAPES}, TESTS, tmp_path)

    def left() -> Left:
        return variants(*wanted, runs=2, dry_run=True)

    assert (left().trainings, left().trainings_left, left().audits_left) == (4, 4, 4)
    with pytest.raises(Killed):
        variants(*wanted, runs=2)
    assert (left().trainings_left, left().audits_left) == (1, 2)
    assert len(pd.read_csv(tmp_path / "sweep.csv")) == 3  # the first point is in the table already
    there = {path: os.stat(path).st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
    assert len(there) == 3
    found = variants(*wanted, runs=2)
    assert len(trained) == 5
    assert {path: os.stat(path).st_mtime_ns for path in there} == there
    assert (left().trainings_left, left().audits_left) == (0, 0)
    assert found.table()["value"].tolist() == grid.table()["value"].tolist()


def held(ids, foregrounds=None, name="a"):
    data = from_arrays(
        {"images": np.zeros((len(ids), 8, 8, 3), np.uint8), "labels": np.arange(len(ids)) % 2},
        f"arrays:{name}.npz",
        name,
    )
    from dataclasses import replace

    columns = {} if foregrounds is None else {"foreground": np.array(foregrounds)}
    return replace(data, samples=replace(data.samples, ids=tuple(ids), columns=columns))


def test_gaps_are_paired_by_foreground_else_by_id():
    same = ("mixed_same", held("abcd", ["1", "2", "3", "4"]), SweepScores(np.array([[1.0, 1, 1, 0], [1, 1, 0, 0]]), ""))
    rand = (
        "mixed_rand",
        held("efgh", ["4", "3", "9", "1"], "b"),
        SweepScores(np.array([[0.0, 0, 1, 1], [1, 0, 1, 0]]), ""),
    )
    gap = gap_between(same, rand)  # foregrounds 1, 3, 4: same (1, 1, 0), (1, 0, 0); rand (1, 0, 0), (0, 0, 1)
    assert gap.estimate.value == pytest.approx(3 / 6 - 2 / 6)
    assert gap.estimate.n == 3
    assert gap.measure == "bg_gap"
    row = gap.of(SweepPoint("p", same[1]))
    assert (row.value, row.images, row.classes) == (gap.estimate.value, 4, 2)
    assert [float(value) for value in row.per_run.split()] == pytest.approx([2 / 3 - 1 / 3, 1 / 3 - 1 / 3], abs=1e-6)
    by_id = gap_between(("x", held("abcd"), same[2]), ("y", held("dcba", name="c"), rand[2]))
    assert by_id.estimate.n == 4
    assert by_id.measure == "gap"
    apart = gap_between(("x", held("abcd"), same[2]), ("y", held("efgh", name="c"), rand[2]))
    assert apart.estimate.n == 0
    assert apart.of(SweepPoint("p", same[1])).value is None


def test_models_that_are_there_are_compared_and_observers_have_the_gap_of_their_making(tmp_path):
    models = {"scene": "observer:background()", "shape": "observer:shape()"}
    found = methods(models, TESTS, tmp_path).wide()
    same, rand = (load_data(text).samples for text in TESTS.values())
    own = dict(zip(same.labels, same.columns["scene"]))  # the scene of each class
    by_chance = np.mean([own[label] == scene for label, scene in zip(rand.labels, rand.columns["scene"])])
    assert found.loc["scene", "mixed_same"] == 1
    assert found.loc["scene", "mixed_rand"] == pytest.approx(by_chance)
    assert found.loc["shape", "mixed_same-mixed_rand"] == 0
    page = json.loads((tmp_path / "sweep.json").read_text())
    assert page["recipe"] is None
    assert page["kind"] == "methods"


def test_what_the_user_wrote_is_escaped(tmp_path):
    data = from_arrays(
        {"images": np.zeros((4, 8, 8, 3), np.uint8), "labels": np.arange(4) % 2}, "arrays:<b>x</b>.npz", "h"
    )
    from snellen.report import html_of
    from snellen.report.pages import sweep as pages
    from snellen.sweep.result import page_of

    plan = SweepPlan(kind="variants", title="t", points=[SweepPoint("p", data)], tests={"q": data}, out=tmp_path)
    row = SweepValue("q", data.text, "accuracy", Estimate(0.5, 0.1, 0.9, 4), np.array([0.5]), ()).of(
        SweepPoint("p", data)
    )
    html = html_of(pages.page_of(page_of(plan, [row], "snellen <i>")))
    assert "<b>x</b>" not in html
    assert "<i>" not in html


def test_the_head_of_a_gap_names_its_two_tests_whatever_hyphens_they_have(tmp_path):
    from snellen.report.pages.sweep import heat_map_of
    from snellen.sweep.result import page_of

    data, scores = held("abcd"), SweepScores(np.array([[1.0, 1, 1, 0]]), "")
    point, tests = SweepPoint("p", data), {"with-scene": data, "plain": data}
    plan = SweepPlan(
        kind="variants", title="t", points=[point], tests=tests, out=tmp_path, gaps=[("with-scene", "plain")]
    )
    values = [accuracy_of(name, data, scores) for name in tests]
    values.append(gap_between(("with-scene", data, scores), ("plain", data, scores)))
    heat_map = heat_map_of(page_of(plan, [value.of(point) for value in values], ""))
    assert heat_map.head == ("with-scene", "plain", "with-scene − plain")
    assert [row.value for row in heat_map.points["p"]] == [0.75, 0.75, 0]


def test_a_recipe_that_cannot_be_named_is_refused(grid, tmp_path):
    page = json.loads((grid.folder / "sweep.json").read_text())
    assert json.loads(json.dumps(load_sweep(grid.folder).to_json())) == page  # with every setting of its recipe
    (tmp_path / "sweep.json").write_text(json.dumps({**page, "recipe": {**page["recipe"], "arch": 3}}))
    with pytest.raises(UserError, match=r"sweep\.json: recipe: arch: expected str, got int; run the same"):
        load_sweep(tmp_path)


@pytest.mark.parametrize(
    ("train", "test", "how", "message"),
    [
        (["biased"], TESTS, {}, "expected --train NAME=DATA, such as original=folder:photos, got 'biased'"),
        (["a=phantom:train?size=24&n=9", "a=phantom:train"], TESTS, {}, "--train names 'a' twice"),
        ({"a/b": SHAPES}, TESTS, {}, "--train: expected a name of letters"),
        ([], TESTS, {}, "a sweep needs at least one point"),
        ({"a": SHAPES}, {}, {}, "no test data given"),
        ({"a": "phantom:trian"}, TESTS, {}, "expected phantom:train or phantom:test"),
        ({"a": SHAPES}, TESTS, {"runs": 0}, "expected runs from 1 to 10,000, got 0"),
        ({"a": SHAPES}, TESTS, {"gaps": [("mixed_same", "nxt")]}, "needs test data called 'nxt'"),
        (
            {"a": SHAPES + "&without=star"},
            TESTS,
            {},
            "--test mixed_same shows the class 'star', which a is not trained on",
        ),
    ],
)
def test_bad_input_is_named_before_anything_is_trained(tmp_path, monkeypatch, train, test, how, message):
    monkeypatch.setattr("snellen.train.runs.fit", lambda *_: pytest.fail("trained"))
    with pytest.raises(UserError) as caught:
        variants(RECIPE, train, test, tmp_path / "out", **how)
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_sweep_is_named(tmp_path: Path):
    with pytest.raises(UserError, match=r"holds no sweep\.json"):
        load_sweep(tmp_path)


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"{}", b'{"rows": 3}', b"[" * 100_000, b"\xff\x00"])
def test_a_damaged_sweep_is_refused_in_one_line(tmp_path: Path, content: bytes):
    (tmp_path / "sweep.json").write_bytes(content)
    with pytest.raises(UserError, match=r"sweep\.json.*; run the same `snellen sweep` again to rewrite it") as caught:
        load_sweep(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_sweep_mends_the_runs_that_it_reads(grid, tmp_path: Path):
    """The answers of a point are damaged: they are asked again, and the table is the same."""
    shutil.copytree(grid.folder, tmp_path / "hurt")
    for file in (tmp_path / "hurt" / "runs").glob("*/answers/*/*.parquet"):
        file.write_bytes(b"PAR1")
    again = variants(RECIPE, {"scenes": SCENES, "shapes": SHAPES}, TESTS, tmp_path / "hurt", runs=2, html=False)
    pd.testing.assert_frame_equal(again.table(), grid.table())


def test_the_table_needs_neither_duckdb_nor_a_renderer_of_charts(grid, tmp_path, monkeypatch):
    """Machines for training need not have them; without `html` there is no page."""
    for module in ("duckdb", "vl_convert"):
        monkeypatch.setitem(sys.modules, module, None)
    again = variants(RECIPE, {"scenes": SCENES, "shapes": SHAPES}, TESTS, grid.folder, runs=2, html=False)
    pd.testing.assert_frame_equal(again.table(), grid.table())
    bare = variants(Recipe(epochs=1, batch_size=32), {"shapes": SHAPES}, TESTS, tmp_path / "bare", html=False)
    assert sorted(file.name for file in bare.folder.glob("sweep.*")) == ["sweep.csv", "sweep.json", "sweep.parquet"]
