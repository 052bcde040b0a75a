"""Every finding of every audit has a declared type of facts, so that readers of findings need no keys."""

from __future__ import annotations

import pytest

from snellen.audits import AUDITS, FACTS, BaselineAudit, parse_audits
from snellen.audits.facts import FindingFacts, OpenFacts

WITH_MORE = (
    "occlusion(validate=true, random_labels=[a, b])",
    "shift(references=true)",
)  # whose parameters add findings


@pytest.mark.parametrize("text", [*AUDITS, *WITH_MORE])
def test_every_finding_that_an_audit_lists_has_a_type(text: str) -> None:
    (audit,) = parse_audits(text)
    name = text.partition("(")[0]
    listed = {*(audit.names or ()), *audit.compared}
    assert listed
    curves = FACTS["faithfulness"].keys() if name == "explanation" else set()  # which it asks for too, as that audit's
    assert listed <= FACTS[name].keys() | curves


def test_every_finding_of_every_run_has_a_type() -> None:
    assert FACTS["baseline"].keys() == set(BaselineAudit.names)
    assert FACTS["between"].keys() == {"difference"}


@pytest.mark.parametrize(("audit", "name"), [(audit, name) for audit, kinds in FACTS.items() for name in kinds])
def test_a_type_says_what_its_values_mean(audit: str, name: str) -> None:
    kind = FACTS[audit][name]
    assert issubclass(kind, FindingFacts)
    assert kind is not OpenFacts
    assert vars(kind).get("__doc__")
