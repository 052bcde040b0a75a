"""The audit of worst-case edits on models whose weakness is planted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageEnhance

import snellen
from snellen.audits import Exam, ShiftAudit, parse_audits
from snellen.audits.shift_facts import without_each
from snellen.audits.shift_protocols import published_shift
from snellen.data import Dataset, from_arrays, limited
from snellen.distort import parse
from snellen.errors import UserError
from snellen.models import Model, from_callable

from ..commands import exit_code

AUDIT = "shift(set=cifar10,length=3,random=200,evaluations=100,restarts=2,images=24)"


def flat_images() -> Dataset:
    """60 images of two classes, told apart by their red level alone: below or above 128."""
    images = np.full((60, 8, 8, 3), 128, np.uint8)
    labels = np.arange(60) % 2
    images[..., 0] = np.where(labels, 150, 106)[:, None, None]
    return from_arrays({"images": images, "labels": labels}, "memory:flat", "1")


def by_red(threshold: float = 128.0) -> Model:
    """Right on clean images; a shift of red by more than 22 levels turns one class into the other."""

    def answer(images: np.ndarray) -> np.ndarray:
        high = images[..., 0].mean((1, 2)) > threshold
        return np.stack([~high, high], 1).astype(np.float32)

    return from_callable(answer, version=str(threshold), name=f"red{threshold:g}")


def audit(*models: Model, out: Path | None = None, audits: str = AUDIT) -> snellen.Run:
    return snellen.audit(list(models), flat_images(), audits, out=out, quiet=True, report=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> snellen.Run:
    return audit(by_red(), by_red(140.0), out=tmp_path_factory.mktemp("shift") / "run")


def of(run: snellen.Run, name: str, model: str = "red128") -> pd.Series:
    findings = run.findings()
    (row,) = [row for _, row in findings.iterrows() if row["name"] == name and row["model"] == model]
    return row


def facts(run: snellen.Run, name: str, model: str = "red128") -> list[dict[str, Any]]:
    return [one["facts"] for one in run.results()["findings"] if (one["name"], one["model"]) == (name, model)]


def test_the_planted_weakness_is_found(run: snellen.Run) -> None:
    assert of(run, "accuracy")["value"] == 1
    (known,) = facts(run, "worst_accuracy")
    data, searched = flat_images().samples, set(limited(flat_images(), 24).samples.ids)
    high = np.mean([label for sample, label in zip(data.ids, data.labels) if sample not in searched])
    assert of(run, "worst_accuracy")["value"] in (pytest.approx(high), pytest.approx(1 - high))
    assert of(run, "worst_drop")["value"] == pytest.approx(1 - of(run, "worst_accuracy")["value"])
    share = limited(flat_images(), 24).samples.labels.mean()
    assert known["searched"] == [pytest.approx(min(share, 1 - share))]
    assert "red(" in known["edits"][0]


def test_the_edit_that_matters_is_the_one_of_the_red_channel(run: snellen.Run) -> None:
    effects = {one["edit"]: one for one in facts(run, "edit_effect")}
    values = {
        one["facts"]["edit"]: one["value"]
        for one in run.results()["findings"]
        if (one["name"], one["model"]) == ("edit_effect", "red128")
    }
    assert set(effects) == set(values)
    assert max(values, key=lambda edit: values[edit]).startswith(("red(", "contrast(", "brightness("))
    assert all(0 <= value <= 0.5 for value in values.values())


def test_every_number_is_that_of_pillow_and_the_stored_answers(run: snellen.Run) -> None:
    """The search's values again, by another library: of all tuples without statistics of the whole image."""
    data = flat_images()
    photos = [one.image for one in data.read(range(len(data)))]  # type: ignore[union-attr]
    chosen = {sample: number for number, sample in enumerate(data.samples.ids)}
    rows = [chosen[sample] for sample in limited(data, 24).samples.ids]
    table = run.sql(
        "select s.edits, s.value from searches s join cells c using (cell) "
        "where c.model = 'red128' and s.edits not like '%contrast%'"
    )
    checked = 0
    for edits, value in table.itertuples(index=False):
        right = []
        for row in rows:
            image = Image.fromarray(photos[row])
            for edit in edits.split(" | "):
                image = by_pillow(image, edit)
            right.append((np.asarray(image)[..., 0].mean() > 128) == data.samples.labels[row])
        assert value == pytest.approx(np.mean(right))
        checked += 1
    assert checked > 30
    (known,) = facts(run, "worst_accuracy")
    answers = run.predictions()
    stored = answers[(answers["model"] == "red128") & (answers["distortion"] == known["edits"][0])]
    unsearched = stored[~stored["sample"].isin(set(limited(data, 24).samples.ids))]
    assert (len(stored), len(unsearched)) == (60, 36)
    assert of(run, "worst_accuracy")["value"] == pytest.approx(unsearched["score"].mean())


def by_pillow(image: Image.Image, edit: str) -> Image.Image:
    name, argument = edit[:-1].split("(")
    if name in ("red", "green", "blue"):
        pixels = np.asarray(image).astype(int)
        pixels[..., ("red", "green", "blue").index(name)] += int(argument)
        return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    kinds = {"brightness": ImageEnhance.Brightness, "colour": ImageEnhance.Color, "sharpness": ImageEnhance.Sharpness}
    return kinds[name](image).enhance(float(argument))


def test_models_are_shown_each_others_worst_edits(run: snellen.Run) -> None:
    other = of(run, "transfer_accuracy", "red140")
    (known,) = facts(run, "worst_accuracy")
    assert other["distortion"] == known["edits"][0]
    answers = run.predictions()
    stored = answers[(answers["model"] == "red140") & (answers["distortion"] == known["edits"][0])]
    assert other["value"] == pytest.approx(stored["score"].mean())
    own = (one for one in run.results()["findings"] if (one["name"], one["model"]) == ("transfer_accuracy", "red140"))
    (beside,) = (one["interference"] for one in own)  # every number under a distortion has its interference beside it
    assert beside["distortion"] == known["edits"][0]
    assert beside["published"] is not None


def test_the_worst_edits_are_the_lowest_of_all_that_was_tried_drawn_or_evolved() -> None:
    """Searches given by hand: on each of two sets of images one draw of tuples and one evolution; None met no constraint."""
    (audit,) = parse_audits("shift(length=1, random=10, evaluations=10, images=5, subsets=2)")
    exam = Exam(classes={"test": ("a", "b")}, side=8)
    searches = audit.searches(exam)
    assert len(searches) == 4

    def worst(*lowest: float | None) -> str:
        """The first of what follows, where each search found `red(n)` with its lowest value and nothing else below 0.9."""
        tables = {
            cell: [[{"value": 0.9, "edits": "blue(1)"}, {"value": value, "edits": f"red({number})"}]]
            for number, (cell, value) in enumerate(zip(searches, lowest), 1)
        }
        whole, rest = audit.follow(exam, {"m": tables})
        assert str(rest.distortion) == "none()"  # the only edit left out
        return str(whole.distortion)

    for place in range(4):
        assert worst(*(0.2 if number == place else 0.5 for number in range(4))) == str(parse(f"red({place + 1})"))
    assert worst(0.5, None, 0.4, None) == str(parse("red(3)"))
    assert worst(None, None, None, None) == str(parse("blue(1)"))


def test_intervals_are_those_of_whole_groups() -> None:
    """Images of one clip are alike: an edit turns all of them or none, so that clips are what is drawn again."""
    clips = np.repeat(np.arange(12), 5)
    images = np.full((60, 8, 8, 3), 128, np.uint8)
    labels = clips % 2
    away = 8 + 7 * (clips // 2)  # red levels from the threshold: other edits turn other clips
    images[..., 0] = np.where(labels, 128 + away, 128 - away)[:, None, None]
    images[..., 1] = np.arange(60)[:, None, None]  # no two are equal
    alone = from_arrays({"images": images, "labels": labels}, "memory:alone", "1")
    grouped = replace(alone, samples=replace(alone.samples, columns={"group": clips}), fingerprint="2")
    audits = "shift(set=cifar10, length=2, random=20, evaluations=20, images=30, references=true)"
    tables = [snellen.audit(by_red(), data, audits, quiet=True, report=False).findings() for data in (alone, grouped)]
    singly, together = ((table["high"] - table["low"]).groupby(table["name"]).sum() for table in tables)
    for name in ("worst_accuracy", "worst_drop", "edit_effect", "hue_accuracy"):
        assert together[name] > 1.5 * singly[name] > 0, name


def test_random_tuples_give_the_density_and_the_threshold(run: snellen.Run) -> None:
    (known,) = facts(run, "random_worst")
    values = run.sql(
        "select value from searches join cells using (cell) "
        "where model = 'red128' and distortion like '%algorithm=rs%' order by value"
    )["value"]
    assert len(values) == 200
    assert known["quantile"] == [values.iloc[0]]
    assert sum(count for _, _, count in known["density"][0]) == 200


def test_nothing_is_asked_again_and_a_stopped_search_continues(
    run: snellen.Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown: list[int] = []

    def counting(images: np.ndarray) -> np.ndarray:
        shown.append(len(images))
        high = images[..., 0].mean((1, 2)) > 128
        return np.stack([~high, high], 1).astype(np.float32)

    def stopping(images: np.ndarray) -> np.ndarray:
        answers = counting(images)
        if len(shown) == 20:
            raise KeyboardInterrupt
        return answers

    def model(function: object) -> Model:
        return from_callable(function, version="128.0", name="red128")  # type: ignore[arg-type]

    uninterrupted = audit(model(counting))
    whole = sum(shown)
    shown.clear()
    with pytest.raises(KeyboardInterrupt):
        audit(model(stopping), out=tmp_path / "again")
    before = sum(shown)
    assert 0.2 * whole < before < 0.8 * whole
    shown.clear()
    again = audit(model(counting), out=tmp_path / "again")
    assert sum(shown) + before < 1.2 * whole
    pd.testing.assert_frame_equal(again.findings(), uninterrupted.findings())
    shown.clear()
    audit(model(counting), out=tmp_path / "again")
    assert not shown


def test_a_lost_search_is_made_again(run: snellen.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "lost"
    first = audit(by_red(), out=folder).findings()
    next(folder.glob("searches/*/*.parquet")).unlink()
    snellen.audit(by_red(), flat_images(), AUDIT, out=folder, report=False)
    assert "0 of 1 files; the search is made again" in capsys.readouterr().err
    pd.testing.assert_frame_equal(snellen.load_run(folder).findings(), first)


def test_recorded_answers_and_bad_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected at least as many evaluations as the population of 10, got 5"):
        audit(by_red(), audits="shift(evaluations=5)")
    with pytest.raises(UserError, match="unknown space 'cifar'; did you mean 'cifar10'"):
        audit(by_red(), audits="shift(set=cifar)")


def test_a_constraint_allows_only_tuples_that_keep_the_content() -> None:
    """Every value of red of the flat images changes their structure where they differ: nothing may be shown, or little."""
    strict = audit(by_red(), audits=AUDIT.replace("images=24", "images=24,constraint='ssim(1)'"))
    (known,) = facts(strict, "worst_accuracy")
    shown = strict.sql("select count(value) as shown, count(*) as tried from searches").iloc[0]
    assert known["infeasible"] == [pytest.approx(1 - shown["shown"] / shown["tried"])]
    assert known["infeasible"][0] > 0.5
    loose = audit(by_red(), audits=AUDIT.replace("images=24", "images=24,constraint='ssim(-1)'"))
    (free,) = facts(loose, "worst_accuracy")
    assert free["infeasible"] == [0.0]
    assert of(loose, "worst_accuracy")["value"] == pytest.approx(0.5, abs=0.03)  # of 36 images, not of 60
    none = audit(by_red(), audits="shift(length=1,random=20,evaluations=10,images=24,set=mnist,constraint='ssim(1)')")
    assert of(none, "worst_accuracy")["value"] <= 1
    with pytest.raises(UserError, match="ssm"):
        audit(by_red(), audits="shift(constraint='ssm(0.5)')")


def test_protocols_set_what_was_published_and_a_scale_shortens_it() -> None:
    mnist, cifar = published_shift("mnist"), published_shift("cifar10")
    assert (mnist.set, mnist.length, mnist.random, mnist.evaluations, mnist.images) == (
        "mnist",
        3,
        10_000,
        1_000,
        1_000,
    )
    assert [one.proposes().evaluations for one in cifar.evolutions] == [10 * (100 + 1)] * 3
    assert cifar.images == 0
    short = published_shift("faces", 0.1, length=5, restarts=2)
    assert (short.random, short.evaluations, short.images, short.length, short.restarts) == (1_500, 101, 100, 5, 2)
    assert short.protocol == "faces at scale 0.1"
    assert published_shift(None, images=7) == ShiftAudit(images=7)
    assert published_shift("camvid", 0.001).evaluations == 20  # two generations at least
    with pytest.raises(UserError, match="unknown protocol 'minst'; did you mean 'mnist'"):
        published_shift("minst")


def test_the_command_is_the_audit_with_its_settings_as_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["observer:shape", "--data", "phantom:test?size=32&n=24", "--protocol", "cifar10", "--scale", "0.01"]
    assert exit_code(["search", *words, "--images", "12", "--out", "worst", "--quiet"]) == 0
    run = snellen.load_run(tmp_path / "worst")
    (text,) = [text for text in run.facts["audits"] if text.startswith("shift(")]
    (expected,) = parse_audits([published_shift("cifar10", 0.01, images=12)])
    assert text == str(expected)
    assert "random=10," in text
    assert "evaluations=20," in text
    (known,) = facts(run, "worst_accuracy", "shape")
    assert known["protocol"] == "cifar10 at scale 0.01"
    page = (tmp_path / "worst" / "report.html").read_text()
    assert "Worst-case edits" in page
    assert "below 0.1% after" in page
    assert exit_code(["audit", "--config", "worst/settings.yaml", "--out", "again", "--quiet"]) == 0
    pd.testing.assert_frame_equal(snellen.load_run(tmp_path / "again").findings(), run.findings())


def test_the_page_shows_edits_with_their_effects_and_both_charts(run: snellen.Run) -> None:
    from snellen.report.blocks import Chart, Panels, Table
    from snellen.report.results import Results
    from snellen.report.sections.shift import shift_blocks, shift_sentence

    results = Results.of(run)
    blocks = shift_blocks(results)
    (panels,) = [block for block in blocks if isinstance(block, Panels)]
    assert [one.title for one in panels.blocks if isinstance(one, Chart)] == [
        "red128: random combinations", "red140: random combinations", "The search",
    ]  # fmt: skip
    summary, effects = [block for block in blocks if isinstance(block, Table)]
    assert [row.head.text for row in summary.rows if hasattr(row, "head")] == ["red128", "red140"]
    assert len(effects.rows) == 2 * (1 + 3)
    ((term, sentence),) = shift_sentence(results, "red128")
    assert term == "What breaks it"
    worst = of(run, "worst_accuracy")["value"]
    assert f"from 100.0% to {100 * worst:.1f}% on images that were not searched" in sentence


@pytest.mark.parametrize(
    ("edits", "rests"),
    [
        ("invert()", ["none()"]),
        ("invert() | red(9)", ["red(9)", "invert()"]),
        ("invert() | red(9) | blue(8)", ["red(9) | blue(8)", "invert() | blue(8)", "invert() | red(9)"]),
    ],
)
def test_each_edit_is_left_out_once(edits: str, rests: list[str]) -> None:
    assert without_each(edits) == [parse(rest) for rest in rests]
