"""The sweep commands: what they print, what they refuse, and that help is fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.cli import main
from snellen.report.pages.sweep_result import SweepRow

WORLD = "phantom:train?size=24&n=96&background_bias=1"
TESTS = (
    "--test",
    "mixed_same=phantom:test?size=24&n=48&background_bias=1",
    "--test",
    "mixed_rand=phantom:test?size=24&n=48",
)
QUICK = ("--epochs", "1", "--set", "batch_size=32", "--device", "cpu")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["sweep", *arguments])
    return int(caught.value.code or 0)


@pytest.fixture(autouse=True)
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_then_a_grid_then_nothing_left(at, capsys):
    grid = ("variants", "smallnet", "--train", f"scenes={WORLD}", *TESTS, *QUICK, "--out", "grid")
    assert run(*grid, "--dry-run") == 0
    out = capsys.readouterr().out
    assert "trainings: 1\ntrainings_left: 1\naudits: 2\naudits_left: 2" in out
    assert not (at / "grid").exists()
    assert run(*grid) == 0
    out = capsys.readouterr().out
    assert out.startswith("trained on  mixed_same")
    assert out.rstrip().endswith("page: grid/sweep.html")
    assert run(*grid, "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["trainings_left"], told["audits_left"]) == (0, 0)
    assert run(*grid, "--json") == 0
    page = json.loads(capsys.readouterr().out)
    assert page == json.loads((at / "grid" / "sweep.json").read_text())
    assert run("methods", "mine=grid/models/scenes/*.safetensors", *TESTS, "--out", "methods", "--quiet") == 0
    assert capsys.readouterr().out == ""
    other = json.loads((at / "methods" / "sweep.json").read_text())
    assert [row["value"] for row in other["rows"]] == [row["value"] for row in page["rows"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["variants", "smallnet", *TESTS, "--out", "x"], "a sweep needs at least one point"),
        (["variants", "smalnet", *TESTS, "--out", "x", "--train", f"a={WORLD}"], "unknown network 'smalnet'"),
        (["variants", "smallnet", *TESTS, "--out", "x", "--in9", "none"], "--in9: no folder 'none'"),
        (["variants", "smallnet", *TESTS, "--out", "x", "--in9", "."], "--in9: '.' has no variant such as original/train"),
        (["variants", "smallnet", *TESTS, "--out", "x", "--in9-test", "."], "--in9-test needs --in9"),
        (["amount", "smallnet", "--data", WORLD, "--amounts", "1,x", *TESTS, "--out", "x"], "expected --amounts as a whole"),
        (["amount", "smallnet", "--data", WORLD, "--amounts", "24,24", *TESTS, "--out", "x"], "--amounts names a number twice"),
        (["amount", "smallnet", "--data", WORLD, "--amounts", "9999", *TESTS, "--out", "x"], "images, 9999 in all need 834"),
        (["grain", "smallnet", "--data", WORLD, "--grains", "2", *TESTS, "--out", "x"], "give one of --groups FILE"),
        (["grain", "smallnet", "--data", WORLD, "--grains", "2", "--tree", *TESTS, "--out", "x"], "'heart' has 1 sub-class,"),
        (["methods", "a", *TESTS, "--out", "x"], "expected NAME=MODEL, such as"),
        (["methods", "a=none/*.safetensors", *TESTS, "--out", "x"], "no file matches 'none/*.safetensors'"),
        (["methods", "a=observer:shape", *TESTS, "--gap", "x", "--out", "x"], "expected --gap FIRST,SECOND"),
        (["methods", "a=observer:shape", "--test", "b=folder:none", "--out", "x"], "none"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_2(at, capsys, arguments, message):
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert not (at / "x").exists()


def test_a_folder_of_variants_is_trained_on_and_tested_on(at, capsys):
    for split in ("train", "val"):
        main_build("in9", "--data", f"phantom:{split.replace('val', 'test')}?size=24&n=72&object_size=0.5",
                   "--classes", "all", "--masks", "data", "--size", "24", "--no-balance", "--split", split, "--out", split,
                   "--quiet", "--workers", "1")  # fmt: skip
    grid = (
        "variants",
        "smallnet",
        "--in9",
        "train",
        "--in9-test",
        "val",
        *QUICK,
        "--out",
        "grid",
        "--dry-run",
        "--json",
    )
    assert run(*grid) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["trainings"], told["audits"]) == (9, 81)
    assert told["points"]["mixed_rand"] == "in9:train/mixed_rand?split=train"
    few = (
        "variants",
        "smallnet",
        *QUICK,
        "--out",
        "few",
        "--quiet",
        "--train",
        "mixed_rand=in9:train/mixed_rand?split=train",
    )
    assert run(*few, "--test", "mixed_same=in9:val/mixed_same", "--test", "mixed_rand=in9:val/mixed_rand") == 0
    (gap,) = [row for row in json.loads((at / "few" / "sweep.json").read_text())["rows"] if row["measure"] == "bg_gap"]
    assert gap["n"] == len(list((at / "val" / "mixed_same").rglob("*.png")))  # every foreground has its pair


def main_build(*arguments: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["build", *arguments])
    assert not caught.value.code


@pytest.mark.parametrize("kind", ["variants", "amount", "grain", "methods", "domains"])
def test_help_ends_with_an_example_and_imports_no_torch(kind):
    code = (
        f"import sys; from snellen.cli import main\ntry: main(['sweep', '{kind}', '--help'])\n"
        "finally: assert not {'torch', 'pandas', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"Example: snellen sweep {kind}" in " ".join(done.stdout.split())


def test_the_page_of_the_docs_names_every_column_and_every_kind():
    page = (Path(__file__).resolve().parents[2] / "docs/questions/training-data.md").read_text()
    for name in (
        *SweepRow.__struct_fields__,
        *(f"snellen sweep {kind}" for kind in ("variants", "amount", "grain", "methods", "domains")),
    ):
        assert f"`{name}`" in page, name
