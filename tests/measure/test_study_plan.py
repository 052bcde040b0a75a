"""The plan of a study: planted variances by a pilot, power by simulation, monotone in people and images, the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from snellen.cli.study_plan import plan
from snellen.errors import UserError
from snellen.measure import (
    StudyAssumptions,
    error_consistency,
    human_gap,
    pilot_assumptions,
    plan_study,
    study_power,
)


def crowd(
    people: int, images: int, seed: int, accuracy: float = 0.85
) -> tuple[dict[str, list], np.ndarray, np.ndarray]:
    """A probit law of people and of a model at 0.75 that depends on what makes images easy as they do."""
    random, normal = np.random.default_rng(seed), NormalDist()
    ease, skill = 0.8 * random.normal(size=images), 0.3 * random.normal(size=(people, 1))
    bound = -normal.inv_cdf(accuracy) * (1 + 0.09 + 0.64) ** 0.5
    right = (skill + ease + random.normal(size=(people, images)) > bound).astype(int)
    model = (ease + random.normal(size=images) > -normal.inv_cdf(0.75) * 1.64**0.5).astype(float)
    who, what = np.divmod(np.arange(right.size), images)
    columns = {
        "observer": who.tolist(),
        "sample": what.tolist(),
        "label": [1] * right.size,
        "answer": right.ravel().tolist(),
    }
    return columns, right, model


def test_a_pilot_gives_back_what_was_planted() -> None:
    columns, right, model = crowd(40, 2000, 1)
    known = pilot_assumptions(columns, dict(enumerate(model)))
    assert known.people == pytest.approx(right.mean())
    assert known.model == model.mean()
    assert known.kappa == pytest.approx(error_consistency(right, model, repeats=0).value)
    assert known.consistency == pytest.approx(error_consistency(right, repeats=0).value, abs=0.02)
    assert known.spread == pytest.approx(right.mean(1).std(ddof=1), abs=0.01)


def test_power_by_hand_where_people_are_alike_and_images_too() -> None:
    # No consistency and no spread: q_j is the same for all images, so the model's right answers are all that images add.
    known = StudyAssumptions(0.8, 0.7, kappa=0, consistency=0, spread=0)
    image, luck = 0.7 * 0.3 / 400, 0.8 * 0.2 / (400 * 10)
    images, people = 399 / 400, 9 / 10  # by how much resamples of so many vary less than they should
    stated = images * (image + luck) + people * luck + images * people * luck
    expected = NormalDist().cdf((0.1 - 1.96 * stated**0.5) / (image + luck) ** 0.5)
    assert study_power(known, 0.1, 10, 400) == pytest.approx(expected, abs=1e-3)


def test_more_people_and_images_never_lessen_power_and_a_plan_is_the_fewest() -> None:
    known = StudyAssumptions(0.85, 0.75, 0.15, 0.25, 0.04)
    for effect, difference in (("gap", 0.1), ("kappa", 0.1)):
        powers = [study_power(known, difference, people, 200, None, effect) for people in (2, 5, 10, 40)]
        assert powers == sorted(powers)
        powers = [study_power(known, difference, 10, images, None, effect) for images in (50, 100, 400, 1000)]
        assert powers == sorted(powers)
        for option in plan_study(known, difference, effect).options:
            if option.people > 2:
                assert study_power(known, difference, option.people, option.images, None, effect) >= 0.8
                assert study_power(known, difference, option.people - 1, option.images, None, effect) < 0.8
    impossible = plan_study(known, 0.02, images=[50]).options[0]
    assert (impossible.people, impossible.answers) == (0, 0)
    assert impossible.power < 0.8


@pytest.mark.slow
def test_achieved_power_is_the_planned_one() -> None:
    """A sample of benchmarks/study_power.py: 100 studies of 10 people and 150 images."""
    large, _, model = crowd(40, 2000, 2)
    planned = study_power(pilot_assumptions(large, dict(enumerate(model))), 0.1, 10, 150)
    shown = 0
    for seed in range(100):
        columns, _, own = crowd(10, 150, 100 + seed)
        found = human_gap(columns, dict(enumerate(own)), (), repeats=300)[()]
        shown += found.low > 0
    assert abs(shown / 100 - planned) < 0.05 + 2 * 0.05


def test_what_cannot_be_assumed_is_refused() -> None:
    with pytest.raises(
        ValueError, match=re.escape("accuracies of 0.9 and 0.5 allow a kappa from -0.20 to 0.20, got 0.6")
    ):
        StudyAssumptions(0.9, 0.5, 0.6)
    with pytest.raises(ValueError, match="expected the accuracy of the people between 0 and 1, got 1"):
        StudyAssumptions(1.0, 0.5)
    with pytest.raises(ValueError, match="expected a difference between 0 and 1, got 0"):
        study_power(StudyAssumptions(0.9, 0.8), 0.0, 5, 50)
    with pytest.raises(ValueError, match="a pilot needs two people and a model that err on some of the same images"):
        pilot_assumptions(
            {"observer": ["a"] * 2, "sample": [0, 1], "label": [1, 1], "answer": [1, 0]}, {0: 1.0, 1: 0.0}
        )


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()
    app.command("plan")(plan)
    app.command("other")(lambda: None)
    return app


def test_the_command_plans_from_numbers_and_from_a_pilot(command: typer.Typer, tmp_path: Path) -> None:
    stated = CliRunner().invoke(command, ["plan", "--gap", "0.1", "--images", "100,400", "--json"])
    assert stated.exit_code == 0, stated.output
    known = StudyAssumptions(0.9, 0.8, 0.1, 0.3, 0.04)
    options = plan_study(known, 0.1, images=(100, 400)).options
    assert [option["people"] for option in json.loads(stated.stdout)["options"]] == [
        option.people for option in options
    ]
    columns, right, model = crowd(6, 80, 4)
    rows = [
        f"{who},{what},1,{said},none(),1"
        for who, what, said in zip(*(columns[name] for name in ("observer", "sample", "answer")))
    ]
    (tmp_path / "export.csv").write_text("observer,sample,label,answer,distortion,on_target\n" + "\n".join(rows))
    answers = "\n".join(f"{what},{int(each)}" for what, each in enumerate(model))
    (tmp_path / "model.csv").write_text("sample,pred\n" + answers)
    files = ["--pilot", str(tmp_path / "export.csv"), "--model", str(tmp_path / "model.csv")]
    piloted = CliRunner().invoke(command, ["plan", "--kappa-difference", "0.1", *files])
    assert piloted.exit_code == 0, piloted.output
    assert f"people {right.mean():.1%}" in piloted.stdout
    for words, reason in (
        (["--gap", "0.1", "--kappa-difference", "0.1"], "expected one of --gap and --kappa-difference"),
        (["--gap", "0.1", *files[:2]], "a pilot needs --pilot"),
        (["--gap", "0.1", "--kappa", "0.99"], "allow a kappa from"),
    ):
        refused = CliRunner().invoke(command, ["plan", *words])
        assert isinstance(refused.exception, UserError)
        assert reason.replace("--", "") in str(refused.exception).replace("--", "").replace("_", "-")
