"""The audit of occluders: planted truth, tables recomputed from stored answers, real levels, and data without masks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.audits import OccludersAudit, parse_audits
from snellen.audits.occluders.ranks import Judged, proxy_findings, rank_findings, residual_findings
from snellen.audits.occluders.rows import _under
from snellen.audits.occluders.types import TypeChoice
from snellen.data.phantom import World
from snellen.distort import apply
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.measure import friedman
from snellen.models import from_callable
from snellen.models.observers import parse
from snellen.models.observers.support import support_of

WORLD = World("test", size=32, n=60, texture_bias=1.0, object_size=(0.5, 0.8))
PLANTED = "phantom:test?size=32&n=60&texture_bias=1&object_size=0.5..0.8"
REAL = "phantom:test?size=32&n=96&frames=4&occlusion=0.6&object_size=0.5..0.8&texture_bias=0.7"
SMALL = "occluders(synthetic=[black, white], diffuse=[solid, vertical, cross_hatch], lattices=[0.5, 0.75], px=[2, 8])"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Observers of known support: any object pixel, whole patches of 4, and none."""
    models = ["texture=observer:texture", "patches=observer:patches(4)", "guess=observer:guess"]
    return snellen.audit(models, PLANTED, SMALL, tmp_path_factory.mktemp("planted") / "run", quiet=True)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Data with levels of real occlusion, in clips."""
    models = ["texture=observer:texture", "shape=observer:shape", "patches=observer:patches(8)"]
    audits = "occluders(synthetic=[black, noise], diffuse=[], lattices=[])"
    folder = tmp_path_factory.mktemp("real") / "run"
    return snellen.audit(models, REAL, audits, folder, quiet=True, report=False)


def findings(run: Run, name: str, **facts: object) -> list[dict]:
    own = [
        finding for finding in run.results()["findings"] if finding["audit"] == "occluders" and finding["name"] == name
    ]
    return [
        finding
        for finding in own
        if all(finding["facts"].get(key, finding.get(key)) == value for key, value in facts.items())
    ]


def answers_of(run: Run, role: str) -> pd.DataFrame:
    """Stored answers beside what was shown, one row per model, distortion and sample."""
    return run.sql(
        "select model, distortion, answers.sample, score, covered, object_covered, coalesce(excluded, false) as excluded "
        "from answers join cells using (cell) left join shown on shown.shown = cells.shown and shown.sample = answers.sample "
        f"where cells.on = '{role}'"
    )


# Planted truth


def test_an_observer_that_needs_one_pixel_of_the_object_loses_nothing_and_is_first(planted: Run) -> None:
    values = [
        finding["value"]
        for finding in findings(planted, "level_accuracy", model="texture")
        if finding["value"] is not None
    ]
    assert len(values) > 15
    assert set(values) == {1.0}
    slopes = [finding["value"] for finding in findings(planted, "occlusion_slope", model="texture")]
    assert slopes == pytest.approx([0] * len(slopes))
    assert {finding["value"] for finding in findings(planted, "mean_rank", model="texture")} == {1.0}


@pytest.mark.parametrize(("px", "share"), [(2, 0.5), (2, 0.75), (8, 0.5), (8, 0.75)])
def test_a_patch_voter_has_what_whole_patches_of_its_object_leave_it(planted: Run, px: int, share: float) -> None:
    """Squares below the patch leave it nothing to vote by; above it, it is right where a patch of the object stays whole."""
    images, labels = WORLD.render(range(60)).images, WORLD.recipe(range(60)).true_class
    shown = apply(f"lattice({share}, {px})", images, [str(i) for i in range(60)])
    voter = parse("patches(4)")
    support = support_of(voter)
    assert support is not None
    seen = support(shown).any(axis=(1, 2))
    assert seen.any() == (px == 8)
    expected = np.where(seen, 1.0, parse("guess").answer(shown) == labels).mean()
    (finding,) = findings(planted, "level_accuracy", model="patches", type=f"lattice {px} px", position=share)
    assert finding["value"] == pytest.approx(expected)


def test_types_that_no_model_but_one_withstands_agree(planted: Run) -> None:
    """Friedman's Q is that of the ranks in the table, and those are the ranks of the accuracies beside them."""
    for test in findings(planted, "friedman_q"):
        ranks = findings(planted, "mean_rank", family=test["facts"]["family"], level=test["facts"]["level"])
        judges = test["facts"]["judges"]
        accuracies = np.array([[finding["facts"]["accuracies"][judge] for judge in judges] for finding in ranks])
        again = friedman(accuracies)
        assert (test["value"], test["facts"]["p"]) == pytest.approx((again.q, again.p))
        assert [finding["value"] for finding in ranks] == pytest.approx(again.mean_ranks.tolist())
        assert test["facts"]["method"] in ("exact", "permutation")
    assert {finding["facts"]["family"] for finding in findings(planted, "friedman_q")} == {"synthetic", "diffuse"}


def test_the_table_is_that_of_the_stored_answers(planted: Run) -> None:
    """Levels by the share of the object that was hidden, those in no bin left out, images of all right angles in one pool."""
    stored = answers_of(planted, "test")
    shown = stored[~stored["excluded"] & (stored["model"] == "patches")]
    (clean,) = findings(planted, "unoccluded_accuracy", model="patches")
    for name, texts, start, stop in (
        ("vertical", ["gates(kind=vertical"], 0.3, 0.5),
        ("right-angle", ["gates(kind=vertical", "gates(kind=cross_hatch"], 0.5, 0.7),
        ("solid", ["box(law=diffuse_code"], 0.1, 0.3),
        ("black", ["box(law=synthetic, fill=black"], np.nextafter(0.5, 1), 1.1),
    ):
        rows = shown[shown["distortion"].str.startswith(tuple(texts))]
        rows = rows[(rows["object_covered"] >= start) & (rows["object_covered"] < stop)]
        places = findings(planted, "level_accuracy", model="patches", type=name)
        (finding,) = [
            finding
            for finding in places
            if finding["facts"]["level_name"] in (f"{start * 100:g}–{stop * 100:g}%", "more than half")
        ]
        assert finding["n"] == len(rows)
        assert finding["value"] == pytest.approx(rows["score"].mean())
        assert finding["facts"]["drop"] == pytest.approx(clean["value"] - rows["score"].mean())
        assert finding["facts"]["share_of"] == "object"


def test_the_report_shows_the_tables_and_figures(planted: Run) -> None:
    page = (planted.path / "report.html").read_text()
    headings = (
        *("Occluders", "Accuracy by type and level", "Ranks of the models", "Beyond clean accuracy"),
        *("Solid and diffuse occluders", "Lattices by the size of their squares", "At each depth of the class tree"),
    )
    for heading in headings:
        assert f">{heading}<" in page
    assert "Kendall&#39;s W = " in page
    assert "shares of the image, not of the object" not in page
    assert "Is synthetic occlusion a proxy" not in page  # nothing real to compare with
    text = (planted.path / "report.md").read_text()
    assert re.search(
        r"\*\*Under occluders\*\*: Most is lost under .*, chosen as the largest loss of \d+ on these images\.", text
    )


# Real occlusion


def test_real_levels_are_those_of_the_data_and_split_by_the_class_of_the_occluder(real: Run) -> None:
    stored = answers_of(real, "test")
    clean = stored[(stored["distortion"] == "none()") & (stored["model"] == "shape")].set_index("sample")["score"]
    samples = snellen.load_data(REAL).samples
    level, same = (dict(zip(samples.ids, samples.columns[name].tolist())) for name in ("level", "same_class"))
    for place, word in ((1, "slight"), (2, "severe")):
        own = [sample for sample in clean.index if level[sample] == word]
        (finding,) = findings(real, "level_accuracy", model="shape", type="real", level=place)
        assert (finding["n"], finding["value"]) == (len(own), pytest.approx(clean[own].mean()))
        (alike,) = findings(real, "level_accuracy", model="shape", type="real, same class", level=place)
        assert alike["n"] == sum(same[sample] for sample in own)
        assert finding["facts"]["clustered"]


def test_occluders_are_put_before_unoccluded_images_alone(real: Run) -> None:
    samples = snellen.load_data(REAL).samples
    clear = int((np.asarray(samples.columns["level"]) == "none").sum())
    assert 0 < clear < len(samples)
    asked = answers_of(real, "unoccluded").groupby(["model", "distortion"]).size()
    assert set(asked) == {clear}
    (finding,) = findings(real, "occluder_accuracy", model="shape", type="black")
    assert finding["on"] == "unoccluded"
    assert finding["interference"]["distortion"].startswith("box(law=synthetic, fill=black")
    outline = snellen.audit(
        "observer:shape", REAL, "occluders(synthetic=[black], diffuse=[], lattices=[])", dry_run=True
    )
    assert outline.forward_passes == 2 * len(samples) + clear


def test_every_synthetic_type_is_compared_with_real_occlusion(real: Run) -> None:
    taus = findings(real, "proxy_tau")
    assert {finding["facts"]["type"] for finding in taus} == {"black", "noise"}
    assert all(
        finding["model"] == "all models" and -1 <= finding["value"] <= 1
        for finding in taus
        if finding["value"] is not None
    )
    residuals = findings(real, "occlusion_residual", level=1)
    assert sum(finding["value"] for finding in residuals) == pytest.approx(0, abs=1e-9)
    assert all(finding["facts"]["real"] for finding in residuals)
    assert {finding["unit"] for finding in residuals} == {"difference"}


def test_p_values_of_residuals_are_corrected_for_the_number_of_models() -> None:
    """Six models near a line, one of them far above: Holm's correction by hand, the smallest p times six, the next times five."""
    right = np.array([410, 452, 489, 533, 568, 624])  # of 1,000 images; the last is 12 above the line of the others
    correct = (np.arange(1000) < right[:, None]).astype(float)
    models = tuple("abcdef")
    judged = Judged("synthetic", 1, models, correct, np.full(1000, "black", object), np.arange(1000))
    told = residual_findings([judged], [0.5, 0.55, 0.6, 0.65, 0.7, 0.75])
    p, corrected = ([getattr(finding.facts, name) for finding in told] for name in ("p", "p_holm"))
    order = np.argsort(p)
    assert models[order[0]] == "f"
    by_hand = np.minimum(np.maximum.accumulate(np.sort(p) * [6, 5, 4, 3, 2, 1]), 1)
    assert np.array(corrected)[order] == pytest.approx(by_hand)
    assert p[5] < 0.05 < 6 * p[5] == pytest.approx(corrected[5])  # told apart alone, but not as one of six


def test_ranks_are_resampled_by_whole_groups() -> None:
    """Each group of 20 images is right or wrong as a whole, so that intervals are far wider than those of single images."""
    random = np.random.default_rng(0)
    judge = np.tile(np.array(["real", "black"], object), 200)
    group = np.arange(400) // 20
    correct = np.stack([(random.random(20) < right)[group] for right in (0.5, 0.6, 0.65)]).astype(float)
    whole = Judged("synthetic", 1, ("a", "b", "c"), correct, judge, group)
    single = replace(whole, group=np.arange(400))

    def widths(judged: Judged) -> list[float]:
        return [finding.high - finding.low for finding in rank_findings(judged) if finding.name == "mean_rank"]

    assert sum(widths(whole)) > 1.5 * sum(widths(single))
    assert [finding.facts for finding in proxy_findings([whole])] != [
        finding.facts for finding in proxy_findings([single])
    ]


def test_accuracy_does_not_fall_up_the_class_tree(real: Run) -> None:
    for model in ("shape", "patches"):
        for level in (0, 1, 2):
            own = findings(real, "tree_accuracy", model=model, level=level)
            values = [finding["value"] for finding in sorted(own, key=lambda finding: finding["facts"]["depth"])]
            assert values == sorted(values, reverse=True)
            assert len(values) == 4


# Other data


def test_without_masks_shares_are_those_of_the_image_and_named_so(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (24, 16, 16, 3), np.uint8)
    np.savez(tmp_path / "bare.npz", images=images, labels=np.arange(24) % 3, classes=["a", "b", "c"])
    model = from_callable(lambda images: np.eye(3)[images[:, 0, 0, 0] % 3], size=16, name="model", version="1")
    audits = "occluders(synthetic=[black], diffuse=[solid, oblique], lattices=[0.5], px=[1, 8, 16])"
    run = snellen.audit(model, f"arrays:{tmp_path}/bare.npz", audits, tmp_path / "run", quiet=True)
    own = findings(run, "level_accuracy")
    assert {finding["facts"]["share_of"] for finding in own} == {"image"}
    assert all(
        "of the image hidden" in finding["text"] and "of the image hidden" in finding["label"] for finding in own
    )
    assert {finding["facts"]["type"] for finding in own if finding["facts"]["family"] == "lattice"} == {
        "lattice 1 px",
        "lattice 8 px",
    }
    assert "hidden shares are shares of the image, not of the object" in (run.path / "report.html").read_text()
    assert not findings(run, "tree_accuracy")
    assert not findings(run, "friedman_q")  # one model has no rank


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("occluders(lattices=[0.3])", "expected lattices of 0.25, 0.5 or 0.75, got 0.3"),
        ("occluders(synthetic=[blak])", "unknown synthetic of occluders 'blak'; did you mean 'black'"),
        ("occluders(px=[0])", "expected px in"),
        ("occluders(bins=[[0.1, 0.5]])", r"expected bins as pairs of shares that begin with \[0, 0\]"),
        ("occluders(bins=[[0, 0], [0.5, 0.3]])", "expected bins from 0 to 1 with start ≤ stop"),
        ("occluders(px=[2, 2])", "px names a value twice"),
        ("occluders(top=0)", "expected top in"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_audits(text)


def test_nothing_to_ask_is_refused() -> None:
    with pytest.raises(UserError, match="occluders has nothing to ask"):
        snellen.audit("observer:guess", PLANTED, "occluders(synthetic=[], diffuse=[], lattices=[])", dry_run=True)


def test_its_text_parses_back() -> None:
    audit = OccludersAudit(bins=((0.0, 0.0), (0.2, 0.6)), people="a/b.csv", top=3)
    assert parse_audits(str(audit)) == [audit]


def test_stripes_have_one_name_and_the_former_one_is_understood() -> None:
    (former,), (now,) = parse_audits("occluders(synthetic=[texture])"), parse_audits("occluders(synthetic=[stripes])")
    assert former == now
    assert "synthetic=[stripes]" in str(former)
    with pytest.raises(UserError, match="synthetic names a value twice"):
        parse_audits("occluders(synthetic=[texture, stripes])")


def test_an_object_of_which_half_is_hidden_is_at_the_first_level() -> None:
    """As in the sets that are built: level 1 is 0–50%, level 2 more (Kassaw et al. 2024, section 6.2)."""
    block = SimpleNamespace(
        ids=np.array(["a", "b", "c"], object), score=np.ones((1, 3)), pred=np.zeros((1, 3)), labels=np.zeros(3),
        object_covered=np.array([0.25, 0.5, 0.75], np.float32), covered=None,
    )  # fmt: skip
    exam = SimpleNamespace(facts={"test": ("masks",)}, column=lambda name, ids: None)
    (occluder,) = TypeChoice(("stripes",), (), (), ()).types(SimpleNamespace(**vars(exam), cutouts=False))  # type: ignore[arg-type]
    assert _under(exam, block, occluder).level.tolist() == [1, 1, 2]  # type: ignore[arg-type]


def test_levels_of_real_occlusion_lie_evenly_from_0(real: Run) -> None:
    """The slope is that of the line through the accuracies of level 0, 1 and 2."""
    for slope in findings(real, "occlusion_slope", type="real"):
        model = slope["model"]
        (clean,) = findings(real, "unoccluded_accuracy", model=model)
        levels = findings(real, "level_accuracy", model=model, type="real")
        assert [level["facts"]["position"] for level in levels] == [1, 2]
        line = np.polyfit([0, 1, 2], [clean["value"], *(level["value"] for level in levels)], 1)
        assert slope["value"] == pytest.approx(line[0])
        assert abs(line[0]) > 0.01 or model == "texture"
