"""The tables of docs/results/data-modification.md, from the findings that data_modification.py brought back.

    python examples/replication/data_modification_tables.py --cifar10 brought/mixes --fashion_mnist brought/fashion \
        --left-out brought/left_out --architectures brought/architectures --partners brought/partners \
        --random-labels brought/labels --pictures docs/images > tables.md

Each cell is the mean ± sample standard deviation over the runs, then the published value in brackets.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import vl_convert

from snellen.report.charts import CONFIG, svg
from snellen.report.published import PublishedValue, published_table

METHODS = {"basic": "basic", "mixup": "MixUp", "fmix": "FMix", "cutmix": "CutMix", "random_masks": "RM"}
FOUR = ("basic", "mixup", "fmix", "cutmix")
LARGE = "occlude(area=uniform(low=0.7, high=1), fill={}, inside=false, law=exact)"
WITHIN = "occlude(area=uniform(low=0.1, high=1), fill={}, inside=true, law=exact)"
CLOUD = "fourier(area=uniform(low=0.7, high=1), fill={}, spectrum=official)"
AREAS = (0.1, 0.3, 0.5, 0.7, 0.9)
FAMILIES = {
    "preact_resnet18": "PreAct-ResNet18", "resnet20": "ResNet", "vgg16_bn": "VGG", "wide_resnet16_4": "WideResNet",
    "bagnet9": "BagNet-9", "bagnet17": "BagNet-17",
}  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """The findings of one run folder."""

    rows: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> Findings:
        return cls(json.loads((folder / "findings.json").read_text())["findings"])

    def one(self, model: str, name: str, distortion: str | None = None, **facts: Any) -> Mapping[str, Any]:
        """The only finding of that name of a model, under that distortion, with these facts."""
        found = [
            row for row in self.rows
            if row["model"] == model and row["name"] == name and (distortion in (None, *row["distortions"]))
            and all(row["facts"].get(key) == value for key, value in facts.items())
        ]  # fmt: skip
        if len(found) != 1:
            raise SystemExit(f"expected one finding '{name}' of {model} under {distortion} {facts}, got {len(found)}")
        return found[0]

    def models(self) -> list[str]:
        return list(dict.fromkeys(row["model"] for row in self.rows))


def spread(finding: Mapping[str, Any], scale: float = 1, digits: int = 2) -> str:
    """Mean ± standard deviation over the runs."""
    runs = [scale * value for value in finding["per_run"]]
    return f"{fmean(runs):.{digits}f} ± {stdev(runs):.{digits}f}" if len(runs) > 1 else f"{fmean(runs):.{digits}f}"


def index(found: Findings, model: str, distortion: str, worst: bool = False) -> str:
    """A DI with its deviation and the class that it names."""
    one = found.one(model, "interference", distortion)
    if worst:
        return f"{one['facts']['worst_case']:.2f} ± {one['facts']['worst_case_std']:.2f}"
    published = one["facts"].get("published_index", one["value"])  # which findings of before had for their value
    return f"{published:.2f} ± {one['facts']['std']:.2f} {one['facts']['dominant']}"


def beside(ours: str, other: PublishedValue | None) -> str:
    if other is None:
        return ours
    deviation = f" ± {other.sd:g}" if other.sd is not None else ""
    return f"{ours} [{other.value:g}{deviation}]"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])


def by_method(
    title: str,
    number: str,
    rows: Sequence[tuple[str, Findings, str, str | None]],
    cell: Callable[[Findings, str, str], str] = index,
) -> str:
    """A table of distortions by methods; a row is its name, the findings, the distortion and the published row."""
    held = published_table("000", number)
    shown = [
        [name, *(beside(cell(found, method, text), held.get(row or "", {}).get(METHODS[method])) for method in FOUR)]
        for name, found, text, row in rows
    ]
    return table(title, ["data", *(METHODS[method] for method in FOUR)], shown)


def interference_tables(cifar: Findings, fashion: Findings) -> list[str]:
    sets = (("CIFAR-10", cifar), ("Fashion-MNIST", fashion))
    fills = ("black", "mean")
    grids = {"CIFAR-10": 4, "Fashion-MNIST": 2}
    first = [(name, found, f"shuffle(grid={grids[name]})", name) for name, found in sets]
    return [
        by_method("Table 1: DI of shuffled patches (4×4; Fashion-MNIST 2×2)", "1", first),
        by_method(
            "Table 3: DI of a square of 0.7 to 1 of the image that may leave it", "3",
            [(f"{name}, {fill}", found, LARGE.format(fill), name) for name, found in sets for fill in fills],
        ),
        by_method(
            "Table 10: DI of other grids", "10",
            [
                ("CIFAR-10 2×2", cifar, "shuffle(grid=2)", "CIFAR-10 2x2"),
                ("CIFAR-10 8×8", cifar, "shuffle(grid=8)", "CIFAR-10 8x8"),
                ("Fashion-MNIST 4×4", fashion, "shuffle(grid=4)", None),
            ],
        ),
        by_method(
            "Table 9: the worst case over runs of table 1", "9", first,
            lambda found, method, text: index(found, method, text, worst=True),
        ),
        by_method(
            "Table 11: DI of the square of table 3 with pixels of another dataset", "11",
            [(name, found, LARGE.format("donor"), name) for name, found in sets],
        ),
        by_method(
            "Table 12: DI of Fourier masks over 0.7 to 1 of the image", "12",
            [(f"{name}, {fill}", found, CLOUD.format(fill), name) for name, found in sets for fill in fills],
        ),
        by_method(
            "Table 14: DI of a square of 0.1 to 1 of the image, inside it", "14",
            [(f"{name}, {fill}", found, WITHIN.format(fill), name) for name, found in sets for fill in fills],
        ),
    ]  # fmt: skip


def occlusion_tables(cifar: Findings, fashion: Findings) -> list[str]:
    five, sixteen = published_table("000", "5"), published_table("000", "16")
    told = []
    for name, found, held in (("CIFAR-10", cifar, five), ("Fashion-MNIST", fashion, {})):
        rows = []
        for method in (one for one in METHODS if one in found.models()):
            cut = found.one(method, "occluded_accuracy", fill="donor", area=0.3)
            inner = found.one(method, "iocclusion", fill="donor", area=0.3)
            other = held.get(METHODS[method], {})
            rows.append([
                METHODS[method],
                beside(index(found, method, "occlude(area=0.3, fill=donor, inside=true, law=exact)"), other.get("DI")),
                beside(spread(cut, 100), other.get("CutOcclusion")),
                beside(spread(inner), other.get("iOcclusion")),
            ])  # fmt: skip
        head = ["method", "DI", "CutOcclusion %", "iOcclusion"]
        told.append(table(f"Table 5: {name}, 0.3 of the image under pixels of another dataset", head, rows))
    for name, found, held in (("CIFAR-10", cifar, sixteen), ("Fashion-MNIST", fashion, {})):
        for fill in ("mean", "black", "donor"):
            rows = []
            for method in (one for one in METHODS if one in found.models()):
                parts = {area: found.one(method, "iocclusion", fill=fill, area=area)["facts"] for area in AREAS}
                other = held.get(METHODS[method], {}) if fill == "mean" else {}
                cells = [beside(f"{100 * parts[area]['numerator']:.2f}", other.get(f"{area:g}")) for area in AREAS]
                gap = beside(f"{100 * parts[0.1]['denominator']:.2f}", other.get("denominator"))
                rows.append([METHODS[method], *cells, gap])
            head = ["method", *(f"{area:.0%}" for area in AREAS), "gap"]
            told.append(table(f"Table 16: {name}, {fill}: numerator in points at each share, and the gap", head, rows))
    for name, found in (("CIFAR-10", cifar), ("Fashion-MNIST", fashion)):
        rows = []
        for method in (one for one in METHODS if one in found.models()):
            for measure in ("cut_occlusion", "iocclusion"):
                if measure == "cut_occlusion":
                    cells = [spread(found.one(method, measure, fill=fill), 100) for fill in ("mean", "black", "donor")]
                else:
                    each = [
                        [found.one(method, measure, fill=fill, area=area)["value"] for area in AREAS]
                        for fill in ("mean", "black", "donor")
                    ]
                    cells = [f"{fmean(values):.3f}" for values in each]
                rows.append([METHODS[method], measure.replace("_", " "), *cells])
        head = ["method", "mean over the five shares", "mean fill", "black", "other dataset"]
        told.append(table(f"Figures 3, 5, 12: {name}, uniform against textured occluders", head, rows))
    return told


def other_tables(cifar: Findings, left_out: Findings | None, architectures: Findings | None) -> list[str]:
    six = published_table("000", "6")
    rows = []
    for kind in ("mixup", "cutmix", "fmix"):
        other, name = six.get(METHODS[kind], {}), METHODS[kind]
        near = spread(cifar.one("basic", "affinity", f"mix(kind={kind}, alpha=1)"), 100)
        hard = cifar.one(kind, "diversity")
        rows.append([
            name, beside(near, other.get("affinity")), beside(spread(hard, 1, 3), other.get("diversity")),
            beside(f"{hard['facts']['mix_diversity']:.3f}", other.get("mix diversity")),
        ])  # fmt: skip
    told = [table("Table 6: CIFAR-10", ["mix", "affinity, points", "diversity", "mix diversity"], rows)]
    if left_out is not None:
        seven = {**published_table("000", "7"), **published_table("000", "C.5.1")}
        shown = [
            [METHODS[m], beside(index(left_out, m, LARGE.format("donor")), seven[METHODS[m]].get("CIFAR-10")),
             index(left_out, m, "shuffle(grid=4)"), index(left_out, m, LARGE.format("black"))]
            for m in FOUR
        ]  # fmt: skip
        head = ["method", "square of another dataset", "shuffled 4×4", "black square"]
        told.append(table("Table 7: CIFAR-10 without trucks, DI", head, shown))
    if architectures is not None:
        eight = published_table("000", "B.8")
        shown = []
        for found in (cifar, architectures):
            for model in (one for one in found.models() if one in FAMILIES or one == "basic"):
                name = FAMILIES.get(model, "PreAct-ResNet18")
                text = "shuffle(grid=4)"
                shown.append([
                    name, spread(found.one(model, "accuracy"), 100),
                    beside(index(found, model, text), eight.get(name, {}).get("CIFAR-10")),
                    spread(found.one(model, "distorted_accuracy", text), 100),
                    index(found, model, LARGE.format("black")),
                ])  # fmt: skip
        head = ["network", "accuracy %", "DI shuffled 4×4", "shuffled accuracy %", "DI black square"]
        told.append(table("B.8: networks trained without mixing", head, shown))
    return told


def partners_table(found: Findings) -> str:
    """Table 8, left: accuracy with partners of the same data and of others."""
    eight = published_table("000", "8")
    rows = [
        [name, *(
            beside(spread(found.one(method + ending, "accuracy"), 100), eight[row][f"CIFAR-10 {METHODS[method]}"])
            for method in FOUR[1:]
        )]
        for name, ending, row in (
            ("CIFAR-10, the baseline", "", "baseline"),
            ("CIFAR-100", "-with-cifar100", "CIFAR-110"),
            ("Fashion-MNIST", "-with-fashion_mnist", "Fashion"),
        )
    ]  # fmt: skip
    head = ["partners from", *(METHODS[method] for method in FOUR[1:])]
    return table("Table 8: accuracy % with the reformulated objective", head, rows)


def random_labels_table(found: Findings, clean: Findings) -> str:
    """Table 15: half of each image covered; networks that learnt random labels by heart, and FMix with true ones."""
    fifteen = published_table("000", "15")
    groups = (("basic random", found, "basic"), ("FMix random", found, "fmix"), ("FMix clean", clean, "fmix"))
    rows = []
    for fill in ("mean", "black", "donor"):
        square = f"occlude(area=0.5, fill={fill}, inside=true, law=exact)"
        masked = f"salient(share=0.5, which=coin, fill={fill}, layer=-2, method=gradcam)"
        for measure, name, text in (
            ("CutOcclusion", "occluded_accuracy", square),
            ("iOcclusion", "iocclusion", masked),
        ):
            cells = [beside(spread(by.one(model, name, text), 100), fifteen[measure][who]) for who, by, model in groups]
            rows.append([f"{measure}, {fill}", *cells])
    return table(
        "Table 15: half of each image covered, times 100", ["measure, fill", *(one[0] for one in groups)], rows
    )


def increase_picture(found: Findings) -> dict[str, Any]:
    """Figures 2, 8, 9: by how much of all errors each class gains, a row a distortion and a column a method."""
    named = {
        "shuffled 4×4": "shuffle(grid=4)",
        "black square": LARGE.format("black"),
        "other dataset": LARGE.format("donor"),
    }
    rows = [
        {"distortion": words, "method": METHODS[method], "class": name, "increase": value}
        for words, text in named.items()
        for method in FOUR
        for one in [found.one(method, "interference", text)]
        for name, value in zip(one["facts"]["classes"], _over_runs(one["facts"]["increase"]))
    ]
    return {
        "config": CONFIG, "data": {"values": rows}, "mark": "bar", "width": 170, "height": 110,
        "encoding": {
            "row": {"field": "distortion", "type": "nominal", "title": None, "sort": list(named)},
            "column": {"field": "method", "type": "nominal", "title": None, "sort": [METHODS[m] for m in FOUR]},
            "x": {"field": "class", "type": "nominal", "title": None, "sort": None},
            "y": {"field": "increase", "type": "quantitative", "title": "share of errors gained"},
        },
    }  # fmt: skip


def curve_picture(found: Findings) -> dict[str, Any]:
    """Figures 3, 5, 10, 12: both measures against the covered share, for each fill."""
    names = {"occluded_accuracy": "CutOcclusion (accuracy)", "iocclusion": "iOcclusion"}
    rows = [
        {"measure": words, "fill": fill, "method": METHODS[method], "share": area,
         "value": found.one(method, name, fill=fill, area=area)["value"]}
        for name, words in names.items() for fill in ("mean", "black", "donor")
        for method in METHODS if method in found.models() for area in AREAS
    ]  # fmt: skip
    return {
        "config": CONFIG, "data": {"values": rows}, "mark": {"type": "line", "point": True}, "width": 210, "height": 170,
        "resolve": {"scale": {"y": "independent"}},
        "encoding": {
            "row": {"field": "measure", "type": "nominal", "title": None},
            "column": {"field": "fill", "type": "nominal", "title": None, "sort": ["mean", "black", "donor"]},
            "x": {"field": "share", "type": "quantitative", "title": "covered share"},
            "y": {"field": "value", "type": "quantitative", "title": None},
            "color": {"field": "method", "type": "nominal", "title": None, "sort": list(METHODS.values())},
        },
    }  # fmt: skip


def _over_runs(increase: Sequence[Any]) -> list[float]:
    """The mean over runs of the per-class increase."""
    return [fmean(column) for column in zip(*increase)] if isinstance(increase[0], list) else list(increase)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cifar10", "fashion_mnist", "left-out", "architectures", "partners", "random-labels"):
        parser.add_argument(f"--{name}", type=Path, required=name in ("cifar10", "fashion_mnist"))
    parser.add_argument("--pictures", type=Path, help="write the figures as PNG into this folder")
    chosen = parser.parse_args()
    cifar, fashion = Findings.read(chosen.cifar10), Findings.read(chosen.fashion_mnist)
    left_out, architectures = (Findings.read(one) if one else None for one in (chosen.left_out, chosen.architectures))
    print("\n".join([
        *interference_tables(cifar, fashion), *occlusion_tables(cifar, fashion),
        *other_tables(cifar, left_out, architectures),
    ]))  # fmt: skip
    if chosen.partners:
        print(partners_table(Findings.read(chosen.partners)))
    if chosen.random_labels:
        print(random_labels_table(Findings.read(chosen.random_labels), cifar))
    if chosen.pictures:
        for name, spec in {"increase": increase_picture(cifar), "occlusion": curve_picture(cifar)}.items():
            picture = vl_convert.svg_to_png(svg(spec), scale=1.5)
            (chosen.pictures / f"data-modification-{name}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
