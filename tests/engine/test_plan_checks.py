"""What a plan allows is decided by the models' cards and answers, before anything is asked or written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.cli import main
from snellen.errors import UserError
from snellen.explain.methods import METHODS, Method

WORLD = "phantom:test?size=16&n=12"
SALIENT = "interference([salient(0.3, most, black) | shuffle(2)])"
NETS = """
import numpy as np

def rule():
    return lambda images: np.full((len(images), 12), 1 / 12)

def seven():
    return lambda images: np.full((len(images), 7), 1 / 7)

def named():
    from snellen.models import from_callable
    return from_callable(lambda images: np.full((len(images), 7), 1 / 7), classes=["disc", "ring"], version="1")

def layers():
    import torch
    return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 7))
"""


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a callable model and a file of recorded answers to the clean images."""
    (tmp_path / "nets.py").write_text(NETS)
    record(tmp_path / "people.csv", ["none()", "noise(uniform(0, 0.025))"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(file: Path, distortions: list[str], pred: str | None = None) -> None:
    """Write a file of recorded answers to the world's images; right ones where no `pred` is named."""
    data = snellen.load_data(WORLD)
    labels = [data.classes[label] if pred is None else pred for label in data.samples.labels]
    frames = [pd.DataFrame({"sample": data.samples.ids, "pred": labels, "distortion": one}) for one in distortions]
    pd.concat(frames).to_csv(file, index=False)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


@pytest.mark.parametrize("model", ["observer:texture", "python:nets.py:rule", "predictions:people.csv"])
@pytest.mark.parametrize("dry", [True, False])
def test_hiding_what_matters_to_a_model_without_gradients_is_refused_in_the_plan(at, capsys, model, dry) -> None:
    flags = ["--dry-run"] if dry else []
    assert run("audit", f"mine={model}", "--data", WORLD, "--audits", SALIENT, "--out", "r", *flags) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "salient(share=0.3" in error
    assert "needs the gradients of a torch network, which 'mine' is not" in error
    assert "maskings that need none are occlude, tiles and fourier" in error
    assert not (at / "r").exists()


def test_a_refused_question_leaves_the_run_that_fresh_would_replace(at) -> None:
    run("audit", "observer:texture", "--data", WORLD, "--audits", "interference([shuffle(2)])", "--out", "r", "--quiet")
    before = {path: path.read_bytes() for path in (at / "r").rglob("*") if path.is_file()}
    assert run("audit", "observer:texture", "--data", WORLD, "--audits", SALIENT, "--out", "r", "--fresh") == 2
    assert before == {path: path.read_bytes() for path in (at / "r").rglob("*") if path.is_file()}


@pytest.mark.parametrize("dry", [True, False])
def test_recorded_answers_that_lack_a_distortion_are_refused_in_the_plan(at, capsys, dry) -> None:
    flags = ["--dry-run"] if dry else []
    audits = "interference([shuffle(2)])"
    base = ("audit", "observer:texture", "people=predictions:people.csv", "--data", WORLD, "--audits", audits)
    assert run(*base, "--out", "r", *flags) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "'predictions:people.csv' has no answer for sample" in error
    assert "under shuffle(grid=2), seed 0; add it, or ask only for audits whose distortions it answers" in error
    assert not (at / "r").exists()


def test_recorded_answers_need_none_under_the_yardstick_but_all_or_none(at) -> None:
    record(at / "seen.csv", ["none()", "shuffle(2)"])
    models = ["observer:texture", "seen=predictions:seen.csv"]
    run = snellen.audit(models, WORLD, "interference([shuffle(2)])", out="r", quiet=True, report=False)
    asked = run.predictions().groupby("model")["distortion"].agg(set)
    assert asked["seen"] == {"none()", "shuffle(grid=2)"}
    assert asked["texture"] == asked["seen"] | {"noise(sigma=uniform(low=0, high=0.025))"}
    findings = json.loads((at / "r" / "findings.json").read_text())["findings"]
    own = {finding["name"]: finding for finding in findings if finding["model"] == "seen"}
    assert "noisy_accuracy" not in own
    assert own["distorted_accuracy"]["interference"]["noise"] is None
    assert own["distorted_accuracy"]["interference"]["state"] == "unclear"
    assert "no answers under mild noise to compare with" in own["distorted_accuracy"]["interference"]["text"]
    table = pd.read_csv(at / "seen.csv").assign(distortion="noise(uniform(0, 0.025))").head(1)
    pd.concat([pd.read_csv(at / "seen.csv"), table]).to_csv(at / "some.csv", index=False)
    with pytest.raises(UserError, match=r"'predictions:some.csv' has no answer for sample '.*' under noise\("):
        snellen.audit("predictions:some.csv", WORLD, "interference([shuffle(2)])", out="s", quiet=True)


def test_recorded_answers_that_name_no_class_of_the_data_are_refused_in_the_plan(at) -> None:
    record(at / "odd.csv", ["none()", "noise(uniform(0, 0.025))", "shuffle(2)"], "rign")
    with pytest.raises(UserError, match=r"unknown class in predictions:odd.csv 'rign'; did you mean 'ring'\?"):
        snellen.audit("predictions:odd.csv", WORLD, "interference([shuffle(2)])", out="r", quiet=True)
    assert not (at / "r").exists()


def test_recorded_answers_are_looked_up_again_only_where_they_are_still_to_be_asked(at) -> None:
    record(at / "all.csv", ["none()", "noise(uniform(0, 0.025))", "shuffle(2)"])
    text, audits = "all=predictions:all.csv", "interference([shuffle(2)])"
    first = snellen.audit(text, WORLD, audits, out="r", quiet=True, report=False)
    again = snellen.audit(text, WORLD, audits, out="r", quiet=True, report=False)
    pd.testing.assert_frame_equal(first.predictions(), again.predictions())


def test_a_method_that_needs_no_gradients_is_allowed_for_any_model_that_can_be_shown_images(at, monkeypatch) -> None:
    from snellen.lazy_torch import torch

    def brightness(model, images, targets, layer):
        return images.float().mean(1) / 255

    monkeypatch.setitem(METHODS, "bright", Method(brightness, "how bright a pixel is", gradients=False))
    audits = "interference([salient(0.25, most, black, method=bright)])"
    asked = snellen.audit("observer:texture", WORLD, audits, out="r", quiet=True, report=False)
    maps = asked.maps("texture", method="bright")
    photos = np.stack([photo.image for photo in snellen.load_data(WORLD).read(range(12))])
    expected = torch.from_numpy(photos).float().mean(3).numpy()
    peaks = expected.max((1, 2), keepdims=True)
    assert maps.maps / 65535 == pytest.approx(expected / peaks, abs=1e-4)  # each divided by its maximum, in 16 bits
    with pytest.raises(UserError, match=r"method=bright.* 'people' holds only recorded answers"):
        snellen.audit("people=predictions:people.csv", WORLD, audits, out="other", quiet=True)


def test_an_unknown_method_is_refused_in_the_plan(at) -> None:
    with pytest.raises(UserError, match="unknown method of maps 'gradcan'; did you mean 'gradcam'"):
        snellen.audit("observer:texture", WORLD, "interference([salient(0.3, method=gradcan)])", out="r", quiet=True)
    assert not (at / "r").exists()


@pytest.mark.parametrize("factory", ["seven", "named", "layers"])
def test_a_number_of_classes_that_does_not_fit_is_refused_before_a_folder_is_made(at, capsys, factory) -> None:
    """Whichever of the models it is; and a run that `--fresh` would replace stays."""
    base = ("--data", WORLD, "--audits", "interference([shuffle(2)])", "--out", "r", "-q")
    wrong = ("audit", "observer:texture", f"python:nets.py:{factory}", *base)
    assert run(*wrong) == 2
    wanted = 2 if factory == "named" else 12
    assert f"the model answers 7 classes where {wanted} were expected; " in capsys.readouterr().err
    assert not (at / "r").exists()
    run("audit", "observer:texture", *base)
    before = {path: path.read_bytes() for path in (at / "r").rglob("*") if path.is_file()}
    assert run(*wrong, "--fresh") == 2
    assert before == {path: path.read_bytes() for path in (at / "r").rglob("*") if path.is_file()}
