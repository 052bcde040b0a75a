"""Plug-ins of installed packages: found by entry points, imported when their names are used, skipped when they are broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import snellen
from snellen.errors import UserError
from snellen.models.adapters.ensemble import split_members
from snellen.plugins.installed import installed

from ..commands import exit_code
from .conftest import ALL_FOUR

FOUR = ALL_FOUR + "\nMEAN, SPECKS = MODELS['mean'], DATA['specks']\n"
ENTRIES = """
[snellen.models]
mean = pkgfour:MEAN
[snellen.data]
specks = pkgfour:SPECKS
[snellen.distortions]
negative = pkgfour:Negative
[snellen.audits]
mean = pkgfour:MeanAudit
"""
BROKEN = """
[snellen.models]
lens = pkgbroken:nothing
[snellen.data]
folder = pkgbroken:thing
[snellen.distortions]
raises = pkgraises:thing
exits = pkgexits:Thing
two-words = pkgbroken:thing
number = pkgbroken:thing
nowhere = pkgnowhere:thing
garbled = not a place
[snellen.audits]
occlusion = pkgbroken:thing
"""
MODULES = {"pkgbroken": "thing = 3\n", "pkgraises": "raise ValueError('no')\n", "pkgexits": "import sys; sys.exit(1)\n"}


def test_the_names_of_a_package_are_used_as_snellens_own(
    install: Callable[..., None], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("four-things", "2.5", ENTRIES, pkgfour=FOUR)
    line = "audit mean:1 --data specks:20 --audits mean,interference([negative]) --out run --quiet"
    assert exit_code(line.split()) == 0
    assert capsys.readouterr().err == ""
    assert json.loads((here / "run" / "run.json").read_text())["packages"]["four-things"] == "2.5"
    assert exit_code(["list", "data", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["text"] for row in rows if row["from"] == "four-things 2.5"] == ["specks:30"]
    assert split_members("mean:1,mean:2") == ["mean:1", "mean:2"]


def test_a_package_is_not_imported_before_one_of_its_names_is_used(install: Callable[..., None]) -> None:
    install("four-things", "2.5", ENTRIES, pkgfour=FOUR)
    snellen.load_data("phantom:test?n=2")
    assert str(snellen.distort.parse("shuffle(2)")) == "shuffle(grid=2)"
    with pytest.raises(UserError, match="did you mean 'specks'"):
        snellen.load_data("speks:3")
    assert "pkgfour" not in sys.modules
    snellen.distort.parse("negative")
    assert "pkgfour" in sys.modules


def test_broken_ones_are_named_in_one_line_each_when_listed_and_the_rest_is_there(
    install: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken-things", "0.1", BROKEN, **MODULES)
    install("four-things", "2.5", ENTRIES, pkgfour=FOUR)
    for kind in ("models", "data", "distortions", "audits"):
        assert exit_code(["list", kind, "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count('"four-things 2.5"') == 4
    assert "broken-things" not in shown.out
    told = [line.removeprefix("note: plug-in ") for line in shown.err.splitlines()]
    reasons = {
        "lens": "importing 'pkgbroken:nothing' failed: AttributeError: ",
        "folder": "that name is taken by snellen; give it another one",
        "raises": "importing 'pkgraises:thing' failed: ValueError: no",
        "exits": "importing 'pkgexits:Thing' called sys.exit(1); take that out",
        "two-words": "its name may have small letters, digits and _ alone, and begins with a letter",
        "number": "expected a subclass of snellen.distort.Distortion, got int",
        "nowhere": "importing 'pkgnowhere:thing' failed: ModuleNotFoundError: No module named 'pkgnowhere'",
        "garbled": "importing 'not a place' failed: ",
        "occlusion": "that name is taken by snellen; give it another one",
    }
    assert len(told) == len(reasons)
    for name, reason in reasons.items():
        assert any(line.startswith(f"'{name}' of broken-things 0.1 is skipped: {reason}") for line in told), name


def test_broken_ones_disturb_no_command_that_does_not_name_them(
    install: Callable[..., None], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken-things", "0.1", BROKEN, **MODULES)
    line = "audit observer:texture --data phantom:test?size=16&n=20 --audits occlusion --out run --quiet --no-report"
    assert exit_code(line.split()) == 0
    assert capsys.readouterr().err == ""
    assert exit_code([*line.replace("occlusion", "interference([raises])").split()]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(
        "note: plug-in 'raises' of broken-things 0.1 is skipped: importing 'pkgraises:thing' failed"
    )
    assert second.startswith("error: unknown distortion 'raises'")


def test_of_two_packages_with_one_name_the_first_has_it(
    install: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    install("b-things", "1", "[snellen.data]\nspecks = pkgfour:SPECKS\n", pkgfour=FOUR)
    install("a-things", "1", "[snellen.data]\nspecks = pkgtwin:SPECKS\n", pkgtwin=FOUR)
    assert exit_code(["list", "data", "--json"]) == 0
    shown = capsys.readouterr()
    assert (shown.out.count('"a-things 1"'), shown.out.count('"b-things 1"')) == (1, 0)
    assert shown.err == (
        "note: plug-in 'specks' of b-things 1 is skipped: that name is taken by a-things 1; give it another one\n"
    )


def test_entry_points_that_cannot_be_read_stop_nothing(
    install: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    install("torn", "1", "[snellen.data]\nno equals sign here\n")
    assert len(installed("data")) == 0
    assert exit_code(["list", "data"]) == 0
    assert capsys.readouterr().err.startswith(
        "note: plug-ins of packages are skipped: the entry points of some package"
    )
