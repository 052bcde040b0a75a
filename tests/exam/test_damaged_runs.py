"""Every file of a run folder, damaged in every way: the same command repairs it with a notice, or one line refuses it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from snellen.atomic import remove
from snellen.cli import main
from snellen.engine.keep.shard_file import read_rows, write_table

from ..commands import exit_code
from .damages import DAMAGES, flip

NET = '''
import torch
from snellen.models import from_torch

def network():
    """Weights by a formula: the same on every machine."""
    layers = [torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU(), torch.nn.Conv2d(8, 12, 3, stride=2), torch.nn.ReLU()]
    head = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(12, 12))
    module = torch.nn.Sequential(torch.nn.Sequential(*layers), head).eval()
    with torch.no_grad():
        for number, weight in enumerate(module.parameters()):
            places = torch.arange(weight.numel(), dtype=torch.float64)
            weight.copy_((((places * 37 + number * 11) % 64 - 31) / 64).reshape(weight.shape))
    classes = "disc ring crescent square triangle star cross arrow heart sparkle hexagram burst".split()
    return from_torch(module, classes=classes, size=32, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))
'''
AUDITS = "interference([salient(0.3), shuffle(2)]),adversarial_backgrounds"
COMMAND = [
    *("audit", "net=python:net.py:network", "--data", "phantom:test?size=32&n=24", "--audits", AUDITS),
    *("--shard", "10", "--out", "run"),
]
REFUSED = {"run.json"}  # without it nothing else can be read
WRITTEN = {
    "settings.yaml",
    "findings.json",
    "findings.csv",
    "report.html",
    "report.md",
}  # by every command, from the rest
STORED = {
    "cells.parquet": "cells.parquet was",
    "samples/test/000001-*": "samples/test",
    "shown/*/000001-*": "shown/",
    "answers/*/000001-*": "answers/",
    "answers/*/pass.json": "pass.json was damaged or missing; its images are asked again",
    "maps/*/000001-*": "maps/",
    "maps/*/map.json": "",  # says nothing that the command does not know
    "trials/*/000000-*": "trials/",
    "things/*/000000-*": "things/",
    "thumbs/*/000003.png": "thumbs/",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and a complete run of cells, maps and trials, in three shards."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "net.py").write_text(NET)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert exit_code(COMMAND) == 0
    return folder


@pytest.fixture
def run(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the run, beside its model, in the working folder."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "run"


def carry_out(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and what was said; a refusal is one line, and nothing is ever a traceback."""
    code = exit_code(arguments)
    said = capsys.readouterr().err
    assert code in (0, 2), said
    assert "Traceback" not in said
    errors = [line for line in said.splitlines() if line.startswith("error:")]
    assert len(errors) == (1 if code else 0), said
    assert "\x1b" not in said
    return code, said


def read_every_way(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands that only read end in their result or in one line."""
    carry_out(["report", "run", "--out", "again.html"], capsys)
    counts = ", ".join(f"(select count(*) from {one})" for one in ("cells", "samples", "shown", "answers", "trials"))
    carry_out(["sql", "run", f"select {counts}"], capsys)


def findings_of(run: Path) -> list[dict]:
    return json.loads((run / "findings.json").read_text())["findings"]


FEW = ("removed", "garbage", "folder", "pipe")  # for what is only written
JSON = ("null", "list", "braces", "deep")
CASES = [
    (file, damage)
    for file in [*STORED, *sorted(WRITTEN), *sorted(REFUSED)]
    for damage in DAMAGES
    if (damage in FEW or file not in WRITTEN or file == "findings.json")
    and (damage not in JSON or file.endswith("json"))
]


@pytest.mark.parametrize(("file", "damage"), CASES)
def test_a_damaged_file_is_mended_with_a_notice_or_refused_in_one_line(
    whole: Path, run: Path, file: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sorted(run.glob(file))[0]
    DAMAGES[damage](path)
    read_every_way(run, capsys)
    code, said = carry_out(COMMAND, capsys)
    if code:
        assert damage in ("folder", "pipe") or file in REFUSED, said
        assert str(Path("run") / path.relative_to(run)) in said or "'run' has lost its run.json" in said
        if file in REFUSED:
            assert "--fresh" in said
            assert carry_out([*COMMAND, "--fresh"], capsys)[0] == 0
        else:
            remove(path)  # what stands where a file is to be written may be someone's
            assert carry_out(COMMAND, capsys)[0] == 0
    elif file in STORED:
        assert f"note: {STORED[file]}" in said or STORED[file] in said, said
    assert findings_of(run) == findings_of(whole / "run")
    code, said = carry_out([*COMMAND, "--no-report"], capsys)
    assert code == 0
    assert "note:" not in said  # it is whole again
    for table in ("samples", "shown", "answers", "maps", "trials"):
        assert names_of(run, table) == names_of(whole / "run", table)


def names_of(run: Path, table: str) -> set[str]:
    """The files of a table; their names hold their checksums."""
    return {file.name for file in run.glob(f"{table}/*/*.parquet")}


def test_every_flipped_byte_of_the_run_json_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The size of a shard decides which images a file holds: with another one a part would pass for the whole."""
    record = run / "run.json"
    content = record.read_bytes()
    at = content.index(b'"shard": 10') + len(b'"shard": ')
    assert content[at : at + 2] == b"10"
    record.write_bytes(content[:at] + b"30" + content[at + 2 :])
    code, said = carry_out(COMMAND, capsys)
    assert code == 2
    assert "run.json does not fit its own checksum" in said
    name = content.index(b'"checksum"') + 3
    for position in (name, *range(0, len(content), 61)):
        flipped = content[:position] + bytes([content[position] ^ 4]) + content[position + 1 :]
        record.write_bytes(flipped)
        code, said = carry_out(["sql", "run", "select 1"], capsys)
        assert code == (0 if same_content(flipped, content) else 2), (position, said)


def same_content(first: bytes, second: bytes) -> bool:
    """Whether both are JSON of the same values; the last digit of a long number may change none."""
    try:
        return bool(json.loads(first) == json.loads(second))
    except ValueError:
        return False


def without_checksum(run: Path, **settings: object) -> None:
    """Make the run.json one of an earlier version, with other settings."""
    facts = json.loads((run / "run.json").read_text())
    del facts["checksum"], facts["checksums"], facts["files"]
    facts["settings"] |= settings
    (run / "run.json").write_text(json.dumps(facts))


def test_a_run_of_an_earlier_version_needs_no_checksum(
    run: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without_checksum(run)
    assert carry_out(["report", "run"], capsys)[0] == 0
    assert carry_out(COMMAND, capsys)[0] == 0
    assert findings_of(run) == findings_of(whole / "run")


@pytest.mark.parametrize("shard", [1, 5, 12, 24, 100])
def test_nothing_is_concluded_from_a_part_of_the_images(
    run: Path, whole: Path, shard: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shards of another size than the files were made with: what they lack is never passed over."""
    without_checksum(run, shard=shard)
    command = [word for word in COMMAND if word not in ("--shard", "10")]
    code, said = carry_out(command, capsys)
    if code:
        assert "are missing" in said or "holds" in said or "changed on disk" in said
    else:
        assert findings_of(run) == findings_of(whole / "run")


def test_a_file_in_the_place_of_another_shard_is_noticed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its checksum fits its name, but its rows are those of other images."""
    for table in ("answers", "maps", "shown"):
        one, other = sorted(run.glob(f"{table}/*/*.parquet"))[:2]
        backup = other.read_bytes()
        other.unlink()
        shutil.copy(one, other.with_name(one.name.replace("000000", "000001")))
        code, said = carry_out(COMMAND, capsys)
        assert code == (0 if table == "maps" else 2), said  # no audit of this command concludes from the maps
        assert table == "maps" or "are missing (first '" in said
        other.with_name(one.name.replace("000000", "000001")).unlink()
        other.write_bytes(backup)


def test_a_shard_without_its_name_is_refused_by_a_report(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its place among the others, and so the image of each row, is not known."""
    shard = sorted(run.glob("samples/test/000001-*"))[0]
    shard.rename(shard.with_name("*.parquet"))
    code, said = carry_out(["report", "run", "--out", "again.html"], capsys)
    assert code == 2
    assert "samples/test/*.parquet' has no name of a part of a run" in said


@pytest.mark.parametrize("column", ["sample", "asked", "error"])
def test_trials_of_other_images_or_without_a_column_are_refused(
    run: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that someone made: its checksum fits its name, its rows do not fit the run."""
    (file,) = run.glob("trials/*/*.parquet")
    table = pq.read_table(file).slice(0, 20)
    if column == "sample":
        place = table.column_names.index("sample")
        table = table.set_column(place, "sample", pa.array([f"other-{row}" for row in range(len(table))]))
    else:
        table = table.drop_columns([column])
    file.unlink()
    write_table(file.parent, 0, table)
    code, said = carry_out(COMMAND, capsys)
    assert code == 2
    assert "holds images that its data do not have" in said if column == "sample" else "is damaged or missing" in said


def test_a_removed_shard_of_maps_is_made_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the answers that needed the maps are all there."""
    file = next(iter(run.glob("maps/*/000001-*")))
    content = file.read_bytes()
    file.unlink()
    code, said = carry_out(COMMAND, capsys)
    assert code == 0
    assert f"note: maps/{file.parent.name} has 2 of 3 files; what is missing is made again" in said
    assert file.read_bytes() == content


def test_a_damaged_picture_is_drawn_again_as_it_was(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shuffled = drawn = 0
    for file in sorted(run.glob("thumbs/*/000002.png")):
        content = file.read_bytes()
        flip(file)
        assert carry_out(["report", "run"], capsys)[0] == 0
        code, said = carry_out(COMMAND, capsys)
        assert code == 0
        assert f"thumbs/{file.parent.name}/000002.png was damaged" in said
        shuffled += 1
        drawn += file.exists() and file.read_bytes() == content
    assert drawn >= shuffled - 2  # salient's, whose maps are the model's, and the trial's, which names its own


def test_the_same_facts_are_compared_under_the_lock(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another command writes its run.json after this one has compared, and before it holds the folder."""
    from snellen.engine.keep.facts import read_facts, write_facts
    from snellen.exam import carry_out as module

    own_folder = module.own_folder

    def late(folder: Path):
        facts = read_facts(folder)
        facts["models"]["net"]["Sequential"]["fingerprint"] = "0" * 16
        write_facts(folder, facts)
        return own_folder(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "own_folder", late)
        code, said = carry_out(COMMAND, capsys)
    assert code == 2
    assert "was made with model 'net' of other weights (0000… ≠ " in said


@pytest.mark.parametrize("place", ["answers", "thumbs", "cells.parquet"])
def test_a_fresh_run_that_stops_while_it_empties_can_be_run_again(
    run: Path, whole: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from snellen.exam import folder as module

    remove = module.remove

    def stopping(path: Path) -> None:
        if path.name == place:
            raise KeyboardInterrupt
        remove(path)

    with monkeypatch.context() as patch:
        patch.setattr(module, "remove", stopping)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            main([*COMMAND, "--fresh"])
    capsys.readouterr()
    for command in (COMMAND, [*COMMAND, "--fresh"]):
        assert carry_out(command, capsys)[0] == 0
        assert findings_of(run) == findings_of(whole / "run")


def test_a_fresh_run_that_is_refused_removes_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(run.rglob("*"))
    code, said = carry_out([*COMMAND, "--fresh", "--data", "phantom:test?size=32&n=0"], capsys)
    assert code == 2, said
    assert sorted(run.rglob("*")) == before


def test_what_a_stopped_fresh_run_left_without_run_json_is_known_as_ours(
    run: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an earlier version could leave it: its settings and reports, but neither run.json nor answers."""
    for path in run.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    (run / "run.json").unlink()
    assert {"settings.yaml", "run.lock"} <= {path.name for path in run.iterdir()}
    assert carry_out(COMMAND, capsys)[0] == 0
    assert findings_of(run) == findings_of(whole / "run")


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_lock_that_is_no_regular_file_is_left_alone(
    run: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lock, outside = run / "run.lock", tmp_path / "precious"
    outside.write_text("precious")
    lock.unlink()
    {"link": lambda: lock.symlink_to(outside), "pipe": lambda: os.mkfifo(lock), "folder": lock.mkdir}[kind]()
    code, said = carry_out(COMMAND, capsys)
    assert code == 2
    assert "run.lock' is not a regular file" in said
    assert outside.read_text() == "precious"


def test_a_report_of_samples_without_rows_is_told_or_written(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whole by its checksum, but of no image: what the pictures of a report look up is not there."""
    (file,) = run.glob("samples/test/000000-*.parquet")
    write_table(file.parent, 0, read_rows(file).slice(0, 0))
    code, said = carry_out(["report", "run"], capsys)
    assert code in (0, 2), said
