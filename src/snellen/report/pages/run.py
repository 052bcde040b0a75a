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
    Chapter,
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
from snellen.report.chapters import chapters
from snellen.report.comparison import comparison
from snellen.report.examples import example_blocks
from snellen.report.findings_table import finding_rows, findings_table
from snellen.report.gate import gate_section
from snellen.report.glossary import about_di, meanings
from snellen.report.opening import brief_opening, opening
from snellen.report.pages.origin import command_of, origin_of
from snellen.report.pictured import Pictured
from snellen.report.results import Results
from snellen.report.table import FindingRow
from snellen.report.words import VARIANTS, count_of

SIDE_BY_SIDE = "The models side by side"
MOST_NAMED = 3  # models in the title
MOST_LISTED = 200  # images that could not be shown, or have no label; all are in the samples table


def page_of(folder: RunFolder) -> Page:
    """The whole page of a stored run; every number on it is a finding's.

    >>> from snellen.report import page_of
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> page_of(run).title
    'Eye exam of texture'
    """
    results = Results.of(folder)
    rows = finding_rows(results)
    pictured = Pictured(results)
    return Page(
        _title(results),
        (
            FactLine((_test_data(results), *_origin(results))),
            *_warnings(results),
            *opening(pictured, rows),
            *gate_section(results),
            *_notices(results),
            Heading("What lies behind it"),
            *_side_by_side(results),
            *chapters(results, rows),
            *_examples(pictured),
            _how_to_read(results),
            _about(results),
            _all_findings(results, rows),
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
    """The page in brief, for Markdown: verdict, notices, comparison, the bare table and how to make it again.

    >>> from snellen.report import brief_page_of
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> brief_page_of(run).title
    'Eye exam of texture'
    """
    results = Results.of(folder)
    rows = finding_rows(results)
    versions = origin_of(results.facts).versions
    side_by_side = comparison(results)
    return Page(
        _title(results),
        (
            FactLine((*_data(results, ""), *_models(results), *_origin(results))),
            *_warnings(results),
            *brief_opening(results, rows),
            *gate_section(results),
            *_notices(results),
            *([Heading(SIDE_BY_SIDE), *side_by_side] if side_by_side else []),
            Heading("Findings"),
            _bare(findings_table(results, rows)),
            _legend(results),
            Heading("Make it again"),
            Command(command_of(results.facts)),
            prose(", ".join(f"{name} {version}" for name, version in versions.items())),
        ),
    )


def _title(results: Results) -> str:
    """Of whom the page is; of many models how many, since the ranked list names them."""
    models = list(results.models)
    return "Eye exam of " + (", ".join(models) if len(models) <= MOST_NAMED else f"{len(models)} models")


def _test_data(results: Results) -> Line:
    """What the models were asked about."""
    data = results.data["test"]
    count = count_of(data.samples, "image")
    return (bold(data.text), f" ({count}, {count_of(len(data.classes), 'class', 'classes')})")


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


def _warnings(results: Results) -> list[Block]:
    """What is to be checked before anything is believed."""
    if not (warnings := results.header.warnings):
        return []
    items = tuple((f"{doubt.text} — ", bold(doubt.advice)) for doubt in warnings)
    return [CardBlock("Check before you believe", (Bullets(items),), "warning", level=2)]


def _notices(results: Results) -> list[Block]:
    """What happened on the way."""
    if not (notices := results.header.notices):
        return []
    return [CardBlock("Notices", (Bullets(tuple((text,) for text in notices)),), "warning", level=2)]


def _side_by_side(results: Results) -> list[Chapter]:
    """The models side by side, where there are several."""
    blocks = comparison(results)
    return (
        [Chapter(SIDE_BY_SIDE, ("A row for each model, a column for each question.",), tuple(blocks), "models")]
        if blocks
        else []
    )


def _examples(pictured: Pictured) -> list[Chapter]:
    """Images with the answers of the models, where pictures are stored."""
    blocks = example_blocks(pictured)
    headline = "Images and the answers to them: mistakes first."
    return [Chapter("Examples", (headline,), tuple(blocks), "examples")] if blocks else []


def _how_to_read(results: Results) -> Chapter:
    """The terms that every report uses."""
    return Chapter(
        "How to read the numbers", ("What an interval, a mark and DI mean.",), (_meanings(results),), "numbers"
    )


def _about(results: Results) -> Chapter:
    """How the run is made again, what it is of, and which images count nowhere."""
    blocks = (
        FactLine((*_models(results), *_data(results, "{on} data "), *_variants(results))),
        Command(command_of(results.facts)),
        *_origin_tables(results),
        *_unreadable(results),
        *_unlabelled(results),
    )
    return Chapter("Make it again", ("The command, versions, fingerprints, seeds and hardware.",), blocks, "again")


def _all_findings(results: Results, rows: Mapping[str, Sequence[FindingRow]]) -> Chapter:
    """The table of all findings with its legend."""
    count = sum(len(own) for own in rows.values())
    headline = f"{count_of(count, 'row')}; what curves and levels are drawn from stands in their chapters."
    return Chapter("All findings", (headline,), (findings_table(results, rows), _legend(results)), "findings")


def _legend(results: Results) -> Prose:
    """How to read the cells of the table of findings."""
    clearly: Line = (
        bold("Bold"),
        ": clearly better than every other model (accuracies: paired on the same images, corrected for many tests; others: "
        "intervals that do not overlap). ",
    )
    return note(
        "Value and its 95% interval in brackets; – where there is none. ",
        *(clearly if results.several else ()),
        *_about_di(results),
    )


def _about_di(results: Results) -> Line:
    """How to read the DI of findings, which only classifiers have."""
    if results.task != "classification":
        return ()
    return (
        f"{about_di()} Beside it stands the class that takes them; ",
        Span("▲", "flag"),
        " clearly above chance and above mild noise, △ above chance but not clearly above mild noise, ? cannot be told from "
        "chance nor cleared, no mark: clearly not. Of several distortions behind one "
        "number the most suspicious is named. Compare DI between models; it is not a score.",
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
    return replace(cell, note="", more="", badge=replace(cell.badge, note="") if cell.badge else None)


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
    """The terms that every report uses; those of an audit stand in its chapter."""
    terms = MEANINGS if results.task == "classification" else TASK_MEANINGS[results.task]
    return Definitions(tuple(Entry(term, (meaning,)) for term, meaning in terms.items()))


MEANINGS = meanings("DI", "DI as published", "By chance", "Mild noise", "When not to trust")
TASK_MEANINGS: dict[str, dict[str, str]] = {
    "segmentation": meanings("Pixel accuracy", "IoU, mIoU"),
    "detection": meanings("Found"),
}
