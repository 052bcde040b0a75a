"""Models compared on the same images: numbers beside SciPy and the findings, flips by SQL, and the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

import snellen
from snellen.errors import UserError
from snellen.exam import Run, compare_models
from snellen.report.blocks import Gallery, Heading, Picture, Row
from snellen.report.pages.compared import compared_blocks

from ..commands import exit_code

DATA = "phantom:test?size=16&n=60"
AUDITS = "occlusion(areas=[0.1, 0.3], fills=[black])"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    models = {name: f"observer:{name}" for name in ("shape", "texture", "edges")}
    return snellen.audit(models, DATA, AUDITS, tmp_path_factory.mktemp("many") / "run", quiet=True)


@pytest.fixture(scope="module")
def version(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("version") / "run"
    return snellen.audit("shape=observer:texture", DATA, AUDITS, out, quiet=True, report=False)


def only_right(run: Run, first: str, second: str) -> set[str]:
    """The images that the first got right and the second did not, by SQL."""
    frame = run.predictions().query("distortion == 'none()'")
    right = {model: set(rows.query("score == 1")["sample"]) for model, rows in frame.groupby("model")}
    return right[first] - right[second]


def test_pairs_are_those_of_the_findings_and_p_is_mcnemars(run: Run) -> None:
    compared = compare_models(run)
    assert [(pair.first, pair.second) for pair in compared.pairs] == [
        ("shape", "texture"), ("shape", "edges"), ("texture", "edges")
    ]  # fmt: skip
    differences = run.findings().query("name == 'difference' and distortion == 'none()'").set_index("model")
    for pair in compared.pairs:
        stored = differences.loc[f"{pair.first} − {pair.second}"]
        assert pair.difference.value == pytest.approx(stored["value"])
        assert (pair.difference.low, pair.difference.high) == pytest.approx((stored["low"], stored["high"]))
        differ = pair.only_first + pair.only_second
        assert pair.p == pytest.approx(binomtest(pair.only_first, differ).pvalue)
        assert pair.only_first == len(only_right(run, pair.first, pair.second))
        assert pair.p <= pair.p_corrected <= 3 * pair.p + 1e-12
        assert pair.visible == pair.difference.detectable_among(3)
    accuracies = run.findings().query("name == 'accuracy'").set_index("model").value
    assert {model: own.value for model, own in compared.accuracies.items()} == pytest.approx(accuracies.to_dict())


def test_flips_name_the_images_both_ways(run: Run, version: Run) -> None:
    frame = run.flips(models=["shape", "texture"])
    assert set(frame.query("right == 'shape'")["sample"]) == only_right(run, "shape", "texture")
    assert set(frame.query("right == 'texture'")["sample"]) == only_right(run, "texture", "shape")
    right = frame.query("right == 'shape'")
    assert (right["shape says"] == right["class"]).all()
    assert (right["texture says"] != right["class"]).all()
    between = run.flips(version, models=["shape"])  # the version is the texture observer under the name of the other
    assert between["sample"].tolist() == frame["sample"].tolist()
    with pytest.raises(UserError, match="expected two models to compare, got 3 pairs"):
        run.flips()
    occluded = run.flips(models=["shape", "texture"], distortion="occlude(0.1, black)")
    assert 0 < len(occluded) < len(frame)


def test_three_models_have_ranks_and_two_have_none(run: Run) -> None:
    compared = compare_models(run)
    assert compared.ranks is not None
    assert len(compared.questions) == 4  # clean, mild noise and two squares
    assert compared.ranks.test.mean_ranks.sum() == pytest.approx(6)
    assert compare_models(run, models=["shape", "texture"]).ranks is None


def test_the_page_has_a_grid_for_each_side_of_each_pair(tmp_path: Path, run: Run) -> None:
    compared = compare_models(run, page=tmp_path / "page.html", pictures=3)
    blocks = compared_blocks(compared)
    titles = [block.text for block in blocks if isinstance(block, Heading) and block.level == 3]
    grids = [block for block in blocks if isinstance(block, Gallery)]
    assert len(titles) == len(grids) == sum((p.only_first > 0) + (p.only_second > 0) for p in compared.pairs)
    count = compared.pairs[0].only_first
    assert titles[0] == f"Only shape is right, texture is not: 3 of {count} images"
    for grid in grids:
        for row in grid.rows:
            assert isinstance(row, Row)
            (picture,) = row.cells
            assert isinstance(picture, Picture)
            assert picture.source is not None  # beyond the stored thumbnails too
            assert sorted(answer.right is True for answer in picture.answers) == [False, True]
    text = (tmp_path / "page.html").read_text()
    assert "Ranks" in text
    assert "<svg" in text


def test_a_page_is_written_where_the_data_are_gone(tmp_path: Path) -> None:
    images, labels = np.random.default_rng(0).integers(0, 256, (40, 16, 16, 3), np.uint8), np.repeat([0, 1], 20)
    np.savez(tmp_path / "data.npz", images=images, labels=labels)
    (tmp_path / "net.py").write_text(
        "import numpy as np\n"
        "def answer():\n    return lambda images: np.eye(2)[np.zeros(len(images), int)]\n"
        "def other():\n    return lambda images: np.eye(2)[np.ones(len(images), int)]\n"
    )
    models = {name: f"python:{tmp_path / 'net.py'}:{name}" for name in ("answer", "other")}
    data = f"arrays:{tmp_path / 'data.npz'}"
    run = snellen.audit(models, data, "calibration", tmp_path / "run", quiet=True, report=False)
    (tmp_path / "data.npz").rename(tmp_path / "gone.npz")
    (pair,) = compare_models(run, page=tmp_path / "page.html").pairs
    assert (pair.only_first, pair.only_second) == (20, 20)
    assert pair.difference.value == 0


def test_the_command_prints_tables_and_json(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["compare", str(run.path)]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split() == ["model", "accuracy", "95%", "interval"]
    assert "shape − texture" in shown
    assert "visible from: the smallest true difference" in " ".join(shown.split())
    assert exit_code(["compare", str(run.path), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [pair["only_first"] for pair in content["pairs"]] == [pair.only_first for pair in compare_models(run).pairs]
    assert content["mean_ranks"].keys() == {"shape", "texture", "edges"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "shape,textur"], "unknown model 'textur'; did you mean 'texture'?"),
        (["--distortion", "occlude(0.5, black)"], "unknown distortion of"),
        (["--distortion", "oclude(0.5)"], "did you mean 'occlude'?"),
        (["--models", "shape"], "has one model, 'shape'; give a second run"),
        (["--page", "page.txt"], "expected a report name ending in"),
    ],
)
def test_bad_input_is_one_line(
    run: Run, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert exit_code(["compare", str(run.path), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
