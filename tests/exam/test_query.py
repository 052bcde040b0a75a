"""SQL over a run reads its own tables; it changes nothing and reaches nothing else of this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.cli import main
from snellen.errors import UserError
from snellen.models import from_callable


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> snellen.Run:
    """60 images of four classes in a folder whose name is a pattern."""
    place = tmp_path_factory.mktemp("query")
    labels = np.arange(60) % 4
    np.savez(place / "d.npz", images=np.full((60, 8, 8, 3), 9, np.uint8), labels=labels)
    model = from_callable(lambda images: np.full((len(images), 4), 0.25), size=8, name="m", version="1")
    out = place / "a[1]*b?'c"
    return snellen.audit(model, f"arrays:{place}/d.npz", "interference([none()])", out, quiet=True, report=False)


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from read_text('/etc/passwd')",
        "select * from glob('/etc/*')",
        "select * from sniff_csv('/etc/passwd')",
        "select * from read_parquet('{outside}')",
        "select (select content from read_text('/etc/hostname')) from answers",
        "copy answers to '{outside}'",
        "copy answers to '{own}'",
        "copy (select 1) to '/dev/stdout'",
        "explain analyze copy answers to '{own}'",
        "explain analyze copy answers to '{outside}'",
        "copy (pivot answers on pred using count(*)) to '{own}'",
        "export database '{folder}'",
        "import database '{folder}'",
        "attach '{outside}' as other",
        "attach ':memory:' as other",
        "install httpfs",
        "load httpfs",
        "load parquet",
        "pragma database_list",
        "pragma enable_profiling",
        "set threads = 1",
        "set enable_external_access = true",
        "reset lock_configuration",
        "create table t as select 1",
        "drop view answers",
        "insert into answers select * from answers",
        "delete from answers",
        "call pragma_version()",
        "begin",
        "checkpoint",
        "create secret (type s3)",
        "prepare v as select 1",
        "select 1; drop view answers",
        "select 1; select 2",
        "",
        "  -- nothing",
        ";",
        "selec 1",
        "select nothing from answers",
        "select error('two\nlines')",
        "select * from nowhere",
        "\x00",
    ],
)
def test_what_does_not_read_the_tables_is_refused_in_one_line(
    run: snellen.Run, tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outside = tmp_path / "outside.parquet"
    shutil.copy(run.path / "cells.parquet", outside)
    own = str(run.store.files("answers")[0]).replace("'", "''")
    before = content_of(run.path), content_of(tmp_path)
    with pytest.raises(UserError) as caught:
        run.sql(query.format(outside=outside, own=own, folder=tmp_path))
    assert "\n" not in str(caught.value)
    assert (content_of(run.path), content_of(tmp_path)) == before


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select count(*) from answers", 1),
        ("from samples", 60),
        ("with one as (select * from cells) select * from one;", 2),
        ("select * from answers a join cells c using (cell) join samples s using (sample)", 120),
        ("SELECT * FROM ANSWERS WHERE score > 2", 0),
        ("show tables", 4),
        ("describe answers", 7),
        ("summarize select pred from answers", 1),
        ("pivot answers on pred using count(*) group by cell", 2),
        ("select * from (pivot answers on pred in (0, 1) using count(*) group by cell)", 2),
        ("values (1), (2)", 2),
        ("select current_setting('lock_configuration')", 1),
    ],
)
def test_what_reads_them_works(run: snellen.Run, query: str, rows: int) -> None:
    assert len(run.sql(query)) == rows


def test_the_configuration_is_locked_and_nothing_outside_is_in_reach(run: snellen.Run) -> None:
    names = ("lock_configuration", "enable_external_access")
    settings = run.sql(f"select name, value from duckdb_settings() where name in {names} order by name desc")
    assert settings["value"].tolist() == ["true", "false"]


def test_only_the_tables_of_a_query_are_opened(run: snellen.Run, tmp_path: Path) -> None:
    """Damage to one table leaves the others to be asked, and is named where it is asked."""
    hurt = snellen.load_run(shutil.copytree(run.path, tmp_path / "hurt"))
    hurt.store.files("shown")[0].write_bytes(b"")
    assert hurt.sql("select count(*) as n from answers")["n"].item() == 120
    with pytest.raises(UserError, match="shown/.* is damaged or missing"):
        hurt.sql("select count(*) from shown")
    hurt.store.files("answers")[0].unlink()
    with pytest.raises(UserError, match="has 0 of 1 files|holds no answers"):
        hurt.sql("select count(*) from answers")


@pytest.mark.parametrize("value", ["uuid()", "bit '101'", "'a'::blob", "'infinity'::timestamp", "interval 1 month"])
@pytest.mark.parametrize("flag", ["--json", "--csv", None])
def test_values_of_any_type_are_printed_or_refused(
    run: snellen.Run, value: str, flag: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["sql", str(run.path), f"select {value} as x", *([flag] if flag else [])])
    assert (end.value.code or 0) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


ENDLESS = "select count(*) from range(10000000000) a, range(10000000000) b, answers where a.range + b.range = 7"


def test_a_query_without_an_end_is_ended(run: snellen.Run) -> None:
    with pytest.raises(
        UserError, match=r"the query took more than 0.05 s; ask for fewer rows, or allow more with timeout"
    ):
        run.sql(ENDLESS, timeout=0.05)
    assert run.sql("select count(*) as n from samples")["n"].tolist() == [60]  # the next one is as good as ever
    for wrong in (0, -1, float("nan")):
        with pytest.raises(UserError, match="expected timeout above 0 s"):
            run.sql("select 1", timeout=wrong)


def test_the_command_has_the_same_limit(run: snellen.Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sql", str(run.path), ENDLESS, "--timeout", "0.05"])
    assert ended.value.code == 2
    assert "allow more with --timeout" in capsys.readouterr().err
