"""The examples of each background category: the image, its object on another background, its background alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from snellen.audits.background_facts import CategoryExample, NeedsBackgroundFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.measure import CATEGORIES
from snellen.report.answers import (
    CellRow,
    Replies,
    answered_class,
    cell_rows,
    model_classes,
    sample_places,
    stored_answers,
)
from snellen.report.blocks import Answer, Block, Details, Gallery, Group, Picture, Row, TableCell, heads
from snellen.report.results import Results
from snellen.report.sections.background_charts import HUES
from snellen.report.sections.background_values import CATEGORY_MEANING
from snellen.report.words import VARIANTS

GALLERY_VARIANTS = ("original", "mixed_rand", "only_bg_t")
HEADS = ("the image", *(VARIANTS[kind] for kind in GALLERY_VARIANTS[1:]))


def example_details(results: Results) -> list[Block]:
    """A gallery per model, the first one open; nothing where no examples were stored."""
    needs = {finding.model: finding for finding in results.having(NeedsBackgroundFacts) if finding.facts.examples}
    if not needs:
        return []
    stored = _Stored.of(results, needs)
    return [
        Details(
            f"Examples of each category: {model}" if results.several else "Examples of each category",
            (_gallery(finding, stored),),
            open=place == 0,
        )
        for place, (model, finding) in enumerate(needs.items())
    ]


@dataclass(frozen=True)
class _Stored:
    """What is stored of the examples: rows of cells, places in the listing by (role, sample), answers by (cell, sample)."""

    results: Results
    cells: list[CellRow]
    places: Mapping[tuple[str, str], int]
    answers: Replies

    @classmethod
    def of(cls, results: Results, needs: Mapping[str, StoredFinding[NeedsBackgroundFacts]]) -> _Stored:
        samples = {
            sample
            for finding in needs.values()
            for examples in finding.facts.examples.values()
            for example in examples
            for sample in example.samples.values()
        }
        answers = stored_answers(results.folder.store.files("answers"), samples)
        return cls(results, cell_rows(results), sample_places(results, samples), answers)

    def picture(self, model: str, question: tuple[str, str], sample: str, label: str, alt: str) -> Picture:
        """The picture of one sample as a cell (role, distortion) showed it, and the answer of the model's first run."""
        fitting = [row for row in self.cells if (row.on, row.distortion) == question]
        place = self.places.get((question[0], sample))
        source = self.results.thumbnail(fitting[0].shown, place) if fitting and place is not None else None
        own = next((row.cell for row in fitting if row.model == model), "")
        answer = self.answers.get((own, sample))
        if answer is None:
            return Picture(source, alt)
        classes = self.results.data["test"].classes
        name = answered_class(answer, classes, model_classes(self.results, model))
        return Picture(source, alt, (Answer(name, name == label),))


def _gallery(needs: StoredFinding[NeedsBackgroundFacts], stored: _Stored) -> Gallery:
    # Stored variants have a role of their own, and no distortion.
    roles = needs.facts.roles or ["test"] * len(GALLERY_VARIANTS)
    questions = dict(zip(GALLERY_VARIANTS, zip(roles, needs.distortions)))
    hues = dict(zip(CATEGORIES, HUES))
    rows: list[Row | Group] = []
    for category, examples in needs.facts.examples.items():
        rows.append(Group(f"{category}: {CATEGORY_MEANING[category]}", hues[category]))
        rows += [_row(needs.model, example, questions, stored) for example in examples] or [
            Row(TableCell("no image", tone="soft"), ())
        ]
    most = max(map(len, needs.facts.examples.values()))
    return Gallery(heads("is", *HEADS), tuple(rows), across=min(2, max(1, most)))


def _row(model: str, example: CategoryExample, questions: Mapping[str, tuple[str, str]], stored: _Stored) -> Row:
    pictures = (
        stored.picture(model, questions[kind], sample, example.label, f"{example.label}: {head}")
        for head, (kind, sample) in zip(HEADS, example.samples.items())
    )
    return Row(TableCell(example.label), tuple(pictures))
