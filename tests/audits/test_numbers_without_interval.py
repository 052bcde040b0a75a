"""Which findings have no interval is what docs/understanding/intervals.md says: no more, and no fewer."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AUDITS = ROOT / "src" / "snellen" / "audits"
NOTHING = re.compile(r"""(?:float\("nan"\)|\bnan\b), (?:float\("nan"\)|\bnan\b)""")
# The places that conclude without ends: by file, the findings that they make.
PLACES = {
    "shift.py": ["searched_worst", "random_worst"],
    "concepts.py": ["unique_concepts"],
    "occluders/ranks.py": ["friedman_q and kendall_w", "occlusion_residual"],
    "occluders/people.py": ["human_outliers"],
}
FROM_MEASURES = {"diversity"}  # of whole runs: `snellen.measure.diversity` has none without losses per sample


def listed() -> set[str]:
    page = (ROOT / "docs/understanding/intervals.md").read_text(encoding="utf-8")
    part = page[page.index("\n## Numbers without an interval") :].split("\n## ")[1]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_place_that_concludes_without_an_interval_is_listed():
    """A finding made with nan for both ends: list it on the page, or give it an interval."""
    found = {}
    for file in sorted(AUDITS.rglob("*.py")):
        text = re.sub(
            r"np\.nan, np\.nan|Comparison\(.*\)", "", file.read_text(encoding="utf-8")
        )  # which are no findings
        if places := len(NOTHING.findall(text)):
            found[file.relative_to(AUDITS).as_posix()] = places
    assert found == {file: len(names) for file, names in PLACES.items()}
    named = {name for names in PLACES.values() for both in names for name in both.split(" and ")}
    assert listed() == named | FROM_MEASURES


def test_the_page_counts_them():
    page = (ROOT / "docs/understanding/intervals.md").read_text(encoding="utf-8")
    assert len(listed()) == 8
    assert "but for [eight](#numbers-without-an-interval)" in page


def test_in_a_run_of_all_audits_the_others_have_one():
    """Kept findings of an earlier run: whatever is listed has no ends; of the rest only ratios of a gap that may be 0."""
    with gzip.open(ROOT / "tests" / "report" / "older_findings.json.gz", "rt", encoding="utf-8") as file:
        findings = json.load(file)["findings"]
    known = [finding for finding in findings if finding["value"] is not None]
    without = {finding["name"] for finding in known if finding["low"] is None or finding["high"] is None}
    assert without >= {"searched_worst", "random_worst", "unique_concepts", "diversity"}
    assert {name for name in without - listed() if "iocclusion" not in name} == set()
