"""The section on mixing of docs/results/explanations.md, whole, from findings of interpretability.py and published values.

    python examples/replication/interpretability_page.py docs/results/data/won2023.csv --page docs/results/explanations.md

No number in the section is typed by hand: change the CSV, and make it again. Every recipe is compared with the first one by the
interval of recipe_contrasts.py.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from interpretability_words import findings_in_words
from recipe_contrasts import Column, Findings, contrast, corrected, read_findings

from snellen.report.published import published_table

HEADING = "## Mixing on Tiny-ImageNet: tables 1 to 3"
WIDTH = 120
NAMES = {"baseline": "baseline", "cutout": "Cutout", "mixup": "MixUp", "cutmix": "CutMix", "saliencymix": "SaliencyMix"}
METHODS = {"gradcam": "Grad-CAM", "iba": "IBA"}
ALIGNMENT = {
    "energy_pg": "EnergyPG", "ehr": "EHR", "pointing_game": "pointing game", "wsol": "WSOL, IoU ≥ 0.5",
    "wsol_iou": "WSOL, mean IoU",
}  # fmt: skip
INSIDE = {"unique_concepts": ("different concepts", 1), "detector_share": ("detectors, % of units", 100)}
ABOUT = """\
PreAct-ResNet18 on 6,944 Tiny-ImageNet images of nine classes at 64 pixels, 30 epochs, {runs} runs of each recipe; {images} test
images with boxes. Published: one ResNet-50 of each recipe on ImageNet at 224 pixels. All values:
[data/won2023.csv](data/won2023.csv); this section is made from them by `examples/replication/interpretability_page.py`."""
RULE = """\
Differences are to the baseline, in points of 100, with the 95% interval of the *recipe*: other runs, on other images. The spread
over runs is taken as one for all recipes of a measure ({degrees} degrees of freedom).{unpaired} **Bold**: the interval leaves out
0. Of {count} such differences 1 in 20 would be bold without any true one; {stars}"""
UNPAIRED = " Accuracies are compared as if on other images, which is wider: their pairs were not kept."
PLUG_IN = """\
ECE is the plug-in value of the published formula, to which noise adds about .046 with 450 images of a perfect model
([intervals](../understanding/intervals.md#calibration-error)), and its interval is centred on it: **compare no recipes by it**.
The corrected value needs the confidence of every answer. Those of these networks were not kept, nor were their weights."""
CORRECTED = """\
ECE is corrected for what noise adds, over {runs} runs together; the plug-in value of the published formula stands beside it."""


def section(findings: Findings) -> str:
    """From its heading to the end."""
    columns = [
        *(Column(name, method, chosen) for method in METHODS for chosen in (False, True) for name in ALIGNMENT),
        *(Column("inter_model_deletion", method, scale=1) for method in METHODS),
        Column("accuracy"),
        *(Column(name, scale=scale) for name, (_, scale) in INSIDE.items()),
    ]
    table = Differences(findings, [column for column in columns if contrast(findings, column, findings.models()[-1])])
    first = findings.models()[0]
    accuracy = findings.row(Column("accuracy"), first)
    runs = len(findings.runs(Column("accuracy"), first))
    about = ABOUT.format(runs=runs, images="" if accuracy is None else accuracy["n"])
    unpaired = "" if findings.has_pairs else UNPAIRED
    degrees = sum(len(findings.runs(Column("accuracy"), name)) - 1 for name in findings.models())
    parts = [
        HEADING,
        about,
        "\n".join(_wrap(f"- {text}", "  ") for text in findings_in_words(findings, NAMES)),
        _wrap(RULE.format(degrees=degrees, unpaired=unpaired, count=table.count, stars=table.stars())),
        *(part for method in METHODS for part in _alignment(table, method)),
        *_deletion(table),
        *_inside(table, runs),
    ]
    return "\n\n".join(parts) + "\n"


class Differences:
    """All differences of the section, and which of them stay clear after Holm's correction over all."""

    def __init__(self, findings: Findings, columns: Sequence[Column]) -> None:
        self.findings, self.columns = findings, columns
        self.recipes = findings.models()[1:]
        places = [(column, model) for column in columns for model in self.recipes]
        self.contrasts = {place: contrast(findings, *place) for place in places}
        self.count = sum(one is not None for one in self.contrasts.values())
        clear = corrected(self.contrasts.values())
        self.starred = {place for number, place in enumerate(self.contrasts) if number in clear}

    def stars(self) -> str:
        """What is left after the correction, in words."""
        if not self.starred:
            return "after Holm's correction over all of them none is left."
        return f"after Holm's correction over all of them {len(self.starred)} are left, marked \\*."

    def cell(self, column: Column, model: str) -> str:
        one = self.contrasts.get((column, model))
        if one is None:
            return "–"
        value = f"**{_signed(one.value)}**" if one.clear else _signed(one.value)
        star = "\\*" if (column, model) in self.starred else ""
        return f"{value}{star} ({_signed(one.low)} to {_signed(one.high)})"

    def table(self, columns: dict[str, Column]) -> str:
        known = {title: column for title, column in columns.items() if column in self.columns}
        rows = [[NAMES[model], *(self.cell(column, model) for column in known.values())] for model in self.recipes]
        return _table(["less the baseline", *known], rows)


def _alignment(table: Differences, method: str) -> list[str]:
    findings, title = table.findings, METHODS[method]
    columns = {words: Column(name, method) for name, words in ALIGNMENT.items()}
    if any(findings.row(column, "baseline") is None for column in columns.values()):
        return []
    published = published_table("won2023", "1")
    extra = {"accuracy %": Column("accuracy")} if method == "gradcam" else {}

    def cell(column: Column, model: str) -> str:
        held = published[NAMES[model]].get(f"{method} {column.name}")
        beside = "" if held is None else f" [{100 * held.value:.1f}]"
        return f"{findings.value(column, model):.1f}{beside}"

    values = _values(findings, {**extra, **columns}, cell)
    parts = [_wrap(f"Table 1, maps by {title}, in %; in brackets the published value:"), values]
    parts.append(table.table({**extra, **columns}))
    chosen = {words: Column(name, method, chosen=True) for name, words in ALIGNMENT.items()}
    row = findings.row(chosen["EnergyPG"], "baseline")
    if row is not None:
        parts.append(
            _wrap(
                f"The same on the {row['n']} images that section 5.1 chooses (all models are confident, and the object covers 10 "
                "to 50%):"
            )
        )
        parts.append(table.table(chosen))
    return parts


def _deletion(table: Differences) -> list[str]:
    findings, published = table.findings, published_table("won2023", "2")
    columns = {title: Column("inter_model_deletion", method, scale=1) for method, title in METHODS.items()}

    def cell(column: Column, model: str) -> str:
        runs = ", ".join(f"{value:.1f}" for value in findings.runs(column, model))
        held = published[NAMES[model]][f"{column.method} inter_model_deletion"].value
        return f"{findings.value(column, model):.1f} (runs: {runs}) [{held:.1f}]"

    about = (
        "Tables 2 and 3, inter-model deletion, tiles of 2 pixels a side (1,024 tiles), image mean as fill, adaptive areas with "
        "an error of 0.2. Inter-model insertion has the same areas here: it is the same images, read from the other end."
    )
    return [_wrap(about), _values(findings, columns, cell), table.table(columns)]


def _inside(table: Differences, runs: int) -> list[str]:
    findings = table.findings
    columns = {
        f"{name.partition('.')[2]} concepts": Column(name, scale=1) for name in findings.names("unique_concepts.")
    }
    columns |= {words: Column(name, scale=scale) for name, (words, scale) in INSIDE.items()}
    error = Column("calibration_error", scale=1)
    row = findings.row(error, "baseline")
    plain = row is not None and not row.get("plug_in")

    def cell(column: Column, model: str) -> str:
        own = findings.row(column, model)
        if column != error or own is None:
            return f"{findings.value(column, model):.1f}"
        beside = "" if plain else f"; plug-in {float(own['plug_in']):.3f}"
        return f"{float(own['value']):.3f} ({float(own['low']):.3f} to {float(own['high']):.3f}{beside})"

    shown = _values(findings, {**columns, "ECE, plug-in" if plain else "ECE": error}, cell)
    about = (
        "Concepts of the last stage (512 units; objects by a DeepLab of 20 classes, and colour names) and calibration, means of "
        "the runs. Differences of concepts are over runs alone: no images are drawn again."
    )
    return [_wrap(about), shown, table.table(columns), _wrap(PLUG_IN if plain else CORRECTED.format(runs=runs))]


def _values(findings: Findings, columns: dict[str, Column], cell: Callable[[Column, str], str]) -> str:
    models = findings.models()
    return _table(
        ["", *columns], [[NAMES[name], *(cell(column, name) for column in columns.values())] for name in models]
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def _signed(value: float) -> str:
    """One decimal, or two where one would hide on which side of 0 it is."""
    text = f"{value:.1f}" if abs(value) >= 0.05 else f"{value:.2f}"
    return "0.0" if float(text) == 0 else text.replace("-", "−")


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def put_in(page: str, text: str) -> str:
    """The page with this section in the place of the one of the same heading."""
    ends = [place for place in range(len(page)) if page.startswith("\n## ", place)] + [len(page) - 1]
    for start, end in pairwise(ends):
        if page[start + 1 :].startswith(HEADING):
            return page[: start + 1] + text + page[end:]
    raise SystemExit(f"expected a page with the heading '{HEADING}'")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="findings.csv of interpretability.py")
    parser.add_argument("--page", type=Path, help="the page whose section is replaced; default: print it")
    chosen = parser.parse_args()
    text = section(read_findings(chosen.file))
    if chosen.page is None:
        print(text)
    else:
        chosen.page.write_text(put_in(chosen.page.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
