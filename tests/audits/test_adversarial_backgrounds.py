"""Adversarial backgrounds: observers whose answer is known, and the whole matrix worked out without the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import snellen
from snellen.audits import Exam, parse_audits
from snellen.audits.adversarial_backgrounds import AttackRateFacts, WorstClassFacts
from snellen.data import load_data
from snellen.data.keys import sample_keys
from snellen.distort import Background, View
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.measure import accuracy, attack_success
from snellen.models import Model, from_callable
from snellen.models.observers import texture
from snellen.report import page_of
from snellen.report.blocks import Chapter, Gallery, Heading, Published, Table
from snellen.report.results import Results
from snellen.report.sections.adversarial_backgrounds import adversarial_blocks, adversarial_sentence
from snellen.search import EveryBackground
from snellen.search.backgrounds import Record, best_first

WORLD = "phantom:test?size=32&n=120&background_bias=1&texture_bias=1"
TINY = "phantom:test?size=32&n=24&background_bias=1&texture_bias=1"
SMALL = "phantom:test?size=32&n=60&texture_bias=1"


def found(run: Run, name: str, model: str = "") -> dict[str, Any]:
    (one,) = [f for f in run.results()["findings"] if f["name"] == name and (not model or f["model"] == model)]
    return one


def test_who_answers_by_the_scene_is_always_fooled_and_who_by_the_object_never() -> None:
    """Each scene and each texture is its class's own, so both are always right on clean images."""
    models = {"scene": "observer:background", "object": "observer:texture"}
    for rule in ("any", "background"):
        run = snellen.audit(models, WORLD, f"adversarial_backgrounds(rule={rule})", quiet=True, report=False)
        scene, object_ = (found(run, "vulnerable", model) for model in models)
        assert scene["value"] == 1
        assert object_["value"] == 0
        assert scene["n"] == object_["n"] == 120
        backgrounds = object_["facts"]["backgrounds"]
        least = 120 * backgrounds if rule == "any" else sum(_others(WORLD, backgrounds))
        assert object_["facts"]["asked"] == object_["facts"]["least"] == [least]
        assert scene["facts"]["asked"][0] <= 1.5 * scene["facts"]["least"][0] == 1.5 * 120


def _others(text: str, backgrounds: int) -> list[int]:
    """How many images of other classes each image has."""
    labels = load_data(text).samples.labels
    assert backgrounds == len(labels)
    return [(labels != label).sum() for label in labels]


def test_the_rates_of_a_scene_observer_are_one_and_its_totals_too() -> None:
    run = snellen.audit("observer:background", WORLD, "adversarial_backgrounds(rates=true)", quiet=True, report=False)
    rate = found(run, "attack_rate")
    assert rate["value"] == 1
    assert set(rate["facts"]["class_totals"].values()) == {1}
    assert rate["facts"]["histogram"][-1]["count"] == rate["facts"]["backgrounds"] == 120
    assert found(run, "worst_class_total")["value"] == 1


def test_rates_of_several_runs_are_their_mean() -> None:
    """One run is fooled by every background, the other by none."""
    runs = {"both": [snellen.load_model("observer:background"), snellen.load_model("observer:texture")]}
    run = snellen.audit(runs, TINY, "adversarial_backgrounds(rates=true, worst=24)", quiet=True, report=False)
    rate = found(run, "attack_rate")
    assert rate["value"] == pytest.approx(0.5)
    shown = [one["rate"] for held in rate["facts"]["worst"].values() for one in held]
    assert shown == pytest.approx([0.5] * 24)
    assert rate["facts"]["highest"] == pytest.approx(0.5)
    assert rate["facts"]["class_totals"] == pytest.approx(dict.fromkeys(rate["facts"]["class_totals"], 0.5))
    assert found(run, "vulnerable")["per_run"] == [1, 0]


def touchy(share: int = 60) -> Model:
    """Knows the object, but one combination of pixels in `share` makes it name the class after it, another the one before."""
    knows = texture()
    assert knows.predict is not None

    def answer(images: np.ndarray) -> np.ndarray:
        said = knows(torch.from_numpy(images).permute(0, 3, 1, 2)).argmax(1).numpy()
        mixed = (images.reshape(len(images), -1).astype(np.int64) * np.arange(1, 3 * 32 * 32 + 1)).sum(1) % share
        return np.eye(12)[(said + (mixed == 0) - (mixed == 1)) % 12]

    return from_callable(answer, size=32, name="touchy", version=str(share))


def matrix(model: Model, text: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Every object on every background, by NumPy and one image at a time: answers [N, N], labels and ids."""
    data = load_data(text)
    photos = data.read(range(len(data)))
    images = np.stack([photo.image for photo in photos])  # type: ignore[union-attr]
    masks = np.stack([photo.maps["mask"] for photo in photos])  # type: ignore[union-attr]
    boxes = [photo.boxes for photo in photos]  # type: ignore[union-attr]
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2)
    bare = Background("only_bg_t")(pixels, View.of(data.samples.ids, boxes=boxes)).permute(0, 2, 3, 1).numpy()
    pred = np.empty((len(data), len(data)), int)
    for row in range(len(data)):
        shown = np.where(masks[row][None, :, :, None], images[row], bare)
        pred[row] = model(torch.from_numpy(shown).permute(0, 3, 1, 2)).argmax(1).numpy()
    return pred, data.samples.labels, list(data.samples.ids)


def stated_half(ids: list[str]) -> np.ndarray:
    """bool: the half of the objects on which the worst backgrounds are not chosen."""
    order = np.argsort(sample_keys(ids), kind="stable")
    stated = np.zeros(len(ids), bool)
    stated[order[(len(ids) + 1) // 2 :]] = True
    return stated


@pytest.fixture(scope="module")
def worked_out() -> tuple[np.ndarray, np.ndarray, list[str]]:
    return matrix(touchy(), SMALL)


@pytest.mark.parametrize("rule", ["any", "background"])
@pytest.mark.parametrize("batch", [1, 13, 128])
def test_stopping_early_finds_the_very_same_objects_as_the_whole_matrix(
    worked_out: tuple[np.ndarray, np.ndarray, list[str]], rule: Any, batch: int
) -> None:
    pred, labels, ids = worked_out
    expected = attack_success(pred, labels, labels, rule)
    assert 0.1 < expected.value < 0.95
    how = dict(quiet=True, report=False, batch_size=batch)
    run = snellen.audit(touchy(), SMALL, f"adversarial_backgrounds(rule={rule})", **how)
    assert found(run, "vulnerable")["value"] == pytest.approx(expected.value)
    rows = run.sql("select * from trials").set_index("sample").loc[ids]
    assert rows["fooled"].astype(float).tolist() == expected.fooled.tolist()
    place = {sample: number for number, sample in enumerate(ids)}
    for row, (background, answer) in enumerate(zip(rows["background"], rows["answer"])):
        if background:  # what it names does fool
            assert pred[row, place[background]] == answer != labels[row]
            assert rule == "any" or answer == labels[place[background]]
    order = np.argsort(sample_keys(ids), kind="stable")  # nothing is known in the first round
    for row in range(8):
        asked = [at for at in order if rule == "any" or labels[at] != labels[row]]
        wrong = [pred[row, at] != labels[row] and (rule == "any" or pred[row, at] == labels[at]) for at in asked]
        assert rows["tried"].iloc[row] == (wrong.index(True) + 1 if any(wrong) else len(asked))
    assert (rows["asked"] >= rows["tried"]).all()
    assert (rows["asked"] <= 1.125 * rows["tried"] + 1).all()
    single = snellen.audit(touchy(), SMALL, f"adversarial_backgrounds(rule={rule})", quiet=True, report=False)
    again = single.sql("select * from trials").set_index("sample").loc[ids]
    for column in ("fooled", "background", "answer", "tried"):
        assert again[column].tolist() == rows[column].tolist()  # not only who, but also by what


def test_every_rate_is_that_of_the_matrix(worked_out: tuple[np.ndarray, np.ndarray, list[str]]) -> None:
    pred, labels, ids = worked_out
    run = snellen.audit(touchy(), SMALL, "adversarial_backgrounds(rates=true, worst=60)", quiet=True, report=False)
    rows = run.sql("select * from trials").set_index("sample").loc[ids]
    things = run.store.things(rows["cell"].iloc[0])
    assert things is not None
    place = {sample: number for number, sample in enumerate(things["background"])}
    order = [place[sample] for sample in ids]
    assert (np.stack(rows["pred"].tolist())[:, order] == pred).all()
    expected = attack_success(pred, labels, labels)
    rate = found(run, "attack_rate")
    listed = {one["background"]: one for held in rate["facts"]["worst"].values() for one in held}
    half = stated_half(ids)
    other = attack_success(pred[half], labels[half], labels)
    assert [listed[sample]["rate"] for sample in ids] == pytest.approx(other.per_background.tolist())
    assert [listed[sample]["tried"] for sample in ids] == other.tried.tolist()
    for held in rate["facts"]["worst"].values():  # the worst first, and rates that differ
        own = [one["rate"] for one in held]
        assert own == sorted(own, reverse=True)
    assert len({one["rate"] for one in listed.values()}) > 1
    classes = load_data(SMALL).classes
    totals = {classes[label]: total for label, total in expected.class_totals.items()}
    assert rate["facts"]["class_totals"] == pytest.approx(totals)
    choosing = attack_success(pred[~half], labels[~half], labels).class_totals
    worst = max(choosing, key=lambda label: (choosing[label], -label))
    assert found(run, "worst_class_total")["value"] == pytest.approx(other.class_totals[worst])
    assert found(run, "worst_class_total")["facts"]["class"] == classes[worst]
    assert sum(one["count"] for one in rate["facts"]["histogram"]) == 60
    turned = (pred == labels) & (labels[:, None] != labels)
    assert rate["value"] == pytest.approx(np.mean(turned.sum(1) / (labels[:, None] != labels).sum(1)))
    assert found(run, "vulnerable")["value"] == pytest.approx(expected.value)


def test_a_sample_of_the_backgrounds_is_part_of_a_larger_one() -> None:
    held = []
    for count in (10, 25):
        audit = f"adversarial_backgrounds(backgrounds={count}, rates=true)"
        run = snellen.audit(touchy(), SMALL, audit, quiet=True, report=False)
        things = run.store.things(run.sql("select cell from trials limit 1")["cell"][0])
        assert things is not None
        assert len(things["background"]) == count == found(run, "vulnerable")["facts"]["backgrounds"]
        held.append(things["background"])
    assert set(held[0]) < set(held[1])


def test_what_was_learnt_puts_the_strongest_first_and_orders_are_by_class() -> None:
    record = Record(2, 4)
    for _ in range(5):
        record.add(
            0, np.arange(4), np.array([0, 0.1, 1])
        )  # on class 0 the third always does it, the second raises doubt
        record.add(1, np.arange(4), np.zeros(4))  # on class 1 none
    ranked = best_first(record)
    assert ranked[0, 0] == 2
    assert record.tries[0].tolist() == [5, 5, 5, 0]
    assert record.worth[0].tolist() == pytest.approx([0, 0.5, 5, 0])
    assert ranked[0].tolist() == [2, 1, 3, 0]  # what was never tried here goes before what failed without any doubt
    assert best_first(Record(1, 3)).tolist() == [[0, 1, 2]]


def test_objects_that_are_not_there_count_nowhere(tmp_path: Path) -> None:
    data = load_data(SMALL)
    photos = data.read(range(60))
    masks = np.stack([photo.maps["mask"] for photo in photos])  # type: ignore[union-attr]
    masks[7] = False
    held = {"images": np.stack([photo.image for photo in photos]), "masks": masks, "labels": data.samples.labels}  # type: ignore[union-attr]
    np.savez(tmp_path / "some.npz", **held, classes=np.array(data.classes))
    text = f"arrays:{tmp_path}/some.npz"
    run = snellen.audit(touchy(), text, "adversarial_backgrounds", quiet=True, report=False)
    assert found(run, "vulnerable")["n"] == 59
    assert found(run, "vulnerable")["facts"]["backgrounds"] == 59  # nor does it lend


def test_donors_that_are_backgrounds_already_are_pasted_as_they_are(tmp_path: Path) -> None:
    """Plain donors: grey levels by class, so that an observer of a corner pixel answers the donor's class."""
    levels = np.array([40, 120, 200], np.uint8)
    bare = np.broadcast_to(levels[:, None, None, None], (3, 16, 16, 3))
    np.savez(tmp_path / "bare.npz", images=bare, labels=np.arange(3))
    images = np.full((30, 16, 16, 3), 9, np.uint8)
    masks = np.zeros((30, 16, 16), bool)
    masks[:, 5:9, 5:9] = True
    np.savez(tmp_path / "test.npz", images=images, labels=np.arange(30) % 3, masks=masks)
    corner = from_callable(lambda x: np.eye(3)[x[:, 0, 0, 0] // 80], size=16, name="corner", version="1")
    run = snellen.audit(
        corner, f"arrays:{tmp_path}/test.npz", "adversarial_backgrounds(bare=true, rates=true, rule=background)",
        donors=f"arrays:{tmp_path}/bare.npz", quiet=True, report=False,
    )  # fmt: skip
    assert found(run, "vulnerable")["value"] == 1
    assert found(run, "attack_rate")["facts"]["class_totals"] == {"0": 1, "1": 1, "2": 1}


def test_data_without_objects_are_refused_and_fields_are_said(tmp_path: Path) -> None:
    np.savez(tmp_path / "bare.npz", images=np.zeros((12, 32, 32, 3), np.uint8), labels=np.arange(12))
    with pytest.raises(
        UserError, match="adversarial_backgrounds needs the objects' masks or boxes, which the test data"
    ):
        snellen.audit(touchy(), f"arrays:{tmp_path}/bare.npz", "adversarial_backgrounds", quiet=True)
    (audit,) = parse_audits("adversarial_backgrounds(background, 100)")
    assert str(audit) == (
        "adversarial_backgrounds(rule=background, backgrounds=100, rates=false, foreground=auto, bare=false, worst=5)"
    )
    assert not audit.by_default
    with pytest.raises(UserError, match="expected backgrounds in \\[0"):
        parse_audits("adversarial_backgrounds(backgrounds=-1)")


def test_rounds_cover_every_sample_once_and_begin_small() -> None:
    for samples in (0, 1, 16, 17, 5000):
        for rates in (False, True):
            parts = EveryBackground(rates=rates).rounds(samples)
            assert [at for part in parts for at in part] == list(range(samples))
    assert [len(part) for part in EveryBackground().rounds(200)] == [8, 12, 18, 27, 40, 60, 35]


def test_the_report_shows_the_worst_backgrounds_as_they_were_pasted(tmp_path: Path) -> None:
    run = snellen.audit(
        "observer:background", SMALL, "adversarial_backgrounds(rates=true, worst=2)", tmp_path / "run", quiet=True
    )
    results = Results.of(run)
    blocks = adversarial_blocks(results)
    (chapter,) = [
        block
        for block in page_of(run).blocks
        if isinstance(block, Chapter) and block.title == "Adversarial backgrounds"
    ]
    assert isinstance(blocks[0], Heading)  # the chapter's title
    assert all(block in chapter.blocks for block in blocks[1:])
    content = run.results()
    content["findings"] = [finding | {"label": "x", "topic": "y", "text": "z"} for finding in content["findings"]]
    assert adversarial_blocks(Results(content, run.facts, run)) == blocks
    (worst_of_class,) = [rate.facts.worst for rate in results.having(AttackRateFacts)]
    (worst_class,) = results.having(WorstClassFacts)
    assert worst_class.facts.name in worst_of_class
    assert found(run, "worst_class_total")["facts"] == {"class": worst_class.facts.name, "chosen": False}
    (gallery,) = [
        block for one in blocks if hasattr(one, "blocks") for block in one.blocks if isinstance(block, Gallery)
    ]
    classes = load_data(SMALL).classes
    assert {row.head.text for row in gallery.rows} == set(classes)
    for row in gallery.rows:
        _, *pictures = row.cells
        assert len(pictures) == 2
        assert all(picture.source for picture in pictures)
        rates = [background.rate for background in worst_of_class[row.head.text]]
        assert rates == sorted(rates, reverse=True)
        assert [picture.answers[0].text for picture in pictures] == [f"{100 * rate:.1f}%" for rate in rates]
    assert "objects (95% interval" in adversarial_sentence(results, "background")[0][1]
    (published,) = [block for block in blocks[-1].blocks if isinstance(block, Published)]
    tables = [block for block in published.blocks if isinstance(block, Table)]
    assert {row.cells[0].value for row in tables[0].rows} >= {88.0, 77.7}
    html = (run.path / "report.html").read_text()
    assert "The worst backgrounds of each class" in html
    assert html.count('alt="background of class') == 2 * len(classes)
    worst = next(iter(worst_of_class.values()))[0]
    data = load_data(SMALL)
    at = data.samples.ids.index(worst.background)
    (photo,) = data.read([at])
    pixels = torch.from_numpy(photo.image).permute(2, 0, 1)[None]  # type: ignore[union-attr]
    view = View.of([worst.background], boxes=[photo.boxes])  # type: ignore[union-attr]
    expected = Background("only_bg_t")(pixels, view)[0].permute(1, 2, 0).numpy()
    (shown,) = set(run.sql("select shown from cells where distortion like 'every_background%'")["shown"])
    assert (np.asarray(Image.open(run.store.thumbnail(shown, worst.place))) == expected).all()


def test_rates_of_the_worst_are_of_objects_on_which_they_were_not_chosen() -> None:
    """A model without any preference: the strongest of 120 backgrounds by chance are no stronger than others on other objects."""
    world = "phantom:test?size=32&n=120&texture_bias=1"
    run = snellen.audit(touchy(24), world, "adversarial_backgrounds(rates=true, worst=2)", quiet=True, report=False)
    rate = found(run, "attack_rate")
    assert rate["facts"]["chosen"] is False
    assert rate["facts"]["stated"] == 60
    pred, labels, ids = matrix(touchy(24), world)
    stated = stated_half(ids)
    turned, conflict = (pred == labels) & (labels[:, None] != labels), labels[:, None] != labels
    choosing, other = (turned[rows].sum(0) / conflict[rows].sum(0) for rows in (~stated, stated))
    classes = load_data(world).classes
    for name, listed in rate["facts"]["worst"].items():
        own = [at for at in range(120) if classes[labels[at]] == name]
        best = sorted(own, key=lambda at: (-choosing[at], ids[at]))[:2]
        assert {worst["background"]: worst["rate"] for worst in listed} == pytest.approx(
            {ids[at]: other[at] for at in best}
        )
    rates = [worst["rate"] for listed in rate["facts"]["worst"].values() for worst in listed]
    chosen = [choosing[ids.index(worst["background"])] for held in rate["facts"]["worst"].values() for worst in held]
    assert np.mean(rates) < 0.6 * np.mean(chosen)  # what was chosen by chance does not come again
    assert rate["facts"]["highest"] == pytest.approx(other[np.nanargmax(choosing)], abs=0.2)
    total = found(run, "worst_class_total")
    assert total["facts"]["chosen"] is False
    assert total["n"] == (stated & (labels != classes.index(total["facts"]["class"]))).sum()


def test_where_two_halves_would_be_too_small_the_worst_are_marked_as_chosen() -> None:
    run = snellen.audit(touchy(), TINY, "adversarial_backgrounds(rates=true)", quiet=True, report=False)
    assert found(run, "attack_rate")["facts"]["chosen"] is True
    total = found(run, "worst_class_total")
    assert total["facts"]["chosen"] is True
    assert total["label"] == "Objects turned into the worst class by some background, chosen on these objects"
    assert "errs towards the worse" in total["text"]


@pytest.mark.parametrize(
    ("foreground", "facts", "expected"),
    [
        *(("auto", {"masks", "boxes"}, "mask"), ("auto", {"boxes"}, "box"), ("auto", {"masks"}, "mask")),
        *(("box", {"masks", "boxes"}, "box"), ("mask", {"masks", "boxes"}, "mask")),
    ],
)
def test_the_object_is_its_mask_unless_there_is_none_or_the_box_is_asked_for(
    foreground: str, facts: set[str], expected: str
) -> None:
    (audit,) = parse_audits(f"adversarial_backgrounds(foreground={foreground})")
    exam = Exam(classes={"test": "ab"}, side=32, facts={"test": frozenset(facts)})
    ((trial,), (_, mixed)) = audit.trials(exam), audit.cells(exam)
    assert f"foreground={expected}" in str(trial.distortion)
    assert f"foreground={expected}" in str(mixed.distortion)


def test_the_attack_rate_has_the_interval_of_whole_clips() -> None:
    """Computed again from the stored answers: of the backgrounds of other classes, the share whose class is answered."""
    run = snellen.audit(touchy(6), f"{SMALL}&frames=6", "adversarial_backgrounds(rates=true)", quiet=True, report=False)
    samples = run.sql('select sample, label, "group" from samples').set_index("sample")
    rows = run.sql("select * from trials").set_index("sample").loc[samples.index]
    things = run.store.things(rows["cell"].iloc[0])
    assert things is not None
    other, pred = np.array(things["label"]), np.stack(rows["pred"].tolist())
    conflict = samples["label"].to_numpy()[:, None] != other
    shares = ((pred == other) & conflict).sum(1) / conflict.sum(1)
    rate, again = found(run, "attack_rate"), accuracy(shares, samples["group"])
    assert (rate["value"], rate["low"], rate["high"]) == pytest.approx((again.value, again.low, again.high))
    assert accuracy(shares).low != pytest.approx(again.low, abs=1e-4)
