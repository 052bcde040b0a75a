"""The findings of a replication as one tidy CSV, small enough to keep, from which its page is made.

    python examples/replication/tidy_findings.py brought/basic.csv brought/mixup.csv --out docs/results/data/marcu2022.csv

A row is one value: of one run (`run` is its number), of all runs (`run` is `mean`: the value, its 95% interval and, as `text`,
its dominant class), or a fact of the training in words (`finding` is `fact`). Files of several machines are put together as they
are; the same method of the same dataset in a later file replaces that of an earlier one whole.
"""

from __future__ import annotations

import argparse
import csv
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

Group = tuple[str, str, str]  # part, dataset, method
MEAN, FACT = "mean", "fact"
NAMES = (
    "accuracy", "train_accuracy", "distorted_accuracy", "occluded_accuracy", "interference", "iocclusion", "affinity",
    "diversity", "mix_diversity",
)  # fmt: skip
# Distortions whose errors are kept class by class, for the figures.
BY_CLASS = (
    "shuffle(grid=4)",
    "occlude(area=uniform(low=0.7, high=1), fill=black, inside=false, law=exact)",
    "occlude(area=uniform(low=0.7, high=1), fill=donor, inside=false, law=exact)",
)


@dataclass(frozen=True)
class Row:
    """One value, in `unit`; `setting` is the distortion or the name of the fact."""

    part: str
    dataset: str
    method: str
    run: str
    finding: str
    setting: str
    value: float
    low: float
    high: float
    unit: str
    text: str

    @property
    def group(self) -> Group:
        return self.part, self.dataset, self.method


@dataclass(frozen=True)
class Tidy:
    """Rows of several methods and datasets."""

    rows: tuple[Row, ...]

    def of(self, group: Group, finding: str, setting: str = "") -> list[float]:
        """The values of the runs, in their order; empty where nothing was measured."""
        rows = self._index.get((*group, finding, setting), [])
        return [row.value for row in sorted((row for row in rows if row.run != MEAN), key=lambda row: int(row.run))]

    def mean(self, group: Group, finding: str, setting: str = "") -> Row | None:
        """The row of all runs: its interval, and as `text` its dominant class."""
        return next((row for row in self._index.get((*group, finding, setting), []) if row.run == MEAN), None)

    def facts(self, group: Group) -> dict[str, str]:
        return {row.setting: row.text for row in self.rows if row.finding == FACT and row.group == group}

    def groups(self) -> list[Group]:
        return list(dict.fromkeys(row.group for row in self.rows))

    @functools.cached_property
    def _index(self) -> Mapping[tuple[str, ...], list[Row]]:
        index: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            index.setdefault((*row.group, row.finding, row.setting), []).append(row)
        return index


def tidy_rows(
    findings: Iterable[Mapping[str, Any]], part: str, dataset: str, facts: Mapping[str, Mapping[str, Any]]
) -> list[Row]:
    """The rows of the findings of a run folder; `facts` are those of each method by name, and only these methods are kept."""
    rows = [
        Row(part, dataset, method, "", FACT, name, math.nan, math.nan, math.nan, "", str(value))
        for method, known in facts.items()
        for name, value in known.items()
    ]
    for one in findings:
        if one["name"] in NAMES and one["model"] in facts:
            rows += _values(one, (part, dataset, one["model"]))
    return rows


def _values(one: Mapping[str, Any], group: Group) -> list[Row]:
    setting = next(iter(one["distortions"]), "")
    known, unit = one["facts"], one["unit"]
    rows = _of_runs(group, one["name"], setting, one["per_run"], unit)
    rows.append(Row(*group, MEAN, one["name"], setting, *_numbers(one), unit, str(known.get("dominant", ""))))
    if one["name"] == "interference":
        rows += _of_runs(group, "worst_case", setting, worst_case(one["per_run"], known["increase"]), unit)
        if setting in BY_CLASS:
            rows += _by_class(group, setting, known)
    return rows


def _by_class(group: Group, setting: str, known: Mapping[str, Any]) -> list[Row]:
    """The mean over runs of the share of errors that each class gains."""
    return [
        Row(*group, MEAN, "error_increase", setting, sum(shares) / len(shares), math.nan, math.nan, "share", name)
        for name, *shares in zip(known["classes"], *known["increase"])
    ]


def worst_case(per_run: Sequence[float], increase: Sequence[Sequence[float]]) -> list[float]:
    """Table 9 of Marcu & Prügel-Bennett 2022: DI of each run, weighted by the maximum over the runs of the dominant class's
    rise in the place of the mean. `increase` [runs, classes] is signed; what falls counts as 0."""
    rises = [[max(run[number], 0.0) for run in increase] for number in range(len(increase[0]))]
    dominant = max(rises, key=sum)
    factor = max(dominant) * len(dominant) / sum(dominant) if sum(dominant) > 0 else 0.0
    return [value * factor for value in per_run]


def _of_runs(group: Group, name: str, setting: str, values: Sequence[float], unit: str) -> list[Row]:
    return [
        Row(
            *group,
            str(number),
            name,
            setting,
            math.nan if value is None else float(value),
            math.nan,
            math.nan,
            unit,
            "",
        )
        for number, value in enumerate(values)
    ]


def _numbers(one: Mapping[str, Any]) -> tuple[float, float, float]:
    value, low, high = (math.nan if one[name] is None else float(one[name]) for name in ("value", "low", "high"))
    return value, low, high


def write_tidy(rows: Iterable[Row], file: Path) -> Path:
    """Six significant digits: less than the seventh is rounding, and the file stays small."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as target:
        writer = csv.DictWriter(target, [one.name for one in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            numbers = {name: f"{value:.6g}" for name, value in asdict(row).items() if isinstance(value, float)}
            writer.writerow({**asdict(row), **{name: "" if text == "nan" else text for name, text in numbers.items()}})
    return file


def read_tidy(file: Path) -> list[Row]:
    wanted = [one.name for one in fields(Row)]
    with file.open(newline="", encoding="utf-8") as source:
        reader = csv.DictReader(source)
        if reader.fieldnames != wanted:
            raise SystemExit(
                f"{file}: expected the columns {', '.join(wanted)}; write it with data_modification.py --tidy"
            )
        return [
            Row(**{**row, **{name: float(row[name] or "nan") for name in ("value", "low", "high")}})  # type: ignore[arg-type]
            for row in reader
        ]


def merge(tables: Sequence[Sequence[Row]]) -> Tidy:
    """All rows; of a group (part, dataset, method) that several tables have, those of the last one."""
    groups: dict[Group, list[Row]] = {}
    for table in tables:
        fresh: dict[Group, list[Row]] = {}
        for row in table:
            fresh.setdefault(row.group, []).append(row)
        groups |= fresh
    return Tidy(tuple(row for rows in groups.values() for row in rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    merged = merge([read_tidy(file) for file in chosen.files])
    print(f"{write_tidy(merged.rows, chosen.out)}: {len(merged.rows):,} rows of {len(merged.groups())} groups")


if __name__ == "__main__":
    main()
