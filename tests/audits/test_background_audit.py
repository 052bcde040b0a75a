"""The background audit: observers whose gap is known exactly, every number again from the stored answers, and refusals."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.audits import Exam, parse_audits
from snellen.data.phantom import World
from snellen.engine.keep.thumbnails import add_pictures
from snellen.errors import UserError
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.exam.run import Run
from snellen.measure import bg_gap, scale_leakage
from snellen.models import Model, from_callable
from snellen.report.first_screen import first_screen
from snellen.report.results import Results

SIZE = "size=32&n=240"
RIGHT = "select c.model, c.distortion, s.sample, s.class, a.score, w.donor_class, w.covered, w.excluded from answers a join cells c using (cell) join samples s on s.sample = a.sample join shown w on w.shown = c.shown and w.sample = a.sample"  # noqa: E501


def value(run: Run, name: str, model: str = "") -> float:
    found = [one for one in run.results()["findings"] if one["name"] == name and (not model or one["model"] == model)]
    assert len(found) == 1
    return found[0]["value"]


def test_an_observer_of_the_scene_has_the_gap_of_its_construction() -> None:
    """Every scene is its class's own: right on every background of its class, and on one of any class exactly where the
    donor happens to be of its class. With the object alone it guesses; without it nothing is missing."""
    run = snellen.audit(
        "observer:background", f"phantom:test?{SIZE}&background_bias=1", "background", quiet=True, report=False
    )
    shown = run.sql(RIGHT)
    rand = shown[shown["distortion"].str.contains("kind=mixed_rand")]
    lucky = (rand["donor_class"] == rand["class"]).mean()
    assert 0 < lucky < 0.2
    assert value(run, "bg_gap") == pytest.approx(1 - lucky)
    assert value(run, "mixed_rand_accuracy") == pytest.approx(lucky)
    assert value(run, "needs_background") == pytest.approx(1 - lucky)
    for name in ("mixed_same_accuracy", "no_fg_accuracy", "only_bg_b_accuracy", "only_bg_t_accuracy", "bg_gap_next"):
        assert value(run, name) == 1
    assert value(run, "mixed_next_accuracy") == 0
    assert value(run, "only_fg_accuracy") < 0.2
    same = shown[shown["distortion"].str.contains("kind=mixed_same")]
    assert (same["donor_class"] == same["class"]).all()


def test_an_observer_of_the_object_has_no_gap_at_all() -> None:
    run = snellen.audit(
        "observer:texture", f"phantom:test?{SIZE}&texture_bias=1", "background", quiet=True, report=False
    )
    for name in ("bg_gap", "bg_gap_next", "needs_background"):
        assert value(run, name) == 0
    for kind in ("only_fg", "mixed_same", "mixed_rand", "mixed_next"):
        assert value(run, f"{kind}_accuracy") == 1
    assert value(run, "only_bg_t_accuracy") < 0.2


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four models between scene and texture, on a world where either tells most but not all."""
    models = {f"m{share}": f"observer:mixture(background, texture, {share / 10})" for share in (1, 4, 6, 9)}
    data = f"phantom:test?{SIZE}&background_bias=0.8&texture_bias=0.7"
    out = tmp_path_factory.mktemp("runs") / "mixed"
    return snellen.audit(models, data, "background(bins=5, sigma=3)", out, quiet=True)


def one_model(run: Run, model: str) -> pd.DataFrame:
    """Right or wrong of each sample (rows) on each variant (columns), from the stored answers alone."""
    held = run.sql(RIGHT).query(f"model == '{model}'")
    kinds = held["distortion"].str.extract(r"kind=(\w+)", expand=False).fillna("original")
    clean = held["distortion"].str.startswith(("none", "background"))
    held = held.assign(kind=kinds, score=held["score"].astype(float))[clean]
    return held.pivot(index="sample", columns="kind", values="score")


@pytest.mark.parametrize("model", ["m1", "m9"])
def test_every_number_comes_again_from_the_stored_answers(mixed: Run, model: str) -> None:
    held = one_model(mixed, model)
    for kind in ("only_fg", "mixed_same", "mixed_rand", "mixed_next", "bg_blurred", "no_fg", "only_bg_b", "only_bg_t"):
        assert value(mixed, f"{kind}_accuracy", model) == pytest.approx(held[kind].mean())
    assert value(mixed, "bg_gap", model) == pytest.approx(held["mixed_same"].mean() - held["mixed_rand"].mean())
    assert value(mixed, "bg_gap_next", model) == pytest.approx(held["mixed_same"].mean() - held["mixed_next"].mean())
    assert value(mixed, "outline_gain", model) == pytest.approx(held["no_fg"].mean() - held["only_bg_b"].mean())
    full, fore, back = (held[kind] == 1 for kind in ("original", "mixed_rand", "only_bg_t"))
    counts = {
        "BG Irrelevant": (full == fore).sum(),
        "BG Required": (full & ~fore & back).sum(),
        "BG+FG Required": (full & ~fore & ~back).sum(),
        "BG Fools": (~full & fore & ~back).sum(),
        "BG+FG Fools": (~full & fore & back).sum(),
    }
    (needs,) = [f for f in mixed.results()["findings"] if f["name"] == "needs_background" and f["model"] == model]
    assert needs["facts"]["counts"] == counts
    assert needs["value"] == pytest.approx((full & ~fore).mean())
    for category, of_all in counts.items():
        assert sum(held[category] for held in needs["facts"]["by_class"].values()) == of_all


def test_sizes_are_those_of_the_true_boxes(mixed: Run) -> None:
    """The share that the blackened box covers is that of the object's true box; the bins and the leak follow from it."""
    world = World("test", size=32, n=240, background_bias=0.8, texture_bias=0.7)
    truth = world.truth(range(240))
    x0, y0, x1, y1 = np.asarray(truth.boxes, float).reshape(-1, 4).T
    area = (x1 - x0) * (y1 - y0) / 32**2
    shown = mixed.sql(RIGHT).query("model == 'm4' and distortion.str.contains('only_bg_b')").sort_values("sample")
    assert sorted(shown["covered"]) == pytest.approx(sorted(area))
    (effect,) = [f for f in mixed.results()["findings"] if f["name"] == "size_effect" and f["model"] == "m4"]
    counted = np.histogram(area, np.linspace(0, 1, 6))[0]
    assert [one["n"] for one in effect["facts"]["bins"]] == counted.tolist()
    held = one_model(mixed, "m4")["only_bg_t"]
    assert effect["facts"]["overall"] == pytest.approx(held.mean())
    labels = shown["class"].to_numpy()
    leak = scale_leakage(shown["covered"], labels)
    assert value(mixed, "scale_leakage", "m4") == pytest.approx(leak.value, abs=0.1)  # other folds: another order


def test_every_variant_has_its_interference(mixed: Run) -> None:
    for one in mixed.results()["findings"]:
        if one["audit"] == "background" and one["name"].endswith("_accuracy"):
            assert one["interference"]["index"] is not None
            assert one["interference"]["distortion"] == one["distortions"][0]


def test_progress_over_models_is_the_line_through_their_points(mixed: Run) -> None:
    lines = [one for one in mixed.results()["findings"] if one["name"] == "progress"]
    assert {one["model"] for one in lines} == {"all models"}
    by = {one["facts"]["of"]: one for one in lines}
    assert len(by) == 8 + 3
    clean = [value(mixed, "accuracy", model) for model in ("m1", "m4", "m6", "m9")]
    gaps = [value(mixed, "bg_gap", model) for model in ("m1", "m4", "m6", "m9")]
    slope, intercept = np.polyfit(clean, gaps, 1)
    line = by["mixed_same − mixed_rand"]
    assert (line["value"], line["facts"]["intercept"]) == (pytest.approx(slope), pytest.approx(intercept))
    assert [point["value"] for point in line["facts"]["points"]] == pytest.approx(gaps)


def test_frames_of_a_clip_are_drawn_together() -> None:
    """The interval of the gap is that of whole clips, not of frames that each stand for themselves."""
    data = "phantom:test?size=16&n=160&frames=8&background_bias=0.7"
    run = snellen.audit("observer:background", data, "background", quiet=True, report=False)
    held = one_model(run, "background")
    clips = run.sql('select sample, "group" from samples').set_index("sample").loc[held.index, "group"]
    again = bg_gap(held["mixed_same"], held["mixed_rand"], clips)
    (gap,) = [one for one in run.results()["findings"] if one["name"] == "bg_gap"]
    assert (gap["value"], gap["low"], gap["high"]) == pytest.approx((again.value, again.low, again.high))
    alone = bg_gap(held["mixed_same"], held["mixed_rand"])
    assert (gap["low"], gap["high"]) != pytest.approx((alone.low, alone.high))


def test_two_models_make_no_line() -> None:
    models = {"a": "observer:background", "b": "observer:texture"}
    run = snellen.audit(models, "phantom:test?size=16&n=36", "background", quiet=True, report=False)
    assert not [one for one in run.results()["findings"] if one["name"] == "progress"]


def test_the_examples_of_each_category_are_pictured_as_they_were_shown(mixed: Run) -> None:
    """Each example has its three thumbnails; one that the engine made on its way is made again, to the byte."""
    (needs,) = [f for f in mixed.results()["findings"] if f["name"] == "needs_background" and f["model"] == "m4"]
    held = one_model(mixed, "m4")
    for category, shown in needs["facts"]["examples"].items():
        assert len(shown) == min(4, needs["facts"]["counts"][category])
        for example in shown:
            right = held.loc[example["samples"]["original"]]
            assert (right["original"] == 1) == category.endswith("Required") or category == "BG Irrelevant"
    models = {f"m{share}": f"observer:mixture(background, texture, {share / 10})" for share in (1, 4, 6, 9)}
    data = f"phantom:test?{SIZE}&background_bias=0.8&texture_bias=0.7"
    request = AuditRequest(models=models, data=data, audits="background(bins=5, sigma=3)", out=mixed.path)
    again = prepare(request)
    plan, audit = again.plan(), again.audits[1]
    cell = audit.cell(again.exam, "mixed_rand")
    place = next(one.shown for one in plan.cells if one.cell == cell)
    (first, *_) = sorted((mixed.path / "thumbs" / place).glob("*.png"))
    before = first.read_bytes()
    first.unlink()
    sample = again.inputs.data["test"].samples.ids[int(first.stem)]
    add_pictures([(cell, sample)], plan, mixed.store, again.inputs.pools)
    assert first.read_bytes() == before


def corner(classes: int) -> Model:
    """Answers the class that the pixel in the corner names."""
    names = [str(i) for i in range(classes)]
    assert classes <= 3
    return from_callable(
        lambda images: np.eye(classes)[images[:, 0, 0, 0] // 80], names, size=16, name="corner", version="1"
    )


def test_a_class_that_its_box_gives_away_is_a_leak(tmp_path: Path) -> None:
    """Boxes alone, no masks: the object is its box, and of outlines nothing is known."""
    labels = np.arange(90) % 3
    images = np.zeros((90, 16, 16, 3), np.uint8)
    images[:, 0, 0, 0] = 80 * labels + 40
    sides = 4 + 3 * labels
    boxes = np.stack([np.full(90, 2), np.full(90, 2), 2 + sides, 2 + sides], axis=1)[:, None]
    np.savez(tmp_path / "boxed.npz", images=images, labels=labels, boxes=boxes)
    run = snellen.audit(corner(3), f"arrays:{tmp_path}/boxed.npz", "background", quiet=True, report=False)
    found = {one["name"]: one for one in run.results()["findings"]}
    assert found["scale_leakage"]["facts"] == {"guessed": 1, "chance": pytest.approx(1 / 3)}
    assert found["scale_leakage"]["value"] == pytest.approx(2 / 3)
    assert "foreground=box" in found["mixed_rand_accuracy"]["distortions"][0]
    assert found["outline_gain"]["value"] is None
    assert "no masks" in found["outline_gain"]["text"]
    assert found["only_bg_b_accuracy"]["value"] == 1  # its corner lies in the background


def test_data_without_boxes_or_masks_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    np.savez(tmp_path / "bare.npz", images=np.zeros((12, 16, 16, 3), np.uint8), labels=np.arange(12) % 3)
    with pytest.raises(UserError, match="needs the objects' masks or boxes, which the test data do not have; use voc:"):
        snellen.audit(corner(3), f"arrays:{tmp_path}/bare.npz", "background", quiet=True, report=False)


def test_objects_that_leave_no_background_give_no_numbers_and_no_error(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 240, (24, 16, 16, 3)).astype(np.uint8)
    boxes = np.tile([0, 0, 16, 16], (24, 1, 1))
    np.savez(tmp_path / "full.npz", images=images, labels=np.arange(24) % 3, boxes=boxes)
    run = snellen.audit(corner(3), f"arrays:{tmp_path}/full.npz", "background", quiet=True)
    own = [one for one in run.results()["findings"] if one["audit"] == "background"]
    assert own
    assert {one["value"] for one in own} == {None}
    assert "Backgrounds" in (run.path / "report.html").read_text()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The variants of a small world on disk."""
    from snellen.data.in9 import build

    out = tmp_path_factory.mktemp("built") / "set"
    world = "phantom:test?size=32&n=72&background_bias=1&texture_bias=1"
    build(world, out, "all", workers=1, size=32, scale=32, masks="data")
    return out


def test_variants_on_disk_are_shown_as_they_are_and_paired_by_object(built: Path) -> None:
    """The observer reads the scene off the stored files; its gap is that of the backgrounds that the manifest names."""
    models = {"scene": "observer:background", "texture": "observer:texture"}
    run = snellen.audit(models, f"in9:{built}/original", "background", quiet=True)
    own = {(one["model"], one["name"]): one for one in run.results()["findings"] if one["audit"] == "background"}
    told = pd.read_csv(built / "provenance.csv")
    rand = told[told["variant"] == "mixed_rand"]
    lucky = (rand["background_class"] == rand["class"]).mean()
    assert own["scene", "bg_gap"]["value"] == pytest.approx(1 - lucky)
    assert own["texture", "bg_gap"]["value"] == 0
    gap = own["scene", "mixed_rand_accuracy"]
    assert (gap["on"], gap["distortions"], gap["facts"]["stored"], gap["n"]) == ("mixed_rand", ["none()"], True, 72)
    assert gap["interference"]["distortion"] == "mixed_rand"
    assert gap["interference"]["index"] is not None
    area = (rand["x1"] - rand["x0"]) * (rand["y1"] - rand["y0"]) / 32**2
    bins = own["scene", "size_effect"]["facts"]["bins"]
    assert [one["n"] for one in bins] == np.histogram(area, np.linspace(0, 1, 11))[0].tolist()
    told = run.predictions()
    assert set(told["on"]) == {"test", *parse_audits("background")[0].variants}
    page = (run.path / "report.html").read_text()
    assert page.count("data:image/png") > 3
    assert "beside it only_fg, mixed_same, mixed_rand, mixed_next, no_fg, only_bg_b, only_bg_t" in page
    (step,) = [one for one in first_screen(Results.of(run)).next_steps if one.reason.startswith("the most confident")]
    assert step.reason.removeprefix("the most confident mistakes on ") in parse_audits("background")[0].variants
    mistakes = run.sql(shlex.split(step.command)[-1])
    assert len(mistakes) > 0


def test_a_limit_keeps_the_same_objects_in_every_stored_variant(built: Path) -> None:
    run = snellen.audit(
        "observer:background", f"in9:{built}/original", "background", quiet=True, report=False, limit=30
    )
    assert {one["n"] for one in run.results()["findings"] if one["name"] == "mixed_rand_accuracy"} == {30}


def test_what_was_built_otherwise_than_asked_is_made_anew(built: Path) -> None:
    """A stored set has one sigma, one way of lending and masks for objects; asked for others, it must not be shown as them."""
    audits = "background(own=false, sigma=2, examples=0)"
    run = snellen.audit("observer:background", f"in9:{built}/original", audits, quiet=True, report=False)
    own = {one["name"]: one for one in run.results()["findings"] if one["audit"] == "background"}
    assert "sigma=2" in own["bg_blurred_accuracy"]["distortions"][0]
    stored = {name: one["facts"]["stored"] for name, one in own.items() if "stored" in one["facts"]}
    made = {"mixed_same_accuracy", "mixed_rand_accuracy", "mixed_next_accuracy", "bg_blurred_accuracy"}
    assert {name for name, held in stored.items() if not held} == made
    shown = run.sql("select sample, donor from shown where donor is not null and donor <> ''")
    assert len(shown) == 3 * 72
    assert (shown["sample"] != shown["donor"]).all()

    kinds = frozenset(parse_audits("background(sigma=2)")[0].variants)
    exam = Exam(classes={"test": "ab"}, side=32, variants=kinds, facts={"test": frozenset({"masks", "boxes"})})
    boxed, donated = parse_audits("background(foreground=box)")[0], replace(exam, donors=True)
    assert {kind for kind in kinds if boxed.is_stored(exam, kind)} == {"only_bg_b", "only_bg_t"}
    plain = parse_audits("background")[0]
    assert {kind for kind in kinds if not plain.is_stored(exam, kind)} == {"bg_blurred"}
    assert {k for k in kinds if not plain.is_stored(donated, k)} == {
        "bg_blurred",
        "mixed_same",
        "mixed_rand",
        "mixed_next",
    }


@pytest.mark.parametrize("audit", ["background", "adversarial_backgrounds"])
def test_images_whose_backgrounds_are_exchanged_already_are_refused(audit: str, built: Path) -> None:
    """Their backgrounds are of other classes than the images, so that every gap would be wrong."""
    with pytest.raises(UserError, match=f"exchanges backgrounds itself.*use --data in9:{built}/original"):
        snellen.audit("observer:background", f"in9:{built}/mixed_rand?split=val", audit, quiet=True)
    with pytest.raises(
        UserError, match=f"is a whole set; name one of its variants, as in9:{built}/bg_blurred: original,"
    ):
        snellen.audit("observer:background", f"in9:{built}", audit, quiet=True)


def test_it_is_asked_for_by_name_and_says_its_fields() -> None:
    (audit,) = parse_audits("background(own=false)")
    assert str(audit) == "background(bins=10, sigma=0, own=false, foreground=auto, examples=4)"
    assert not audit.by_default
    exam = Exam(classes={"test": "ab"}, side=32)
    assert "own=false" in str(audit.cell(exam, "mixed_same").distortion)
    with pytest.raises(UserError, match="expected bins in \\[1, 1000\\]"):
        parse_audits("background(bins=0)")
