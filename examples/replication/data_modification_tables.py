"""The rows of the tables of Marcu & Prügel-Bennett 2022 that can be set beside the published ones, with a verdict on each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tidy_findings import Group, Tidy
from verdicts import Sample, Verdict, compare_moves, relative_move, sample_of, verdict

from snellen.report.published import PublishedValue, published_table

METHODS = {"basic": "basic", "mixup": "MixUp", "fmix": "FMix", "cutmix": "CutMix", "random_masks": "RM"}
SETS = {"cifar10": "CIFAR-10", "fashion_mnist": "Fashion-MNIST"}
GRIDS = {"cifar10": 4, "fashion_mnist": 2}
PUBLISHED_RUNS = 5
CLASSES = 10  # of both datasets: the bound of DI
AREAS = (0.1, 0.3, 0.5, 0.7, 0.9)
FILLS = ("mean", "black", "donor")
FILL_WORDS = {"mean": "mean colour", "black": "black", "donor": "another dataset"}
READINGS = {"mean": "mean colour, as the code", "black": "black, as the text"}
LARGE = "occlude(area=uniform(low=0.7, high=1), fill={}, inside=false, law=exact)"
WITHIN = "occlude(area=uniform(low=0.1, high=1), fill={}, inside=true, law=exact)"
CLOUD = "fourier(area=uniform(low=0.7, high=1), fill={}, spectrum=official)"
SQUARE = "occlude(area={:g}, fill={}, inside=true, law=exact)"
SALIENT = "salient(share={:g}, which=coin, fill={}, layer=-2, method=gradcam)"
TITLES = {
    "1": "DI of shuffled patches (4×4; Fashion-MNIST 2×2)",
    "3": "DI of a square of 0.7 to 1 of the image that may leave it",
    "5": "0.3 of the image under pixels of another dataset",
    "6": "affinity (points of accuracy) and diversity (training loss of the last epoch)",
    "9": "DI of table 1 in the worst case: weighted by the run in which the dominant class rises most",
    "10": "DI of other grids",
    "11": "DI of the square of table 3 with pixels of another dataset",
    "12": "DI of Fourier masks over 0.7 to 1 of the image",
    "14": "DI of a square of 0.1 to 1 of the image, inside it",
    "16": "iOcclusion, mean fill: gap between training and test accuracy at each covered share, and without cover, in points",
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """One row of a table: ours and the published values by method, both in `unit`; `words` are our dominant classes.

    Where the text of the paper and its code differ, the row by the text stands `beside` the one by the code, which made the
    published values: it does not count for the table.
    """

    table: str
    row: str
    unit: str
    ours: Mapping[str, Sample]
    published: Mapping[str, Sample]
    words: Mapping[str, str]
    beside: bool = False

    @property
    def bound(self) -> float:
        """The highest value that the unit allows."""
        return CLASSES if self.unit == "DI" else math.inf

    @property
    def verdict(self) -> Verdict:
        return verdict(self.ours, self.published, self.bound)


@dataclass(frozen=True)
class FillMove:
    """How far a change of fill moves both measures of occlusion of a method, relative to their size, run by run."""

    method: str
    fills: tuple[str, str]
    iocclusion: Sequence[float]
    cut_occlusion: Sequence[float]

    @property
    def word(self) -> str:
        return compare_moves(self.iocclusion, self.cut_occlusion)


def comparisons(tidy: Tidy) -> list[Comparison]:
    """All rows, in the order of the tables; a dataset that was not measured has none."""
    rows = []
    for dataset in (name for name in SETS if any(group[:2] == ("mixes", name) for group in tidy.groups())):
        rows += _interference(tidy, dataset)
        if dataset == "cifar10":  # what the paper has of tables 5, 6 and 16
            rows += [*_occlusion(tidy, dataset), *_augmentations(tidy, dataset), *_gaps(tidy, dataset)]
    return sorted(rows, key=lambda one: int(one.table))


def _interference(tidy: Tidy, dataset: str) -> list[Comparison]:
    name, shuffled = SETS[dataset], f"shuffle(grid={GRIDS[dataset]})"
    rows = [("1", name, name, "interference", shuffled), ("9", name, name, "worst_case", shuffled)]
    rows += [("3", f"{name}, {words}", name, "interference", LARGE.format(fill)) for fill, words in READINGS.items()]
    if dataset == "cifar10":
        rows += [
            ("10", f"{name} {grid}×{grid}", f"{name} {grid}x{grid}", "interference", f"shuffle(grid={grid})")
            for grid in (2, 8)
        ]
    rows += [("11", name, name, "interference", LARGE.format("donor"))]
    rows += [("12", f"{name}, {words}", name, "interference", CLOUD.format(fill)) for fill, words in READINGS.items()]
    rows += [("14", f"{name}, {words}", name, "interference", WITHIN.format(fill)) for fill, words in READINGS.items()]
    return [
        _comparison(
            (table, title, "DI"), _by_method(tidy, dataset, finding, setting), published_table("marcu2022", table)[row]
        )
        for table, title, row, finding, setting in rows
    ]


def _occlusion(tidy: Tidy, dataset: str) -> list[Comparison]:
    """Table 5."""
    square, masked = SQUARE.format(0.3, "donor"), SALIENT.format(0.3, "donor")
    rows = (
        ("DI", "DI", "interference", square, 1),
        ("CutOcclusion", "%", "occluded_accuracy", square, 100),
        ("iOcclusion", "ratio", "iocclusion", masked, 1),
    )
    comparisons = []
    for name, unit, finding, setting, scale in rows:
        values = _by_method(tidy, dataset, finding, setting, scale)
        comparisons.append(_comparison(("5", f"{SETS[dataset]}, {name}", unit), values, _column("5", name)))
    return comparisons


def _augmentations(tidy: Tidy, dataset: str) -> list[Comparison]:
    """Table 6: affinity is how networks trained plainly take a mix, diversity how hard it is for those trained with it."""
    plain = ("mixes", dataset, "basic")
    kinds = ("mixup", "fmix", "cutmix")
    near = {kind: (tidy.of(plain, "affinity", f"mix(kind={kind}, alpha=1)"), "") for kind in kinds}
    ours = {
        "affinity": (
            "points",
            {kind: ([100 * value for value in values], word) for kind, (values, word) in near.items()},
        ),
        "diversity": ("loss", {kind: (tidy.of(("mixes", dataset, kind), "diversity"), "") for kind in kinds}),
        "mix diversity": ("loss", {kind: (tidy.of(("mixes", dataset, kind), "mix_diversity"), "") for kind in kinds}),
    }
    return [
        _comparison(("6", f"{SETS[dataset]}, {name}", unit), values, _column("6", name))
        for name, (unit, values) in ours.items()
    ]


def _gaps(tidy: Tidy, dataset: str) -> list[Comparison]:
    """Table 16: the gap of each run without cover, and times iOcclusion the gap under it."""
    gaps = {}
    for method in METHODS:
        group = ("mixes", dataset, method)
        seen, unseen = tidy.of(group, "train_accuracy", "none()"), tidy.of(group, "accuracy", "none()")
        gaps[method] = [100 * abs(one - two) for one, two in zip(seen, unseen)]
    rows = []
    for area in AREAS:
        ratios = _by_method(tidy, dataset, "iocclusion", SALIENT.format(area, "mean"))
        covered = {
            method: ([ratio * gap for ratio, gap in zip(values, gaps[method])], "")
            for method, (values, _) in ratios.items()
        }
        rows.append(
            _comparison(("16", f"{SETS[dataset]}, {area:.0%} covered", "points"), covered, _column("16", f"{area:g}"))
        )
    clean = {method: (values, "") for method, values in gaps.items()}
    return [*rows, _comparison(("16", f"{SETS[dataset]}, not covered", "points"), clean, _column("16", "denominator"))]


def fill_moves(tidy: Tidy, dataset: str) -> list[FillMove]:
    """Both measures as their means over the five shares, between each two fills, for each method."""
    moves = []
    for method in METHODS:
        means = {fill: _means_over_shares(tidy, ("mixes", dataset, method), fill) for fill in FILLS}
        for fills in (("mean", "donor"), ("black", "donor"), ("mean", "black")):
            pairs = [zip(means[fills[0]][name], means[fills[1]][name]) for name in ("iocclusion", "occluded_accuracy")]
            inner, cut = ([relative_move(one, two) for one, two in pair] for pair in pairs)
            if inner and cut:
                moves.append(FillMove(method, fills, inner, cut))
    return moves


def _means_over_shares(tidy: Tidy, group: Group, fill: str) -> dict[str, list[float]]:
    """Of each run; without a share that was not measured there is none."""
    texts = {"iocclusion": SALIENT, "occluded_accuracy": SQUARE}
    values = {name: [tidy.of(group, name, text.format(area, fill)) for area in AREAS] for name, text in texts.items()}
    return {name: [fmean(run) for run in zip(*shares)] if all(shares) else [] for name, shares in values.items()}


def _by_method(
    tidy: Tidy, dataset: str, finding: str, setting: str, scale: float = 1
) -> dict[str, tuple[list[float], str]]:
    """The values of the runs and the word beside them, of each method."""
    values = {}
    for method in METHODS:
        group = ("mixes", dataset, method)
        mean = tidy.mean(group, finding, setting)
        values[method] = [scale * value for value in tidy.of(group, finding, setting)], mean.text if mean else ""
    return values


def _comparison(
    names: tuple[str, str, str],
    values: Mapping[str, tuple[list[float], str]],
    published: Mapping[str, PublishedValue],
) -> Comparison:
    table, row, unit = names
    scaled = unit in ("%", "points")
    for one in published.values():
        if (one.unit in ("percent", "points")) != scaled:
            raise SystemExit(f"table {table}, {row}: published in {one.unit}, ours in {unit}")
    theirs = {
        method: Sample(published[name].value, _number(published[name].sd), PUBLISHED_RUNS)
        for method, name in METHODS.items()
        if name in published
    }
    ours = {method: sample_of(runs) for method, (runs, _) in values.items() if runs}
    words = {method: word for method, (_, word) in values.items()}
    return Comparison(table, row, unit, ours, theirs, words, beside=row.endswith(READINGS["black"]))


def _column(table: str, column: str) -> dict[str, PublishedValue]:
    """A column of a published table whose rows are methods."""
    return {row: values[column] for row, values in published_table("marcu2022", table).items() if column in values}


def _number(value: float | None) -> float:
    return math.nan if value is None else value
