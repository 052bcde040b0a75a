"""Plug-in of the traced run: the seconds of every test, and whether it passed, a line each."""

from __future__ import annotations

import json
import os
from collections import defaultdict

import pytest

_parts: dict[str, list[tuple[float, bool]]] = defaultdict(list)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _parts[report.nodeid].append((report.duration, report.passed))
    if report.when == "teardown":
        parts = _parts.pop(report.nodeid)
        with open(os.environ["MUTANT_TIMES"], "a", encoding="utf-8") as file:
            line = [report.nodeid, sum(took for took, _ in parts), all(passed for _, passed in parts)]
            file.write(json.dumps(line) + "\n")
