"""Frames of one clip are drawn together by every audit: without the column that names the clips, every interval differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import snellen
from snellen.audits import AUDITS
from snellen.data import Dataset, load_data
from snellen.models import Model, from_torch
from snellen.models.zoo import NETWORKS

DATA = "phantom:test?size=32&n=48&frames=6&occlusion=0.3"
FEW = {  # settings that ask little
    "adversarial_backgrounds": "adversarial_backgrounds(rates=true, backgrounds=8)",
    "attention": "attention(occluders=[lattice(0.5, 8)])",
    "explanation": "explanation(curves=off)",
    "faithfulness": "faithfulness(tile=8, repeats=1, points=9)",
    "interference": "interference([occlude(0.3, black)])",
    "occluders": "occluders(synthetic=[black], diffuse=[solid], lattices=[0.5], px=[8])",
    "occlusion": "occlusion([0.3], [black, white])",
    "shift": "shift(length=1, random=6, evaluations=6, population=2, images=12)",
}
FEWEST = 8  # fewer images may all be of other clips
OTHERWISE = {  # finding → why its interval may be the same
    "detector_share": "it is over units of the network, not over images",
    **dict.fromkeys(
        ("mean_rank", "kendall_w"), "ranks of two models take few values; test_occluders_audit.py has more models"
    ),
}


def networks(name: str) -> list[Model]:
    kind = "vit_small_p8" if name == "attention" else "smallnet"
    models = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        models.append(from_torch(NETWORKS[kind](12), size=32, name=f"net{seed}"))
    return models


def without_groups(data: Dataset) -> Dataset:
    columns = {name: column for name, column in data.samples.columns.items() if name not in ("group", "video")}
    return replace(data, samples=replace(data.samples, columns=columns))


def intervals(data: Dataset, name: str) -> dict[tuple[Any, ...], tuple[float, float]]:
    run = snellen.audit(networks(name), data, FEW.get(name, name), quiet=True, report=False)
    return {
        (one["audit"], one["name"], one["model"], one["label"]): (one["low"], one["high"])
        for one in run.results()["findings"]
        if one["low"] is not None and one["high"] is not None and one["low"] < one["high"] and one["n"] >= FEWEST
    }


@pytest.mark.parametrize("name", sorted(AUDITS))
def test_every_interval_is_that_of_whole_clips(name: str) -> None:
    data = load_data(DATA)
    assert "group" in data.samples.columns
    grouped, alone = intervals(data, name), intervals(without_groups(data), name)
    same = [key for key, ends in grouped.items() if ends == alone.get(key) and key[1] not in OTHERWISE]
    assert grouped
    assert same == []
