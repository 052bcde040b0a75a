"""From clips to a table with people in it: a subset of images, a study, simulated people over HTTP, measures, an audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.web.participants import make

import snellen
from snellen.build import hts
from snellen.measure import error_consistencies, human_accuracy
from snellen.models import from_callable
from snellen.web.study import ExportRequest, SimulateRequest, export_study, simulate_study

CLIPS = "phantom:test?size=32&n=240&frames=2&occlusion=0.6&object_size=0.5..0.8"
SEEN = 20  # images per person
SIGNS = {"dark": -1, "bright": 1}  # two models that answer by how bright an image is


def by_colour(sign: int, classes: int) -> Callable[[np.ndarray], np.ndarray]:
    def answer(images: np.ndarray) -> np.ndarray:
        steps = (sign * images.mean((1, 2, 3))).astype(int) % classes
        return np.eye(classes)[steps] * 0.9 + 0.1 / classes

    return answer


@pytest.mark.slow
def test_people_of_a_study_stand_beside_models_in_the_audit(tmp_path: Path) -> None:
    chosen = hts.build(CLIPS, tmp_path / "set", per=2, min_pixels=0, min_sharpness=0, workers=1)
    subset = f"manifest:{chosen.out}/index.csv"
    study, _ = make(tmp_path / "study", subset, size=32, participants=0, per_person=SEEN, catch=2, practice=1)
    law = {"accuracy": 0.85, "bad": 2, "twice": 0.2}
    simulated = simulate_study(SimulateRequest(study=study.path, people=20, **law))
    assert simulated.answers == 20 * (SEEN + 3)

    exported = export_study(ExportRequest(study=study.path, out=tmp_path / "answers"))
    answers = pd.read_csv(tmp_path / "answers" / "answers.csv")
    assert exported.answers == len(answers) == 20 * (SEEN)
    people = human_accuracy(answers)
    assert set(simulated.bad) == set(people.outliers)
    assert people.low < 0.85 < people.high  # planted
    good = answers[~answers["observer"].isin(people.outliers)]
    assert error_consistencies(good)["people", "people"].n > 0

    file = tmp_path / "answers" / "answers.csv"
    audit = f"occluders(synthetic=[], diffuse=[], lattices=[0.5], px=[4], people='{file}')"
    classes = snellen.load_data(subset).classes
    models = [
        from_callable(by_colour(sign, len(classes)), classes, 32, name=name, version="1")
        for name, sign in SIGNS.items()
    ]
    run = snellen.audit(models, subset, audit, tmp_path / "run", quiet=True)
    findings = pd.DataFrame(run.results()["findings"])
    beside = findings[findings["name"] == "error_consistency"]
    assert all(any(name in label for label in beside["label"]) for name in SIGNS)
    row = findings[(findings["model"] == "people") & findings["name"].str.contains("accuracy")]
    assert len(row)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "people" in page


@pytest.mark.slow
def test_people_of_a_study_made_from_a_run_are_one_more_model_of_its_audit(tmp_path: Path) -> None:
    data, audit = "phantom:test?size=32&n=24", "occlusion(areas=[0.5])"
    classes = snellen.load_data(data).classes
    dark = from_callable(by_colour(-1, len(classes)), classes, 32, name="dark", version="1")
    run = snellen.audit([dark], data, audit, tmp_path / "run", quiet=True, report=False)
    shown = {text for text in run.predictions()["distortion"] if not text.startswith("noise(")}  # but the yardstick
    make(tmp_path / "study", str(run.path), participants=0, per_person=None)
    simulate_study(SimulateRequest(study=tmp_path / "study", people=3 * len(shown), accuracy=0.7))
    export_study(ExportRequest(study=tmp_path / "study", out=tmp_path / "answers"))

    people = f"people=predictions:{tmp_path}/answers/answers.csv"
    both = snellen.audit([dark, people], data, audit, tmp_path / "both", quiet=True)
    answers = both.predictions()
    asked = answers.groupby("model")["distortion"].agg(set)
    assert asked["people"] == shown
    assert asked["dark"] == shown | {"noise(sigma=uniform(low=0, high=0.025))"}
    own = pd.read_csv(tmp_path / "answers" / "answers.csv")
    rows = answers.query("model == 'people'").set_index(["distortion", "sample"])
    for shown_image, said in own.groupby(["distortion", "sample"])["answer"]:
        row = rows.loc[shown_image]
        votes = said.value_counts()
        assert classes[row["pred"]] in votes.index[votes == votes.max()]
        assert row["confidence"] == pytest.approx(votes.max() / votes.sum())
    findings = both.findings().query("model == 'people'").set_index("name")
    assert (
        findings.loc["accuracy", "value"]
        == answers.query("model == 'people' and distortion == 'none()'")["score"].mean()
    )
    assert "noisy_accuracy" not in findings.index  # they were not shown it
    assert "nan" not in (tmp_path / "both" / "report.md").read_text().lower().split()
