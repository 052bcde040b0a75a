"""Processes that work for a command know its plug-ins: Ray's actors, trainings on Ray, and processes that build."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.build.crew import crew
from snellen.engine.ask.actor import load_same_plugins
from snellen.errors import UserError
from snellen.plugins import plugin_files

from ..commands import exit_code

HAS_RAY = importlib.util.find_spec("ray") is not None


def version_of(text: str) -> tuple[str, str]:
    """The version of a distortion and the fingerprint of some data, in the process that is asked."""
    return str(snellen.distort.parse(text).version), snellen.load_data("specks:6").fingerprint


def test_processes_that_build_know_the_plugins(all_four: Path) -> None:
    snellen.load_plugin(all_four)
    with crew(2) as spread:
        (there,) = set(spread(version_of, ["negative", "negative | negative"][:1]))
    assert there == version_of("negative")


def test_a_set_is_built_from_data_of_a_plugin(all_four: Path, here: Path) -> None:
    all_four.write_text(
        all_four.read_text().replace(
            '"labels": labels,', '"labels": labels, "masks": np.ones((int(path), 8, 8), bool),'
        )
    )
    line = "build occluders --data specks:6 --plugin tools.py --out set --without cow --min-pixels 1 --no-whole --workers 2"
    assert exit_code([*line.split(), "--quiet"]) == 0
    assert len(list((here / "set").rglob("*.png"))) > 0


def test_a_machine_that_sees_another_file_is_refused(all_four: Path) -> None:
    snellen.load_plugin(all_four)
    files = plugin_files()
    load_same_plugins(files)
    all_four.write_text(all_four.read_text() + "# changed\n")
    with pytest.raises(UserError, match="sees another .*tools.py; put plug-ins on storage that all machines share"):
        load_same_plugins(files)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_RAY, reason="needs Ray: pip install 'snellen[ray]'")
def test_a_run_on_ray_gives_the_same_answers(all_four: Path, here: Path) -> None:
    """Its model, data and distortion are all of the file."""
    line = (
        "audit mean:1 --data specks:40 --audits interference([negative]) --plugin tools.py --shard 10 --batch-size 10"
    )
    line += " --quiet --no-report --out "
    assert exit_code(f"{line}local".split()) == 0
    assert exit_code(f"{line}ray --engine ray --actors 1".split()) == 0
    local, ray = (snellen.load_run(here / name).predictions() for name in ("local", "ray"))
    order = ["distortion", "sample"]
    pd.testing.assert_frame_equal(
        local.sort_values(order, ignore_index=True), ray.sort_values(order, ignore_index=True), check_exact=True
    )
    assert np.isin("negative()", local["distortion"])
