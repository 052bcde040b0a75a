"""A file of plug-ins: what its tables name is used as snellen's own, and what is broken is named in one line and skipped."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.audits import AUDITS, default_audits, parse_audits
from snellen.data import SCHEMES, from_arrays
from snellen.distort import DISTORTIONS
from snellen.errors import UserError
from snellen.models.kinds import KINDS

from ..commands import exit_code

DISTORTION = """
from dataclasses import dataclass
from snellen.distort import Distortion

@dataclass(frozen=True)
class Plain(Distortion):
    "The same images."
    def __call__(self, images, view):
        return images
"""


def test_what_a_file_offers_is_used_as_snellens_own(all_four: Path) -> None:
    snellen.load_plugin(all_four)
    images = np.full((1, 4, 4, 3), 10, np.uint8)
    assert snellen.distort.apply("negative() | negative", images).tolist() == images.tolist()
    assert snellen.distort.apply("negative", images).min() == 245
    assert snellen.load_data("specks:5?label=dark").samples.labels.tolist() == [0, 0, 0]
    assert snellen.load_model("bright=mean:1").name == "bright"
    (audit,) = parse_audits("mean")
    assert type(audit).__name__ == "MeanAudit"


def test_a_command_takes_a_file_and_its_settings_repeat_it(
    all_four: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "audit mean:1 --data specks:30 --audits mean,interference([negative]) --plugin tools.py --out run --quiet"
    assert exit_code(line.split()) == 0
    assert capsys.readouterr().err == ""
    findings = json.loads((here / "run" / "findings.json").read_text())["findings"]
    (brightness,) = [one["value"] for one in findings if one["name"] == "brightness"]
    photos = snellen.load_data("specks:30").read(range(30))
    assert brightness == np.mean([np.asarray(photo.pixels).mean() > 127 for photo in photos])  # type: ignore[union-attr]
    assert "plugins:\n- tools.py\n" in (here / "run" / "settings.yaml").read_text()
    again = "audit --config run/settings.yaml --dry-run --json"
    assert exit_code(again.split()) == 0
    assert json.loads(capsys.readouterr().out)["forward_passes"] == 0
    (version,) = {json.loads((here / "run" / "run.json").read_text())["packages"]["tools.py"]}
    assert len(version) == 16


def test_lists_say_where_each_thing_comes_from(all_four: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, text in (
        ("models", "mean:1"),
        ("data", "specks:30"),
        ("distortions", "negative()"),
        ("audits", "mean()"),
    ):
        assert exit_code(["list", kind, "--plugin", str(all_four), "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert {row["from"] for row in rows} == {"snellen", "tools.py"}
        assert [row["text"] for row in rows if row["from"] == "tools.py"] == [text]
    assert exit_code(["list", "audits", "--plugin", str(all_four)]) == 0
    own, _, others = capsys.readouterr().out.partition("\n\nfrom tools.py:\n")
    assert own.startswith("from snellen:\nocclusion(")
    assert others.split("\n")[0].startswith("mean()")


def test_an_audit_of_a_plugin_runs_only_where_it_is_named(all_four: Path, photos: np.ndarray) -> None:
    snellen.load_plugin(all_four)
    parse_audits("mean")
    data = from_arrays({"images": photos, "labels": np.arange(len(photos)) % 2}, "photos", "1")
    assert "mean" in AUDITS
    assert not any("mean" in str(audit) for audit, _ in default_audits(data))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('two\\nlines')", "importing 'broken.py' failed: RuntimeError: two"),
        ("import sys; sys.exit(0)", "importing 'broken.py' called sys.exit(0); take that out"),
        ("import no_such_module", "cannot import 'broken.py': No module named 'no_such_module'"),
        ("def f(:", "importing 'broken.py' failed: SyntaxError"),
        ("x = 1", "broken.py offers nothing; it needs a table such as DISTORTIONS = {'name': Class}"),
        ("DATA = [1]", "its DATA is list; expected a dictionary from names to what they name"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named_and_skipped(
    here: Path, capsys: pytest.CaptureFixture[str], source: str, reason: str
) -> None:
    (here / "broken.py").write_text(source)
    line = "audit observer:texture --data phantom:test?size=16&n=20 --audits occlusion --out run --quiet --no-report"
    assert exit_code([*line.split(), "--plugin", "broken.py", "--plugin", "broken.py"]) == 0
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"note: plug-in 'broken.py' is skipped: {reason}")
    with pytest.raises(UserError) as caught:  # in Python it is an error, as for any file
        snellen.load_plugin("broken.py")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (
            "'occlude': Plain",
            "plug-in 'occlude' of broken.py is skipped: that name is taken by snellen; give it another one",
        ),
        ("'Plain-1': Plain", "its name may have small letters, digits and _ alone, and begins with a letter"),
        ("7: Plain", "plug-in '7' of broken.py is skipped: its name may have small letters"),
        ("'other': Plain", "texts call the class Plain 'plain'; give it this name"),
        ("'plain': 3", "expected a subclass of snellen.distort.Distortion, got int"),
        ("'plain': Plain()", "expected a subclass of snellen.distort.Distortion, got Plain"),
        ("'plain': dict", "expected a subclass of snellen.distort.Distortion, got the class dict"),
        ("'distortion': Distortion", "Distortion lacks __call__"),
        (
            "'thawed': type('Thawed', (Plain,), {})",
            "Thawed is no frozen dataclass; put @dataclass(frozen=True) above it",
        ),
    ],
)
def test_a_thing_that_does_not_fit_is_named_and_the_others_are_used(
    here: Path, capsys: pytest.CaptureFixture[str], table: str, reason: str
) -> None:
    (here / "broken.py").write_text(
        DISTORTION + f"DISTORTIONS = {{{table}, 'good': type('Good', (Plain,), {{}})}}\n"
        "Good = dataclass(frozen=True)(DISTORTIONS['good'])\n"
    )
    snellen.load_plugin("broken.py")
    assert str(snellen.distort.parse("good")) == "good()"
    (told,) = capsys.readouterr().err.splitlines()
    assert reason in told
    assert type(snellen.distort.parse("occlude")).__module__ == "snellen.distort.cover"


@pytest.mark.parametrize(
    ("table", "use", "reason"),
    [
        ("MODELS = {'mine': len}", lambda: snellen.load_model("mine:1"), "expected a snellen.models.kinds.ModelKind"),
        (
            "from snellen.models.kinds import ModelKind\nMODELS = {'mine': ModelKind(len, (), suffixes=('.x',))}",
            lambda: snellen.load_model("mine:1"),
            "leave prefix and suffixes out",
        ),
        ("DATA = {'mine': 'folder:x'}", lambda: snellen.load_data("mine:1"), "expected a snellen.data.DataKind, got str"),
        ("AUDITS = {'baseline': 1}", lambda: parse_audits("baseline"), "that name is taken by snellen"),
        ("AUDITS = {'mine': int}", lambda: parse_audits("mine"), "a subclass of snellen.audits.Audit, got the class int"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_told_for_every_table(
    here: Path, capsys: pytest.CaptureFixture[str], table: str, use: object, reason: str
) -> None:
    (here / "broken.py").write_text(table)
    snellen.load_plugin("broken.py")
    with pytest.raises(UserError, match="^unknown "):
        use()  # type: ignore[operator]
    (told,) = capsys.readouterr().err.splitlines()
    assert reason in told


def test_a_file_that_is_not_there_or_no_file_is_skipped(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(here / "pipe.py")
    for name, reason in (("nowhere.py", "no plug-in '"), ("pipe.py", "pipe.py")):
        assert exit_code(["list", "spaces", "--plugin", name]) == 0
        (told,) = capsys.readouterr().err.splitlines()
        assert told.startswith(f"note: plug-in '{name}' is skipped: ")
        assert reason in told


def test_a_plugin_that_fails_while_it_works_is_named_with_its_line(
    all_four: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    all_four.write_text(all_four.read_text().replace("return WHITE - images", "return WHITE / no_such_name"))
    line = "audit mean:1 --data specks:30 --audits interference([negative]) --plugin tools.py --out run --quiet"
    number = all_four.read_text().splitlines().index("        return WHITE / no_such_name") + 1
    assert exit_code(line.split()) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told == (
        f"error: plug-in 'tools.py' failed in line {number} of its code: NameError: name 'no_such_name' is not defined; "
        "--debug shows where"
    )


def test_a_distortion_that_changes_the_type_of_pixels_is_refused(all_four: Path) -> None:
    all_four.write_text(all_four.read_text().replace("return WHITE - images", "return images / WHITE"))
    snellen.load_plugin(all_four)
    with pytest.raises(
        UserError, match=r"'negative\(\)' made torch.float32 .* of torch.uint8 .*; it must keep type and shape"
    ):
        snellen.distort.apply("negative", np.zeros((1, 4, 4, 3), np.uint8))


def test_names_of_two_files_do_not_mix(all_four: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "second.py").write_text(all_four.read_text().replace("WHITE = 255", "WHITE = 100"))
    snellen.load_plugin(all_four)
    snellen.load_plugin("second.py")
    assert snellen.distort.apply("negative", np.zeros((1, 4, 4, 3), np.uint8)).max() == 255
    assert capsys.readouterr().err == (
        "note: plug-in 'negative' of second.py is skipped: that name is taken by tools.py; give it another one\n"
    )


def test_a_file_that_changed_is_loaded_again(all_four: Path) -> None:
    snellen.load_plugin(all_four)
    zeros = np.zeros((1, 4, 4, 3), np.uint8)
    before = snellen.distort.parse("negative")
    assert snellen.distort.apply("negative", zeros).max() == 255
    all_four.write_text(all_four.read_text().replace("WHITE = 255", "WHITE = 100"))
    snellen.load_plugin(all_four)
    assert snellen.distort.apply("negative", zeros).max() == 100
    assert before.version != snellen.distort.parse("negative").version


def test_tables_are_as_they_were_for_other_tests() -> None:
    assert not {"mean", "negative", "specks"} & {*KINDS, *SCHEMES, *DISTORTIONS, *AUDITS}
