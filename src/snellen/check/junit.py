"""Outcomes as JUnit XML, which continuous integration shows as tests: a case for each condition and finding."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from snellen.engine.keep.gate_record import GateRecord, OutcomeRecord
from snellen.errors import harmless, one_line


def to_junit(record: GateRecord, run: str) -> str:
    """The outcomes as XML: what fails is a failure; what is undecided is one, is skipped or has a note, as was chosen.

    >>> from snellen.check import gate, to_junit
    >>> from snellen import audit, gate
    >>> _ = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> record = gate("runs/first", require=["accuracy > 0.9"], quiet=True)
    >>> 'failures="0"' in to_junit(record, 'runs/first')
    True
    """
    failures = len(record.failures)
    skipped = len(record.having("undecided")) if record.undecided == "warn" else 0
    counts = {"tests": len(record.outcomes), "failures": failures, "errors": 0, "skipped": skipped}
    texts = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", {"name": "snellen check", **texts})
    suite = ElementTree.SubElement(root, "testsuite", _clean({"name": run, **texts}))
    for outcome in record.outcomes:
        _add_case(suite, outcome, record)
    ElementTree.indent(root)
    return harmless(ElementTree.tostring(root, "unicode", xml_declaration=False)) + "\n"


def _add_case(suite: ElementTree.Element, outcome: OutcomeRecord, record: GateRecord) -> None:
    name = f"{outcome.condition}: {outcome.label}"
    case = ElementTree.SubElement(
        suite, "testcase", _clean({"classname": f"snellen.{outcome.model}", "name": name, "time": "0"})
    )
    closes = outcome.state == "fails" or (outcome.state == "undecided" and record.undecided == "fail")
    if closes:
        ElementTree.SubElement(case, "failure", _clean({"type": outcome.state, "message": outcome.text}))
    elif outcome.state == "undecided" and record.undecided == "warn":
        ElementTree.SubElement(case, "skipped", _clean({"message": f"undecided: {outcome.text}"}))
    else:
        ElementTree.SubElement(case, "system-out").text = one_line(f"{outcome.state}: {outcome.text}")


def _clean(attributes: Mapping[str, str]) -> dict[str, str]:
    """Attributes without characters that XML does not have."""
    return {name: one_line(value) for name, value in attributes.items()}
