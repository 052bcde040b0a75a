"""Charts as files of their own: one for each that the page draws, with colours that need no page around them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.report import page_of
from snellen.report.blocks import Chart, Page, prose
from snellen.report.figures import charts_of, write_figures

from ..commands import exit_code
from .reading import every


def test_every_chart_of_the_page_becomes_a_file(fooled: Run, tmp_path: Path) -> None:
    paths = fooled.figures(tmp_path / "figures")
    drawn = [chart for chart in every(Chart, page_of(fooled)) if chart.spec]
    assert len(paths) == len(drawn) == len(list((tmp_path / "figures").iterdir())) > 3
    names = [path.name for path in paths]
    assert names[:2] == [
        "01-clean-images-and-the-noise-yardstick-accuracy.svg",
        "02-occlusion-cutocclusion-and-iocclusion-black-squares.svg",
    ]
    for path in paths:
        text = path.read_text()
        assert text.startswith("<svg")
        assert "var(" not in text  # no colour of the page's own
    squares = paths[1].read_text()
    assert "#0072b2" in squares
    assert (
        squares.count(">naive<") == squares.count(">wise<") == 1
    )  # a legend, which stands above the charts on the page


def test_a_png_has_the_pixels_of_print(fooled: Run, tmp_path: Path) -> None:
    _, chart = charts_of(page_of(fooled))[1]
    (path,) = write_figures(Page("one", (chart,)), tmp_path, "png")
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    assert path.read_bytes().startswith(b"\x89PNG")
    assert width > 3 * 340
    assert height > 3 * 240


def test_formats_and_runs_without_charts_are_refused(fooled: Run, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unknown figure format 'pdf'.*png, svg"):
        fooled.figures(tmp_path, "pdf")
    with pytest.raises(UserError, match="no chart to write into '.*': this run has only tables"):
        write_figures(Page("bare", (prose("nothing"),)), tmp_path)


def test_the_command_writes_them_beside_the_report(fooled: Run, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "figures"
    arguments = ["report", str(fooled.path), "--out", str(tmp_path / "r.html"), "--figures", str(folder)]
    assert exit_code(arguments) == 0
    assert len(list(folder.glob("*.svg"))) > 3
    assert exit_code(["report", str(fooled.path), str(fooled.path), "--figures", str(folder)]) == 2
    assert "--figures takes one run, got 2" in capsys.readouterr().err
