"""Making a study: pixels, designs, questions, and input that is refused in one line and leaves nothing."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections import Counter

import httpx
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.commands import exit_code
from tests.web.participants import Running, answer_to, make, participant, running

import snellen
from snellen.data.people import read_people
from snellen.errors import UserError
from snellen.measure import IRUO_CLASSES, IRUO_TREE, human_accuracy
from snellen.web.study import (
    ExportRequest,
    SimulateRequest,
    StudyFolder,
    StudyRequest,
    StudyStore,
    create_study,
    export_study,
    progress_of,
    simulate_study,
)
from snellen.web.study.designs import check_design, choose
from snellen.web.study.export import COLUMNS
from snellen.web.study.folder import Item
from snellen.web.study.items import _joined
from snellen.web.study.questions import check_tree, leaves


def pixels_of(folder: StudyFolder, number: int) -> np.ndarray:
    return np.asarray(Image.open(folder.path / "pictures" / f"{number:06d}.png"))


def mask_of(study: Running, item: Item) -> np.ndarray:
    return np.asarray(Image.open(study.store.folder.path / "masks" / f"{item.number:06d}.png")) > 128


# --- pixels


def test_people_see_the_very_pixels_that_a_model_saw(tmp_path):
    seen: dict[bytes, int] = {}

    def model(images: np.ndarray) -> np.ndarray:
        for image in images:
            seen[np.asarray(image).tobytes()] = 1
        return np.full((len(images), 12), 1 / 12)

    data = "phantom:test?size=32&n=12"
    classes = snellen.load_data(data).classes
    noted = snellen.models.from_callable(model, classes=classes, size=32, name="noted")
    run = tmp_path / "run"
    snellen.audit([noted], data, audits="occlusion(areas=[0.5])", out=run, report=False)
    created = create_study(StudyRequest(source=str(run), out=tmp_path / "study", practice=0, catch=0, distortions=()))
    folder = StudyFolder(created.folder)
    texts = {item.distortion for item in folder.study.items}
    assert len(texts) >= 2  # the clean ones and those under a square, in several fills
    assert all(
        pixels_of(folder, item.number).transpose(0, 1, 2).tobytes() in seen
        or pixels_of(folder, item.number).transpose(2, 0, 1).tobytes() in seen
        for item in folder.study.items
    )


def test_every_person_has_the_same_pixels_and_the_seed_decides_them(tmp_path):
    ways = {"distortions": ("occlude(0.4, noise)",), "participants": 0}
    first, again, other = (make(tmp_path / name, seed=seed, **ways)[0] for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert [(first.path / "pictures" / f"{n:06d}.png").read_bytes() for n in range(30)] == [
        (again.path / "pictures" / f"{n:06d}.png").read_bytes() for n in range(30)
    ]
    assert (pixels_of(first, 0) != pixels_of(other, 0)).any()
    image = snellen.load_data("phantom:test?size=32&n=30")
    item = first.study.items[0]
    clean = image.read([image.samples.rows[item.sample]])[0].image
    expected = snellen.distort.apply("occlude(0.4, noise)", clean, ids=[item.sample], seed=1)
    assert (pixels_of(first, 0) == expected).all()


def test_the_level_is_that_of_the_data_where_they_have_several_and_else_the_distortion(tmp_path):
    ways = {"distortions": ("none()", "occlude(0.5)"), "catch": 1}
    for name, more, several in (("flat", "", False), ("covered", "&occlusion=0.6", True)):
        source = f"phantom:test?size=32&n=30{more}"
        data = snellen.load_data(source).samples
        of_data = dict(zip(data.ids, data.columns["level"]))
        assert (len(set(of_data.values())) > 1) == several
        for item in make(tmp_path / name, source, **ways)[0].study.items:
            assert item.level == (str(of_data[item.sample]) if several else item.distortion)


# --- designs


@pytest.mark.parametrize("sizes", [[1] * 17, [3] * 8, [4, 1, 1, 1, 1, 2, 2, 2, 2], [2, 2, 1]])
def test_balanced_ratings_differ_by_at_most_one_after_every_person(sizes):
    sources = [f"s{number}" for number, size in enumerate(sizes) for _ in range(size)]
    rng = np.random.default_rng(0)
    for count in range(1, len(sources) // max(sizes) + 1):
        check_design("balanced", count, sources)
        seen = [0] * len(sources)
        for _ in range(60):
            chosen = choose("balanced", count, sources, seen, rng)
            assert len(chosen) == len({sources[item] for item in chosen}) == count
            for item in chosen:
                seen[item] += 1
            assert max(seen) - min(seen) <= 1


def test_a_partition_shows_each_image_once_and_ends():
    sources = [f"s{number // 2}" for number in range(30)]
    rng, seen, rounds = np.random.default_rng(0), [0] * 30, 0
    while chosen := choose("partition", 7, sources, seen, rng):
        rounds += 1
        assert len({sources[item] for item in chosen}) == len(chosen)
        for item in chosen:
            seen[item] += 1
    assert seen == [1] * 30
    assert rounds == 5


def test_random_images_are_as_likely_each_and_never_of_one_source_twice():
    sources = [f"s{number}" for number in range(552)]
    rng = np.random.default_rng(0)
    counts = Counter(item for _ in range(400) for item in choose("random", 200, sources, [0] * 552, rng))
    expected = 400 * 200 / 552
    assert (
        sum((counts[item] - expected) ** 2 / (expected * (1 - 200 / 552)) for item in range(552))
        < 552 + 4 * (2 * 552) ** 0.5
    )
    assert all(len(set(choose("random", 3, ["a", "a", "b", "c"], [0] * 4, rng)) & {0, 1}) == 1 for _ in range(20))


def test_a_design_that_cannot_be_kept_is_refused():
    with pytest.raises(UserError, match="a person can see 2 images, one per source, got per_person 3; give at most 2"):
        check_design("random", 3, ["a", "a", "b"])
    with pytest.raises(
        UserError, match="one source has 2 of 3 images, and a person sees one of them; give per_person 1"
    ):
        check_design("balanced", 2, ["a", "a", "b"])


@pytest.mark.parametrize("design", ["random", "balanced", "partition"])
def test_no_person_sees_a_clip_instance_twice(tmp_path, design):
    source = "phantom:test?size=32&n=60&frames=3"
    data = snellen.load_data(source).samples
    instance_of = dict(zip(data.ids, data.columns["instance"]))
    settings = {
        "design": design,
        "participants": 3,
        "practice": 2,
        "catch": 2,
        "per_person": None,
        "distortions": ("none()", "occlude(0.5)"),
    }
    with running(tmp_path / "study", source, **settings) as study:
        for name in study.links:
            with participant(study, name):
                trials = study.store.trials(study.store.person(study.links[name]))
            instances = [instance_of[study.store.item(trial).sample] for trial in trials]
            assert len(set(instances)) == len(instances) == 16 + 2 + 2
            kinds = [study.store.item(trial).kind for trial in trials]
            assert kinds[:2] == ["practice"] * 2
            assert Counter(kinds) == {"practice": 2, "catch": 2, "main": 16}


def test_another_column_shows_no_instance_twice_either(tmp_path):
    source = "phantom:test?size=32&n=60&frames=3"  # three frames, and every instance is in all of them
    with pytest.raises(UserError, match="a person can see 1 images, one per source, got per_person 2; give at most 1"):
        make(tmp_path / "study", source, apart="frame", per_person=2)


@pytest.mark.parametrize(
    ("first", "second", "groups"),
    [
        ("aabcd", "12234", [{0, 1, 2}, {3}, {4}]),
        ("12234", "aabcd", [{0, 1, 2}, {3}, {4}]),
        ("abc", "121", [{0, 2}, {1}]),
        ("abcd", "1234", [{0}, {1}, {2}, {3}]),
        ("abab", "1122", [{0, 1, 2, 3}]),
    ],
)
def test_images_that_are_linked_by_either_column_have_one_source(first, second, groups):
    names = _joined(first, second)
    assert [{row for row, own in enumerate(names) if own == name} for name in dict.fromkeys(names)] == groups


def test_the_consent_names_all_that_is_stored(tmp_path):
    for recruit in (False, True):
        folder, _ = make(tmp_path / f"study-{recruit}", recruit=recruit)
        text = folder.study.consent
        assert all(word in text for word in ("answers", "times", "size", "pixels", "refresh rate", "touch"))
        assert ("ids under which the site that sent you knows you" in text) == recruit


# --- questions


def test_the_published_tree_leads_to_every_class_in_its_depth():
    check_tree(IRUO_TREE, IRUO_CLASSES, "iruo")
    assert set(leaves(IRUO_TREE)) == set(IRUO_CLASSES)
    with pytest.raises(
        UserError, match="tree 'iruo' misses the class 'unicorn' of the data; add a line 'unicorn: PARENT'"
    ):
        check_tree(IRUO_TREE, [*IRUO_CLASSES, "unicorn"], "iruo")
    with pytest.raises(UserError, match="class 'mammal' has others under it in tree 'iruo'"):
        check_tree(IRUO_TREE, ["mammal"], "iruo")
    with pytest.raises(UserError, match="has a circle at"):
        check_tree({"a": "b", "b": "c", "c": "b", "d": "root"}, ["a"], "x")
    with pytest.raises(UserError, match="expected one root in tree 'x'"):
        check_tree({"a": "r", "b": "s"}, ["a"], "x")


def test_other_leaves_are_named_in_the_published_protocol(tmp_path):
    for name in IRUO_CLASSES:
        (tmp_path / "photos" / name).mkdir(parents=True)
        Image.new("RGB", (16, 16), (len(name), 99, 99)).save(tmp_path / "photos" / name / "1.png")
    folder, _ = make(tmp_path / "study", f"folder:{tmp_path / 'photos'}", protocol="kassaw2024", size=16)
    question = folder.study.question
    assert len(question.answers) == 23
    assert [question.labels[name] for name in ("bird", "cat", "bear", "giant_panda")] == [
        *("other bird", "other cat", "other bear", "giant panda"),
    ]
    assert question.click
    assert question.cross


# --- what is refused


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"source": "phantom:test?size=32&n=30", "tree": "iruo"}, "tree 'iruo' misses the class 'disc'"),
        ({"source": "phantom:test?size=32&n=5"}, "class '.*' of .* has no image; leave it out with"),
        (
            {"source": "phantom:test?size=32&n=30", "practice": 20, "catch": 20},
            "has 30 sources, and 20 practice and 20 catch",
        ),
        ({"source": "phantom:test?size=32&n=30", "distortions": ("salient(0.3)",)}, "needs the maps of a model"),
        ({"source": "phantom:test?size=32&n=30", "protocol": "better-map"}, "needs the maps of a run"),
        ({"source": "phantom:test?size=32&n=30", "apart": "clan"}, "has no column 'clan'"),
        (
            {"source": "phantom:test?size=32&n=30", "completion": "http://a.example"},
            "a code or an address with https://",
        ),
        ({"source": "phantom:test?size=32&n=30", "retention": "soon"}, "expected retention as YYYY-MM-DD, got 'soon'"),
        (
            {"source": "phantom:test?size=32&n=30", "database": "postgresql://a:b@127.0.0.1:1/c"},
            "cannot open postgresql",
        ),
    ],
)
def test_what_makes_no_study_is_one_line_and_leaves_nothing(tmp_path, settings, words):
    with pytest.raises(UserError, match=words):
        create_study(StudyRequest(out=tmp_path / "study", **settings))
    assert not (tmp_path / "study").exists()


def test_an_unreadable_image_is_named_and_leaves_nothing(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(4):
            Image.new("RGB", (16, 16), (number, 9, 9)).save(tmp_path / "photos" / name / f"{number}.png")
    (tmp_path / "photos" / "b" / "3.png").write_bytes(b"no image")
    with pytest.raises(UserError, match=r"image 'b/3\.png' of folder:.* cannot be shown"):
        create_study(
            StudyRequest(source=f"folder:{tmp_path / 'photos'}", out=tmp_path / "study", size=16, practice=0, catch=0)
        )
    assert not (tmp_path / "study").exists()


def test_a_study_folder_of_another_version_is_one_line_and_left_as_it_is(tmp_path):
    folder, _ = make(tmp_path / "study")
    path = folder.path / "study.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"version": 2}))
    with pytest.raises(
        UserError, match=r"study\.json is of version 2, this snellen reads version 1; use the snellen that made"
    ):
        StudyFolder(folder.path)
    done = subprocess.run(
        [sys.executable, "-m", "snellen", "study", "status", folder.path], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    path.write_text(json.dumps(content | {"schema": "recipe"}))
    with pytest.raises(UserError, match="is of schema 'recipe', expected 'snellen study'"):
        StudyFolder(folder.path)
    with pytest.raises(UserError, match="is not a study folder: it has no study.json"):
        StudyFolder(tmp_path)
    assert (folder.path / "study.sqlite").stat().st_size > 0
    with pytest.raises(UserError, match="has a study already; choose another out"):
        make(tmp_path / "study")


@pytest.mark.parametrize(("date", "reminds"), [("2001-01-31", True), ("2999-01-31", False)])
def test_after_the_date_until_which_answers_are_kept_one_is_reminded(tmp_path, capsys, date, reminds):
    folder, _ = make(tmp_path / "study", retention=date)
    assert exit_code(["study", "status", str(folder.path)]) == 0
    told = "answers were to be kept until 2001-01-31: delete the study, its backups and its exports"
    assert (told in capsys.readouterr().err) == reminds


def test_a_damaged_store_or_study_is_one_line(tmp_path):
    folder, _ = make(tmp_path / "study")
    path = folder.path / "study.json"
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole | {"items": whole["items"][1:]}))
    with pytest.raises(UserError, match="does not number its items from 0 on, so it was changed"):
        StudyFolder(folder.path)
    path.write_text(json.dumps(whole | {"settings": whole["settings"] | {"design": "by taste"}}))
    with pytest.raises(UserError, match=r"study\.json"):
        StudyFolder(folder.path)
    path.write_text(json.dumps(whole))
    StudyStore(StudyFolder(folder.path)).close()
    store = StudyStore(StudyFolder(folder.path))
    with sqlite3.connect(folder.path / "study.sqlite") as connection:
        connection.execute("alter table people rename column state to mood")
    connection.close()
    with pytest.raises(
        UserError, match=r"cannot read .*study\.sqlite: no such column: .*state; stop the server and restore"
    ):
        progress_of(store)
    store.close()


# --- the loop: simulated people, export, measures


def test_twenty_simulated_people_two_of_them_bad_are_exported_as_measures_read_them(tmp_path):
    source = "phantom:test?size=32&n=48"
    folder, _ = make(tmp_path / "study", source, participants=0, per_person=30, catch=4, practice=2)
    simulated = simulate_study(SimulateRequest(study=folder.path, people=20, bad=2, accuracy=0.9, twice=0.3))
    assert simulated.answers == 20 * (30 + 4 + 2)
    for style in ("csv", "parquet"):
        request = ExportRequest(study=folder.path, out=tmp_path / style, format=style)
        assert export_study(request).answers == 600
    answers = pd.read_csv(tmp_path / "csv" / "answers.csv")
    assert tuple(answers.columns[: len(COLUMNS)]) == COLUMNS
    assert len(answers) == len(answers.drop_duplicates(["observer", "sample"])) == 600
    again = pd.read_parquet(tmp_path / "parquet" / "answers.parquet")
    assert (again["answer"].to_numpy() == answers["answer"].to_numpy()).all()
    ratings = answers.groupby("sample").size()
    assert ratings.max() - ratings.min() <= 1
    people = human_accuracy(answers)
    assert set(simulated.bad) <= set(people.outliers)
    assert 0.85 < people.value < 0.95  # planted: 0.9
    assert len(read_people(str(tmp_path / "csv" / "answers.csv"))) == 600
    observers = pd.read_csv(tmp_path / "csv" / "observers.csv").set_index("observer")
    assert (observers.loc[list(simulated.bad), "catch_right"] < 4).all()
    assert not (tmp_path / "csv" / "recruiting_ids.csv").exists()


def test_recruiting_ids_are_exported_only_when_wanted_and_clicks_with_their_hit(tmp_path):
    with running(tmp_path / "study", protocol="kassaw2024", tree="data", recruit=True, participants=0) as study:
        with httpx.Client(base_url=study.url) as client:
            state = client.post(
                "/api/arrive", json={"PROLIFIC_PID": "rosa1871", "STUDY_ID": "=1+1", "SESSION_ID": "\x1b[2J"}
            ).json()
            client.headers["x-csrf-token"] = state["csrf"]
            state = client.post("/api/consent", json={"agreed": True}).json()
            assert "snellen_study_arrival" not in client.cookies
            item = study.item_at(state["current"]["trial"])
            rows, columns = np.nonzero(mask_of(study, item))
            inside = {"x": float(columns[0]) + 0.5, "y": float(rows[0]) + 0.5}
            state = client.post("/api/answer", json=answer_to(state["current"]["trial"], item.label, **inside)).json()
            item = study.item_at(state["current"]["trial"])
            rows, columns = np.nonzero(~mask_of(study, item))
            beside = {"x": float(columns[0]), "y": float(rows[0])}
            client.post("/api/answer", json=answer_to(state["current"]["trial"], item.label, **beside))
        plain = export_study(ExportRequest(study=tmp_path / "study", out=tmp_path / "plain"))
        wanted = export_study(ExportRequest(study=tmp_path / "study", out=tmp_path / "ids", recruiting_ids=True))
    assert all(b"rosa1871" not in file.read_bytes() for file in plain.files)
    ids = pd.read_csv(wanted.files[-1]).to_dict("records")
    assert wanted.files[-1].stat().st_mode & 0o777 == 0o600
    assert ids == [{"observer": "p001", "pid": "rosa1871", "study": "'=1+1", "session": "\\x1b[2J"}]
    assert pd.read_csv(plain.files[0])["on_target"].tolist() == [1, 0]
