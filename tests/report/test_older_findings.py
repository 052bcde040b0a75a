"""Findings that an earlier version wrote are read with today's types, and make a page.

`older_findings.json.gz` holds findings of 14 audits by the version before findings had declared types, two models, one of each
name where it could be measured.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snellen.audits import read_findings
from snellen.audits.facts import OpenFacts, without_nan
from snellen.exam.run import Run
from snellen.hashing import checksum
from snellen.report import brief_page_of, html_of, markdown_of, page_of
from snellen.report.blocks import Chart, Page, Table

from .conftest import Toy, steady
from .reading import every, rows

OLDER = Path(__file__).with_name("older_findings.json.gz")


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return json.loads(gzip.decompress(OLDER.read_bytes()))


def with_findings(run: Run, content: dict[str, Any]) -> Run:
    """The run with other findings."""
    encoded = json.dumps(content).encode()
    (run.path / "findings.json").write_bytes(encoded)
    run.store.write_facts({**run.facts, "checksums": {**run.facts["checksums"], "findings.json": checksum(encoded)}})
    return Run(run.path)


@pytest.fixture(scope="module")
def older(toy_run: Callable[[Toy], Run], content: dict[str, Any]) -> Run:
    """A run of the same models with these findings."""
    return with_findings(toy_run(Toy({model: [steady(0.1)] * 2 for model in content["models"]})), content)


def test_every_fact_is_read_with_its_type_and_none_is_lost(content: dict[str, Any]) -> None:
    findings = read_findings(content)
    assert len({finding.audit for finding in findings}) == 14
    for entry, finding in zip(content["findings"], findings):
        assert without_nan(finding.plain_facts) == entry["facts"]
        assert type(finding.facts) is not OpenFacts


def test_they_make_a_page_with_every_number(content: dict[str, Any], older: Run) -> None:
    page = html_of(page_of(older))
    assert "How to read the numbers" in page
    for entry in content["findings"]:
        if entry["audit"] in ("baseline", "calibration", "augmentation", "interference"):
            assert entry["label"] in page
    assert "Eye exam of a, b" in markdown_of(brief_page_of(older))


def test_a_page_holds_the_same_rows_and_charts_whatever_labels_and_topics_say(
    content: dict[str, Any], older: Run, toy_run: Callable[[Toy], Run]
) -> None:
    """What a page needs of a finding are its facts: no section takes our own English apart."""
    words: dict[str, str] = {}  # the same words stay the same: models are asked the same questions
    renamed = [
        {**entry, **{name: words.setdefault(entry[name], f"word {len(words)}") for name in ("label", "topic", "text")}}
        for entry in content["findings"]
    ]
    run = toy_run(Toy({model: [steady(0.1)] * 2 for model in content["models"]}))
    assert shape_of(page_of(with_findings(run, {**content, "findings": renamed}))) == shape_of(page_of(older))


def shape_of(page: Page) -> dict[str, Any]:
    """How many rows each table has, and the specification of each chart."""
    return {
        "tables": [[len(row.cells) for row in rows(table)] for table in every(Table, page)],
        "charts": [chart.spec for chart in every(Chart, page)],
    }
