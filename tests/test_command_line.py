"""The command line as a newcomer meets it: help, results, exit codes, one-line errors."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from snellen.cli import COMMANDS, GROUPS, app, main

NETS = """
import numpy as np
from snellen.models import from_callable

def red(images):
    return np.eye(12)[images[:, :, :, 0].mean((1, 2)).astype(int) % 12]

def model():
    return from_callable(red, size=16, name="red", version="1")
"""
DATA = "phantom:test?size=16&n=36"
QUICK = "occlusion(areas=[0.3], fills=[black])"


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a small model of one's own."""
    (tmp_path / "nets.py").write_text(NETS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def test_an_audit_prints_its_findings_and_leaves_a_run(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", "mine=python:nets.py:model", "--data", DATA, "--audits", QUICK) == 0
    out = capsys.readouterr().out
    assert re.search(r"^mine\n  Right on [\d.]+% of 36 clean images", out, re.M)
    assert "finding  " not in out
    assert "all 6 findings: snellen report runs/mine-on-test-size-16-n-36 --all" in out
    folder = at / "runs" / "mine-on-test-size-16-n-36"
    assert f"report: {folder.relative_to(at)}/report.html" in out
    names = {"run.json", "findings.json", "findings.csv", "report.html", "report.md", "settings.yaml", "cells.parquet"}
    assert names <= {p.name for p in folder.iterdir()}
    facts = json.loads((folder / "run.json").read_text())
    assert facts["packages"]["torch"]
    assert facts["models"]["mine"]["red"]["fingerprint"]
    assert facts["data"]["test"]["samples"] == 36


def test_a_condition_that_fails_exits_with_1_and_one_that_holds_with_0(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ("audit", "mine=python:nets.py:model", "--data", DATA, "--audits", QUICK, "--quiet")
    assert run(*base, "--require", "accuracy <= 1") == 0
    assert run(*base, "--require", "accuracy <= 1", "--require", "cut_occlusion[fill=black] > 1") == 1
    assert "failed: cut_occlusion[fill=black] > 1: mine has cut_occlusion" in capsys.readouterr().err
    assert run(*base, "--require", "acuracy > 0") == 2
    assert "unknown finding in --require 'acuracy'; did you mean 'accuracy'?" in capsys.readouterr().err
    assert run(*base, "--require", "accuracy") == 2
    assert "'accuracy' is not a condition; for example" in capsys.readouterr().err


def test_json_goes_to_stdout_alone(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", "mine=python:nets.py:model", "--data", DATA, "--audits", QUICK, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "snellen/findings/1"
    assert told["models"] == {"mine": ["red"]}


def test_a_dry_run_prints_the_plan_and_writes_nothing(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ("audit", "mine=python:nets.py:model", "--data", DATA, "--audits", QUICK, "--dry-run")
    assert run(*base) == 0
    out = capsys.readouterr().out
    assert "cells: 3\n" in out
    assert "forward_passes: 108\n" in out
    assert not (at / "runs").exists()


def test_settings_from_a_file_yield_to_flags_and_are_written_back(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"models": ["mine=python:nets.py:model"], "data": DATA, "audits": [QUICK], "limit": 9, "out": "there"}
    (at / "settings.yaml").write_text(yaml.safe_dump(settings))
    assert run("audit", "--config", "settings.yaml", "--limit", "18") == 0
    facts = json.loads((at / "there" / "run.json").read_text())
    assert facts["data"]["test"]["samples"] == 18
    written = yaml.safe_load((at / "there" / "settings.yaml").read_text())
    assert written == settings | {"limit": 18}
    (at / "bad.yaml").write_text("limt: 3\n")
    assert run("audit", "--config", "bad.yaml") == 2
    assert "unknown setting in bad.yaml 'limt'; did you mean 'limit'?" in capsys.readouterr().err
    (at / "bad.yaml").write_text("a: [1\nb: 2\n")
    assert run("audit", "--config", "bad.yaml") == 2
    assert "bad.yaml line 2 is not YAML" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit"], "no model given"),
        (["audit", "python:nets.py:model"], "no data given"),
        (["audit", "python:nets.py:model", "--data", "foldr:x"], "unknown data scheme 'foldr'; did you mean 'folder'?"),
        (["audit", "python:nets.py:model", "--data", DATA, "--audits", "oclusion"], "did you mean 'occlusion'?"),
        (
            ["audit", "python:nets.py:model", "--data", DATA, "--audits", "occlusion(fills=[blak])"],
            "did you mean 'black'?",
        ),
        (["audit", "python:nets.py:model", "--data", DATA, "--device", "tpu9"], "device 'tpu9'"),
        (
            ["audit", "python:nets.py:model", "--data", DATA, "--batch-size", "many"],
            "expected --batch-size as auto or a whole number of at least 1, got 'many'",
        ),
        (
            ["audit", "python:nets.py:model", "--data", DATA, "--limit", "0"],
            "expected --limit from 1 to 1,000,000,000, got '0'",
        ),
        (["audit", "python:nets.py:model", "--data", DATA, "--engine", "rai"], "unknown engine 'rai'"),
        (["audit", "python:nets.py:model", "python:nets.py:model", "--data", DATA], "two models are called 'red'"),
        (["audit", "python:nets.py:model", "--data", DATA, "--out", "nets.py"], "'nets.py' is a file"),
        (["report", "nowhere"], "'nowhere' is not a run folder"),
        (["list", "dogs"], "unknown list 'dogs'"),
    ],
)
def test_bad_input_is_one_line_and_exit_2_and_nothing_is_written(
    at: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert [p.name for p in at.iterdir() if p.name != "__pycache__"] == ["nets.py"]


def test_sql_and_report_work_on_a_finished_run(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("audit", "mine=python:nets.py:model", "--data", DATA, "--audits", QUICK, "--out", "r", "--quiet")
    assert run("sql", "r", "select count(*) as n from answers", "--csv") == 0
    assert capsys.readouterr().out == "n\n108\n"
    assert run("sql", "r", "selec 1") == 2
    assert "the query failed" in capsys.readouterr().err
    (at / "r" / "report.html").unlink()
    assert run("report", "r") == 0
    assert (at / "r" / "report.html").exists()


@pytest.mark.parametrize("kind", ["models", "data", "distortions", "audits", "spaces"])
def test_lists_say_what_there_is(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", kind) == 0
    example = {
        "models": "timm:",
        "data": "folder:",
        "distortions": "shuffle(grid=4)",
        "audits": "occlusion(",
        "spaces": "211 edits: autocontrast 20",
    }
    assert example[kind] in capsys.readouterr().out


def test_list_alone_says_what_there_are_lists_of_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    from snellen.catalogue import CATALOGUES, catalogue

    assert run("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(CATALOGUES)]] == list(CATALOGUES)
    assert lines[-1] == "example: snellen list audits"
    assert all(catalogue(kind) for kind in CATALOGUES)


def test_snellen_alone_shows_its_commands_and_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    shown = capsys.readouterr().err
    assert all(f"\n  {name} " in shown for name in (*COMMANDS, *GROUPS))
    assert re.findall(r"Example: snellen (\w+)", shown) == ["list", "audit", "demo"]


def test_no_summary_of_a_command_is_cut_off() -> None:
    for path, shown in every_help():
        assert "..." not in shown.partition("Commands:")[2], path


def test_all_and_pairs_print_every_finding_and_the_report_prints_them_again(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ("a=python:nets.py:model", "b=observer:guess")
    base = ("audit", *models, "--data", "phantom:test?size=16&n=24", "--audits", QUICK, "--out", "r")
    assert run(*base) == 0
    screen = capsys.readouterr().out
    assert "place  model" in screen
    assert run(*base, "--all") == 0
    every = capsys.readouterr().out
    assert len(re.findall(r"^  accuracy ", every, re.M)) == 2
    assert "  difference " not in every
    assert run(*base, "--pairs") == 0
    pairs = capsys.readouterr().out
    assert "a − b" in pairs
    assert "  accuracy " not in pairs
    assert run("report", "r", "--all") == 0
    assert capsys.readouterr().out == every.replace("report: ", "")
    assert "--pairs" in screen


def test_every_scheme_and_kind_is_listed() -> None:
    from snellen.catalogue import catalogue
    from snellen.data import SCHEMES
    from snellen.models.kinds import KINDS

    assert set(SCHEMES) <= {text.partition(":")[0] for text, _ in catalogue("data")}
    assert set(KINDS) <= {text.partition(":")[0].partition("(")[0] for text, _ in catalogue("models")}


@pytest.mark.parametrize("command", ["", *COMMANDS, *GROUPS])
def test_every_help_comes_without_torch_and_ends_in_an_example(command: str) -> None:
    code = (
        "import sys; from snellen.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print('heavy:', sorted({'torch', 'pandas', 'duckdb', 'scipy', 'numpy'} & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "heavy: []" in shown
    assert f"Example: snellen {command}".rstrip() in shown


def every_help() -> Iterator[tuple[str, str]]:
    """Each command, groups included, with the text of its --help."""
    runner = CliRunner()

    def walk(path: list[str], command: Any) -> Iterator[tuple[str, str]]:
        yield " ".join(path), runner.invoke(app, [*path, "--help"]).output
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk([*path, name], inner)

    return walk([], typer.main.get_command(app))


def test_every_help_ends_with_a_line_to_paste_that_names_only_what_exists() -> None:
    known = typer.main.get_command(app)
    for path, shown in every_help():
        if path.startswith("sweep "):
            assert "Example: snellen sweep" in shown
            continue
        line = shown.rstrip().splitlines()[-1].strip()
        assert line.startswith("Example: snellen "), path
        command: Any = known
        words = shlex.split(line.removeprefix("Example: snellen "))
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        flags = {name for one in command.params for name in one.opts}
        assert {word for word in words if word.startswith("--")} <= flags, line


def test_a_warm_plan_needs_no_torch(at: Path) -> None:
    """The second audit of a zoo checkpoint finds everything in the store and never imports torch."""
    import torch

    from snellen.models.checkpoint import save_checkpoint
    from snellen.models.zoo import NETWORKS

    torch.manual_seed(0)
    save_checkpoint(at / "net.safetensors", NETWORKS["smallnet"](12), {"arch": "smallnet", "size": [32, 32]})
    arguments = ["audit", "net.safetensors", "--data", DATA, "--audits", QUICK, "--out", "r", "--quiet"]
    assert run(*arguments) == 0
    code = (
        "import sys; from snellen.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as stop: assert not stop.code\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode == 0


def test_only_a_report_that_was_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["audit", "observer:shape", "--data", "phantom:test?size=16&n=12", "--audits", "occlusion(areas=[0.3])"]
    for more, named in ((["--no-report"], False), ([], True)):
        with pytest.raises(SystemExit):
            main([*words, "--out", str(tmp_path / "run"), *more])
        assert (f"report: {tmp_path / 'run' / 'report.html'}" in capsys.readouterr().out) is named
        assert (tmp_path / "run" / "report.html").exists() is named
