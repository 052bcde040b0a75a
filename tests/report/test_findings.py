"""findings.json keeps its promise to machines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from snellen.audits.facts import OpenFacts
from snellen.exam.run import Run
from snellen.report.findings import SCHEMA, findings_frame

from .stored import interference, stored


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    content = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


def test_findings_of_one_and_of_several_models_fit_the_schema(schema, calm: Run, fooled: Run):
    for run in (calm, fooled):
        schema.validate(run.results())
        assert run.results()["findings"]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("value", 1.2), ("value", "0.9"), ("better", "bigger"), ("interference", {}), ("n", -1), ("per_run", [True, "a"])],
)
def test_the_schema_refuses_a_finding_that_is_wrong(schema, calm: Run, name: str, wrong: Any):
    content = calm.results()
    content["findings"][0][name] = wrong
    with pytest.raises(ValidationError):
        schema.validate(content)


def test_the_schema_refuses_a_field_it_does_not_know(schema, calm: Run):
    content = calm.results()
    content["findings"][0]["valeu"] = 1
    with pytest.raises(ValidationError, match="valeu"):
        schema.validate(content)


def test_nan_is_stored_as_null(calm: Run):
    assert "NaN" not in (calm.path / "findings.json").read_text()
    assert calm.results()["findings"][1]["interference"]["std"] is None  # one run has no spread


def test_the_table_has_facts_of_one_value_as_columns_and_no_lists():
    listed = stored(OpenFacts(values={"area": 0.3, "bins": [1, 2], "by_class": {"a": 1}, "pair": (1, 2)}))
    table = findings_frame([listed])
    assert table["area"].tolist() == [0.3]
    assert not {"bins", "by_class", "pair"} & set(table.columns)


@pytest.mark.parametrize(
    ("fields", "mark", "sign"),
    [
        ({"flagged": True}, "flagged", "▲"),
        ({"state": "above", "low": 0.5, "null95": 0.2, "published": 0.3}, "raised", "△"),
        ({"state": "above", "low": 0.5, "null95": 0.2, "published": 0.1}, "", ""),
        ({"state": "unclear", "low": 0.0, "null95": 0.2, "published": 0.3}, "unclear", "?"),
        ({"state": "unclear", "low": 0.5, "null95": 0.2}, "unclear", "?"),
        ({"state": "not above", "low": 0.0, "null95": 0.2, "published": 0.3}, "", ""),
        ({"state": "above", "low": None, "null95": 0.2, "published": 0.3}, "", ""),
        ({"state": "above", "low": 0.5, "null95": None, "published": 0.3}, "", ""),
        ({"state": "unclear", "low": 0.5, "null95": 0.2, "published": 0.3, "noise": None}, "unclear", "?"),  # of people
        ({"state": "", "low": 0.5, "null95": 0.2}, "raised", "△"),  # a run of before there were states
        ({"state": "", "low": 0.1, "null95": 0.2}, "", ""),
    ],
)
def test_the_mark_of_a_number_follows_from_its_interference(fields: dict, mark: str, sign: str) -> None:
    one = interference(**fields)
    assert (one.mark, one.sign) == (mark, sign)
