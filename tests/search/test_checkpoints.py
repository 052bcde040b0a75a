"""A checkpoint of a search is that of its model, data, fitness and constraint: others are refused, the same continue."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from snellen.data import from_arrays
from snellen.distort import View, parse
from snellen.errors import UserError
from snellen.models import from_torch
from snellen.search import Feasible, Search, fitness_of, parse_constraint, random_search
from snellen.search.edit_search import EditSearch
from snellen.search.identity import identity_of
from snellen.search.spaces import SPACES, Space, Transformation, edit_versions

calls: list[object] = []
THRESHOLD = 0.25


def by_length(edits: tuple[str, ...], scale: float = 1.0) -> float:
    calls.append(edits)
    return min(1.0, scale * len("".join(edits)) / 200)


def classifier(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)).eval()


def images(seed: int):
    content = {
        "images": np.random.default_rng(seed).integers(0, 256, (12, 8, 8, 3), np.uint8),
        "labels": np.arange(12) % 2,
    }
    return from_arrays(content, "memory:noise", f"noise{seed}")


def fitness(model: int = 0, data: int = 0):
    return fitness_of(from_torch(classifier(model), classes=["a", "b"], size=8, name="net"), images(data))


def allowed(text: str):
    pictures = torch.from_numpy(images(0).read([0])[0].image.transpose(2, 0, 1)[None].copy())
    return Feasible(pictures, View.of(["a"]), parse_constraint(text))


def search(path: Path, *, how=None, constraint=None):
    return random_search(how or fitness(), "mnist", 2, 12, constraint=constraint, checkpoint=path)


def test_the_same_search_continues_and_asks_nothing_again(tmp_path: Path) -> None:
    first = search(tmp_path / "a.jsonl", constraint=allowed("ssim(0.2)"))
    again = search(tmp_path / "a.jsonl", constraint=allowed("ssim(0.2)"))
    assert (again.best, again.value, again.history) == (first.best, first.value, first.history)
    assert again.images_shown == 0


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"how": lambda: fitness(model=1)}, "fitness differ"),
        ({"how": lambda: fitness(data=1)}, "fitness differ"),
        ({"how": lambda: by_length}, "fitness differ"),
        ({"constraint": lambda: allowed("ssim(0.9)")}, "constraint differ"),
        ({"constraint": lambda: allowed("edges(0.2)")}, "constraint differ"),
        ({"constraint": lambda: lambda edits: True}, "constraint differ"),
        ({"constraint": lambda: None}, "constraint differ"),
    ],
)
def test_another_model_data_or_constraint_is_refused_in_one_line(tmp_path: Path, other, words: str) -> None:
    search(tmp_path / "a.jsonl", constraint=allowed("ssim(0.2)"))
    settings = {"constraint": allowed("ssim(0.2)")} | {name: make() for name, make in other.items()}
    with pytest.raises(
        UserError, match=rf"a.jsonl is the history of another search: {words}.*choose another checkpoint"
    ) as no:
        search(tmp_path / "a.jsonl", **settings)
    assert "\n" not in str(no.value)


def test_a_checkpoint_of_earlier_versions_is_refused_with_what_to_do(tmp_path: Path) -> None:
    search(tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    text = json.loads(json.loads(lines[0])["text"])
    head = {
        "search": "0" * 16,
        "text": json.dumps({name: text[name] for name in text if name not in ("fitness", "constraint")}),
    }
    (tmp_path / "a.jsonl").write_text("\n".join([json.dumps(head), *lines[1:]]) + "\n")
    with pytest.raises(
        UserError, match="does not say of which model, data and constraint it is.*remove it or choose another"
    ):
        search(tmp_path / "a.jsonl")


def test_functions_are_known_by_what_they_refer_to(monkeypatch: pytest.MonkeyPatch) -> None:
    network = classifier(0)

    def inside(edits: tuple[str, ...]) -> float:
        return float(network(torch.zeros(1, 3, 8, 8)).sum() > THRESHOLD)

    before = identity_of(inside)
    assert identity_of(inside) == before
    monkeypatch.setitem(globals(), "THRESHOLD", 0.5)
    assert identity_of(inside) != before
    monkeypatch.undo()
    with torch.no_grad():
        network[0].weight[0, 0, 0, 0] += 1
    assert identity_of(inside) != before
    assert identity_of(partial(by_length, scale=2.0)) != identity_of(partial(by_length, scale=1.0))


def test_what_a_function_writes_down_is_not_what_it_is() -> None:
    before = identity_of(by_length)
    by_length(("red(3)",))
    assert identity_of(by_length) == before


class Counting:
    """A fitness of a model that counts its calls."""

    def __init__(self, seed: int) -> None:
        self.network, self.count = classifier(seed), 0

    def __call__(self, edits: tuple[str, ...]) -> float:
        self.count += 1
        return 0.5


def test_objects_are_known_by_what_they_hold_not_by_their_counts() -> None:
    first, other = Counting(0), Counting(1)
    before = identity_of(first)
    first(())
    assert identity_of(first) == before == identity_of(Counting(0))
    assert identity_of(other) != before
    other.fingerprint = "mine"  # type: ignore[attr-defined]
    assert identity_of(other) == identity_of(type("Other", (), {"fingerprint": "mine"})())


def test_a_key_has_the_versions_of_edits_that_are_not_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = EditSearch("mnist", evaluations=20)
    before, facts = plain.version, Search(SPACES["mnist"], 2, plain.proposes()).facts()
    assert before == "1 762bd97eededc05f"  # as runs have it
    assert set(facts) == {"space", "length", "algorithm", "seed"}
    assert EditSearch("mnist", evaluations=20, constraint="edges(0.7)").version == before
    assert EditSearch("mnist", evaluations=20, constraint="ssim(0.8)").version != before  # of luminance since version 2
    monkeypatch.setattr(type(parse("colour(1.2)")), "version", 2)
    edit_versions.cache_clear()
    try:
        assert EditSearch("mnist", evaluations=20).version != before
        assert set(Search(SPACES["mnist"], 2, plain.proposes()).facts()) == {*facts, "versions"}
        reds = Space("reds", (Transformation("red", ("red(3)",)),))
        assert "versions" not in Search(reds, 2, plain.proposes()).facts()
    finally:
        edit_versions.cache_clear()


def test_a_function_is_the_same_in_a_script_and_where_it_is_imported() -> None:
    """A script's functions are those of `__main__`; imported by a worker or a test they are of another module."""

    def count(edits: tuple[str, ...]) -> float:
        return len(edits) / 9

    before = identity_of(count)
    count.__module__ = "__main__"
    assert identity_of(count) == before
