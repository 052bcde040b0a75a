"""Damaged files through every reader: accepted or refused in one line that names the file; never a traceback, a hang, a crash,
a file written elsewhere or code that is run.

`make hostile` reads 10,000 inputs and counts them by reader; an input may take so much processor time, whatever the clock says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from .harness import Harness, cases_of
from .outcome import BAD
from .readers import READERS
from .report import line_of, table_of

SAMPLE, MANY = 300, int(os.environ.get("SNELLEN_HOSTILE", "600"))


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness() as harness:
        yield harness


def check(harness: Harness, cases: Sequence[tuple[str, int]]) -> None:
    outcomes = list(harness.run(cases))
    print(table_of(outcomes))
    failures = [line_of(one) for one in outcomes if one.result in BAD]
    assert not failures, f"{len(failures)} of {len(cases)} inputs:\n" + "\n".join(failures[:40])


def test_every_reader_accepts_the_corpus_as_it_is(harness: Harness) -> None:
    outcomes = list(harness.run([(name, 0) for name in READERS]))
    assert [line_of(one) for one in outcomes if one.result != "accepted"] == []


def test_a_sample_of_hostile_inputs(harness: Harness) -> None:
    check(harness, cases_of(SAMPLE))


@pytest.mark.slow
def test_many_hostile_inputs(harness: Harness) -> None:
    with Harness(seed=1, corpus=harness.corpus) as another:
        check(another, cases_of(MANY))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("coco/annotations/instances_test.json", b"[" * 100_000, "audit {net} --data coco:{file} --dry-run"),
        ("lists/audit.yaml", b"a: &a [*a]", "audit --config {file} --dry-run"),
        ("run/findings.json", b"null", "report {folder}"),
        ("run/cells.parquet", b"PAR1", "sql {folder} select*from(cells)"),
    ],
)
def test_a_command_in_a_process_of_its_own(
    harness: Harness, tmp_path: Path, file: str, content: bytes, words: str
) -> None:
    shutil.copytree(harness.corpus / file.partition("/")[0], tmp_path / "case")
    damaged = tmp_path / "case" / file.partition("/")[2]
    damaged.write_bytes(content)
    net = harness.corpus / "weights" / "net.safetensors"
    arguments = words.format(net=net, file=damaged, folder=tmp_path / "case").split()
    ended = subprocess.run([sys.executable, "-m", "snellen", *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 2, ended.stderr
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert str(tmp_path) in line
    assert [path.name for path in tmp_path.iterdir()] == ["case"]
