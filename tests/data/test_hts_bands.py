"""`snellen build hts --bands`: for the diffuse experiment, so many per class, type of occluder and band of the hidden share."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import snellen
from snellen.build import diffuse
from snellen.build.hts import build
from snellen.build.hts.building import HtsBuilt
from snellen.cli import main
from snellen.errors import UserError

TYPES = ("solid", "vertical")
CLEAR = {"min_pixels": 0, "min_sharpness": 0, "workers": 1}


@pytest.fixture(scope="module")
def covered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("diffuse") / "set"
    diffuse.build("phantom:test?size=32&n=30", out, size=32, types=TYPES, workers=1)
    return out


@pytest.fixture(scope="module")
def built(covered: Path, tmp_path_factory: pytest.TempPathFactory) -> HtsBuilt:
    return build(f"manifest:{covered}/val.csv", tmp_path_factory.mktemp("hts") / "set", bands=True, per=2, **CLEAR)


def table(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False)


def test_each_class_type_and_band_has_so_many(built: HtsBuilt, covered: Path) -> None:
    source, index = table(covered / "val.csv"), table(built.out / "index.csv")
    there = Counter(zip(source["label"], source["type"], source["band"]))
    taken = Counter(zip(index["label"], index["type"], index["band"]))
    wanted = {cell: min(2, count) for cell, count in there.items() if cell[1] != "none" and cell[2]}
    assert taken == wanted
    assert set(index["type"]) == set(TYPES)
    assert set(index["band"]) <= {"10–30%", "30–50%", "50–70%", "70–90%"}
    for row in index.itertuples():
        low, high = (float(end) / 100 for end in row.band.rstrip("%").split("–"))
        assert low <= float(row.hidden) <= high
        assert row.path.startswith(f"images/{row.label}_{row.type}_{row.band.rstrip('%').replace('–', '-')}_n")


def test_what_a_cell_lacks_is_named_and_what_is_not_taken_has_a_reason(built: HtsBuilt, covered: Path) -> None:
    source, index = table(covered / "val.csv"), table(built.out / "index.csv")
    taken = Counter(zip(index["label"], index["type"], index["band"]))
    rejects = table(built.out / "rejected.csv")
    assert len(rejects) + len(index) == len(source)
    reasons = Counter(rejects["reason"])
    assert reasons["not covered"] == (source["type"] == "none").sum()
    assert reasons["in no band"] == ((source["type"] != "none") & (source["band"] == "")).sum() > 0
    bands = ("10–30%", "30–50%", "50–70%", "70–90%")
    classes = snellen.load_data(f"manifest:{covered}/val.csv").classes
    few = [(name, kind, band) for name in classes for kind in TYPES for band in bands if taken[name, kind, band] < 2]
    assert few
    name, kind, band = few[0]
    listed = f"{name} behind {kind}, {band} ({taken[name, kind, band]})"
    assert any(listed in warning for warning in built.warnings) == (few.index((name, kind, band)) < 20)
    counts = table(built.out / "counts.csv")
    assert list(counts) == ["class", "level", "type", "band", "images"]
    assert counts["images"].sum() == len(index)


def test_an_image_is_what_an_audit_shows_with_its_distortion(built: HtsBuilt, covered: Path) -> None:
    own = {row.id: row for row in table(covered / "val.csv").itertuples()}
    for row in table(built.out / "index.csv").itertuples():
        assert (row.distortion, str(row.seed), row.source) == tuple(
            str(value) for value in (own[row.id].distortion, own[row.id].seed, own[row.id].source)
        )
    again = snellen.load_data(f"manifest:{built.out}/index.csv")
    first, same = (
        again.read([0])[0],
        snellen.load_data(f"manifest:{covered}/val.csv?ids={built.out}/ids.txt").read([0])[0],
    )
    assert first.image.shape == same.image.shape == (32, 32, 3)


def test_a_cell_takes_photographs_that_people_have_seen_least(built: HtsBuilt, covered: Path) -> None:
    index, source = table(built.out / "index.csv"), table(covered / "val.csv")
    seen: Counter[str] = Counter()
    for (label, kind, band), own in sorted(index.groupby(["label", "type", "band"])):
        there = source[(source["label"] == label) & (source["type"] == kind) & (source["band"] == band)]
        left = [seen[photo] for photo in there["source"] if photo not in set(own["source"])]
        assert all(seen[photo] <= min(left, default=9) for photo in own["source"])
        seen.update(own["source"])
    assert max(seen.values()) > 1  # it came to that: a photograph stands in several bands


def test_data_without_bands_and_a_contradiction_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        UserError, match="has no column 'type' nor 'band'; bands needs the index of snellen build diffuse"
    ):
        build("phantom:test?size=16&n=12&occlusion=0.5", tmp_path / "a", bands=True, **CLEAR)
    command = [
        "build",
        "hts",
        "--data",
        "phantom:test?size=16&n=6",
        "--bands",
        "--no-levels",
        "--out",
        str(tmp_path / "b"),
    ]
    with pytest.raises(SystemExit) as stopped:
        main(command)
    assert stopped.value.code == 2
    assert "expected --bands or --no-levels, got both" in capsys.readouterr().err


def test_a_subset_by_level_has_the_facts_it_always_had(tmp_path: Path) -> None:
    out = build("phantom:test?size=16&n=12", tmp_path / "set", per=1, levels=False, **CLEAR).out
    assert "bands" not in json.loads((out / "hts.json").read_text())
    assert not {"band", "distortion", "seed"} & set(table(out / "index.csv"))
