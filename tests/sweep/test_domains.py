"""One table over domains: observers whose accuracy is known, the accuracy of an audit, published models' answers, refusals."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import snellen
from snellen.cli import main
from snellen.data import load_data
from snellen.errors import UserError
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import build
from snellen.sweep import domains, load_sweep
from snellen.sweep.scores import UNSEEN

OWN = "phantom:test?size=24&n=120&background_bias=1"
LARGE = "phantom:test?size=48&n=90"
TEXTURED = "phantom:test?size=32&n=60&texture_bias=1"
DOMAINS = {"own": OWN, "large": LARGE, "textured": TEXTURED}
MODELS = {"shape": "observer:shape()", "scene": "observer:background()"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return domains(MODELS, DOMAINS, tmp_path_factory.mktemp("domains") / "out", command="snellen sweep domains …")


def scene_by_chance(text: str) -> float:
    """How often the scene of an image is that of its class in the world where each class has its own."""
    own = load_data(OWN).samples
    scene_of = dict(zip(own.labels, own.columns["scene"]))
    other = load_data(text).samples
    return float(np.mean([scene_of[label] == scene for label, scene in zip(other.labels, other.columns["scene"])]))


def test_observers_have_the_accuracy_of_their_making_in_every_domain(table: Any) -> None:
    wide = table.wide()
    assert wide.loc["shape"].tolist() == [1.0, 1.0, 1.0, 1.0]
    assert wide.loc["scene", "own"] == 1
    by_chance = [scene_by_chance(text) for text in (LARGE, TEXTURED)]
    assert wide.loc["scene", ["large", "textured"]].tolist() == pytest.approx(by_chance)
    assert wide.loc["scene", UNSEEN] == pytest.approx(np.mean(by_chance))  # though one has more images
    rows = table.table().query("point == 'scene'").set_index("test")
    assert rows["n"].to_dict() == {"own": 120, "large": 90, "textured": 60, UNSEEN: 150}
    assert rows.loc[UNSEEN, "low"] < rows.loc[UNSEEN, "value"] < rows.loc[UNSEEN, "high"]


def test_each_accuracy_is_that_of_an_audit(table: Any) -> None:
    """Also where the images have another size than the model's canvas."""
    for name, text in DOMAINS.items():
        run = snellen.audit("scene=observer:background()", text, (), quiet=True, report=False)
        (finding,) = run.findings().query("name == 'accuracy'").to_dict("records")
        row = table.table().query(f"point == 'scene' and test == '{name}'").iloc[0]
        assert (row["value"], row["low"], row["high"]) == (finding["value"], finding["low"], finding["high"])


def smallnet(file: Path, classes: list[str]) -> str:
    """A network for images of 16x16 pixels that has learnt nothing."""
    torch.manual_seed(0)
    card = {"arch": "smallnet", "classes": classes, "size": [16, 16], "mean": [0.5] * 3, "std": [0.25] * 3}
    save_checkpoint(file, build("smallnet", len(classes)), card)
    return str(file)


def test_images_of_other_sizes_are_put_on_the_networks_canvas_as_an_audit_does(tmp_path: Path) -> None:
    model = smallnet(tmp_path / "net.safetensors", list(load_data(OWN).classes))
    table = domains({"net": model}, DOMAINS, tmp_path / "out", html=False)
    for name, text in DOMAINS.items():
        run = snellen.audit(f"net={model}", text, (), quiet=True, report=False)
        (folder,) = (tmp_path / "out" / "runs").glob(f"net-on-{name}-*")
        own = snellen.load_run(folder).predictions()
        wanted = run.predictions().query("distortion == 'none()'")
        assert own["distortion"].unique().tolist() == ["none()"]  # nothing else is asked
        assert own["pred"].tolist() == wanted["pred"].tolist()
        assert table.wide().loc["net", name] == pytest.approx(wanted["score"].mean())


def test_the_answers_of_a_domain_can_be_reported_on_like_any_run(table: Any, tmp_path: Path) -> None:
    (folder,) = (table.folder / "runs").glob("scene-on-large-*")
    run = snellen.load_run(folder)
    assert run.findings()["name"].tolist() == ["accuracy"]
    page = run.report(tmp_path / "report.html")
    assert "Clean accuracy" in Path(page).read_text()


def test_the_files_hold_one_table_and_the_page_has_it_too(table: Any) -> None:
    frame = table.table()
    pd.testing.assert_frame_equal(pd.read_parquet(table.folder / "sweep.parquet"), frame)
    pd.testing.assert_frame_equal(load_sweep(table.folder).table(), frame)
    assert len(pd.read_csv(table.folder / "sweep.csv")) == 2 * 4
    html = (table.folder / "sweep.html").read_text()
    assert html.count("<svg") == 1
    for words in ("source, 120 images", "unseen, 90 images", "mean of unseen", "150 images"):
        assert words in html
    for value in frame["value"]:
        assert f"{100 * value:.1f}%" in html


def test_a_second_time_nothing_is_asked_and_a_new_domain_only_itself(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert domains(MODELS, DOMAINS, table.folder, dry_run=True).audits_left == 0
    more = {**DOMAINS, "third": "phantom:test?size=24&n=30&clutter=0.5"}
    left = domains(MODELS, more, table.folder, dry_run=True)
    assert (left.trainings, left.audits, left.audits_left) == (0, 8, 2)
    monkeypatch.setattr("snellen.exam.carry_out._run_passes", lambda *_: pytest.fail("asked again"))
    again = domains(MODELS, DOMAINS, table.folder, html=False)
    pd.testing.assert_frame_equal(again.table(), table.table())


def test_the_source_comes_first_whichever_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"--test={name}={text}" for name, text in (("large", LARGE), ("own", OWN))]
    with pytest.raises(SystemExit) as caught:
        main(["sweep", "domains", "scene=observer:background", *words, "--source", "own", "--out", str(tmp_path / "a")])
    assert not caught.value.code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ")[0] == "model"
    assert lines[0].split()[1:] == ["own", "large", "mean", "of", "unseen"]
    assert lines[3].split() == ["images", "120", "90", "90"]
    page = json.loads((tmp_path / "a" / "sweep.json").read_text())
    assert page["source"] == "own"
    assert page["rows"][1]["value"] == page["rows"][2]["value"]  # one unseen domain is the mean


def test_one_domain_alone_has_no_unseen_mean(tmp_path: Path) -> None:
    alone = domains(MODELS, {"own": OWN}, tmp_path, html=False)
    assert alone.table()["test"].tolist() == ["own", "own"]


def write_arrays(file: Path, labels: np.ndarray, ids: list[str], classes: list[str]) -> str:
    """Images of one row of pixels, none like another: only their labels matter."""
    images = np.arange(len(labels), dtype="<u4").view(np.uint8).reshape(-1, 1, 4, 1).repeat(3, 3)
    np.savez(file, images=images, labels=labels.astype(np.int64), ids=ids, classes=classes)
    return f"arrays:{file}"


def write_answers(file: Path, answers: dict[str, np.ndarray]) -> str:
    """Predictions of the images of several datasets; `answers` by what their ids begin with."""
    lines = [f"{name}-{row:05d},{answer}" for name, some in answers.items() for row, answer in enumerate(some)]
    file.write_text("\n".join(["sample,pred", *lines]) + "\n")
    return f"predictions:{file}"


def ids_of(name: str, count: int) -> list[str]:
    return [f"{name}-{row:05d}" for row in range(count)]


def test_the_order_of_classes_is_the_sources_and_answers_by_number_mean_it(tmp_path: Path) -> None:
    """Both show cat, dog, eel, in other orders; the model answers by the source's numbers and is right everywhere."""
    classes = ["cat", "dog", "eel"]
    own = write_arrays(tmp_path / "own.npz", np.arange(30) % 3, ids_of("own", 30), classes)
    far = write_arrays(tmp_path / "far.npz", np.arange(30) % 3, ids_of("far", 30), classes[::-1])
    answers = {"own": np.arange(30) % 3, "far": 2 - np.arange(30) % 3}
    model = write_answers(tmp_path / "model.csv", answers)
    found = domains({"model": model}, {"own": own, "far": far}, tmp_path / "out", html=False)
    assert found.wide().loc["model"].tolist() == [1, 1, 1]


def test_several_runs_have_a_mean_and_a_deviation(tmp_path: Path) -> None:
    """Runs that are right on 20 and 10 of 20, and on 5 and 5 of 10: means 0.75 and 0.5 of domains, runs 0.75 and 0.5."""
    labels = np.zeros(20, int)
    own = write_arrays(tmp_path / "own.npz", labels, ids_of("own", 20), ["a", "b"])
    far = write_arrays(tmp_path / "far.npz", labels, ids_of("far", 20), ["a", "b"])
    near = write_arrays(tmp_path / "near.npz", labels[:10], ids_of("near", 10), ["a", "b"])
    for run, right in enumerate((20, 10)):
        answers = {"own": labels, "far": np.arange(20) >= right, "near": np.arange(10) >= 5}
        write_answers(tmp_path / f"run-{run}.csv", {name: some.astype(int) for name, some in answers.items()})
    models = {"two": f"predictions:{tmp_path}/run-*.csv"}
    rows = domains(models, {"own": own, "far": far, "near": near}, tmp_path / "out", html=False).table()
    rows = rows.set_index("test")
    assert rows["value"].to_dict() == pytest.approx({"own": 1, "far": 0.75, "near": 0.5, UNSEEN: 0.625})
    assert rows["std"].to_dict() == pytest.approx({"own": 0, "far": 0.5**1.5, "near": 0, UNSEEN: 0.25 * 0.5**0.5})
    assert rows.loc[UNSEEN, "per_run"] == "0.750000 0.500000"
    assert rows["runs"].tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("models", "tests", "how", "said"),
    [
        (MODELS, {"own": OWN, "two": f"{LARGE}&without=star"}, {}, "--test two has other classes than own: it lacks 'star'"),
        (MODELS, {"own": f"{OWN}&without=star,ring", "two": LARGE}, {}, "it has also 'ring', 'star'"),
        (MODELS, {"own": OWN, "two": f"{LARGE}&rename=star:sun"}, {}, r"it lacks 'star' and has also 'sun'; make them the same"),
        (MODELS, DOMAINS, {"source": "oown"}, "unknown test of --source 'oown'; did you mean 'own'?"),
        (MODELS, {}, {}, "no test data given"),
        ([], DOMAINS, {}, "a sweep needs at least one point"),
        (["shape"], DOMAINS, {}, "expected NAME=MODEL"),
    ],
)  # fmt: skip
def test_bad_input_is_named_before_anything_is_asked(
    tmp_path: Path, models: Any, tests: dict[str, str], how: dict[str, str], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        domains(models, tests, tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()


def test_a_model_that_lacks_a_class_is_refused_by_name(tmp_path: Path) -> None:
    model = smallnet(tmp_path / "net.safetensors", [name for name in load_data(OWN).classes if name != "star"])
    said = "--test own shows the class 'star', which the model net does not have"
    with pytest.raises(UserError, match=said):
        domains({"net": model}, DOMAINS, tmp_path / "out")
    fewer = {name: f"{text}&without=star" for name, text in DOMAINS.items()}
    assert domains({"net": model}, fewer, tmp_path / "out", dry_run=True).audits == 3


CIFAR10 = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
PUBLISHED = {  # CIFAR-10 test and CIFAR-10.1 v6 (Recht et al. 2018), in percent
    "wrn_28_10": (95.93, 90.15),
}


@pytest.mark.parametrize("count", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_published_models_have_their_published_accuracy_on_cifar10_and_on_its_new_test_set(
    shared: Path, tmp_path: Path, count: int
) -> None:
    with np.load(shared / "cifar10" / "test_metadata.npz") as pack:
        truth = pack["official_test_y"], pack["cifar10_1_v6_y"]
        answers = pack["model_predictions"], pack["cifar10_1_v6_model_predictions"]
        names = [str(name) for name in pack["model_names"]]
    chosen = [names.index("wrn_28_10"), *(place for place, name in enumerate(names) if name != "wrn_28_10")][:count]
    tests = {
        name: write_arrays(tmp_path / f"{name}.npz", labels, ids_of(name, len(labels)), CIFAR10)
        for name, labels in zip(("cifar10", "v6"), truth)
    }
    models = {
        names[place]: write_answers(tmp_path / f"{place}.csv", {"cifar10": answers[0][place], "v6": answers[1][place]})
        for place in chosen
    }
    wide = domains(models, tests, tmp_path / "out", html=False).wide()
    for place in chosen:
        right = [float((some[place] == labels).mean()) for some, labels in zip(answers, truth)]
        assert wide.loc[names[place], ["cifar10", "v6"]].tolist() == pytest.approx(right, abs=1e-12)
    for name, (old, new) in PUBLISHED.items():
        assert (wide.loc[name, ["cifar10", "v6"]] * 100).round(2).tolist() == [old, new]


def test_the_table_needs_neither_duckdb_nor_a_renderer_of_charts(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("duckdb", "vl_convert"):
        monkeypatch.setitem(sys.modules, module, None)
    assert len(domains(MODELS, DOMAINS, table.folder, html=False).table()) == 8
