"""Faults: damaged and vanished files, full disks, jumping clocks, models and images that fail."""

from __future__ import annotations

import errno
import functools
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import snellen
from snellen.errors import UserError
from snellen.models import Model, from_callable

SMALL = "occlusion(areas=[0.3], fills=[black])"  # three cells: clean, noise, occluded
ask = functools.partial(snellen.audit, quiet=True, report=False, shard=20, batch_size=10)
tell = functools.partial(snellen.audit, report=False, shard=20, batch_size=10)  # with its notes


def same(one: snellen.Run, two: snellen.Run) -> None:
    """Two runs hold the same rows and conclude the same."""
    pd.testing.assert_frame_equal(one.predictions(), two.predictions())
    pd.testing.assert_frame_equal(one.findings(), two.findings())
    rows = "select shown, sample, covered, donor, excluded from shown order by 1, 2"
    pd.testing.assert_frame_equal(one.sql(rows), two.sql(rows))
    listing = "select * from samples order by sample"
    pd.testing.assert_frame_equal(one.sql(listing), two.sql(listing))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, flip, empty, Path.unlink])
@pytest.mark.parametrize(
    "what", ["answers/*/000001-*", "shown/*/000001-*", "samples/*/000001-*", "answers/*/pass.json"]
)
def test_a_damaged_file_is_asked_again_and_told(
    levels: str,
    corner: Model,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    what: str,
    damage: Callable[[Path], None],
) -> None:
    whole = ask(corner, levels, SMALL, out=tmp_path / "whole")
    ask(corner, levels, SMALL, out=tmp_path / "hurt")
    (file,) = (tmp_path / "hurt").glob(what)
    damage(file)
    hurt = tell(corner, levels, SMALL, out=tmp_path / "hurt")
    told = capsys.readouterr().err
    assert "asked again" in told or (damage is Path.unlink and what.startswith("answers/*/0"))
    same(whole, hurt)
    assert "asked" not in (tell(corner, levels, SMALL, out=tmp_path / "hurt") and capsys.readouterr().err)


def test_the_shown_rows_that_two_models_share_survive_damage_to_either(
    levels: str, corner: Model, brightest: Model, tmp_path: Path
) -> None:
    """The first model's pass holds the shown rows of both; each file is damaged in turn, each command mends its own."""
    both = ask([corner, brightest], levels, SMALL, out=tmp_path / "both")
    for number in range(4):
        out = tmp_path / str(number)
        ask(corner, levels, SMALL, out=out)
        ask([corner, brightest], levels, SMALL, out=out)
        files = [*sorted(out.glob("answers/*/000001-*")), *sorted(out.glob("s*/*/000001-*"))]
        assert len(files) == 4
        flip(files[number])
        ask(brightest, levels, SMALL, out=out)
        same(both, ask([corner, brightest], levels, SMALL, out=out))


def test_every_single_flipped_byte_of_an_answers_file_is_noticed(levels: str, corner: Model, tmp_path: Path) -> None:
    from snellen.engine.keep.shard_file import is_whole

    run = ask(corner, levels, SMALL, out=tmp_path / "run")
    file = run.store.files("answers")[0]
    content = file.read_bytes()
    for position in range(0, len(content), 97):
        file.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        assert not is_whole(file)


def test_a_damaged_table_of_cells_and_half_written_files_are_cleared(
    levels: str, corner: Model, tmp_path: Path
) -> None:
    whole = ask(corner, levels, SMALL, out=tmp_path / "whole")
    hurt = ask(corner, levels, SMALL, out=tmp_path / "hurt")
    flip(tmp_path / "hurt" / "cells.parquet")
    half = hurt.store.files("answers")[0].with_suffix(".parquet.7.part")
    half.write_bytes(b"PAR1")
    same(whole, ask(corner, levels, SMALL, out=tmp_path / "hurt"))
    assert not half.exists()


def test_reading_commands_name_a_damaged_file(levels: str, corner: Model, tmp_path: Path) -> None:
    run = ask(corner, levels, SMALL, out=tmp_path / "run")
    empty(run.store.files("samples")[0])
    with pytest.raises(UserError, match="is damaged or missing; run the `snellen audit` command that made it again"):
        run.predictions()
    with pytest.raises(UserError, match="is damaged or missing; run the `snellen audit` command that made it again"):
        run.report()
    (tmp_path / "run" / "findings.json").write_text('{"schema"')
    with pytest.raises(UserError, match="findings.json does not fit the checksum in run.json"):
        run.findings()
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(UserError, match="run.json cannot be read as JSON: .* pass fresh"):
        ask(corner, levels, SMALL, out=tmp_path / "run")
    ask(corner, levels, SMALL, out=tmp_path / "run", fresh=True)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Path:
    """A disk of 4 MiB; the test is skipped where none can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_one_line_and_the_same_command_continues(tiny_disk: Path, levels: str, corner: Model) -> None:
    whole = ask(corner, levels)
    ballast = tiny_disk / "ballast"
    out = tiny_disk / "run"
    out.mkdir()
    ballast.write_bytes(bytes(4 * 2**20 - 200 * 1024))
    with pytest.raises(UserError, match="cannot write .*: no space left on device; free some space and run the same"):
        ask(corner, levels, out=out)
    assert not list(out.rglob("*.part"))
    ballast.unlink()
    same(whole, ask(corner, levels, out=out))


@pytest.mark.parametrize(("number", "advice"), [(errno.ENOSPC, "free some space"), (errno.EROFS, "another out")])
def test_every_single_write_may_fail(
    levels: str, corner: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, advice: str
) -> None:
    """The n-th rename fails, for every n of a run; the command then continues to the same table."""
    whole = ask(corner, levels, SMALL)
    out = tmp_path / "run"
    replace, calls, failing = os.replace, [0], [0]

    def sometimes(source: Path, target: Path) -> None:
        calls[0] += 1
        if calls[0] == failing[0]:
            raise OSError(number, os.strerror(number))
        replace(source, target)

    monkeypatch.setattr("snellen.atomic.os.replace", sometimes)
    for nth in range(1, 40, 3):
        calls[0], failing[0] = 0, nth
        shutil.rmtree(out, ignore_errors=True)
        with pytest.raises(UserError, match=advice) as caught:
            ask(corner, levels, SMALL, out=out)
        assert "\n" not in str(caught.value)
        failing[0] = 0
        same(whole, ask(corner, levels, SMALL, out=out))


def test_nothing_depends_on_the_clock(levels: str, corner: Model, tmp_path: Path) -> None:
    """Files from the future and from 1970, in any order, change nothing and are not asked again."""
    seen: list[int] = []

    def counting(images: np.ndarray) -> np.ndarray:
        seen.append(len(images))
        return np.full((len(images), 4), 0.25)

    model = from_callable(counting, size=16, name="m", version="1")
    first = ask(model, levels, SMALL, out=tmp_path / "run")
    before = first.predictions()
    asked = sum(seen)
    for number, file in enumerate(sorted((tmp_path / "run").rglob("*"))):
        os.utime(file, (0, 0) if number % 2 else (4e9, 4e9))
    again = ask(model, levels, SMALL, out=tmp_path / "run")
    pd.testing.assert_frame_equal(before, again.predictions())
    assert sum(seen) == asked
    first.store.files("answers")[1].unlink()
    pd.testing.assert_frame_equal(before, ask(model, levels, SMALL, out=tmp_path / "run").predictions())
    assert sum(seen) == asked + 60


def fragile(bad: set[int], mended: bool = False) -> Model:
    """Reads the grey level; raises on any batch that holds one of the marked images (told by their lower right pixel)."""

    def answer(images: np.ndarray) -> np.ndarray:
        marks = images[:, 15, 15, 0] if not mended else np.zeros(1)
        if set(marks.tolist()) & bad:
            raise RuntimeError("weights\nexploded")
        return np.eye(4)[np.clip(np.rint(images[:, 0, 0, 0] / 40).astype(int) - 1, 0, 3)] * 0.9 + 0.025

    return from_callable(answer, size=16, name="fragile", version="1")


@pytest.fixture
def marked(tmp_path: Path) -> str:
    """60 grey images whose lower right pixel is 180 plus their number."""
    labels = np.arange(60) % 4
    images = np.broadcast_to((40 * (labels + 1))[:, None, None], (60, 16, 16)).astype(np.uint8).copy()
    images[:, 15, 15] = 180 + np.arange(60)
    np.savez(tmp_path / "marked.npz", images=images, labels=labels)
    return f"arrays:{tmp_path}/marked.npz"


def test_a_model_that_fails_on_two_images_answers_the_others(marked: str) -> None:
    sound = ask(fragile(set()), marked, "interference([none()])").predictions()
    run = ask(fragile({183, 231}), marked, "interference([none()])")
    rows = run.predictions()
    bad = {"000003", "000051"}
    clean = rows.query("distortion == 'none()'")
    assert set(sound["sample"]) - set(clean["sample"]) == bad
    expected = sound[~sound["sample"].isin(bad) & (sound["distortion"] == "none()")]
    pd.testing.assert_frame_equal(expected.reset_index(drop=True), clean.reset_index(drop=True))
    (notice,) = run.results()["notices"]
    assert notice.startswith("model 'fragile' failed on ")
    assert "000003 under none(): RuntimeError: weights" in notice
    assert "\n" not in notice
    assert run.findings().query("name == 'accuracy'")["n"].item() == 58


def test_a_model_that_fails_on_many_images_stops_the_run_and_a_mended_one_continues(
    marked: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"'fragile' failed on 4 of 60 images under .* \(first '00.*': RuntimeError: w"):
        ask(fragile({183, 190, 200, 210}), marked, SMALL, out=tmp_path / "run")
    mended = ask(fragile({183}, mended=True), marked, SMALL, out=tmp_path / "run")
    assert not mended.results()["notices"]
    same(ask(fragile(set()), marked, SMALL), mended)
    with pytest.raises(UserError, match=r"failed on \d+ of 60 images"):
        ask(fragile(set(range(256))), marked, SMALL)


def photos(folder: Path, count: int, broken: int) -> str:
    """Two classes of small photos, some of them broken in different ways."""
    for i in range(count):
        (folder / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (20, 20), (i, i, i)).save(folder / "ab"[i % 2] / f"{i:03d}.jpg")
    for i in range(broken):
        (folder / "ab"[i % 2] / f"{i:03d}.jpg").write_bytes([b"", b"text", b"\xff\xd8\xff\xe0"][i % 3])
    return f"folder:{folder}"


def test_a_few_undecodable_images_are_listed_and_many_stop_the_run(tmp_path: Path) -> None:
    model = from_callable(lambda images: np.full((len(images), 2), 0.5), size=16, name="m", version="1")
    run = ask(model, photos(tmp_path / "few", 60, 3), SMALL)
    (notice,) = run.results()["notices"]
    assert notice.startswith("3 of 60 test images could not be shown and count nowhere (a/000.jpg: the file is empty; ")
    with pytest.raises(UserError, match=r"4 of 60 test images cannot be shown, more than 5% \(a/000.jpg: the file is"):
        ask(model, photos(tmp_path / "many", 60, 4), SMALL)
