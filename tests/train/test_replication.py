"""The replication scripts run, on little of the data."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "examples" / "replication"
LITTLE = ["--arch", "smallnet", "--runs", "1", "--device", "cpu", "--audits", "occlusion(areas=[0.3], fills=[black])"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "more", "groups"),
    [
        (
            "data_modification.py",
            ["--mixes", "none", "cutmix", "--reformulated", "fashion_mnist", "--recipe", "fast", "--epochs", "1"],
            ["basic", "cutmix", "cutmix-with-fashion_mnist"],
        ),
        ("interpretability.py", ["--mixes", "mixup", "--recipe", "fast", "--epochs", "1"], ["mixup"]),
        ("vulnerability.py", ["--updates", "5"], ["erm"]),
        (
            "recognition.py",
            ["--arch", "smallnet", "convnet", "--epochs", "1", "--worlds", "phantom:test?size=32&n=200&occlusion=1"],
            ["smallnet", "convnet"],
        ),
        ("backgrounds.py", ["--recipe", "fast", "--epochs", "1"], ["variant-0", "variant-1"]),
    ],
)
def test_a_script_trains_audits_and_brings_back_a_small_folder(shared, tmp_path, monkeypatch, script, more, groups):
    monkeypatch.setenv("SNELLEN_SHARED", str(shared.parent))
    command = [sys.executable, str(SCRIPTS / script), *LITTLE, "--limit", "200", "--out", str(tmp_path), *more]
    subprocess.run(command, check=True, capture_output=True)
    brought = tmp_path / "brought"
    table = (brought / "table.md").read_text().splitlines()
    assert [line.split("|")[1].strip() for line in table[2:]] == groups
    answers, cells = (pq.read_table(brought / f"{name}.parquet") for name in ("predictions", "cells"))
    assert len(answers) == 200 * len(cells)
    assert {"findings.json", "findings.csv", "run.json"} <= {file.name for file in brought.iterdir()}
    if script == "recognition.py":
        rows = list(csv.DictReader((brought / "recognition.csv").open()))
        said = [row["occlusion"] for row in rows]
        assert "none()" in said
        assert "phantom:test?size=32&n=200&occlusion=1: none()" in said
        assert all(0 <= float(row[name]) <= 1 for row in rows for name in groups)
        seen = pq.read_table(brought / "world-0" / "predictions.parquet")
        assert len(seen) == 200 * len(pq.read_table(brought / "world-0" / "cells.parquet"))
