"""Models side by side on data with masks: a network that looks at the thing, one that looks beside it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

import snellen
from snellen.cli import main
from snellen.data.dataset import Dataset, Photo, Samples
from snellen.errors import UserError
from snellen.explain import explain_beside
from snellen.explain.methods import METHODS, Method
from snellen.models import from_callable, from_torch

SIDE = 16


class Colour(nn.Module):
    """Its features are one colour channel, and both answers follow it: its map is that channel."""

    def __init__(self, channel: int) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 1, 1, bias=False)
        self.features.weight.data = torch.eye(3)[channel].view(1, 3, 1, 1)
        self.head = nn.Linear(1, 2, bias=False)
        self.head.weight.data = torch.tensor([[1.0], [2.0]])

    def forward(self, images):
        return self.head(self.features(images).mean((2, 3)))


def network(channel):
    return from_torch(Colour(channel), classes=["a", "b"], size=SIDE, device="cpu")


def red_things(count=6, text="things", facts=frozenset({"masks"})):
    """A red square of 4 × 4 to 9 × 9 pixels, which the mask covers, on blue; green is nowhere."""

    def read(rows):
        photos = []
        for row in rows:
            mask = np.zeros((SIDE, SIDE), bool)
            mask[2 : 6 + row, 3 : 7 + row] = True
            image = np.zeros((SIDE, SIDE, 3), np.uint8)
            image[mask, 0], image[~mask, 2] = 200, 100
            photos.append(Photo(image, str(row), maps={"mask": mask}))
        return photos

    samples = Samples(tuple(f"<{row}>" for row in range(count)), np.ones(count, np.int64))
    return Dataset(text, ("a", "b"), samples, f"{text}-{count}", read, facts=facts)


def test_the_share_inside_is_that_of_what_each_network_looks_at(tmp_path):
    found = explain_beside({"red": network(0), "blue": network(2), "green": network(1)}, red_things(), tmp_path)
    told = {(one.model, one.name): one for one in found.findings}
    assert told["red", "inside_mask"].value == pytest.approx(1)
    assert told["blue", "inside_mask"].value == pytest.approx(0)
    assert np.isnan(told["green", "inside_mask"].value)  # it saw nothing anywhere
    assert told["green", "inside_mask"].facts.empty_maps == 6
    assert told["green", "inside_mask"].n == 0
    by_hand = np.mean([(4 + row) ** 2 / SIDE**2 for row in range(6)])
    assert told["red", "inside_mask"].facts.mask_share == pytest.approx(by_hand)
    assert told["blue", "inside_mask_difference"].value == pytest.approx(-1)
    assert told["blue", "inside_mask_difference"].plain_facts == {"other": "red"}
    html = (tmp_path / "inside.html").read_text()
    assert html.count("<img ") + html.count('<svg class="picture"') == 6 * 4  # one that stands twice is kept once
    assert "<0>" not in html  # ids are escaped
    assert "100% inside" in html
    assert "no map" in html
    assert "difference from red" in html
    assert "maps by gradcam, of each model’s own answer" in html
    assert (
        "Grad-CAM (Selvaraju et al. 2017): features of a layer, weighted by their gradients. From blue (little) to red"
        in html
    )
    assert "✓ b" in html
    held = json.loads((tmp_path / "inside.json").read_text())
    assert held["inside_mask"]["green"] == [[None] * 6]
    assert [one["name"] for one in held["findings"]].count("inside_mask") == 3


def test_the_folder_is_a_run_and_nothing_is_asked_again(tmp_path, monkeypatch):
    models = {"red": network(0), "blue": network(2)}
    first = explain_beside(models, red_things(), tmp_path / "x")
    run = snellen.load_run(tmp_path / "x")
    assert first.page == run.path / "inside.html"
    assert len(run.maps("blue").ids) == 6
    assert (run.path / "report.html").exists()
    assert set(run.findings().query("audit == 'inside_mask'")["name"]) == {"inside_mask", "inside_mask_difference"}

    def never(*_):
        raise AssertionError("asked again")

    monkeypatch.setattr("snellen.models.model.Model.__call__", never)
    monkeypatch.setitem(METHODS, "gradcam", Method(never, "never"))
    again = explain_beside(models, red_things(), tmp_path / "x")
    assert again.samples == first.samples
    assert [one.to_json() for one in again.findings] == [one.to_json() for one in first.findings]
    assert all((again.shares[model] == first.shares[model]).all() for model in models)


def test_the_name_in_explain_is_the_same_function():
    from snellen import explain
    from snellen.exam import side_by_side

    assert explain.explain_beside is side_by_side.explain_beside
    with pytest.raises(AttributeError, match="no attribute 'explain_besides'"):
        _ = explain.explain_besides


class Grey(Colour):
    """Looks at red and blue alike."""

    def __init__(self) -> None:
        super().__init__(0)
        self.features.weight.data = torch.tensor([1.0, 0, 1]).view(1, 3, 1, 1)


def test_shares_between_by_hand_and_a_limit(tmp_path):
    grey = from_torch(Grey(), classes=["a", "b"], size=SIDE, device="cpu")
    found = explain_beside({"grey": grey}, red_things(), tmp_path / "all")
    inside = np.array([(4 + row) ** 2 for row in range(6)])
    by_hand = 200 * inside / (200 * inside + 100 * (SIDE**2 - inside))
    order = [int(name.strip("<>")) for name in found.samples]
    assert found.shares["grey"][0] == pytest.approx(by_hand[order], abs=1e-3)  # maps are kept as bytes
    few = explain_beside({"grey": grey}, red_things(), tmp_path / "few", limit=2)
    assert few.findings[0].n == 2


def test_some_images_are_shown_unless_all_are_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr("snellen.exam.explain_request.MOST_IMAGES", 4)
    grey = {"grey": from_torch(Grey(), classes=["a", "b"], size=SIDE, device="cpu")}
    assert explain_beside(grey, red_things(), tmp_path / "few").findings[0].n == 4
    assert explain_beside(grey, red_things(), tmp_path / "all", "all").findings[0].n == 6
    with pytest.raises(UserError, match="expected limit as all or a whole number of at least 1, got 'some'"):
        explain_beside(grey, red_things(), tmp_path / "x", limit="some")
    with pytest.raises(UserError, match="models is required"):
        explain_beside(data=red_things(), out=tmp_path / "x")


def test_the_command_takes_several_models_and_says_what_it_cannot_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    world = "phantom:train?size=24&n=48"
    for seed in ("0", "1"):
        run("train", "smallnet", "--data", world, "--epochs", "1", "--seed", seed, "--out", f"m{seed}", "--quiet")
    capsys.readouterr()
    data = ("--data", "phantom:test?size=24&n=20", "--limit", "8")
    assert run("explain", "one=m0/*.safetensors", "two=m1/*.safetensors", *data, "--out", "x", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["model"], one["name"]) for one in told["findings"]] == [
        ("one", "inside_mask"), ("two", "inside_mask"), ("two", "inside_mask_difference"),
    ]  # fmt: skip
    assert all(0 <= one["value"] <= 1 for one in told["findings"][:2])
    assert run("explain", "one=m0/*.safetensors", *data) == 0
    assert "page: explained/inside.html" in capsys.readouterr().out
    assert run("explain", "one=m0/*.safetensors") == 2
    assert "no image given" in capsys.readouterr().err
    assert run("explain", "a=m0/*.safetensors", "a=m1/*.safetensors", *data, "--out", "runs") == 0
    assert len(json.loads((tmp_path / "runs" / "inside.json").read_text())["inside_mask"]["a"]) == 2  # as in an audit
    assert run("explain", "a=m0/*.safetensors", "a=m0/*.safetensors", *data) == 2
    assert "two models are called 'a'" in capsys.readouterr().err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert run("explain", "one=m0/*.safetensors", *data, "--out", "mine") == 2
    assert "'mine' is not empty and not a run folder" in capsys.readouterr().err


def test_data_without_masks_and_models_without_gradients_are_refused(tmp_path):
    with pytest.raises(UserError, match="things has no masks to compare maps with"):
        explain_beside({"red": network(0)}, red_things(facts=frozenset()), tmp_path / "a")
    rule = from_callable(lambda images: np.full((len(images), 2), 0.5), size=8, name="rule", version="1")
    with pytest.raises(UserError, match="a map by gradcam needs the gradients of a torch network, which 'rule' is not"):
        explain_beside({"rule": rule}, red_things(), tmp_path / "b")
    assert not list(tmp_path.iterdir())


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)
