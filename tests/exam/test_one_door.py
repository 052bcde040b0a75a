"""What comes through the door: repeated runs, conditions, dry runs, temporary folders, no network."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import snellen
from snellen.cli import main
from snellen.errors import UserError
from snellen.models import Model, from_callable
from snellen.offline import offline

DATA = "phantom:test?size=32&n=36"
QUICK = "occlusion(areas=[0.3], fills=[black])"


@pytest.fixture(autouse=True)
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, and a folder of temporary files that is otherwise empty."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def corner(name: str = "corner") -> Model:
    return from_callable(lambda images: np.eye(12)[images[:, 0, 0, 0] % 12], size=32, name=name, version="1")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def temporary(at: Path) -> list[str]:
    gc.collect()
    return sorted(path.name for path in (at / "temporary").iterdir())


GIVEN: dict[str, Any] = {
    "models": ["observer:shape"], "data": DATA, "audits": [QUICK], "train": "phantom:train?size=32&n=36", "out": "run",
    "shard_timeout": 600.0, "require": ["accuracy >= 0"], "keep": "top5", "limit": 30, "batch_size": 8, "device": "cpu",
    "seed": 3, "threads": 2, "shard": 10, "strict": True, "offline": True, "quiet": True,
}  # fmt: skip


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("asked again")


@pytest.mark.parametrize("first", ["command", "python"])
def test_the_settings_of_a_finished_run_repeat_it_and_nothing_is_asked_again(
    first: str, at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (at / "all.yaml").write_text(yaml.safe_dump(GIVEN))
    if first == "command":
        assert run("audit", "--config", "all.yaml") == 0
    else:
        snellen.audit(**GIVEN)
    settings, answers = at / "run" / "settings.yaml", sorted((at / "run" / "answers").rglob("*.parquet"))
    written = settings.read_text()
    assert yaml.safe_load(written) == GIVEN
    before = json.loads((at / "run" / "findings.json").read_text())["findings"]
    monkeypatch.setattr("snellen.engine.ask.local.run_local", refuse)
    assert run("audit", "--config", str(settings)) == 0
    snellen.audit(config=settings)
    assert sorted((at / "run" / "answers").rglob("*.parquet")) == answers
    assert json.loads((at / "run" / "findings.json").read_text())["findings"] == before
    assert settings.read_text() == written


def test_the_settings_of_a_cluster_run_are_accepted_again(at: Path) -> None:
    """Those that no local run takes: the plan needs no cluster."""
    wide = {"models": ["observer:shape"], "data": DATA, "audits": [QUICK], "engine": "ray", "actors": 2}
    (at / "wide.yaml").write_text(yaml.safe_dump({**wide, "cpus_per_actor": 1, "address": "a:1", "shard_timeout": 5}))
    assert run("audit", "--config", "wide.yaml", "--dry-run") == 0


def test_what_was_made_in_python_is_named_in_the_settings_file(at: Path) -> None:
    made = snellen.audit(corner(), DATA, QUICK, "run", quiet=True, report=False)
    text = (made.path / "settings.yaml").read_text()
    assert text.startswith("# models was made in Python and is not listed here: give it again\ndata: phantom:test")
    assert snellen.audit(corner(), config=made.path / "settings.yaml").path == Path("run")
    with pytest.raises(UserError, match="no model given"):
        snellen.audit(config=made.path / "settings.yaml")


def test_fresh_is_not_repeated(at: Path) -> None:
    snellen.audit("observer:shape", DATA, QUICK, "run", fresh=True, quiet=True, report=False)
    assert "fresh" not in (at / "run" / "settings.yaml").read_text()


def test_a_condition_that_fails_raises_with_the_run_and_what_failed(at: Path) -> None:
    require = ["accuracy >= 0", "accuracy > 1"]
    with pytest.raises(snellen.RequirementFailed, match="accuracy > 1: corner has accuracy") as failed:
        snellen.audit(corner(), DATA, QUICK, quiet=True, report=False, require=require)
    (failure,) = failed.value.failures
    assert failure.startswith("accuracy > 1: corner has accuracy")
    assert "accuracy" in set(failed.value.run.findings()["name"])  # the folder is still there
    assert not isinstance(failed.value, UserError)


def test_the_command_prints_the_table_then_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", "observer:shape", "--data", DATA, "--audits", QUICK, "--require", "accuracy > 1"]
    assert run(*arguments) == 1
    told = capsys.readouterr()
    assert "Right on 100.0% of 36 clean images" in told.out
    assert told.err.strip().splitlines()[-1].startswith("failed: accuracy > 1: shape has accuracy")


def test_a_condition_on_no_finding_is_refused_in_python_before_anything_is_asked(at: Path) -> None:
    with pytest.raises(UserError, match="unknown finding in require 'acuracy'; did you mean 'accuracy'"):
        snellen.audit(corner(), DATA, QUICK, "run", require="acuracy > 1")
    assert not (at / "run").exists()


def test_a_dry_run_in_python_is_the_plan_and_writes_nothing(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outline = snellen.audit("observer:shape", DATA, QUICK, "run", dry_run=True)
    assert (outline.cells, outline.cells_left, outline.forward_passes) == (3, 3, 108)
    assert run("audit", "observer:shape", "--data", DATA, "--audits", QUICK, "--out", "run", "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {**told, "estimated_seconds": 0} == {**outline.to_json(), "estimated_seconds": 0}
    assert snellen.audit("observer:shape", DATA, QUICK, dry_run=True).out is None
    assert [path.name for path in at.iterdir()] == ["temporary"]
    assert temporary(at) == []


def test_a_run_without_a_folder_lasts_as_long_as_its_object(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = snellen.audit(corner(), DATA, QUICK, report=False)
    assert "note: this run is temporary; keep it with run.keep(" in capsys.readouterr().err
    assert len(temporary(at)) == 1
    assert len(made.findings()) > 0
    del made
    assert temporary(at) == []


def test_a_temporary_run_can_be_kept(at: Path) -> None:
    made = snellen.audit(corner(), DATA, QUICK, report=False, quiet=True)
    findings = made.findings()
    with pytest.raises(UserError, match="exists already"):
        made.keep(at / "temporary")
    moved = made.keep(at / "runs" / "kept")
    assert temporary(at) == []
    assert moved.path == at / "runs" / "kept"
    del made, moved
    gc.collect()
    again = snellen.load_run(at / "runs" / "kept")
    assert again.findings().equals(findings)
    with pytest.raises(UserError, match=r"is kept already, in '.*kept'; copy that folder"):
        again.keep(at / "elsewhere")


def test_an_audit_that_is_refused_leaves_no_temporary_folder(at: Path) -> None:
    nan = from_callable(lambda images: np.full((len(images), 12), np.nan), size=32, name="nan", version="1")
    with pytest.raises(UserError, match="answered nan"):
        snellen.audit(nan, DATA, QUICK, quiet=True)
    assert temporary(at) == []


def test_a_run_that_is_still_used_is_removed_when_python_ends(at: Path) -> None:
    code = (
        "import snellen\n"
        f"run = snellen.audit('observer:shape', {DATA!r}, {QUICK!r}, quiet=True, report=False)\n"
        "assert run.path.exists(); print(run.path)"
    )
    folder = at / "elsewhere"
    folder.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(ended.stdout.strip()).parent == folder
    assert not list(folder.glob("snellen-*"))


def test_offline_lasts_as_long_as_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    seen = []

    def answer(images: np.ndarray) -> np.ndarray:
        seen.append((os.environ.get("HF_HUB_OFFLINE"), constants.HF_HUB_OFFLINE))
        return np.eye(12)[images[:, 0, 0, 0] % 12]

    model = from_callable(answer, size=32, name="m", version="1")
    snellen.audit(model, DATA, QUICK, quiet=True, report=False, offline=True)
    assert set(seen) == {("1", True)}
    assert ("HF_HUB_OFFLINE" in os.environ, constants.HF_HUB_OFFLINE) == (False, False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with offline(True):
        pass
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_an_interrupted_command_says_that_it_resumes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("snellen.exam.auditing.examine", interrupted)
    assert run("audit", "observer:shape", "--data", DATA) == 130
    assert "stopped; the same command continues where it was" in capsys.readouterr().err


def test_one_line_and_exit_2_for_a_command_that_was_typed_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["adit"], "no such command 'adit'. Did you mean 'audit'?"),
        (["report"], "missing argument"),
        (["list", "data", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
    ):
        assert run(*arguments) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert line.startswith(f"error: {message}")
