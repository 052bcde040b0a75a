"""People beside models in the audit of occluders: planted answers, one rating per image, people as a model, and real people."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.audits.occluders.people import best_people, crowd_of
from snellen.data.people import read_people
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.measure import human_accuracy, tukey_outliers
from snellen.measure.occlusion_table import CLEAN
from snellen.models import Model, from_callable
from snellen.report import page_of
from snellen.report.blocks import Table

from ..report.reading import ChangedRun, every
from ..report.reading import rows as rows_of

DATA = "phantom:test?size=32&n=40&frames=2&occlusion=0.6&object_size=0.5..0.8"
FIRST = "test-s0/000000-000"
GATE = "gates(vertical, least=0.05, most=0.95)"
AUDIT = "occluders(synthetic=[], diffuse=[vertical], lattices=[0.5], px=[4], people='{}')"


def samples() -> pd.DataFrame:
    data = snellen.load_data(DATA)
    names = [data.classes[label] for label in data.samples.labels]
    return pd.DataFrame({"sample": data.samples.ids, "label": names, "level": data.samples.columns["level"]})


def write(path: Path, rows: Sequence[Sequence[Any]], head: str = "observer,sample,pred,distortion,hit") -> str:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head.split(","), *rows])
    return str(path)


def named(run: Run, name: str, **facts: object) -> list[dict]:
    own = [finding for finding in run.results()["findings"] if finding["name"] == name]
    return [
        finding
        for finding in own
        if all(finding["facts"].get(key, finding.get(key)) == value for key, value in facts.items())
    ]


def write_people(path: Path) -> str:
    """Six people who know every unoccluded image, miss each second occluded one, and one who knows nothing."""
    table = samples()
    rows: list[list[Any]] = []
    for person in range(7):
        for place, (sample, label, level) in enumerate(table.itertuples(index=False)):
            right = person < 6 and (level == "none" or place % 2 == 0)
            rows.append([f"p{person}", sample, label if right else "", "", int(level != "severe")])
            if person < 6 and level == "none" and place % 3 == 0:
                rows.append([f"p{person}", sample, label, GATE, ""])
                rows.append([f"p{person}", sample, label, "lattice(0.5, 4)", ""])
    return write(path, rows)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("people")
    path = write_people(folder / "people.csv")
    models = ["shape=observer:shape", "texture=observer:texture"]
    return snellen.audit(models, DATA, AUDIT.format(path), folder / "run", quiet=True)


def test_people_are_one_more_row_without_the_outlier(planted: Run) -> None:
    table = samples()
    (outliers,) = named(planted, "human_outliers")
    assert (outliers["value"], outliers["facts"]["outliers"]) == (1, ["p6"])
    normalised = outliers["facts"]["normalised"]
    assert len(normalised) == outliers["facts"]["observers"] == outliers["n"]
    assert min(normalised, key=normalised.get) == "p6"
    (clean,) = named(planted, "human_accuracy", type="none")
    assert (clean["model"], clean["value"], clean["n"]) == ("people", 1.0, (table["level"] == "none").sum())
    slight = table.index[table["level"] == "slight"]
    (finding,) = named(planted, "human_accuracy", type="real", level=1)
    assert finding["value"] == pytest.approx(np.mean(slight % 2 == 0))


def test_the_gap_is_people_less_model_on_the_same_images(planted: Run) -> None:
    for finding in named(planted, "human_gap"):
        assert finding["value"] == pytest.approx(finding["facts"]["human"] - finding["facts"]["own"])
    (clean,) = named(planted, "human_gap", model="texture", type="none")
    (own,) = named(planted, "unoccluded_accuracy", model="texture")
    assert clean["value"] == pytest.approx(1 - own["value"])
    (lattice,) = named(planted, "human_gap", model="shape", type="lattice 4 px")
    assert (lattice["facts"]["level_name"], lattice["facts"]["human"]) == ("50%", 1.0)
    assert {finding["facts"]["type"] for finding in named(planted, "human_gap")} == {
        "all",
        "none",
        "real",
        "vertical",
        "lattice 4 px",
    }


def test_the_best_people_stand_beside_models_on_their_images_and_in_the_class_tree(planted: Run) -> None:
    (clean,) = named(planted, "top_human_accuracy", level=0)
    assert clean["value"] == 1
    (shape,) = named(planted, "top_image_accuracy", model="shape", level=0)
    (own,) = named(planted, "unoccluded_accuracy", model="shape")
    assert shape["value"] == pytest.approx(own["value"])  # the best saw all of them
    assert {finding["model"] for finding in named(planted, "top_tree_accuracy")} == {"people", "shape", "texture"}
    assert named(planted, "tree_distance", model="people")[0]["facts"]["unanswered"] == 0
    clicks = {finding["facts"].get("level"): finding["value"] for finding in named(planted, "wrong_object_clicks")}
    assert (clicks[0], clicks[1]) == (0, 0)
    assert clicks.get(2, 1) == 1


def test_error_consistency_of_every_pair_is_cohens_kappa_on_the_images_that_people_saw(planted: Run) -> None:
    pairs = {
        (finding["model"], finding["facts"]["other"]): finding
        for finding in named(planted, "error_consistency", type="all")
    }
    assert set(pairs) == {("people", "people"), ("shape", "people"), ("texture", "people"), ("shape", "texture")}
    assert len({finding["label"] for finding in named(planted, "error_consistency")}) == len(
        named(planted, "error_consistency")
    )
    # six people with the same answers; the observer of shapes knows all that it sees and errs only where it sees little
    people = pairs["people", "people"]
    assert (people["value"], people["facts"]["pairs"]) == (1, 15)
    assert people["facts"]["ceiling"] == pairs["shape", "people"]["facts"]["ceiling"] == 1
    texture = pairs["texture", "people"]["facts"]
    assert texture["expected"] == pytest.approx(
        texture["first"] * texture["second"] + (1 - texture["first"]) * (1 - texture["second"])
    )
    kappa = (texture["observed"] - texture["expected"]) / (1 - texture["expected"])
    assert pairs["texture", "people"]["value"] == pytest.approx(kappa)
    assert texture["lowest"] <= kappa <= texture["highest"]
    # people are right on every unoccluded image, so that no errors can be compared there
    (clean,) = named(planted, "error_consistency", type="none", model="texture")
    assert (clean["value"], clean["facts"]["pairs"]) == (None, 0)
    assert "right on every image that both answered" in clean["text"]
    (table,) = [
        table for table in every(Table, page_of(planted)) if table.head and table.head[0].text == "error consistency"
    ]
    assert [row.head.text for row in rows_of(table)] == ["people", "shape", "texture"]
    cells = {row.head.text: [cell.value for cell in row.cells] for row in rows_of(table)}
    assert cells["people"] == [
        pairs[key]["value"] for key in (("people", "people"), ("shape", "people"), ("texture", "people"))
    ]
    assert cells["shape"][2] == cells["texture"][1] == pairs["shape", "texture"]["value"]


EXPORT = (
    "observer,sample,label,answer,level,distortion,seed,x,y,on_target,response_ms,onset_ms,late_frames,away_ms,shown_at"
)


def test_the_export_of_a_study_is_read_as_it_is(tmp_path: Path) -> None:
    rows = [
        ["p001", "a", "star", "star", 0, "", 0, 0.5, 0.5, 1, 812.5, 3.1, 0, 0, "2026-11-18T10:00:00Z"],
        ["p002", "a", "star", "", 0, "none()", 0, "", "", "", 900, 3.0, 0, 0, "2026-11-18T10:00:09Z"],
        ["p002", "b", "star", "moon", 2, GATE, 7, 0.1, 0.9, 0, 900, 3.0, 1, 20, "2026-11-18T10:00:12Z"],
    ]
    path = write(tmp_path / "export.csv", rows, EXPORT)
    pd.read_csv(path, keep_default_na=False, dtype=str).to_parquet(tmp_path / "export.parquet")
    for file in (path, str(tmp_path / "export.parquet")):
        read = read_people(file)
        assert (read.observer, read.answer) == (("p001", "p002", "p002"), ("star", "", "moon"))
        assert read.distortion == ("", "none()", GATE)
        assert read.hit[[0, 2]].tolist() == [1, 0]
        assert np.isnan(read.hit[1])
    # and the measures of people read the same columns
    assert human_accuracy(pd.read_csv(path), False).value == pytest.approx(0.25)


def test_the_report_sets_people_beside_the_models(planted: Run) -> None:
    page = (planted.path / "report.html").read_text()
    assert ">People and models<" in page
    assert "left out as a low outlier by Tukey&#39;s rule: p6" in page
    assert "people (dashed)" in page
    assert "images that they saw, it on" in (planted.path / "report.md").read_text()


def test_the_table_of_the_best_people_sets_real_occlusion_beside_real_occlusion(planted: Run) -> None:
    """The file answers an image under lines first; what people know of these must not stand in the row of real occlusion."""
    (table,) = [table for table in every(Table, page_of(planted)) if "the best 3 people" in heads_of(table)]
    rows = {row.head.text: [cell.value for cell in row.cells] for row in rows_of(table)}
    for who, name in (("people", "human_accuracy"), ("the best 3 people", "top_human_accuracy")):
        own = [named(planted, name, level=level, type="real" if level else "none") for level in range(len(rows[who]))]
        assert rows[who] == [finding["value"] for (finding,) in own]
    assert rows["people"][1] < 1 == named(planted, "human_accuracy", type="vertical")[0]["value"]
    # They saw the same images: with lines in the row of real occlusion, the best (44.4%) came out below all (100.0%).
    assert all(best >= everyone for best, everyone in zip(rows["the best 3 people"], rows["people"], strict=True))


def test_a_run_of_before_the_best_were_counted_has_their_row(planted: Run) -> None:
    def before(finding: dict[str, Any]) -> dict[str, Any]:
        if finding["name"] == "top_human_accuracy":
            assert finding["facts"].pop("observers") == 3
        return finding

    tables = every(Table, page_of(ChangedRun(planted, before)))
    assert any("the best people" in heads_of(table) for table in tables)


def heads_of(table: Table) -> list[str]:
    return [row.head.text for row in rows_of(table)]


def test_one_rating_per_image_refuses_what_compares_people(tmp_path: Path) -> None:
    table = samples()
    rows = [[f"p{place % 4}", row.sample, row.label, "", ""] for place, row in enumerate(table.itertuples())]
    audit = AUDIT.format(write(tmp_path / "single.csv", rows)).replace("vertical", "")
    run = snellen.audit("observer:shape", DATA, audit, tmp_path / "run", quiet=True, report=False)
    (refused,) = named(run, "human_outliers")
    assert refused["value"] is None
    assert refused["text"].startswith(
        "normalised accuracy and Tukey's rule compare people on the same images, but each image"
    )
    assert {finding["value"] for finding in named(run, "human_accuracy")} == {1.0}
    assert not named(run, "top_human_accuracy")


def test_a_model_of_the_command_may_be_people_and_its_runs_the_observers(tmp_path: Path) -> None:
    table = samples()
    texts = ["none()", "noise(uniform(0, 0.025))", "lattice(0.5, 4)"]
    for person in range(3):
        rows = [
            [row.sample, row.label if (place + person) % 4 else -1, text]
            for text in texts
            for place, row in enumerate(table.itertuples())
        ]
        write(tmp_path / f"person-{person}.csv", rows, "sample,pred,distortion")
    audit = "occluders(synthetic=[], diffuse=[], lattices=[0.5], px=[4], people=humans)"
    models = ["shape=observer:shape", f"humans=predictions:{tmp_path}/person-*.csv"]
    run = snellen.audit(models, DATA, audit, tmp_path / "run", quiet=True, report=False)
    (clean,) = named(run, "human_accuracy", type="none")
    (model,) = named(run, "unoccluded_accuracy", model="humans")
    assert clean["value"] == pytest.approx(model["value"])
    assert {finding["model"] for finding in named(run, "human_gap")} == {"shape"}
    assert named(run, "human_outliers")[0]["facts"]["observers"] == 3


@pytest.mark.parametrize(
    ("rows", "head", "words"),
    [
        ([["p", FIRST, "disk"]], "observer,sample,pred", "unknown class in .*people.csv 'disk'; did you mean 'disc'"),
        (
            [["p", "cat.png", "disc"]],
            "observer,sample,pred",
            "answers none of the images of phantom:.* 'cat.png', theirs",
        ),
        ([["p", "disc"]], "observer,pred", "has no column 'sample'; it has: observer, pred"),
        ([[FIRST, "disc", "oclude(0.3)"]], "sample,pred,distortion", "people.csv: unknown distortion 'oclude'"),
        ([], "sample,pred", "has no answers; expected one row per answer"),
        ([["000000", "disc", "2"]], "sample,pred,hit", "expected a number in 'hit' from 0 to 1, got '2'"),
    ],
)
def test_files_that_do_not_fit_are_refused_before_anything_is_asked(
    tmp_path: Path, rows: list, head: str, words: str
) -> None:
    path = write(tmp_path / "people.csv", rows, head)
    with pytest.raises(UserError, match=words):
        snellen.audit("observer:shape", DATA, AUDIT.format(path), dry_run=True)


def test_a_file_that_is_not_there_is_neither_a_model() -> None:
    with pytest.raises(UserError, match="no file 'nobody.csv' of people's answers, nor a model of this name"):
        snellen.audit("observer:shape", DATA, AUDIT.format("nobody.csv"), dry_run=True)


def test_parquet_and_the_prefix_of_recorded_answers_are_understood(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sample": ["a", "b"], "answer": ["disc", None], "observer": ["x", "y"]})
    frame.to_parquet(tmp_path / "people.parquet")
    people = read_people(f"predictions:{tmp_path}/people.parquet")
    assert (people.answer, people.observer, people.distortion) == (("disc", ""), ("x", "y"), ("", ""))


# Real people


def constant(classes: Sequence[str], size: int) -> Model:
    """A model that answers the first class."""
    return from_callable(
        lambda images: np.eye(len(classes))[[0] * len(images)], classes=classes, size=size, name="first", version="1"
    )


def test_counts_of_cifar10h_enter_as_people(shared: Path, tmp_path: Path) -> None:
    """Votes without names: the k-th vote of each image is taken as one person's, so the mean over images is what is known."""
    meta, labels = (np.load(shared / "cifar10" / name) for name in ("test_metadata.npz", "labels.npz"))
    classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    places = labels["test_index"][:60]
    rows = []
    for row, place in enumerate(places):
        votes = np.repeat(np.arange(10), meta["human_counts"][place])[:40]
        rows += [[f"vote {k}", f"{row:06d}", classes[vote]] for k, vote in enumerate(votes)]
    truth = meta["official_test_y"][places]
    np.savez(tmp_path / "c.npz", images=np.zeros((60, 8, 8, 3), np.uint8), labels=truth, classes=classes)
    data = f"arrays:{tmp_path}/c.npz"
    first = snellen.load_data(data).samples.ids[0]
    width = len(first)
    rows = [[who, f"{int(sample):0{width}d}", answer] for who, sample, answer in rows]
    path = write(tmp_path / "people.csv", rows, "observer,sample,pred")
    audit = f"occluders(synthetic=[], diffuse=[], lattices=[0.5], px=[2], people='{path}')"
    run = snellen.audit(constant(classes, 8), data, audit, tmp_path / "run", quiet=True, report=False)
    frame = pd.DataFrame(rows, columns=["who", "sample", "answer"])
    frame["right"] = [answer == classes[truth[int(sample)]] for sample, answer in zip(frame["sample"], frame["answer"])]
    outliers = named(run, "human_outliers")[0]["facts"]["outliers"]
    expected = frame[~frame["who"].isin(outliers)].groupby("sample")["right"].mean().mean()
    (finding,) = named(run, "human_accuracy", type="none")
    assert finding["value"] == pytest.approx(expected)
    assert finding["value"] > 0.85


def test_people_of_cue_conflicts_enter_as_people(shared: Path, tmp_path: Path) -> None:
    """Ten people; the truth of a cue conflict is its shape, which people answer."""
    with gzip.open(shared / "cue_conflict" / "responses.csv.gz", "rt") as file:
        table = pd.read_csv(file)
    table = table[table["observer"].str.startswith("subject")]
    assert table["observer"].nunique() == 10
    data = f"cue:{shared}/cue_conflict/images"
    listing = snellen.load_data(data)
    by_stem = {Path(sample).stem: sample for sample in listing.samples.ids}
    table = table[table["image"].isin(by_stem)]
    table["response"] = table["response"].where(table["response"].isin(listing.classes), "")
    rows = [[row.observer, by_stem[row.image], row.response] for row in table.itertuples()]
    path = write(tmp_path / "people.csv", rows, "observer,sample,pred")
    audit = f"occluders(synthetic=[], diffuse=[], lattices=[0.5], px=[4], people='{path}')"
    run = snellen.audit(
        constant(listing.classes, 32), data, audit, tmp_path / "run", quiet=True, report=False, limit=80
    )
    (finding,) = named(run, "human_accuracy", type="none")
    assert finding["n"] <= 80
    assert finding["value"] > 0.6
    assert json.dumps(run.results())


def test_nobody_is_an_outlier_among_those_who_stay() -> None:
    """Of 100 images p0 to p4 know 90, p5 to p7 a few less and p8 only 20. Without p8 the others have less spread, so that Tukey's
    rule would leave out p7 too: she would vanish, and the best eight with her."""
    known = {f"p{person}": 90 for person in range(5)} | {"p5": 89, "p6": 88, "p7": 86, "p8": 20}
    rows = [(who, f"i{image:02d}", image < right) for who, right in known.items() for image in range(100)]
    observer, sample, answer = (list(column) for column in zip(*rows))
    frame = {
        "observer": observer, "sample": sample, "label": [True] * 900, "answer": answer, "level": [0] * 900,
        "kind": [CLEAN] * 900, "hit": [float("nan")] * 900,
    }  # fmt: skip
    crowd = crowd_of(frame, {CLEAN: ("none",)}, None)
    assert crowd.everyone is not None
    assert crowd.everyone.outliers == ("p8",)
    assert tukey_outliers(list(known.values())[:-1], "low").tolist() == [False] * 7 + [True]
    top = best_people(crowd, {}, 8)
    assert top is not None
    assert set(top.observers) == set(known) - {"p8"}
    better_half = best_people(crowd, {}, None)
    assert better_half is not None
    assert better_half.people.value >= human_accuracy(crowd.frame, False, repeats=0).value
    assert len(better_half.observers) == 4
    assert set(better_half.people.normalised) == set(known) - {"p8"}


def test_the_best_are_never_below_all_people_who_saw_the_same_images() -> None:
    """Forty random crowds of five to twelve people with low outliers among them, whom Tukey's rule leaves out or not."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        people, images = int(random.integers(5, 13)), 30
        right = random.random((people, images)) < np.where(random.random(people) < 0.2, 0.2, 0.8)[:, None]
        count = people * images
        crowd = crowd_of({
            "observer": [f"p{place // images}" for place in range(count)],
            "sample": [f"i{place % images}" for place in range(count)], "label": [True] * count,
            "answer": right.ravel().tolist(), "level": [0] * count, "kind": [CLEAN] * count, "hit": [float("nan")] * count,
        }, {CLEAN: ("none",)}, None)  # fmt: skip
        best = best_people(crowd, {}, None)
        assert best is not None
        assert best.people.value >= human_accuracy(crowd.frame, False, repeats=0).value - 1e-12
