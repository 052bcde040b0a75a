"""The page of a run: verdict, findings and the sections of its audits, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from snellen.engine.keep.failures import unlabelled, unreadable
from snellen.engine.keep.run_folder import RunFolder
from snellen.report.blocks import (
    Block,
    Bullets,
    CardBlock,
    Command,
    Definitions,
    Details,
    Entry,
    FactLine,
    Group,
    Heading,
    Line,
    Page,
    Prose,
    Row,
    Span,
    Table,
    TableCell,
    bold,
    code,
    note,
    prose,
)
from snellen.report.comparison import comparison
from snellen.report.findings_table import finding_rows, findings_table
from snellen.report.gallery import gallery_blocks
from snellen.report.gate import gate_section
from snellen.report.pages.origin import command_of, origin_of
from snellen.report.results import Results
from snellen.report.sections import SECTIONS, section_blocks
from snellen.report.verdict import verdict_blocks
from snellen.report.words import VARIANTS, count_of

MOST_LISTED = 200  # images that could not be shown, or have no label; all are in the samples table


def page_of(folder: RunFolder) -> Page:
    """The whole page of a stored run; every number on it is a finding's."""
    results = Results.of(folder)
    command = Command(command_of(results.facts))
    return Page(
        _title(results),
        (
            FactLine((*_data(results, "{on} data "), *_variants(results), *_models(results), *_origin(results))),
            command,
            *_opening(results),
            *gate_section(results),
            *comparison(results),
            *_findings(results, findings_table(results, finding_rows(results))),
            *section_blocks(results),
            *gallery_blocks(results),
            Heading("What the numbers mean"),
            _meanings(results),
            Heading("Make it again"),
            command,
            Details("Versions, fingerprints, seeds and hardware", _origin_tables(results)),
            *_unreadable(results),
            *_unlabelled(results),
            Prose(
                (
                    f"Made by snellen {results.header.snellen}. The same findings for machines: findings.json and "
                    "findings.csv in the run folder.",
                ),
                "foot",
            ),
        ),
    )


def brief_page_of(folder: RunFolder) -> Page:
    """The page in brief, for Markdown: verdict, notices, comparison, the bare table and how to make it again."""
    results = Results.of(folder)
    versions = origin_of(results.facts).versions
    return Page(
        _title(results),
        (
            FactLine((*_data(results, ""), *_models(results), *_origin(results))),
            *_opening(results),
            *gate_section(results),
            *comparison(results),
            *_findings(results, _bare(findings_table(results, finding_rows(results)))),
            Heading("Make it again"),
            Command(command_of(results.facts)),
            prose(", ".join(f"{name} {version}" for name, version in versions.items())),
        ),
    )


def _title(results: Results) -> str:
    return "Eye exam of " + ", ".join(results.models)


def _data(results: Results, before: str) -> list[Line]:
    own = {on: data for on, data in results.data.items() if on not in VARIANTS}
    test = results.data["test"].text
    parts = [on for on, data in own.items() if on not in ("test", "train") and data.text == test]
    lines: list[Line] = [
        (
            before.format(on=on),
            bold(data.text),
            f" ({count_of(data.samples, 'image')}, {count_of(len(data.classes), 'class', 'classes')})",
        )
        for on, data in own.items()
        if on not in parts
    ]
    return lines + [(f"{own[on].samples:,} of them {on}",) for on in parts]


def _variants(results: Results) -> list[Line]:
    names = [on for on in results.data if on in VARIANTS]
    return [(f"beside it {', '.join(names)}",)] if names else []


def _models(results: Results) -> list[Line]:
    return [(bold(model), f" {results.runs(model)}") for model in results.models]


def _origin(results: Results) -> list[Line]:
    return [(results.header.created[:10],), (f"snellen {results.header.snellen}",)]


def _opening(results: Results) -> list[Block]:
    """Warnings, the verdict and notices."""
    blocks: list[Block] = []
    if warnings := results.header.warnings:
        items = tuple((f"{doubt.text} — ", bold(doubt.advice)) for doubt in warnings)
        blocks.append(CardBlock("Check before you believe", (Bullets(items),), "warning", level=2))
    blocks += verdict_blocks(results, [row for rows in finding_rows(results).values() for row in rows])
    if notices := results.header.notices:
        blocks.append(CardBlock("Notices", (Bullets(tuple((text,) for text in notices)),), "warning", level=2))
    return blocks


def _findings(results: Results, table: Table) -> list[Block]:
    """The table of all findings with its legend."""
    clearly: Line = (
        bold("Bold"),
        ": clearly better than every other model (accuracies: paired on the same images, corrected for many tests; others: "
        "intervals that do not overlap). ",
    )
    return [
        Heading("Findings"),
        table,
        note(
            "Value and its 95% interval in brackets; – where there is none. ",
            *(clearly if results.several else ()),
            *_about_di(results),
        ),
    ]


def _about_di(results: Results) -> Line:
    """How to read the DI of findings, which only classifiers have."""
    if results.task != "classification":
        return ()
    return (
        "DI: data interference of the distortion, with the class that takes the new errors; ",
        Span("▲", "flag"),
        " clearly above chance and above mild noise, △ above chance but not clearly above mild noise, ? cannot be told from "
        "chance nor cleared, no mark: clearly not. Of several distortions behind one "
        "number the most suspicious is named. DI is comparative, not absolute.",
    )


def _bare(table: Table) -> Table:
    """The table of findings without what explains each row."""
    return replace(table, head=tuple(map(_short, table.head)), rows=tuple(map(_short_row, table.rows)))


def _short_row(row: Row | Group) -> Row | Group:
    if isinstance(row, Group):
        return row
    cells = tuple(_short(cell) if isinstance(cell, TableCell) else cell for cell in row.cells)
    return replace(row, head=_short(row.head), cells=cells)


def _short(cell: TableCell) -> TableCell:
    return replace(cell, note="", badge=replace(cell.badge, note="") if cell.badge else None)


def _origin_tables(results: Results) -> tuple[Table, ...]:
    origin = origin_of(results.facts)
    return tuple(map(_pairs, (origin.settings, origin.versions, origin.fingerprints)))


def _pairs(values: Mapping[str, str]) -> Table:
    rows = (Row(TableCell(name, tone="soft"), (TableCell(value, tone="code"),)) for name, value in values.items())
    return Table((), tuple(rows), dense=True)


def _unreadable(results: Results) -> list[Block]:
    """The images that could not be shown."""
    store = results.folder.store
    images = [(on, sample, error) for on in results.data for sample, error in unreadable(store, on)]
    if not images:
        return []
    lines: list[Line] = [(code(sample), f" ({on}): {error}") for on, sample, error in images]
    return [_listed(f"{len(images)} images that could not be shown", lines)]


def _unlabelled(results: Results) -> list[Block]:
    """The images without a label; those of other tasks need none."""
    if results.task != "classification":
        return []
    store = results.folder.store
    lines: list[Line] = [(code(sample), f" ({on})") for on in results.data for sample in unlabelled(store, on)]
    return [_listed(f"{len(lines)} images without a label", lines)] if lines else []


def _listed(title: str, lines: Sequence[Line]) -> Details:
    rest: list[Line] = [("… all of them are in the samples table",)] if len(lines) > MOST_LISTED else []
    return Details(title, (Bullets((*lines[:MOST_LISTED], *rest)),))


def _meanings(results: Results) -> Definitions:
    """The terms of the audits of this run, and those that every report uses."""
    audits = {finding.audit for finding in results.findings}
    terms = [term for audit, section in SECTIONS.items() if audit in audits for term in section.meanings.items()]
    if results.task != "classification":
        terms = list(TASK_MEANINGS[results.task].items())
    else:
        terms += MEANINGS.items()
    return Definitions(tuple(Entry(term, (meaning,)) for term, meaning in terms))


MEANINGS = {
    "DI index": "Data interference: do the new errors under a distortion fall on one class, in every run? 0 is not at all; the "
    "number of classes is the most. A high DI means that the distortion adds something which the model takes for that class, so "
    "a loss of accuracy is not simply a lack of robustness. Comparative, not absolute: compare models on the same data. With "
    "two classes no dominant class can be shown, because a wrong answer has only the other one to fall on.",
    "DI as published": "The point estimate of Marcu & Prügel-Bennett (2022). Chance raises it where nothing rises and lowers it "
    "where one class does, so the DI shown elsewhere is an estimate that undoes this, with a 95% interval for the true index.",
    "By chance": "The DI as published that 95% of draws stay below when every error goes to a random class.",
    "Mild noise": "The yardstick: the DI of the same model under Gaussian noise with σ up to 0.025 of the pixel range. That σ "
    "is our choice, made so that CIFAR-10 networks have a DI of about 0.1; the published σ is up to 0.1, in units that cannot be "
    "told. If noise itself looks like a class to a model, the yardstick is lenient and fewer numbers are marked than deserve it.",
    "When not to trust": "A number marked ▲; a ranking in which the loser is marked and the winner is not; clean accuracy near "
    "chance; anything in the box at the top or under notices.",
}

TASK_MEANINGS: dict[str, dict[str, str]] = {
    "segmentation": {
        "Pixel accuracy": "Per image the share of its labelled pixels whose class is right. The number is the mean over images; "
        "its 95% interval says how far it could be off because only so many images were shown.",
        "IoU, mIoU": "Of a class, over all images: the pixels rightly given to it, divided by those that have it or were given "
        "to it. mIoU is the mean over the classes that have a pixel.",
    },
    "detection": {
        "Found": "An image counts as right where a detected box overlaps a true one by an IoU of at least 0.5; where the data "
        "have no boxes, wherever anything is detected. The number is the share of such images with its 95% interval.",
    },
}
