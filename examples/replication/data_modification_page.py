"""docs/results/data-modification.md, whole, from the tidy findings of data_modification.py and the published values.

    python examples/replication/data_modification_page.py docs/results/data/marcu2022.csv \
        --out docs/results/data-modification.md --pictures docs/images

No number on the page is typed by hand: change the CSV, and make it again.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import verdicts
from data_modification_differences import common_facts, differences
from data_modification_pictures import write_pictures
from data_modification_tables import (
    FILL_WORDS,
    LARGE,
    METHODS,
    SALIENT,
    SETS,
    SQUARE,
    TITLES,
    Comparison,
    FillMove,
    comparisons,
    fill_moves,
)  # fmt: skip
from data_modification_verdicts import ceilings_in_words, counted_rows, lines_by_table, verdict_line
from tidy_findings import Tidy, merge, read_tidy
from verdicts import AGREES, DISAGREES, LESS, MORE, OPEN, Sample, judge_claim, of_table, sample_of

WIDTH = 120
DONORS = {"cifar10": "cifar100", "fashion_mnist": "mnist"}
CLAIMS = {"holds": "holds", "does not hold": "does not hold", OPEN: "can be neither confirmed nor refuted"}
RULE = (verdicts.__doc__ or "").partition("\n\n")[2].strip()
OTHER = (
    ("accuracy %", 100, ("accuracy", "none()")),
    ("DI, shuffled 4×4", 1, ("interference", "shuffle(grid=4)")),
    ("DI, black square", 1, ("interference", LARGE.format("black"))),
    ("DI, square of another dataset", 1, ("interference", LARGE.format("donor"))),
    ("CutOcclusion %, half in the mean colour", 100, ("occluded_accuracy", SQUARE.format(0.5, "mean"))),
    ("iOcclusion, half in the mean colour", 1, ("iocclusion", SALIENT.format(0.5, "mean"))),
)
UNSAFE = (
    "Networks that never saw the dominant class (`left_out`, table 7), partners from other data (`partners`, table 8), random "
    "labels (`random_labels`, table 15) and other networks (`architectures`, B.8). They have no verdict: table 7 repeats a "
    "column of table 11, table 15 does not fit table 16, and B.8 does not say which distortion it is about."
)
SHORT = (
    "Fashion-MNIST, tables 7, 8 and 15, and B.8 were measured by shorter trainings: "
    "[what only short trainings measured](data-modification-short.md)."
)
FILL_RULE = """\
The paper says that iOcclusion "abstracts away from the colour of the occluder" while CutOcclusion does not (section 3.2, C.2,
figures 3, 5 and 12). Both are taken as their mean over the five covered shares. A change of fill moves a measure by the
distance of its two values in % of their middle, run by run. A row says *less* or *more* where the 95% t interval of the
paired differences leaves out 0. The claim does not hold where iOcclusion clearly moves more in some row; it holds where it
moves clearly less in more than half of the rows. Noise alone moves a measure too, and a ratio of small gaps is noisier than an
accuracy: *more* includes that."""


def page(tidy: Tidy, pictures: Sequence[str] = ()) -> str:
    """The whole page."""
    rows = comparisons(tidy)
    moves = {name: fill_moves(tidy, name) for name in SETS}
    parts = [
        "# Marcu & Prügel-Bennett 2022: results",
        _opening(tidy, rows, moves),
        "## What differs from the paper",
        "\n".join(_wrap(f"- {text}", "  ") for text in differences(tidy)),
        "## Verdicts",
        RULE,
        _wrap(
            "`examples/replication/verdicts.py` is this rule as code. Where text and code of the paper fill with different "
            "colours, rows by the text stand beside and do not count for their table."
        ),
        _table(["table", "verdict", "ceiling", "rows that agree", "disagree", "cannot be told"], lines_by_table(rows)),
        _wrap(ceilings_in_words(rows)),
        _table(["table", "row", "verdict", "pairs in the same order", "opposite", "open", "values fit", "why"],
               [verdict_line(one) for one in rows]),
        "## iOcclusion and CutOcclusion under a change of fill",
        FILL_RULE,
        *(_fill_table(name, moves[name]) for name in SETS if moves[name]),
        "## Tables",
        _wrap(
            "Ours as mean ± sample standard deviation over the runs, in brackets the published value in the same unit; after a "
            "DI of ours stands its dominant class."
        ),
        *(_method_table(number, [one for one in rows if one.table == number]) for number in TITLES),
        *_accuracies(tidy),
        *_other_parts(tidy),
        *(["## Figures", *(part for file in pictures for part in _picture(file))] if pictures else []),
        "## Repeat it",
        _commands(tidy),
    ]  # fmt: skip
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _opening(tidy: Tidy, rows: Sequence[Comparison], moves: Mapping[str, Sequence[FillMove]]) -> str:
    """What a reader wants to know first: which tables agree, whether the claim about fills holds, and where it comes from."""
    facts = common_facts(tidy)
    tables = {number: of_table([one.verdict.word for one in own]) for number, own in counted_rows(rows).items()}
    by_word = {word: [number for number, own in tables.items() if own == word] for word in (AGREES, DISAGREES, OPEN)}
    counts = "; ".join(f"{word}: {', '.join(numbers) or 'none'}" for word, numbers in by_word.items())
    origin = (
        f"Measured on {facts['date']} on {facts['device']}, torch {facts['torch']}. This page is made from the kept findings by "
        "`examples/replication/data_modification_page.py`; no number on it is typed by hand."
    )
    claims = [f"**{_claim(name, moves[name])}**" for name in SETS if moves[name]]
    elsewhere = [] if "fashion_mnist" in _datasets(tidy) else [SHORT]
    return "\n\n".join(map(_wrap, [f"Tables by verdict: {counts}.", *claims, origin, *elsewhere]))


def _claim(dataset: str, moves: Sequence[FillMove]) -> str:
    words = [one.word for one in moves]
    claim = f"the paper's claim that the fill moves iOcclusion less than CutOcclusion {CLAIMS[judge_claim(words)]}"
    return (
        f"On {SETS[dataset]} {claim}: in relative terms iOcclusion clearly moves less in {words.count(LESS)} of {len(words)} "
        f"rows, and more in {words.count(MORE)}."
    )


def _fill_table(dataset: str, moves: Sequence[FillMove]) -> str:
    rows = [
        [
            METHODS[one.method],
            " and ".join(FILL_WORDS[fill] for fill in one.fills),
            _spread(sample_of([100 * value for value in one.iocclusion]), 1),
            _spread(sample_of([100 * value for value in one.cut_occlusion]), 1),
            one.word,
        ]
        for one in moves
    ]
    head = ["method", "fills", "iOcclusion moves by %", "CutOcclusion moves by %", "iOcclusion"]
    return f"{_wrap(_claim(dataset, moves))}\n\n{_table(head, rows)}"


def _method_table(number: str, rows: Sequence[Comparison]) -> str:
    methods = [name for name in METHODS if any(name in one.ours or name in one.published for one in rows)]
    head = ["row", "unit", *(METHODS[name] for name in methods), "verdict"]
    cells = [[one.row, one.unit, *(_cell(one, name) for name in methods), one.verdict.word] for one in rows]
    return f"### Table {number}: {TITLES[number]}\n\n{_table(head, cells)}"


def _cell(one: Comparison, method: str) -> str:
    ours = f"{_spread(one.ours[method], 2)} {one.words[method]}".strip() if method in one.ours else "–"
    return f"{ours} [{_spread(one.published[method], 2)}]" if method in one.published else ours


def _accuracies(tidy: Tidy) -> list[str]:
    rows = []
    for part, dataset, method in tidy.groups():
        group = (part, dataset, method)
        clean, seen = (tidy.of(group, name, "none()") for name in ("accuracy", "train_accuracy"))
        if part == "mixes" and clean:
            values = ([100 * value for value in runs] for runs in (clean, seen))
            facts = tidy.facts(group)
            shown = [_spread(sample_of(runs), 2) if runs else "–" for runs in values]
            rows.append([SETS[dataset], METHODS.get(method, method), facts["runs"], *shown, facts["seconds per run"]])
    head = [
        "data",
        "method",
        "runs",
        "test accuracy %",
        "accuracy % on the training images asked",
        "seconds per run, several at once",
    ]
    return ["### Accuracy without distortion", _table(head, rows)]


def _other_parts(tidy: Tidy) -> list[str]:
    """What was trained for tables 7, 8, 15 and B.8, without a verdict."""
    rows = []
    for group in tidy.groups():
        if group[0] != "mixes":
            cells = [[scale * value for value in tidy.of(group, *where)] for _, scale, where in OTHER]
            rows.append([*group, *(_spread(sample_of(runs), 2) if runs else "–" for runs in cells)])
    head = ["part", "data", "method", *(name for name, *_ in OTHER)]
    return ["### Other parts of the paper", _wrap(UNSAFE), _table(head, rows)] if rows else []


def _spread(one: Sample, digits: int) -> str:
    if not math.isfinite(one.mean):
        return "–"
    return (
        f"{one.mean:.{digits}f} ± {one.sd:.{digits}f}"
        if math.isfinite(one.sd)
        else f"{one.mean:.{digits}f} (no spread)"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _picture(file: str) -> list[str]:
    words = {
        "increase": "Figures 2, 8, 9: share of all errors that each class gains on CIFAR-10, by distortion and method",
        "occlusion": "Figures 3, 5, 10, 12: CutOcclusion and iOcclusion against the covered share on CIFAR-10",
    }
    name = Path(file).stem.rpartition("-")[2]
    return [f"{words[name]}.", f"![Chart: {name}]({file})"]


def _commands(tidy: Tidy) -> str:
    """How to train and measure it all again on public data, and how to make the page."""
    names = " ".join(dict.fromkeys(name for dataset in _datasets(tidy) for name in (dataset, DONORS[dataset])))
    lines = [f"python examples/download.py {names} --out datasets"]
    tables = []
    for dataset in _datasets(tidy):
        groups = [group for group in tidy.groups() if group[:2] == ("mixes", dataset)]
        facts = {group[2]: tidy.facts(group) for group in groups}
        fewest = min(int(one["runs"]) for one in facts.values())
        more = [f"{name}={one['runs']}" for name, one in facts.items() if int(one["runs"]) > fewest]
        tables.append(f"brought/{dataset}.csv")
        lines += [
            f"python examples/replication/data_modification.py --data {dataset} --device cuda --compile --jobs 3 \\",
            f"    --mixes {' '.join(one['recipe.mix'] for one in facts.values())} --runs {fewest} \\",
            *([f"    --more-runs {' '.join(more)} \\"] if more else []),
            f"    --tidy {tables[-1]}",
        ]
    lines.append(
        f"python examples/replication/tidy_findings.py {' '.join(tables)} --out docs/results/data/marcu2022.csv"
    )
    lines.append("python examples/replication/data_modification_page.py docs/results/data/marcu2022.csv \\")
    lines.append("    --out docs/results/data-modification.md --pictures docs/images")
    return "\n".join(f"    {line}" for line in lines)


def _datasets(tidy: Tidy) -> list[str]:
    return [name for name in SETS if any(group[:2] == ("mixes", name) for group in tidy.groups())]


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="tables of data_modification.py --tidy")
    parser.add_argument("--out", type=Path, required=True, help="the page, a Markdown file")
    parser.add_argument("--pictures", type=Path, help="write the figures as PNG into this folder, and show them")
    chosen = parser.parse_args(words)
    tidy = merge([read_tidy(file) for file in chosen.files])
    files = write_pictures(tidy, chosen.pictures) if chosen.pictures else []
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    links = [Path(os.path.relpath(file, chosen.out.parent)).as_posix() for file in files]
    chosen.out.write_text(page(tidy, links), encoding="utf-8")


if __name__ == "__main__":
    main()
