"""The type `explanation`: people compare two models' maps without knowing whose they are, or tell from a map who is right."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.web.browsing import NEEDS_CHROMIUM, come_in, trial_of, wait_for_done
from tests.web.participants import answer_to, participant, running

import snellen
from snellen.errors import UserError
from snellen.explain.overlays import overlay
from snellen.measure import human_accuracy
from snellen.web.study import ExportRequest, StudyRequest, create_study, export_study

DATA = "phantom:test?size=32&n=24"


@pytest.fixture(scope="module")
def maps_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with Grad-CAM maps of two small networks."""
    folder = tmp_path_factory.mktemp("maps")
    nets = [
        f"{name}={snellen.train.train(snellen.train.preset('fast', epochs=1), DATA, folder / name, seed=seed)[0]}"
        for name, seed in (("firstnet", 0), ("secondnet", 1))
    ]
    snellen.audit(nets, DATA, audits="inside_mask", out=folder / "run", report=False)
    return folder / "run"


def shown_maps(page: Any) -> list[np.ndarray]:
    """What the canvases of a page show, from left to right, one pixel of the screen per pixel of the picture."""
    boxes = [canvas.bounding_box() for canvas in page.locator("canvas").all()]
    screen = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    places = [[round(box[name]) for name in ("x", "y", "width", "height")] for box in boxes]
    return [screen[y : y + high : high // 32, x : x + wide : wide // 32] for x, y, wide, high in places]


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_people_choose_the_better_of_two_maps_without_knowing_whose_they_are(browser, tmp_path, maps_run):
    run, sides, wanted = snellen.load_run(maps_run), Counter[str](), []
    maps = {name: run.maps(name, method="gradcam") for name in ("firstnet", "secondnet")}
    data = snellen.load_data(DATA)
    with running(tmp_path / "study", str(maps_run), protocol="better-map", participants=3, per_person=4) as study:
        for name in study.links:
            page = come_in(browser, study, name)
            for count in range(1, 5):
                page.wait_for_selector("#trial:not([hidden]) #choices button")
                item = study.item_at(trial_of(page))
                assert not any(model in page.content() for model in maps)
                row = data.samples.ids.index(item.sample)
                image = data.read([row])[0].pixels
                own = {overlay(image, heat.of([item.sample])[0]).tobytes(): model for model, heat in maps.items()}
                left, right = (own[np.ascontiguousarray(shown).tobytes()] for shown in shown_maps(page))
                assert left != right
                sides[left] += 1
                page.keyboard.press("12"[count % 2])
                wanted.append((item.sample, (left, right)[count % 2]))
                wait_for_done(page, count)
            page.context.close()
        exported = export_study(ExportRequest(study=tmp_path / "study", out=tmp_path / "answers"))
    answers = pd.read_csv(exported.files[0])
    assert Counter(zip(answers["sample"], answers["answer"])) == Counter(wanted)  # models, whatever side they were on
    assert set(sides) == set(maps)  # each was on the left at times


@pytest.mark.slow
def test_people_tell_from_a_map_whether_the_model_is_right(tmp_path, maps_run):
    with running(tmp_path / "study", str(maps_run), protocol="trust-map", participants=2, per_person=12) as study:
        run = snellen.load_run(maps_run).predictions()
        own = run[(run["model"] == "firstnet") & (run["distortion"] == "none()")].set_index("sample")["score"]
        for item in study.store.study.items:
            assert item.label == ("right" if own[item.sample] == 1 else "wrong")
        for name, said in zip(study.links, ("right", "wrong")):
            with participant(study, name) as client:
                while trial := client.get("/api/state").json()["current"]:
                    assert len(trial["pictures"]) == 1
                    client.post("/api/answer", json=answer_to(trial["trial"], said))
        exported = export_study(ExportRequest(study=tmp_path / "study", out=tmp_path / "answers"))
    answers = pd.read_csv(exported.files[0])
    always = answers[answers["observer"] == "p001"]
    truth = np.mean([own[sample] == 1 for sample in always["sample"]])
    assert (
        always["answer"] == always["label"]
    ).mean() == truth  # who always says "right" is right as often as the model
    assert human_accuracy(answers, remove_outliers=False).value == pytest.approx(
        (answers["answer"] == answers["label"]).mean()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"source": DATA, "protocol": "better-map"}, "needs the maps of a run; give a run folder, not data"),
        ({"protocol": "trust-map", "distortions": ("none()",)}, "shows maps of clean images; leave"),
        (
            {"protocol": "trust-map", "distortions": ("blur(2)",)},
            r"'firstnet' of .* did not see blur.*; give none\(\), or",
        ),
        ({"protocol": "better-map", "against": "thirdnet"}, "unknown model 'thirdnet'"),
        ({"protocol": "better-map", "method": "rise"}, "rise"),
    ],
)
def test_maps_that_are_not_there_are_one_line(tmp_path, maps_run, settings, words):
    with pytest.raises(UserError, match=words) as error:
        create_study(StudyRequest(out=tmp_path / "study", **{"source": str(maps_run)} | settings))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "study").exists()
