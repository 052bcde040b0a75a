"""The results page of Marcu & Prügel-Bennett 2022: its rule by hand-made cases, and the chain from training to page."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from snellen.report.published import published_table
from snellen.train import preset

from .replication_scripts import script

TABLES = ["1", "3", "5", "6", "9", "10", "11", "12", "14", "16"]


def samples(**means: float) -> dict:
    """Three runs of each method with a deviation of 0.1: methods that differ by 1 are told apart, by 0.1 they are not."""
    return {name: script("verdicts").Sample(mean, 0.1, 3) for name, mean in means.items()}


def test_a_sample_and_its_interval_are_those_of_a_table_of_student() -> None:
    """1, 2, 3: deviation 1, and with two degrees of freedom 4.303 standard errors of 1/√3 on each side."""
    one = script("verdicts").sample_of([1, 2, 3])
    assert (one.mean, one.sd, one.runs) == (2, 1, 3)
    empty = script("verdicts").sample_of([1, math.nan])
    assert (math.isnan(empty.mean), empty.is_usable) == (True, False)
    assert one.interval == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4)


def test_methods_are_told_apart_as_the_test_of_welch_does() -> None:
    from scipy.stats import ttest_ind_from_stats

    verdicts = script("verdicts")
    draws = np.random.default_rng(0)
    orders = []
    for _ in range(200):
        mean, sd, other_sd = draws.normal(0, 1), *draws.uniform(0.1, 1, 2)
        one, two = verdicts.Sample(mean, sd, 3), verdicts.Sample(0.0, other_sd, 5)
        p = ttest_ind_from_stats(mean, sd, 3, 0.0, other_sd, 5, equal_var=False).pvalue
        orders.append(verdicts.order_of(one, two))
        assert orders[-1] == (0 if p >= 0.05 else np.sign(mean))
    assert set(orders) == {-1, 0, 1}


@pytest.mark.parametrize(
    ("ours", "published", "word", "pairs", "fitting"),
    [
        ({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 2, "c": 1}, "agrees", (3, 0, 0), 3),
        (
            {"a": 40, "b": 30, "c": 2, "d": 1},
            {"a": 4, "b": 3, "c": 2, "d": 1},
            "agrees",
            (6, 0, 0),
            2,
        ),  # half the values
        ({"a": 3, "b": 2, "c": 9}, {"a": 3, "b": 2, "c": 1}, "disagrees", (1, 2, 0), 2),  # c is on the other side
        ({"a": 33, "b": 22, "c": 11}, {"a": 3, "b": 2, "c": 1}, "disagrees", (3, 0, 0), 0),  # in order, in no value
        (
            {"a": 109, "b": 81.5},
            {"a": 100, "b": 90},
            "agrees",
            (1, 0, 0),
            2,
        ),  # all intervals apart, by less than a tenth
        ({"a": 89, "b": 80}, {"a": 100, "b": 90}, "disagrees", (1, 0, 0), 0),  # by more than a tenth
        ({"a": 9, "b": 7, "c": 1}, {"a": 3, "b": 2, "c": 1}, "cannot be told", (3, 0, 0), 1),  # a third of the values
        ({"a": 3, "b": 2, "c": 2}, {"a": 3, "b": 2, "c": 1}, "cannot be told", (2, 0, 1), 2),  # b and c alike here
        ({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 3, "c": 3}, "cannot be told", (0, 0, 0), 1),  # the paper has no order
        ({"a": 3, "b": 3, "c": 3}, {"a": 3, "b": 3, "c": 3}, "cannot be told", (0, 0, 0), 3),  # nor here
        ({"a": 3, "z": 2}, {"a": 3, "b": 2}, "cannot be told", (0, 0, 0), 0),  # one method in common
    ],
)
def test_the_verdict_on_a_row_by_hand(ours, published, word, pairs, fitting):
    result = script("verdicts").verdict(samples(**ours), samples(**published))
    assert (result.word, (result.same, result.opposite, result.unclear), result.fitting) == (word, pairs, fitting)


def test_the_ceiling_of_a_table_is_the_power_of_its_comparisons() -> None:
    """Two methods in one row that fit for sure: the table agrees as often as Welch's test of 5 and 5 runs finds a difference of
    two deviations, 79% by the same test of scipy on draws of its own; methods far apart always agree, equal ones never."""
    from scipy.stats import ttest_ind

    verdicts, ceiling = script("verdicts"), script("verdict_ceilings").ceiling

    def row(difference: float):
        # the paper's ten runs tell two deviations apart; ours are five
        published = {"a": verdicts.Sample(100, 1, 10), "b": verdicts.Sample(100 - difference, 1, 10)}
        return {name: verdicts.Sample(0, 1, 5) for name in published}, published, math.inf

    draws = np.random.default_rng(5)
    p = ttest_ind(draws.normal(2, 1, (4000, 5)), draws.normal(0, 1, (4000, 5)), axis=1, equal_var=False).pvalue
    assert ceiling([row(2)]).agrees == pytest.approx(np.mean(p < 0.05), abs=0.03)
    assert (ceiling([row(50)]).agrees, ceiling([row(0)]).agrees) == (1, 0)
    two = ceiling([row(2), row(2)])  # both rows must agree: one of two is not more than half
    assert two.agrees == pytest.approx(np.mean(p < 0.05) ** 2, abs=0.04)
    assert two.disagrees < 0.01


def test_a_row_without_spread_or_beyond_its_unit_cannot_be_told() -> None:
    verdicts = script("verdicts")
    row = samples(a=3, b=2)
    for hole in (replace(row["a"], runs=1), replace(row["a"], sd=math.nan), replace(row["a"], mean=math.nan)):
        assert verdicts.verdict({**row, "a": hole}, row).word == "cannot be told"
    result = verdicts.verdict(row, samples(a=49, b=2), bound=10)
    assert (result.word, result.reason) == ("cannot be told", "published values exceed 10, the bound of their unit")


def test_the_verdict_on_a_table_and_on_the_claim_about_fills() -> None:
    verdicts = script("verdicts")
    yes, no, maybe = verdicts.AGREES, verdicts.DISAGREES, verdicts.OPEN
    assert [verdicts.of_table(words) for words in ([yes, yes, maybe], [yes, maybe], [yes, yes, no], [])] == [
        yes, maybe, no, maybe,
    ]  # fmt: skip
    less, more = verdicts.LESS, verdicts.MORE
    assert verdicts.judge_claim([less, less, maybe]) == "holds"
    assert verdicts.judge_claim([less, maybe]) == maybe
    assert verdicts.judge_claim([less, less, more]) == "does not hold"
    assert verdicts.relative_move(9, 11) == pytest.approx(0.2)
    assert math.isnan(verdicts.relative_move(0, 0))
    assert verdicts.compare_moves([0.1, 0.11, 0.12], [0.3, 0.31, 0.33]) == less
    assert verdicts.compare_moves([0.3, 0.31, 0.33], [0.1, 0.11, 0.12]) == more
    assert verdicts.compare_moves([0.3, 0.1, 0.2], [0.1, 0.3, 0.2]) == verdicts.compare_moves([0.3], [0.1]) == maybe


def test_the_worst_case_is_table_1_times_one_factor() -> None:
    """Rises of 0.2, 0.4 and a fall of the second class: their mean is 0.2, the maximum 0.4, so every run doubles."""
    worst_case = script("tidy_findings").worst_case
    assert worst_case([1.0, 2.0, 0.0], [[0.0, 0.2], [0.1, 0.4], [0.3, -0.3]]) == pytest.approx([2.0, 4.0, 0.0])
    assert worst_case([0.0, 0.0], [[-0.1], [0.0]]) == [0.0, 0.0]
    first, ninth = (published_table("marcu2022", table)["CIFAR-10"] for table in ("1", "9"))
    for method in ("basic", "MixUp", "FMix", "CutMix"):  # so are the published ones, mean and deviation, up to rounding
        factors = [ninth[method].value / first[method].value, ninth[method].sd / first[method].sd]
        assert factors[0] == pytest.approx(factors[1], rel=0.08)


def test_the_recipe_is_the_published_one() -> None:
    """Appendix A: 200 epochs at batch 128, SGD with momentum 0.9, 0.1 up to epoch 100 and 0.001 from there."""
    recipe = preset("marcu2022", arch="preact_resnet18_fmix", mix="random_masks")
    assert (recipe.epochs, recipe.batch_size, recipe.optimiser, recipe.momentum, recipe.nesterov) == (
        200,
        128,
        "sgd",
        0.9,
        False,
    )
    assert (recipe.weight_decay, recipe.smoothing, recipe.padding, recipe.flip) == (1e-4, 0, 4, True)
    rates = [recipe.rate(epoch * 391, 200 * 391, 391) for epoch in (0, 99, 100, 199)]
    assert rates == pytest.approx([0.1, 0.1, 0.001, 0.001])


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods, two runs and one: trained, asked about other training images, and written as a tidy table."""
    folder = tmp_path_factory.mktemp("chain")
    labels = np.arange(40) % 10
    for seed, name in enumerate(("cifar10-train", "cifar10-test", "cifar100-test", "lossless")):
        noise = np.random.default_rng(seed % 3).integers(
            0, 90, (40, 32, 32, 3)
        )  # the lossless ones are training images
        images = (noise + 15 * labels[:, None, None, None]).astype(np.uint8)[: 30 if name == "lossless" else 40]
        ids = [f"{name}-{row}" for row in range(len(images))]
        np.savez(
            folder / f"{name}.npz", images=images, labels=labels[: len(images)], classes=list("abcdefghij"), ids=ids
        )
    (folder / "recipe.yaml").write_text("epochs: 3\nbatch_size: 10\nlr: 0.05\npadding: 0\n")
    script("data_modification").main([
        *("--arch", "smallnet", "--recipe", str(folder / "recipe.yaml"), "--device", "cpu"),
        *("--mixes", "none", "fmix", "--runs", "1", "--more-runs", "basic=2"),
        *("--root", str(folder), "--out", str(folder / "out"), "--tidy", str(folder / "tidy.csv")),
        *("--seen-data", str(folder / "lossless.npz"), "--note", "trained on noise."),
    ])  # fmt: skip
    return folder


def test_the_chain_from_training_to_page_leaves_every_table(chain: Path) -> None:
    page = chain / "results" / "page.md"
    script("data_modification_page").main(
        [str(chain / "tidy.csv"), "--out", str(page), "--pictures", str(chain / "images")]
    )
    text = page.read_text()
    assert re.findall(r"^### Table (\d+):", text, re.M) == TABLES
    summary = re.findall(r"^\| (\d+) \| \*\*(agrees|disagrees|cannot be told)\*\* \|", text, re.M)
    assert [number for number, _ in summary] == TABLES
    opening, rest = text.split("## What differs from the paper")
    assert "the fill moves iOcclusion less than CutOcclusion" in opening.replace("\n", " ")
    differences = " ".join(rest.partition("## Verdicts")[0].split())
    for words in (
        "arch smallnet instead of preact_resnet18_fmix", "epochs 3 instead of 200", "lr 0.05 instead of 0.1",
        "runs: basic 2, FMix 1; published 5 each", "30 training images, of lossless.npz, instead of all", "trained on noise.",
        "not trained: MixUp, CutMix, RM", "Fashion-MNIST was not trained", "maximum over the runs", "ResNet-101",
    ):  # fmt: skip
        assert words in differences
    assert re.search(r"\| CIFAR-10 \| DI \| \d\.\d\d ± \d\.\d\d \w+ \[2\.82 ± 0\.44\] \| – \[2\.40 ± 0\.59\] \|", text)
    for file in re.findall(r"\]\(([^)]+\.png)\)", text):
        assert (page.parent / file).stat().st_size > 1000
    assert all(len(line) <= 130 or line.startswith("|") for line in text.splitlines())


def test_the_rows_are_the_findings_of_the_run(chain: Path) -> None:
    """Against the run's own findings: values of runs, worst case, and the gap of table 16 from accuracies."""
    tidy = script("tidy_findings")
    table = tidy.merge([tidy.read_tidy(chain / "tidy.csv")])
    findings = json.loads((chain / "out" / "brought" / "findings.json").read_text())["findings"]
    group = ("mixes", "cifar10", "basic")
    mine = [one for one in findings if one["model"] == "basic"]
    (shuffled,) = [one for one in mine if one["name"] == "interference" and one["distortions"] == ["shuffle(grid=4)"]]
    assert table.of(group, "interference", "shuffle(grid=4)") == pytest.approx(shuffled["per_run"], rel=1e-5)
    mean = table.mean(group, "interference", "shuffle(grid=4)")
    assert (mean.text, mean.value) == (shuffled["facts"]["dominant"], pytest.approx(shuffled["value"], rel=1e-5))
    (covered,) = [
        one for one in mine
        if one["name"] == "iocclusion" and one["facts"]["area"] == 0.3 and one["facts"]["fill"] == "mean"
    ]  # fmt: skip
    rows = {one.row: one for one in script("data_modification_tables").comparisons(table) if one.table == "16"}
    for row, fact in (("CIFAR-10, 30% covered", "numerator"), ("CIFAR-10, not covered", "denominator")):
        ours = rows[row].ours["basic"]
        assert ours.runs == 2
        if math.isfinite(ours.mean):  # nan where a run of so few images has no gap
            assert ours.mean == pytest.approx(100 * covered["facts"][fact], rel=1e-4, abs=1e-4)
    assert (chain / "tidy.csv").stat().st_size < 100_000


def test_tables_of_several_machines_are_put_together(chain: Path) -> None:
    tidy = script("tidy_findings")
    rows = tidy.read_tidy(chain / "tidy.csv")
    halves = [[row for row in rows if row.method == name] for name in ("basic", "fmix")]
    assert len(tidy.merge(halves).rows) == len(rows)
    again = [replace(row, text="later") for row in halves[0]][:1]
    merged = tidy.merge([rows, again])  # a method that is measured again replaces the earlier one whole
    assert [row.text for row in merged.rows if row.method == "basic"] == ["later"]
    assert len(merged.rows) == len(halves[1]) + 1
    tidy.write_tidy(halves[1], chain / "half.csv")
    assert (chain / "half.csv").read_text().splitlines()[1:] == [
        line for line in (chain / "tidy.csv").read_text().splitlines() if line.split(",")[2] == "fmix"
    ]
    (chain / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="other.csv: expected the columns part, dataset"):
        tidy.read_tidy(chain / "other.csv")


def test_other_parts_are_shown_without_a_verdict(chain: Path) -> None:
    tidy = script("tidy_findings")
    rows = tidy.read_tidy(chain / "tidy.csv")
    accuracies = tidy.merge([rows]).of(("mixes", "cifar10", "basic"), "accuracy", "none()")
    other = [replace(row, part="left_out") for row in rows if row.method == "basic"]
    text = script("data_modification_page").page(tidy.merge([rows, other]))
    shown = f"{100 * np.mean(accuracies):.2f} ± {100 * np.std(accuracies, ddof=1):.2f}"
    assert f"| left_out | cifar10 | basic | {shown} |" in text


def test_training_images_of_other_classes_are_refused(chain: Path, tmp_path: Path) -> None:
    np.savez(
        tmp_path / "other.npz", images=np.zeros((4, 32, 32, 3), np.uint8), labels=np.arange(4) % 2, classes=["a", "b"]
    )
    module = script("data_modification")
    chosen = module.parse_arguments(["--root", str(chain), "--seen-data", str(tmp_path / "other.npz")])
    with pytest.raises(SystemExit, match="has the classes"):
        module.seen_images(chosen, module.materials(chosen))
