"""Saliency in a run: the right pixels are hidden, maps are made once, kept, reused, mended, and the same on Ray."""

from __future__ import annotations

import functools
import importlib.util
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays
from PIL import Image
from torch import nn

import snellen
from snellen.data import Dataset, from_arrays
from snellen.engine.ask.maps import maps_in, shard_maps_in, table_of
from snellen.engine.keep.failures import Failure
from snellen.errors import UserError
from snellen.explain import gradcam
from snellen.models import Model, from_callable, from_torch
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import NETWORKS

from .backward import counting

SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
SIX = "interference([" + ", ".join(f"salient({share}, most, black)" for share in SHARES) + "])"
ask = functools.partial(snellen.audit, quiet=True, report=False, shard=20, batch_size=8)
same = functools.partial(pd.testing.assert_frame_equal, check_exact=True)


class Reds(nn.Module):
    """Says class 1, whose only evidence is red: its Grad-CAM map is the red channel over its maximum."""

    def __init__(self, channel: int = 0) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 1, 1, bias=False)
        self.features.weight.data = torch.eye(3)[channel].view(1, 3, 1, 1)
        self.head = nn.Linear(1, 2, bias=False)
        self.head.weight.data = torch.tensor([[-1.0], [1.0]])

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(images).mean((2, 3)))


def reds(channel: int = 0, name: str = "reds") -> Model:
    return from_torch(Reds(channel), size=8, name=name, device="cpu")


@pytest.fixture
def data() -> Dataset:
    """48 images of 8 × 8 pixels whose reds are all different, from 128 to 254 in steps of 2, and so are the greens."""
    random = np.random.default_rng(3)
    levels = np.arange(64) * 2 + 128
    images = np.full((48, 8, 8, 3), 50, np.uint8)
    for image in images:
        image[:, :, 0] = random.permutation(levels).reshape(8, 8)
        image[:, :, 1] = random.permutation(levels).reshape(8, 8)
    return from_arrays({"images": images, "labels": np.arange(48) % 2}, "memory:reds", "1")


def shown_pictures(run: snellen.Run, model: str, distortion: str) -> dict[int, np.ndarray]:
    """Position → what the model was shown, uint8 [H, W, 3]; small images are kept as they are."""
    cells = run.sql("select * from cells").query("model == @model")
    shown = cells[cells["distortion"].str.startswith(distortion)]["shown"].item()
    return {int(p.stem): np.asarray(Image.open(p)) for p in (run.path / "thumbs" / shown).glob("*.png")}


def test_exactly_the_pixels_that_matter_are_hidden_from_each_model(data, tmp_path) -> None:
    models = [reds(0, "red"), reds(1, "green")]
    run = ask(
        models, data, "interference([salient(0.25, most, black), salient(0.25, least, white)])", out=tmp_path / "r"
    )
    photos = [photo.image for photo in data.read(range(len(data)))]
    for model, channel in (("red", 0), ("green", 1)):
        most = shown_pictures(run, model, "salient(share=0.25, which=most")
        least = shown_pictures(run, model, "salient(share=0.25, which=least")
        assert len(most) == len(least) == 24
        for position, picture in most.items():
            evidence = photos[position][:, :, channel]
            assert ((picture == 0).all(2) == (evidence >= 128 + 2 * 48)).all()  # the 16 highest of 64
        for position, picture in least.items():
            evidence = photos[position][:, :, channel]
            assert ((picture == 255).all(2) == (evidence < 128 + 2 * 16)).all()
    shown = run.sql("select * from shown")
    assert set(shown["covered"].dropna()) == {0.25}


def test_answers_follow_from_what_is_hidden(data, tmp_path) -> None:
    run = ask(reds(), data, SIX, out=tmp_path / "r")
    rows = run.predictions()
    for share in SHARES:
        seen = rows[rows["distortion"].str.startswith(f"salient(share={share},")]
        left = np.arange(64)[: 64 - int(np.ceil(share * 64))] * 2 + 128
        mean = left.sum() / 64 / 255
        assert np.allclose(seen["confidence"], 1 / (1 + np.exp(-2 * mean)), atol=1e-5)


def test_six_shares_need_one_backward_pass_of_each_image(data, tmp_path, monkeypatch) -> None:
    counted = counting(monkeypatch)
    ask([reds(0, "red"), reds(1, "green")], data, SIX, out=tmp_path / "r")
    assert sum(counted) == 2 * len(data)


def test_maps_are_kept_and_a_later_audit_uses_them(data, tmp_path, monkeypatch) -> None:
    run = ask(reds(), data, SIX, out=tmp_path / "r")
    files = sorted((run.path / "maps").glob("*/*.parquet"))
    assert len(files) == 3
    cells = run.sql("select distortion, map from cells")
    assert set(cells[cells["distortion"].str.startswith("salient")]["map"]) == {files[0].parent.name}
    assert set(cells[~cells["distortion"].str.startswith("salient")]["map"]) == {""}
    photos = torch.from_numpy(np.stack([photo.image for photo in data.read(range(48))])).permute(0, 3, 1, 2)
    expected = (gradcam(reds(), photos) * 255).to(torch.uint8).numpy()
    kept = np.concatenate([maps_in(pq.read_table(file)).maps for file in files])
    assert (kept == expected).all()
    counted = counting(monkeypatch)
    again = ask(reds(), data, "interference([salient(0.4, coin, white)])", out=tmp_path / "r")
    assert not counted
    other = ask(reds(), data, "interference([salient(0.4, coin, white)])", out=tmp_path / "other")
    assert sum(counted) == 48
    same(again.predictions().query("distortion.str.contains('0.4')", engine="python").reset_index(drop=True),
         other.predictions().query("distortion.str.contains('0.4')", engine="python").reset_index(drop=True))  # fmt: skip
    ask(reds(), data, "interference([salient(0.4, layer=features)])", out=tmp_path / "r")
    assert sum(counted) == 96  # another layer by name has maps of its own


def test_a_killed_run_ends_with_the_same_table(data, tmp_path, monkeypatch) -> None:
    whole = ask(reds(), data, SIX, out=tmp_path / "whole")
    from snellen.engine.keep.store import Store

    write, written = Store.write_shard, []

    def dying(self: Store, name: str, on: str, shard: int, tables: Any) -> None:
        if len(written) == 1:
            raise KeyboardInterrupt
        written.append(shard)
        write(self, name, on, shard, tables)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write_shard", dying)
        with pytest.raises(KeyboardInterrupt):
            ask(reds(), data, SIX, out=tmp_path / "killed")
    counted = counting(monkeypatch)
    resumed = ask(reds(), data, SIX, out=tmp_path / "killed")
    assert sum(counted) == 28  # 48 less the one shard that was kept
    same(resumed.predictions(), whole.predictions())


def test_damaged_maps_are_thrown_away_and_made_again(data, tmp_path, monkeypatch) -> None:
    run = ask(reds(), data, SIX, out=tmp_path / "r")
    first = sorted((run.path / "maps").glob("*/*.parquet"))[0]
    first.write_bytes(first.read_bytes()[:-7])
    counted = counting(monkeypatch)
    ask(reds(), data, "interference([salient(0.4, coin, white)])", out=tmp_path / "r")
    assert sum(counted) == 20
    ask(reds(), data, SIX, out=tmp_path / "r", fresh=True)
    assert sum(counted) == 68


def test_a_model_without_gradients_is_refused_before_anything_is_asked(data, tmp_path) -> None:
    rule = from_callable(lambda images: np.full((len(images), 2), 0.5), size=8, name="rule", version="1")
    with pytest.raises(UserError, match="needs the gradients of a torch network, which 'rule' is not.*occlude, tiles"):
        ask(rule, data, SIX, out=tmp_path / "r")
    listed = tmp_path / "answers.csv"
    pd.DataFrame({"sample": data.samples.ids, "pred": 1}).to_csv(listed, index=False)
    with pytest.raises(UserError, match="needs the gradients of a torch network"):
        ask(f"predictions:{listed}", data, SIX, out=tmp_path / "r")
    flat = from_torch(nn.Sequential(nn.Flatten(), nn.Linear(192, 2)), size=8, name="flat", device="cpu")
    with pytest.raises(UserError, match="model 'flat' has neither convolutional features nor tokens.*occlude"):
        ask(flat, data, SIX, out=tmp_path / "r")


class Moody(Reds):
    """Fails while gradients are wanted of images with a certain red in their first pixel."""

    def __init__(self, disliked: int) -> None:
        super().__init__()
        self.disliked = disliked

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = self.features(images)
        if torch.is_grad_enabled() and (images[:, 0, 0, 0] * 255).round().eq(self.disliked).any():
            raise RuntimeError("not in the mood")
        return self.head(features.mean((2, 3)))


def test_images_without_a_map_are_failures_of_the_model(data, tmp_path) -> None:
    photos = [photo.image for photo in data.read(range(48))]
    disliked = int(photos[5][0, 0, 0])
    moody = [str(data.samples.ids[i]) for i, image in enumerate(photos) if image[0, 0, 0] == disliked]
    assert 0 < len(moody) <= 2
    run = ask(from_torch(Moody(disliked), size=8, name="moody", device="cpu"), data, SIX, out=tmp_path / "r")
    rows = run.predictions()
    hidden = rows[rows["distortion"].str.startswith("salient")]
    assert not hidden["sample"].isin(moody).any()
    assert rows[rows["distortion"] == "none()"]["sample"].isin(moody).sum() == len(moody)
    assert len(hidden) == 6 * (48 - len(moody))


@given(
    st.sampled_from([np.uint8, np.uint16]).flatmap(lambda kind: numpy_arrays(kind, (11, 3, 7))), numpy_arrays(bool, 11)
)
def test_maps_survive_their_table(maps: np.ndarray, there: np.ndarray) -> None:
    ids = list("abcdefghijk")
    failures = [Failure("key", ids[row], "no") for row in np.flatnonzero(~there)]
    held = io.BytesIO()
    pq.write_table(table_of(maps, ids, there, failures), held)
    table = pq.read_table(held)
    kept = maps_in(table)
    assert list(kept.ids) == [sample for sample, one in zip(ids, there) if one]
    assert kept.maps.dtype == maps.dtype
    assert (kept.maps == maps[there]).all()
    shard = shard_maps_in(table)
    assert (shard.maps.numpy() == maps * there[:, None, None]).all()
    assert shard.errors == {int(row): "no" for row in np.flatnonzero(~there)}


@pytest.mark.slow
def test_hiding_what_matters_costs_a_trained_network_more_than_hiding_what_does_not(shared, realdata) -> None:
    spec = importlib.util.spec_from_file_location("cifar_models", shared / "models" / "cifar_models.py")
    assert spec is not None
    assert spec.loader is not None
    networks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(networks)
    model = from_torch(networks.load("cifar10_resnet20"), size=32, name="resnet20", device="cpu")
    images, labels, _ = realdata.load_small("cifar10", "test", shared)
    some = from_arrays({"images": images[:300], "labels": labels[:300]}, "memory:cifar10", "1")
    run = ask(model, some, "interference([salient(0.3, most), salient(0.3, least)])", shard=100, batch_size=50)
    right = run.predictions().groupby("distortion")["score"].mean()
    most, least = (right[right.index.str.contains(f"which={which}")].item() for which in ("most", "least"))
    assert right["none()"] > 0.88
    assert most < least - 0.3


@pytest.mark.slow
def test_ray_hides_the_same_pixels(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'snellen[ray]'")
    torch.manual_seed(0)
    save_checkpoint(tmp_path / "net.safetensors", NETWORKS["smallnet"](12), {"arch": "smallnet", "size": [32, 32]})
    text, world = f"net=zoo:smallnet@{tmp_path / 'net.safetensors'}", "phantom:test?size=32&n=60"
    asked = functools.partial(ask, text, world, "interference([salient(0.3, coin, black, layer=-2)])")
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as many as an actor has
    here = asked(out=tmp_path / "here")
    torch.set_num_threads(before)
    there = asked(out=tmp_path / "there", engine="ray", actors=2, cpus_per_actor=1)
    same(here.predictions(), there.predictions())
    names = [sorted(p.name for p in (run.path / "maps").glob("*/*.parquet")) for run in (here, there)]
    assert names[0] == names[1]
    assert len(names[0]) == 3
