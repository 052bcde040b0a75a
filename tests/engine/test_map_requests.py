"""Maps that an audit asks for by themselves: the right pixels, made once, shared, kept, counted, and read back."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import snellen
from snellen.audits import Audit, Exam
from snellen.audits.finding import Finding, finding
from snellen.data import Dataset, from_arrays
from snellen.distort import Nothing, apply, parse
from snellen.engine import Answers, MapRequest
from snellen.engine.ask.maps import stored_maps, together
from snellen.engine.keep.store import Store
from snellen.errors import UserError
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.explain import gradcam
from snellen.measure import Estimate
from snellen.models import Model, from_callable, from_torch
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import NETWORKS

from .backward import counting

ask = functools.partial(snellen.audit, quiet=True, report=False, shard=20, batch_size=8)


@dataclass(frozen=True)
class Looked(Audit):
    """Asks for maps alone and concludes how bright they are on average."""

    layer: int | str | None = None
    distortion: str = "none()"

    def wanted(self, exam: Exam) -> MapRequest:
        return exam.map(self.layer, distortion=parse(self.distortion))

    def maps(self, exam: Exam) -> list[MapRequest]:
        return [self.wanted(exam)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        request, told = self.wanted(exam), []
        for run in range(len(answers.runs)):
            held = answers.maps(request, run)
            parts = list(answers.maps_by_shard(request, run))
            assert [sample for part in parts for sample in part.ids] == list(held.ids)
            value = float(held.maps.mean())
            told.append(
                finding("looked", "brightness", answers.model, Estimate(value, 0, 65535, len(held.ids)), "mean")
            )
        return told


def network(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    first, second = nn.Conv2d(3, 6, 3, 2, 1), nn.Conv2d(6, 4, 3, 2, 1)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))


def model(seed: int = 0, name: str = "net") -> Model:
    return from_torch(network(seed), size=16, name=name, device="cpu")


@pytest.fixture
def data() -> Dataset:
    images = np.random.default_rng(1).integers(0, 256, (48, 16, 16, 3), dtype=np.uint8)
    return from_arrays({"images": images, "labels": np.arange(48) % 3}, "memory:random", "1")


def pixels(data: Dataset) -> torch.Tensor:
    return torch.from_numpy(np.stack([photo.image for photo in data.read(range(len(data)))])).permute(0, 3, 1, 2)


def planned(data: Dataset, audits: Sequence[Any], out: Path) -> dict[str, Any]:
    """What a dry run tells."""
    return snellen.audit(model(), data, audits, out, device="cpu", batch_size=8, shard=20, dry_run=True).to_json()


@pytest.mark.parametrize("layer", [None, -2, "0"])
def test_maps_are_those_of_gradcam_cut_off_to_sixteen_bits(data, tmp_path, layer) -> None:
    run = ask(model(), data, [Looked(layer)], out=tmp_path / "r")
    maps = run.maps("net", layer=layer)
    expected = gradcam(model(), pixels(data), layer=layer).numpy() * 65535
    assert maps.maps.dtype == np.uint16
    assert maps.maps.shape == (48, 16, 16)
    assert list(maps.ids) == list(data.samples.ids)
    assert ((expected - maps.maps > -0.1) & (expected - maps.maps < 1.1)).all()  # cut off, never rounded up
    assert maps.maps.std() > 2570
    (found,) = [one for one in run.results()["findings"] if one["name"] == "brightness"]
    assert found["value"] == pytest.approx(maps.maps.mean())
    assert (maps.of([data.samples.ids[7], data.samples.ids[3]]) == maps.maps[[7, 3]]).all()


def test_maps_of_distorted_images_are_of_what_the_model_was_shown(data, tmp_path) -> None:
    text = "occlude(0.3, white) | shuffle(2)"
    run = ask(model(), data, [Looked(distortion=text)], out=tmp_path / "r", seed=5)
    shown = apply(text, pixels(data), ids=data.samples.ids, seed=5)
    maps = run.maps("net", distortion=text, seed=5)
    assert np.abs(maps.maps - gradcam(model(), shown).numpy() * 65535).max() < 1.1
    with pytest.raises(UserError, match=r"has no maps of 'net' by gradcam on test; they are there after an audit"):
        run.maps("net")


def test_a_distortion_by_saliency_may_be_mapped_too(data, tmp_path, monkeypatch) -> None:
    counted = counting(monkeypatch)
    run = ask(model(), data, [Looked(distortion="salient(0.3, most, black)")], out=tmp_path / "r")
    assert sum(counted) == 2 * 48  # the clean maps, and those of what is left to see
    clean = run.maps("net")
    shown = apply(
        "salient(0.3, most, black)", pixels(data), ids=data.samples.ids, saliency=torch.from_numpy(clean.maps)
    )
    maps = run.maps("net", distortion="salient(0.3, most, black)")
    assert np.abs(maps.maps - gradcam(model(), shown).numpy() * 65535).max() < 1.1


def test_one_pass_serves_requests_and_salient_cells(data, tmp_path, monkeypatch) -> None:
    counted = counting(monkeypatch)
    salient = "interference([salient(0.3, most), salient(0.3, least)])"
    run = ask([model(0, "one"), model(1, "two")], data, [Looked(), Looked(), salient], out=tmp_path / "r")
    assert sum(counted) == 2 * 48
    assert len(list((run.path / "maps").glob("*/map.json"))) == 4  # what measures read, and what pixels are ranked by
    assert (run.maps("one").maps != run.maps("two").maps).any()
    ask([model(0, "one"), model(1, "two")], data, [Looked()], out=tmp_path / "r")
    assert sum(counted) == 2 * 48
    later = ask(model(0, "one"), data, [salient], out=tmp_path / "other")
    kept = later.maps("one").maps  # maps that cells need are read back as well
    (key,) = run.store.map_keys(bits=8, model_fingerprint=model(0).card.fingerprint)
    assert (kept == together(stored_maps(run.store, key)).maps).all()


def test_the_plan_counts_maps(data, tmp_path) -> None:
    alone = planned(data, ["interference([shuffle(2)])"], tmp_path / "r")
    assert (alone["cells"], alone["maps"], alone["forward_passes"]) == (3, 0, 3 * 48)
    both = [Looked(), Looked(-2), "interference([salient(0.3)])"]
    told = planned(data, both, tmp_path / "r")
    assert (told["cells"], told["maps"], told["maps_left"]) == (3, 3, 3)
    assert told["forward_passes"] == 5 * 48  # clean, noise and salient; two layers, one of them in two forms
    assert told["estimated_seconds"] >= 0
    ask(model(), data, [Looked()], out=tmp_path / "r", device="cpu")
    left = planned(data, both, tmp_path / "r")
    assert (left["cells_left"], left["maps_left"], left["forward_passes"]) == (1, 2, 3 * 48)


def test_progress_ends_where_the_plan_said(data, tmp_path) -> None:
    from snellen.engine import RunProgress
    from snellen.exam.carry_out import Execution, carry_out

    progress, audits = RunProgress(quiet=True), [Looked(-2), "interference([salient(0.3)])"]
    request = AuditRequest(models=model(), data=data, audits=audits, out=tmp_path / "r", device="cpu")
    carry_out(prepare(request), progress, Execution(report=False))
    assert progress.done == progress.total == 5 * 48


def test_a_killed_run_keeps_the_maps_it_made(data, tmp_path, monkeypatch) -> None:
    whole = ask(model(), data, [Looked()], out=tmp_path / "whole")
    write, written = Store.write_shard, []

    def dying(self: Store, name: str, on: str, shard: int, tables: Any) -> None:
        if len(written) == 1:
            raise KeyboardInterrupt
        written.append(shard)
        write(self, name, on, shard, tables)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write_shard", dying)
        with pytest.raises(KeyboardInterrupt):
            ask(model(), data, [Looked()], out=tmp_path / "killed")
    counted = counting(monkeypatch)
    resumed = ask(model(), data, [Looked()], out=tmp_path / "killed")
    assert sum(counted) == 28
    assert (resumed.maps("net").maps == whole.maps("net").maps).all()
    assert resumed.predictions().equals(whole.predictions())


def test_damaged_maps_are_made_again_without_asking_for_answers(data, tmp_path, monkeypatch) -> None:
    run = ask(model(), data, [Looked()], out=tmp_path / "r")
    before, answers = run.maps("net"), run.predictions()
    first = min((run.path / "maps").glob("*/*.parquet"))
    first.write_bytes(first.read_bytes()[:-7])
    (first.parent / "map.json").write_text("{")
    counted = counting(monkeypatch)
    again = ask(model(), data, [Looked()], out=tmp_path / "r")
    assert sum(counted) == 20
    assert (again.maps("net").maps == before.maps).all()
    assert again.predictions().equals(answers)


class Moody(nn.Module):
    """Fails while gradients are wanted of images whose first red is below a level."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self.inner, self.level = network(), level

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        answers = self.inner(images)
        if torch.is_grad_enabled() and (images[:, 0, 0, 0] * 255 < self.level).any():
            raise RuntimeError("not in the mood")
        return answers


def test_an_image_that_a_model_fails_on_has_no_map_and_is_told(data, tmp_path) -> None:
    reds = pixels(data)[:, 0, 0, 0].numpy()
    level = int(np.sort(reds)[2])  # two images are below
    moody = from_torch(Moody(level), size=16, name="moody", device="cpu")
    run = ask(moody, data, [Looked()], out=tmp_path / "r")
    assert list(run.maps("moody").ids) == [sample for sample, red in zip(data.samples.ids, reds) if red >= level]
    assert any("gradcam of model 'moody' failed on 2 images" in said for said in run.results()["notices"])
    most = from_torch(Moody(128), size=16, name="moody", device="cpu")
    with pytest.raises(
        UserError, match=r"'moody' failed on \d+ of 48 images when mapped by gradcam on test, more than"
    ):
        ask(most, data, [Looked()], out=tmp_path / "other")


def test_who_has_no_gradients_is_refused_before_anything_is_asked(data, tmp_path) -> None:
    rule = from_callable(lambda images: np.full((len(images), 3), 1 / 3), size=16, name="rule", version="1")
    with pytest.raises(UserError, match="a map by gradcam needs the gradients of a torch network, which 'rule' is not"):
        ask(rule, data, [Looked()], out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_bad_requests_are_told(data, tmp_path) -> None:
    with pytest.raises(UserError, match="unknown method of maps 'gradcan'; did you mean 'gradcam'"):
        MapRequest("gradcan")
    run = ask({"pair": [model(0), model(1)]}, data, [Looked()], out=tmp_path / "r")
    assert (run.maps("pair", 0).maps != run.maps("pair", 1).maps).any()
    with pytest.raises(UserError, match="expected a run of 'pair' from 0 to 1, got 2"):
        run.maps("pair", 2)
    with pytest.raises(UserError, match="unknown model 'pear'; did you mean 'pair'"):
        run.maps("pear")
    with pytest.raises(UserError, match=r"no maps of 'pair' by gradcam at layer -2 on test"):
        run.maps("pair", layer=-2)


def test_the_seed_of_clean_images_means_nothing() -> None:
    assert MapRequest(seed=3) == MapRequest(seed=4)
    assert MapRequest(distortion=parse("shuffle(2)"), seed=3) != MapRequest(distortion=parse("shuffle(2)"), seed=4)
    assert isinstance(MapRequest().distortion, Nothing)


@pytest.mark.slow
def test_ray_makes_the_same_maps(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'snellen[ray]'")
    torch.manual_seed(0)
    save_checkpoint(tmp_path / "net.safetensors", NETWORKS["smallnet"](12), {"arch": "smallnet", "size": [32, 32]})
    text, world = f"net=zoo:smallnet@{tmp_path / 'net.safetensors'}", "phantom:test?size=32&n=60"
    audits = [Looked(-2, "salient(0.3, coin, black)")]
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as many as an actor has
    here = ask(text, world, audits, out=tmp_path / "here")
    torch.set_num_threads(before)
    there = ask(text, world, audits, out=tmp_path / "there", engine="ray", actors=2, cpus_per_actor=1)
    for layer, distortion in ((None, "none()"), (-2, "salient(0.3, coin, black)")):
        one, two = (run.maps("net", layer=layer, distortion=distortion) for run in (here, there))
        assert list(one.ids) == list(two.ids)
        assert (one.maps == two.maps).all()
