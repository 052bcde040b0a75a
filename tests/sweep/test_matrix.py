"""A matrix of trainings from one file: chosen on held-out clips, trained without a look at test images, resumed, ranked."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from snellen.cli import main
from snellen.data import load_data
from snellen.data.dataset import Dataset
from snellen.engine.settings import Cluster
from snellen.errors import UserError
from snellen.models.checkpoint import load_state, read_card
from snellen.sweep import load_matrix, matrix
from snellen.sweep.by_matrix import _Work
from snellen.sweep.matrix_plan import plan_matrix
from snellen.sweep.matrix_rows import read_rows
from snellen.sweep.matrix_table import Matrix
from snellen.sweep.request import MatrixRequest
from snellen.sweep.trainings_on_ray import Training, train_side_by_side
from snellen.train import Recipe

TRAIN = "phantom:train?size=28&n=96&frames=2"
TEST = "phantom:test?size=28&n=24&frames=2"
FEW = ("occluders(synthetic=[black, white], diffuse=[], lattices=[])",)
ROWS = """
defaults: {epochs: 1, grid: {lr: [0.1, 0.2]}}
rows:
  - {name: plain, arch: smallnet}
  - {name: mixed, arch: smallnet, mix: mixup, grid: {lr: [0.05], momentum: [0.8, 0.9]}}
  - {name: parts, arch: 'compositional(smallnet, kernels=8, mixtures=1)', init: 'row:plain,mixed', grid: {lr: [0.01]}}
"""


@pytest.fixture
def rows(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a file of rows."""

    def write(text: str = ROWS) -> Path:
        path = tmp_path / "rows.yaml"
        path.write_text(text)
        return path

    return write


def guarded(data: Dataset, readings: list[int], *, forbidden: Callable[[], bool]) -> Dataset:
    """The same data, which count how many images are read and fail where none may be."""

    def watch(read: Callable[[Sequence[int]], Any]) -> Callable[[Sequence[int]], Any]:
        def reading(positions: Sequence[int]) -> Any:
            assert not forbidden(), "a test image is read while networks are trained"
            readings.append(len(positions))
            return read(positions)

        return reading

    together = None if data.read_together is None else watch(data.read_together)
    return replace(data, read=watch(data.read), read_together=together)


def test_no_test_image_is_read_while_grids_are_searched_and_networks_trained(
    tmp_path: Path, rows: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: list[int] = []
    finished: list[str] = []
    wave = _Work.train_wave

    def train_wave(work: _Work, wanted: list[Any]) -> None:
        wave(work, wanted)
        finished.extend(row.name for row in wanted)

    monkeypatch.setattr(_Work, "train_wave", train_wave)
    test = guarded(load_data(TEST), readings, forbidden=lambda: len(finished) < 3)
    matrix(rows(), TRAIN, test, tmp_path / "out", device="cpu", audits=FEW)
    assert finished == ["plain", "mixed", "parts"]
    assert sum(readings) >= 24  # and then all of them, by the audit: the guard was in place


def test_the_guard_notices_a_training_that_reads_test_images(tmp_path: Path) -> None:
    """What the test above rests on: with such data as the test set of a training it fails."""
    from snellen.train import train

    test = guarded(load_data(TEST), [], forbidden=lambda: True)
    with pytest.raises(AssertionError, match="a test image is read"):
        train(None, TRAIN, tmp_path, epochs=1, device="cpu", test=test)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """The small matrix, trained and audited."""
    folder = tmp_path_factory.mktemp("matrix")
    (folder / "rows.yaml").write_text(ROWS)
    result = matrix(folder / "rows.yaml", TRAIN, TEST, folder / "out", device="cpu", audits=FEW, runs=2)
    assert isinstance(result, Matrix)
    return result


def test_every_trial_is_recorded_and_the_best_one_trains_the_runs(finished: Matrix) -> None:
    for row, count in (("plain", 2), ("mixed", 2), ("parts", 1)):
        with open(finished.folder / "models" / row / "grid.csv") as file:
            trials = list(csv.DictReader(file))
        trained = next(entry for entry in finished.rows if entry.name == row)
        assert len(trials) == trained.trials == count
        assert float(trials[0]["held_out_accuracy"]) == pytest.approx(trained.held_out_accuracy, abs=1e-6)
        assert len(trained.networks) == 2
        for network in trained.networks:
            assert read_card(Path(network))["recipe"]["lr"] == float(trials[0]["lr"])
            assert read_card(Path(network))["holdout"] == 0  # runs learn from all images


def test_trials_begin_with_a_network_that_has_not_learnt_the_held_out_clips(finished: Matrix) -> None:
    """The row `parts` begins with the better of two rows: its trials with a trial of that row, its runs with a run of it."""
    by_name = {row.name: row for row in finished.rows}
    better = max(("plain", "mixed"), key=lambda name: by_name[name].held_out_accuracy or 0)
    assert by_name["parts"].init == by_name[better].networks[0]
    starts = {read_card(path)["init"] for path in (finished.folder / "models/parts/grid").glob("*/*.safetensors")}
    of_run = read_card(Path(by_name["parts"].networks[0]))["init"]
    assert len(starts) == 1
    assert of_run not in starts


def test_the_table_ranks_every_row_with_an_interval(finished: Matrix) -> None:
    table = finished.table()
    ranks = table[table["measure"] == "mean_rank"]
    assert set(ranks["row"]) == {"plain", "mixed", "parts"}
    for _, judged in ranks.groupby("where"):
        assert judged["value"].sum() == pytest.approx(1 + 2 + 3)  # ranks of three rows, however they are shared
        assert (judged["low"] <= judged["value"]).all()
        assert (judged["value"] <= judged["high"]).all()
    again = load_matrix(finished.folder)
    assert again.to_json() == finished.to_json()


def test_what_is_there_is_kept_and_what_was_lost_is_done_again(finished: Matrix, rows: Callable[[], Path]) -> None:
    """A trial lost as by a kill is trained again to the bit; no other network is touched."""
    models = finished.folder / "models"
    lost = sorted((models / "mixed" / "grid").glob("*/*.safetensors"))[0]
    before = load_state(lost)
    others = [path for path in models.rglob("*.safetensors") if lost.parent not in path.parents]
    times = {path: path.stat().st_mtime_ns for path in others}
    lost.unlink()
    result = matrix(rows(), TRAIN, TEST, finished.folder, device="cpu", audits=FEW, runs=2)
    assert isinstance(result, Matrix)
    assert all(torch.equal(tensor, before[name]) for name, tensor in load_state(lost).items())
    assert len(times) == 4 * 2 + 3 * 2  # four other trials with their best networks, and two runs of each row
    assert {path: path.stat().st_mtime_ns for path in others} == times
    assert [value.value for value in result.values] == [value.value for value in finished.values]


def test_the_plan_counts_rows_trials_and_images(
    tmp_path: Path, rows: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """96 images in clips of 2; a tenth, 10 images, is held out: a trial of one epoch shows 86, a run 96."""
    costs = matrix(rows(), TRAIN, TEST, tmp_path / "out", dry_run=True)
    assert isinstance(costs, list)
    assert [(cost.name, cost.trials, cost.trial_images, cost.run_images, cost.seconds) for cost in costs] == [
        ("plain", 2, 172, 96, None), ("mixed", 2, 172, 96, None), ("parts", 1, 86, 96, None),
    ]  # fmt: skip
    assert not (tmp_path / "out").exists()
    timed = matrix(rows(), TRAIN, TEST, tmp_path / "out", dry_run=True, timed=True)
    assert isinstance(timed, list)
    assert all((cost.seconds or 0) > 0 for cost in timed)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "matrix", str(rows()), "--data", TRAIN, "--test", TEST, "--out", "x", "--dry-run"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "held out 10" in shown
    assert "images in training: 718, forward and backward" in shown


def test_a_row_without_a_grid_of_its_own_searches_twelve_trials(rows: Callable[[str], Path]) -> None:
    (row,) = read_rows(rows("rows: [{name: plain, arch: smallnet}]"))
    assert (row.trials, set(row.grid)) == (12, {"lr", "momentum", "weight_decay"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rows: [{name: a, arch: 'timm:resnet5o'}]", "row 'a': unknown timm network 'resnet5o'; did you mean"),
        ("rows: [{name: a, arch: smalnet}]", "rows.yaml: row 'a': unknown network 'smalnet'; did you mean"),
        ("rows: [{name: a, archs: smallnet}]", "row 'a': unknown setting 'archs'; did you mean 'arch'"),
        ("rows: [{name: a, grid: {lr: 3}}]", "row 'a': its grid: expected lr as a list of values, got '3'"),
        ("rows: [{name: a}, {name: a}]", "two rows are called 'a'; names must differ"),
        ("rows: [{name: a, init: 'row:b'}, {name: b}]", "row 'a' begins with row 'b', which does not stand above it"),
        ("rows: [{name: a, grid: none}, {name: b, init: 'row:a'}]", "give 'a' a grid"),
        ("rows: [{name: a, robust: dfa(nowhere)}]", "row 'a': no folder 'nowhere' of cut-outs"),
        ("rows: {name: a}", "expected rows as a list"),
        ("row: [{name: a}]", "unknown setting in .*rows.yaml 'row'; did you mean 'rows'"),
        ("rows: [{arch: smallnet}]", "row 1: expected settings with a name"),
    ],
)
def test_a_row_that_cannot_be_is_one_line_with_its_name(
    tmp_path: Path, rows: Callable[[str], Path], text: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        plan_matrix(MatrixRequest(matrix=rows(text), data=TRAIN, test=TEST, out=tmp_path / "out"))


def test_a_result_with_a_measure_that_there_is_not_is_one_line(tmp_path: Path) -> None:
    value = {"row": "a", "measure": "meen_rank", "where": "", "value": 1.0, "low": None, "high": None, "p": None}
    content = {"snellen": "0", "run": "runs/a", "rows": [], "values": [value]}
    (tmp_path / "matrix.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match="matrix.json: unknown measure 'meen_rank'; did you mean 'mean_rank'"):
        load_matrix(tmp_path)


def test_weights_that_are_not_there_are_found_before_anything_is_trained(
    tmp_path: Path, rows: Callable[[str], Path]
) -> None:
    text = "rows: [{name: a, epochs: 1}, {name: b, init: nowhere.safetensors}]"
    with pytest.raises(UserError, match="row 'b': no checkpoint 'nowhere.safetensors'"):
        matrix(rows(text), TRAIN, TEST, tmp_path / "out", device="cpu")
    assert not list((tmp_path / "out").rglob("*.safetensors"))


def test_trials_side_by_side_on_ray_are_those_of_one_after_the_other(
    tmp_path: Path, finished: Matrix, rows: Callable[[], Path]
) -> None:
    """The same settings win, and the networks learn the same; other numbers of threads round otherwise."""
    pytest.importorskip("ray", reason="needs Ray: pip install 'snellen[ray]'")
    settings: dict[str, Any] = {"device": "cpu", "audits": FEW, "engine": "ray", "actors": 2}
    on_ray = matrix(rows(), TRAIN, TEST, tmp_path / "out", **settings)
    assert isinstance(on_ray, Matrix)
    assert [row.chosen for row in on_ray.rows] == [row.chosen for row in finished.rows]
    for there, here in zip(on_ray.rows, finished.rows):
        assert read_card(Path(there.networks[0]))["history"][-1]["loss"] == pytest.approx(
            read_card(Path(here.networks[0]))["history"][-1]["loss"], rel=1e-3
        )


def test_a_training_that_fails_on_ray_names_its_row(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'snellen[ray]'")
    training = Training("a", Recipe(arch="timm:nothing", epochs=1), TRAIN, tmp_path, {"device": "cpu"})
    with pytest.raises(UserError, match="row 'a': unknown timm network 'nothing'"):
        train_side_by_side([training], Cluster(actors=1), print)


def test_the_files_of_the_examples_are_whole() -> None:
    """Fourteen rows in the paper's; every row of both files has a grid of at least twelve trials."""
    folder = Path(__file__).parents[2] / "examples" / "matrices"
    published, small = read_rows(folder / "kassaw2024.yaml"), read_rows(folder / "phantom.yaml")
    assert (len(published), len(small)) == (14, 5)
    assert all(row.trials >= 12 for row in (*published, *small))
    assert all(row.init is not None and row.recipe.epochs <= 50 and row.recipe.optimiser == "sgd" for row in published)
    assert [row.name for row in published if row.parents] == ["dfa"]


def test_every_pretrained_network_of_the_published_matrix_exists() -> None:
    timm = pytest.importorskip("timm")
    published = read_rows(Path(__file__).parents[2] / "examples" / "matrices" / "kassaw2024.yaml")
    names = {str(row.init).removeprefix("timm:") for row in published if not row.parents}
    assert names <= set(timm.list_pretrained())
