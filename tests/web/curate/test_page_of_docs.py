"""The steps of docs/questions/curation.md, pasted in their order, with two reviewers' decisions made between them."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from snellen.build.in9.building import In9Built
from snellen.cli import main
from snellen.web.curate.request import CurateRequest
from snellen.web.curate.session import Session
from snellen.web.curate.store import Draft

from ...pages import commands

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/questions/curation.md").read_text()


def paste(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words[1:])
    assert not ended.value.code, words


def decide(dataset: str, **settings: object) -> list[str]:
    """Both reviewers reject the first image and accept the second; the names of all."""
    session = Session(CurateRequest(dataset=dataset, **settings))  # type: ignore[arg-type]
    for reviewer in ("ann", "ben"):
        session.store.add(reviewer, Draft(session.collection.names[0], "1", "reject", "mask keeps background"))
        session.store.add(reviewer, Draft(session.collection.names[1], "2", "accept"))
    session.store.close()
    return list(session.collection.names)


@pytest.mark.slow
def test_the_steps_work_when_they_are_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    build, desk, apply, audit, coco, other_desk, from_kept = commands(PAGE)
    paste([*build, "--workers", "1"])
    assert desk == ["snellen", "curate", "in9:variants", "--reviewer", "ann,ben"]
    names = decide("in9:variants")
    capsys.readouterr()
    paste([*apply, "--workers", "1"])
    out = capsys.readouterr().out
    assert f"1 accepted, 0 mended, 1 rejected, {len(names) - 2} not reviewed: variants-reviews/curation.csv" in out
    assert "ann and ben decided 100% of 2 images alike; kappa 1.00" in out
    with Path("variants-clean/provenance.csv").open(newline="") as file:
        foregrounds = {row["foreground"] for row in csv.DictReader(file)}
    assert names[0] not in foregrounds
    paste([*audit, "--quiet"])
    paste(coco)
    assert other_desk[3:] == ["--out", "reviews"]
    decide(other_desk[2], out=Path("reviews"))
    paste([*other_desk, "--settle"])
    paste([*from_kept, "--workers", "1"])
    assert len(Path("reviews/kept.txt").read_text().splitlines()) == 59
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(code, {})
    assert Path("variants-python/build.json").exists()


def test_every_key_of_the_page_is_one_of_the_desk() -> None:
    script = (ROOT / "src/snellen/web/curate/static/curate.js").read_text()
    told = set(re.findall(r"`([a-z?\[\]])`", PAGE.partition("## The desk")[2].partition("\n## ")[0]))
    table = script.partition("const DESK_KEYS")[2].partition("const MOVES")[0]
    known = set(re.findall(r'^  "?([a-z?\[\]])"?:', table, re.M)) | {
        key for keys in re.findall(r"^  ([a-z]),$|^  ([a-z]):", table, re.M) for key in keys if key
    }
    assert told - {"u"} <= known | {"u"}
    assert {"a", "r", "e", "m", "z", "g", "c", "x", "o", "b", "?"} <= told & known


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["in9:nowhere"], "'nowhere' has no folder 'original'; expected a set that `snellen build in9` has written"),
        (["folder:photos"], "folder:photos has no masks to review; give data with masks"),
        (["phantom:test?size=16&n=12"], r"no folder for the reviews of phantom:test\?size=16&n=12; give --out"),
        (
            ["phantom:test?size=16&n=12", "--out", "r", "--apply", "x"],
            "cannot be rebuilt: only sets of `snellen build in9`",
        ),
        (
            ["phantom:test?size=16&n=12", "--out", "r", "--split", "x"],
            "no sample of .* has split=x|has no column 'split'",
        ),
        (["phantom:test?size=16&n=12", "--out", "file"], "'file' is a file; choose another --out"),
        (["phantom:test?size=16&n=12", "--out", "other"], "cannot open other/reviews.sqlite: file is not a database"),
        (["in9:set", "--out", "r"], "expected the schema 'snellen/in9/1', got 'snellen/in9/2'"),
        (["in9:bare", "--out", "r"], "has no masks in fg_mask for all images of 'val'"),
        (["phantom:test?size=16&n=12", "--out", "r", "--reviewer", "<b>"], "expected the name of a reviewer"),
    ],
)
def test_what_cannot_be_reviewed_is_one_line(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    for folder in ("photos/cat", "photos/dog", "set/original/val/00_cat", "bare/original/val/00_cat", "other"):
        Path(folder).mkdir(parents=True)
        if folder != "other":
            Image.new("RGB", (16, 16)).save(f"{folder}/a.png")
    Path("set/build.json").write_text('{"schema": "snellen/in9/2"}')
    Path("file").write_text("x")
    Path("other/reviews.sqlite").write_text("no database, but as long as one would have to be" * 30)
    with pytest.raises(SystemExit) as ended:
        main(["curate", *arguments, "--settle"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(words, line), line


def test_the_command_prints_a_link_for_each_reviewer_and_writes_the_list_when_it_is_ended(
    made: In9Built, tmp_path: Path
) -> None:
    words = ["curate", f"in9:{made.out}", "--reviewer", "ann,ben", "--out", str(tmp_path / "reviews"), "--port", "0"]
    command = [sys.executable, "-m", "snellen", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        lines = [process.stderr.readline() for _ in range(4)]
        assert lines[-1] == "Ctrl-C writes the list and ends\n"
        for name, line in zip(("ann", "ben"), lines[1:3]):
            match = re.fullmatch(rf"{name}: (http://127\.0\.0\.1:\d+)/#(\S{{32}})\n", line)
            assert match is not None, line
            assert httpx.post(f"{match[1]}/enter", json={"token": match[2]}).json()["reviewer"] == name
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
    assert process.returncode == 0
    assert "24 images: 0 accepted, 0 mended, 0 rejected, 24 not reviewed" in out
    assert (tmp_path / "reviews" / "curation.csv").read_text() == "id,decision,reason,x0,y0,x1,y1,mask\n"
