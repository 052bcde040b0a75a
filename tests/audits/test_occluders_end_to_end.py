"""From clips to ranks: export clips, cut objects out, train three small networks, audit them, rank them, test agreement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.build.iruo import build
from snellen.data.phantom import World, export
from snellen.measure import friedman
from snellen.train import train

pytestmark = pytest.mark.slow

CLIPS = World("test", n=120, size=48, frames=4, object_size=(0.4, 0.7), occlusion=0.6)


def test_clips_become_a_rank_of_networks(tmp_path: Path) -> None:
    clips = export(CLIPS, "ovis", tmp_path / "clips").out
    built = build(
        clips / "annotations_test.json", clips / "test", tmp_path / "iruo", size=32, format="png", workers=1, quiet=True
    )
    assert sum(built.images.values()) > 150
    data = f"manifest:{tmp_path}/iruo/train.csv?level=0"
    nets = {}
    for name, settings in {
        "short": {"epochs": 1},
        "long": {"epochs": 2},
        "cutmix": {"epochs": 2, "mix": "cutmix"},
    }.items():
        (nets[name],) = train(None, data, tmp_path / name, arch="smallnet", device="cpu", **settings)
    audits = "occluders(synthetic=[black, white], diffuse=[solid, oblique], lattices=[0.5], px=[2, 8])"
    models = [f"{name}={path}" for name, path in nets.items()]
    run = snellen.audit(models, f"manifest:{tmp_path}/iruo/val.csv", audits, tmp_path / "run", quiet=True, report=False)
    own = [finding for finding in run.results()["findings"] if finding["audit"] == "occluders"]
    (test,) = [
        finding
        for finding in own
        if finding["name"] == "friedman_q"
        and (finding["facts"]["family"], finding["facts"]["level"]) == ("synthetic", 1)
    ]
    ranks = [
        finding
        for finding in own
        if finding["name"] == "mean_rank"
        and finding["facts"]["judges"] == test["facts"]["judges"]
        and finding["facts"]["level"] == 1
    ]
    assert test["facts"]["judges"] == ["real", "black", "white"]
    assert {finding["model"] for finding in ranks} == set(nets)
    assert sum(finding["value"] for finding in ranks) == pytest.approx(6)
    accuracies = np.array([list(finding["facts"]["accuracies"].values()) for finding in ranks])
    again = friedman(accuracies)
    assert (test["value"], test["facts"]["p"]) == pytest.approx((again.q, again.p), nan_ok=True)
    real = {
        finding["model"]: finding
        for finding in own
        if finding["name"] == "level_accuracy" and finding["facts"]["type"] == "real"
    }
    assert all(finding["facts"]["clustered"] for finding in real.values())  # by video
    assert {finding["facts"]["type"] for finding in own if finding["name"] == "proxy_tau"} == {"black", "white"}
    assert any(finding["name"] == "tree_accuracy" for finding in own)  # the shapes have a tree
