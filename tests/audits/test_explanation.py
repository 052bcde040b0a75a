"""Explanations as an audit: planted support, hand-made things, the filter, several methods, several canvases, resuming."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.audits import ExplanationAudit, parse_audits
from snellen.data import load_data
from snellen.data.canvas import Canvas, render
from snellen.data.dataset import Dataset, Photo, Samples, Unreadable
from snellen.data.phantom import World
from snellen.errors import UserError
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.explain.methods import METHODS, Method
from snellen.measure import (
    accuracy,
    compare,
    effective_heat_ratio,
    energy_gain,
    energy_pointing_game,
    pointing_game,
    wsol_iou,
    wsol_sweep,
)
from snellen.models import from_torch
from snellen.models.observers import parse
from snellen.models.observers.support import support_of

from .test_inside_mask import Colour

SIDE = 16
WORLD = World("test", size=32, n=80)
DATA = "phantom:test?size=32&n=80"
Found = dict[tuple[str, str], dict[str, Any]]


def network(*mix: float, **more: Any):
    return from_torch(Colour(*mix), classes=["a", "b"], device="cpu", **(more or {"size": SIDE}))


def red_things(
    count: int = 6, boxes: bool = True, masks: bool = False, bad: tuple[int, ...] = (), empty: int = -1
) -> Dataset:
    """A red square of 4 × 4 to 9 × 9 pixels on blue; its box is two pixels wider on the right."""

    def read(rows):
        photos: list[Photo | Unreadable] = []
        for row in rows:
            side = 4 + row % 6
            mask = np.zeros((SIDE, SIDE), bool)
            mask[2 : 2 + side, 3 : 3 + side] = True
            image = np.zeros((SIDE, SIDE, 3), np.uint8)
            image[mask, 0], image[~mask, 2] = 200, 100
            box = np.array([[3.0, 2, 5 + side, 2 + side]] if row != empty else np.zeros((0, 4)))
            maps = {"mask": mask} if masks else {}
            photos.append(Unreadable("torn") if row in bad else Photo(image, str(row), box if boxes else None, maps))
        return photos

    samples = Samples(tuple(f"<{row}>" for row in range(count)), np.ones(count, np.int64))
    facts = frozenset([*(["boxes"] if boxes else []), *(["masks"] if masks else [])])
    print_ = f"red-{count}-{boxes}-{masks}-{bad}-{empty}"
    return Dataset("things", ("a", "b"), samples, print_, read, facts=facts, size=(SIDE, SIDE))


def ask(models: Any, data: Any, audits: Any = "explanation(curves=off)", out: Path | None = None, **how: Any) -> Found:
    run = snellen.audit(models, data, audits, out, quiet=True, report=False, device="cpu", **how)
    return {(one["model"], one["name"]): one for one in run.results()["findings"] if one["audit"] == "explanation"}


# Planted


@pytest.mark.parametrize("region", ["mask", "box"])
def test_energy_and_heat_of_observers_with_known_support_are_those_of_their_construction(region: str) -> None:
    texts = {
        "object": "texture",
        "scene": "background",
        "border": "border(0.2)",
        "centre": "centre(0.5)",
        "glance": "glance(0.2)",
    }
    found = ask(
        {name: f"observer:{text}" for name, text in texts.items()},
        DATA,
        f"explanation(support, boxes={region}, curves=off)",
    )
    truth, images = WORLD.truth(range(WORLD.n)), WORLD.render(range(WORLD.n)).images
    objects = truth.visible
    inside = objects
    if region == "box":
        inside = np.zeros_like(objects)
        for mask, (x0, y0, x1, y1) in zip(inside, truth.boxes):
            mask[y0:y1, x0:x1] = True
    strip = np.ones((32, 32), bool)
    strip[6:26, 6:26] = False
    middle = np.zeros((32, 32), bool)
    middle[8:24, 8:24] = True
    supports = {
        "object": objects,
        "scene": ~objects,
        "border": ~objects & strip,
        "centre": objects & middle,
        "glance": np.where(objects, 1, 0.2),
    }
    for name, support in supports.items():
        own = (support * inside).sum((1, 2)) / support.sum((1, 2))
        assert found[name, "energy_pg"]["value"] == pytest.approx(np.nanmean(own), abs=1e-9), name
        if name != "glance":  # of a map with one level the ratio is the same at every threshold
            assert found[name, "ehr"]["value"] == pytest.approx(np.nanmean(own), abs=1e-9), name
        assert (support_of(parse(texts[name]))(images) == support).all()  # type: ignore[misc]
    assert found["object", "energy_pg"]["facts"]["even"] == pytest.approx(inside.mean())
    if region == "mask":
        assert found["object", "energy_pg"]["value"] == 1
        assert found["scene", "ehr"]["value"] == found["border", "energy_pg"]["value"] == 0


# By hand


MEASURES = {
    "energy_pg": energy_pointing_game,
    "ehr": effective_heat_ratio,
    "pointing_game": pointing_game,
    "wsol_iou": wsol_iou,
    "wsol": lambda maps, regions: np.where(np.isnan(wsol_iou(maps, regions)), np.nan, wsol_iou(maps, regions) >= 0.5),
}


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("component", ["all", "largest"])
def test_even_is_what_the_measure_itself_says_of_even_maps_on_masks(name: str, component: str) -> None:
    audits = f"explanation(support, boxes=mask, curves=off, component={component})"
    found = ask({"object": "observer:texture"}, DATA, audits)
    masks = WORLD.truth(range(WORLD.n)).visible
    value = np.nanmean(MEASURES[name](np.ones(masks.shape), masks))
    facts = found["object", name]["facts"]
    assert facts["even"] == pytest.approx(value)
    assert facts["object_share"] == pytest.approx(masks.mean())
    if name == "wsol_iou":
        assert value > 1.1 * masks.mean()  # the box around a mask is larger than the mask


@pytest.mark.parametrize("name", MEASURES)
def test_even_is_what_the_measure_itself_says_of_even_maps_on_several_boxes(name: str) -> None:
    """Large boxes beside small ones that overlap them; one image without any, and one whose map is empty."""
    plain = red_things(8)
    shown = plain.read(range(8))
    boxes = [np.array([[0.0, 0, 16, 5 + row], [2, 2, 6, 14], [20, 0, 30, 4]]) for row in range(8)]
    boxes[3] = np.zeros((0, 4))
    images = [photo.image for photo in shown]  # type: ignore[union-attr]
    images[5] = np.zeros_like(images[5])

    def read(rows: Any) -> list[Photo | Unreadable]:
        return [Photo(images[row], str(row), boxes[row]) for row in rows]

    found = ask({"red": network(1, 0, 0)}, replace(plain, read=read, fingerprint="several"))
    counted = [row for row in range(8) if row not in (3, 5)]
    expected = MEASURES[name](np.ones((6, SIDE, SIDE)), [boxes[row] for row in counted]).mean()
    finding = found["red", name]
    assert finding["n"] == 6
    assert finding["facts"]["even"] == pytest.approx(expected)


def test_the_even_gain_is_that_of_energy_gained_everywhere_alike() -> None:
    found = ask({"red": network(1, 0, 0), "blue": network(0, 0, 1)}, red_things())
    sides = np.arange(4, 10)
    shares = sides * (sides + 2) / SIDE**2
    even = energy_gain((shares, np.ones(6)), (np.zeros(6), np.zeros(6)))
    assert found["blue", "gain_ratio"]["facts"]["even"] == pytest.approx(even.value)


def test_values_of_things_whose_maps_are_known() -> None:
    models = {"red": network(1, 0, 0), "blue": network(0, 0, 1), "green": network(0, 1, 0)}
    found = ask(models, red_things())
    sides = np.arange(4, 10)
    boxes, things = sides * (sides + 2), sides**2
    assert found["red", "energy_pg"]["value"] == found["red", "ehr"]["value"] == 1
    assert found["red", "wsol_iou"]["value"] == pytest.approx((things / boxes).mean())
    assert found["red", "wsol"]["value"] == 1
    outside = SIDE**2 - things
    assert found["blue", "energy_pg"]["value"] == pytest.approx(((boxes - things) / outside).mean())
    assert found["blue", "wsol_iou"]["value"] == pytest.approx((boxes / SIDE**2).mean())  # its box is the image
    assert found["green", "energy_pg"]["value"] is None  # it saw nothing anywhere
    facts = found["green", "energy_pg"]["facts"]
    assert (facts["empty_maps"], facts["without_object"], facts["method"], facts["region"]) == (6, 0, "gradcam", "box")
    assert found["red", "energy_pg"]["facts"]["even"] == pytest.approx((boxes / SIDE**2).mean())
    ratio = things / boxes
    assert found["red", "wsol_iou"]["facts"]["standard_error"] == pytest.approx(ratio.std(ddof=1) / np.sqrt(6))
    assert found["blue", "energy_pg_difference"]["facts"]["other"] == "red"
    assert ("red", "energy_pg_difference") not in found
    gain = found["blue", "gain_ratio"]
    # Each map is divided by its maximum: red is 1 inside its square, blue outside it.
    inside, whole = (boxes - things) - things, outside - things
    assert gain["value"] == pytest.approx(inside.sum() / whole.sum())
    assert gain["facts"]["gain_whole"] == pytest.approx((whole / SIDE**2).mean())
    assert found["green", "gain_ratio"]["value"] is None


def test_all_numbers_are_those_of_the_stored_maps_and_the_datas_boxes(tmp_path) -> None:
    torch.manual_seed(0)
    from snellen.models.zoo import NETWORKS

    models = {f"m{i}": from_torch(NETWORKS["smallnet"](12), size=32, name=f"m{i}", device="cpu") for i in range(2)}
    audit = "explanation(threshold=0.3, component=largest, curves=off)"
    found = ask(models, DATA, audit, tmp_path / "run", shard=32)
    run = snellen.load_run(tmp_path / "run")
    boxes = [photo.boxes for photo in load_data(DATA).read(range(80)) if isinstance(photo, Photo)]
    values: dict[str, dict[str, np.ndarray]] = {}
    for name in models:
        maps = run.maps(name).maps
        iou = wsol_iou(maps, boxes, 0.3, "largest")
        values[name] = {
            "energy_pg": energy_pointing_game(maps, boxes),
            "ehr": effective_heat_ratio(maps, boxes),
            "pointing_game": pointing_game(maps, boxes),
            "wsol_iou": iou,
            "wsol": np.where(np.isnan(iou), np.nan, iou >= 0.5),
        }
        for key, scores in values[name].items():
            own, estimate = found[name, key], accuracy(scores)
            assert [own["value"], own["low"], own["high"], own["n"]] == pytest.approx(
                [estimate.value, estimate.low, estimate.high, estimate.n]
            )
        sweep = found[name, "wsol"]["facts"]["sweep"]
        by_hand = wsol_sweep(maps, boxes, [point["threshold"] for point in sweep], "largest")
        assert [point["iou"] for point in sweep] == pytest.approx(np.nanmean(by_hand, 1))
        assert [point["share"] for point in sweep] == pytest.approx(
            (by_hand >= 0.5).sum(1) / (~np.isnan(by_hand)).sum(1)
        )
        assert [point["threshold"] for point in sweep][2] == 0.15
    difference = compare(values["m1"]["ehr"], values["m0"]["ehr"])
    own = found["m1", "ehr_difference"]
    assert [own["value"], own["low"], own["facts"]["p"]] == pytest.approx(
        [difference.value, difference.low, difference.p]
    )
    assert own["facts"]["p_corrected"] >= own["facts"]["p"]
    energies = {}
    for name in models:
        maps = run.maps(name).maps / 65535
        whole = maps.mean((1, 2))
        energies[name] = (whole * values[name]["energy_pg"], np.where(whole > 0, whole, np.nan))
    gain = energy_gain(energies["m1"], energies["m0"])
    assert found["m1", "gain_ratio"]["value"] == pytest.approx(gain.value)


def test_boxes_move_to_the_canvas_and_models_of_different_canvases_are_compared() -> None:
    crop = Canvas(8, 8, "crop", SIDE)  # the middle of the image
    small = network(0, 0, 1, canvas=crop)
    found = ask({"whole": network(0, 0, 1), "crop": small}, red_things())
    shares = []
    for photo in red_things().read(range(6)):
        assert isinstance(photo, Photo)
        shown = render(photo, crop)
        assert shown.boxes is not None
        blue = shown.image[2:3].astype(float)
        shares.append(energy_pointing_game(blue, [shown.boxes])[0])
    assert found["crop", "energy_pg"]["value"] == pytest.approx(np.mean(shares))
    assert found["crop", "energy_pg"]["facts"]["examples"][0]["canvas"] == [8, 8]
    assert found["crop", "energy_pg_difference"]["n"] == 6


def test_masks_where_there_are_no_boxes_and_either_where_both_are() -> None:
    red = {"red": network(1, 0, 0)}
    masks = ask(red, red_things(boxes=False, masks=True))["red", "energy_pg"]
    assert masks["facts"]["region"] == "mask"
    both = {
        choice: ask(red, red_things(masks=True), f"explanation(boxes={choice}, curves=off)")["red", "wsol_iou"]
        for choice in ("auto", "mask", "box")
    }
    assert both["auto"]["facts"]["region"] == "box"
    assert both["auto"]["value"] == both["box"]["value"] < 1
    assert both["mask"]["value"] == 1  # against the box around the mask
    around = ask(red, red_things(boxes=False, masks=True), "explanation(boxes=box, curves=off)")["red", "wsol_iou"]
    assert around["value"] == 1


def test_runs_torn_images_and_images_without_an_object_are_counted() -> None:
    grey = {"grey": [network(1, 0, 1), network(1, 0, 0)]}
    found = ask(grey, red_things(24, bad=(7,), empty=3), shard=5)["grey", "energy_pg"]
    assert found["n"] == 22
    assert found["facts"]["without_object"] == 1
    assert found["facts"]["empty_maps"] == 0
    assert found["per_run"][1] == 1
    assert found["per_run"][0] < 1


# The sample filter


def test_the_filter_takes_images_that_all_models_are_sure_of_with_objects_of_a_middling_size() -> None:
    data = "phantom:test?size=32&n=80&texture_bias=0.6&background_bias=0.6&object_size=0.3..0.9"
    models = {"texture": "observer:texture", "scene": "observer:background"}
    found = ask(models, data, "explanation(support, boxes=mask, filter=on, curves=off)")
    world = World("test", size=32, n=80, texture_bias=0.6, background_bias=0.6, object_size=(0.3, 0.9))
    truth, recipe = world.truth(range(80)), world.recipe(range(80))
    share = truth.visible.mean((1, 2))
    sure = (recipe.objects.texture == recipe.label) & (recipe.scene == recipe.label)  # both say so with 0.9
    sized = (share > 0.1) & (share < 0.5)
    assert 5 < (sure & sized).sum() < sized.sum() < 80
    counts = {
        "images": 80,
        "confident": int(sure.sum()),
        "sized": int(sized.sum()),
        "chosen": int((sure & sized).sum()),
    }
    for model in models:
        own = found[model, "energy_pg"]
        assert own["facts"]["filter"] == counts
        assert own["n"] == counts["chosen"]
        assert own["facts"]["even"] == pytest.approx(share[sure & sized].mean())
    assert found["scene", "ehr_difference"]["n"] == counts["chosen"]
    runs = {"both": [snellen.load_model(text) for text in models.values()]}  # of one model all runs must be sure
    assert (
        ask(runs, data, "explanation(support, boxes=mask, filter=on, curves=off)")["both", "ehr"]["facts"]["filter"]
        == counts
    )
    strict = ask(models, data, "explanation(support, boxes=mask, filter=on, confidence=0.95, curves=off)")
    assert strict["texture", "energy_pg"]["n"] == 0
    assert strict["texture", "energy_pg"]["value"] is None
    assert strict["scene", "gain_ratio"]["value"] is None
    wide = ask(models, data, "explanation(support, boxes=mask, filter=on, object_share=[0, 1], curves=off)")
    assert wide["texture", "energy_pg"]["n"] == sure.sum()


# Baseline, disagreement, several methods


def test_the_baseline_may_be_named() -> None:
    models = {"red": network(1, 0, 0), "blue": network(0, 0, 1)}
    found = ask(models, red_things(), "explanation(baseline=blue, curves=off)")
    assert found["red", "energy_pg_difference"]["facts"]["other"] == "blue"
    assert found["red", "energy_pg_difference"]["value"] > 0.5
    assert ("blue", "gain_ratio") not in found
    with pytest.raises(UserError, match="unknown baseline of explanation 'blu'; did you mean 'blue'"):
        ask(models, red_things(), "explanation(baseline=blu, curves=off)")


def spot(model: Any, images: Any, targets: Any, layer: Any) -> torch.Tensor:
    """Red: a bright small square in the object. Blue: the whole box evenly, and a bright corner of the image."""
    maps = torch.zeros(len(images), SIDE, SIDE)
    if float(model.module.features.weight[0, 0].detach()) > 0:
        maps[:, 3:5, 4:6] = 1
    else:
        maps[:, 2:6, 3:9] = 0.2
        maps[:, 2:4, 3:9] = 1
        maps[:, 14:, 14:] = 0.1
        maps[:, 8:, 10:] = 0.14
    return maps


@pytest.fixture
def spots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "spot", Method(spot, "hand-made", gradients=False))


@pytest.mark.usefixtures("spots")
def test_images_on_which_wsol_and_energy_disagree_are_kept(tmp_path) -> None:
    models = {"red": network(1, 0, 0), "blue": network(0, 0, 1)}
    found = ask(models, red_things(3), "explanation(spot, curves=off)")
    apart = found["blue", "wsol_disagreement"]
    assert apart["value"] == 1  # the faint corner costs blue energy, not its box
    assert apart["facts"]["wsol_prefers_it"] == 1
    assert [pair["own"]["sample"] for pair in apart["facts"]["pairs"]][:3]
    for pair in apart["facts"]["pairs"]:
        assert pair["own"]["iou"] > pair["other"]["iou"]
        assert pair["own"]["energy_pg"] < pair["other"]["energy_pg"]
        assert pair["own"]["suggested"] == [3, 2, 9, 6]
    first = next(pair for pair in apart["facts"]["pairs"] if pair["own"]["sample"] == "<0>")
    assert first["own"]["boxes"] == [[3, 2, 9, 6]]
    assert first["own"]["iou"] == 1


@pytest.mark.usefixtures("spots")
def test_findings_of_several_methods_stand_beside_each_other(tmp_path) -> None:
    models = {"red": network(1, 0, 0), "blue": network(0, 0, 1)}
    run = snellen.audit(
        models, red_things(), "explanation([gradcam, spot], curves=off)", tmp_path / "run", quiet=True, device="cpu"
    )
    by_method = {
        (one["facts"]["method"], one["model"]): one for one in run.results()["findings"] if one["name"] == "energy_pg"
    }
    assert set(by_method) == {(method, model) for method in ("gradcam", "spot") for model in models}
    assert by_method["gradcam", "blue"]["value"] != by_method["spot", "blue"]["value"]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Share of the map on the object (EnergyPG) (gradcam)" in page
    assert "Share of the map on the object (EnergyPG) (spot)" in page
    assert "<h3>Maps by spot</h3>" in page
    with pytest.raises(snellen.RequirementFailed, match="energy_pg"):
        snellen.audit(
            models, red_things(), "explanation([gradcam, spot], curves=off)", tmp_path / "run", quiet=True, device="cpu",
            require=["energy_pg[method=spot] > 0.99"],
        )  # fmt: skip


# As an audit


def test_a_resumed_run_asks_nothing_and_says_the_same(tmp_path) -> None:
    models, data = {"red": network(1, 0, 0), "blue": network(0, 0, 1)}, red_things(20)
    run = snellen.audit(models, data, "explanation(curves=off)", tmp_path / "run", quiet=True, device="cpu", shard=8)
    before, page = run.results()["findings"], (run.path / "report.html").read_text()
    request = AuditRequest(models=(models,), data=data, audits=("explanation(curves=off)",), out=run.path, device="cpu")
    assert prepare(request).plan().forward_passes == 0
    again = snellen.audit(models, data, "explanation(curves=off)", run.path, quiet=True, device="cpu")
    assert again.results()["findings"] == before
    assert "data:image/jpeg" in page


def test_the_examples_are_the_same_images_for_every_model() -> None:
    found = ask(
        {"red": network(1, 0, 0), "blue": network(0, 0, 1)}, red_things(30), "explanation(examples=5, curves=off)"
    )
    red, blue = ([one["sample"] for one in found[name, "energy_pg"]["facts"]["examples"]] for name in ("red", "blue"))
    assert red == blue
    assert len(red) == 5
    assert red != [f"<{row}>" for row in range(5)]  # from all over the listing


def test_data_that_do_not_suit_are_refused(tmp_path) -> None:
    red = {"red": network(1, 0, 0)}
    with pytest.raises(UserError, match="things has neither boxes nor masks to compare maps with; give data that have"):
        ask(red, red_things(boxes=False), out=tmp_path / "a")
    with pytest.raises(UserError, match=r"explanation\(boxes=mask\) needs masks, which things does not have"):
        ask(red, red_things(), "explanation(boxes=mask, curves=off)", tmp_path / "b")
    assert not list(tmp_path.iterdir())


def test_the_text_form_reads_back_and_wrong_parameters_are_named() -> None:
    for text in ("explanation", "explanation([gradcam, support], filter=on, object_share=[0.2, 0.4], baseline=x)"):
        (audit,) = parse_audits(text)
        assert parse_audits(str(audit)) == [audit]
    assert parse_audits("explanation(support)") == [ExplanationAudit("support")]
    assert not ExplanationAudit().suits(load_data("phantom:test?n=9"))
    for text, words in [
        ("explanation(threshold=2)", "expected threshold"),
        ("explanation([])", "expected a method, or a list of different ones"),
        ("explanation([gradcam, gradcam])", "expected a method, or a list of different ones"),
        ("explanation(object_share=[0.5, 0.1])", "expected object_share as two rising shares"),
        ("explanation(object_share=[0.5])", "expected object_share as two rising shares"),
        ("explanation(component=some)", "unknown component of explanation 'some'"),
    ]:
        with pytest.raises(UserError, match=words):
            parse_audits(text)
    with pytest.raises(UserError, match="unknown method of maps 'gradcan'; did you mean 'gradcam'"):
        ask({"red": network(1, 0, 0)}, red_things(), "explanation(gradcan, curves=off)")
