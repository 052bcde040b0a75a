"""A checkpoint of a search is that of its model, data, fitness and constraint: others are refused, the same continue."""

from __future__ import annotations

import importlib
import json
import linecache
import os
import subprocess
import sys
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

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
from snellen.search.image_fitness import ImageFitness
from snellen.search.own_code import changed_names
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


def told_apart(**changed: Any):
    """A fitness of which one part is another, for the test below."""
    given: dict[str, Any] = {
        "model": 0,
        "data": 0,
        "mean": [0.0] * 3,
        "size": 8,
        "classes": ["a", "b"],
        "labels": np.arange(12) % 2,
    }
    given |= {"masks": np.zeros((12, 8, 8), bool), "limit": None, "name": "net", "batch": None} | changed
    model = from_torch(
        classifier(given["model"]),
        mean=given["mean"],
        std=[1.0] * 3,
        **{key: given[key] for key in ("classes", "size", "name")},
    )
    content = {
        "images": np.random.default_rng(given["data"]).integers(0, 256, (12, 8, 8, 3), np.uint8),
        "classes": np.array(["a", "b"]),
        **{key: given[key] for key in ("labels", "masks")},
    }
    return fitness_of(
        model, from_arrays(content, "memory:noise", "noise"), **{key: given[key] for key in ("limit", "batch")}
    )


PARTS = {
    "weights": {"model": 1},
    "normalisation": {"mean": [0.5] * 3},
    "canvas": {"size": 16},
    "classes": {"classes": ["b", "a"]},
    "images": {"data": 1},
    "labels": {"labels": (np.arange(12) + 1) % 2},
    "masks": {"masks": np.ones((12, 8, 8), bool)},
    "how many images": {"limit": 6},
}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_model_and_data_is_in_the_identity(part: str) -> None:
    """The dataset has one fingerprint throughout: what was read of it counts, not what it is said to be."""
    assert identity_of(told_apart(**PARTS[part])) != identity_of(told_apart())
    assert identity_of(told_apart(name="other", batch=3)) == identity_of(told_apart())


def test_weights_and_scores_of_a_fitness_are_in_the_identity() -> None:
    pixels, view = torch.zeros(2, 3, 4, 4, dtype=torch.uint8), View.of(["a", "b"])

    def dark(images: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return (images < 9).float().mean((1, 2, 3))

    def bright(images: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return (images > 9).float().mean((1, 2, 3))

    made = [ImageFitness(pixels, dark, view), ImageFitness(pixels, bright, view)]
    made += [ImageFitness(pixels, dark, view, weights=torch.tensor([1.0, other])) for other in (0.0, 1.0)]
    assert len({identity_of(fitness) for fitness in made}) == 4


def test_every_part_of_a_constraint_is_in_the_identity() -> None:
    """Its kind and bound, the share of images that must meet it, the images, and what edits may know of them."""
    pixels = torch.from_numpy(
        np.stack([photo.image for photo in images(0).read(range(2))]).transpose(0, 3, 1, 2).copy()
    )
    view, loose = View.of(["a", "b"]), parse_constraint("ssim(0.2)")
    made = [
        Feasible(pixels, view, loose),
        Feasible(pixels, view, parse_constraint("ssim(0.3)")),
        Feasible(pixels, view, parse_constraint("edges(0.2)")),
        Feasible(pixels, view, loose, needed=0.5),
        Feasible(255 - pixels, view, loose),
        Feasible(pixels, View.of(["a", "b"], masks=torch.ones(2, 8, 8, dtype=torch.bool)), loose),
    ]
    assert len({identity_of(constraint) for constraint in made}) == len(made)
    made[0](("brightness(0.5)",))
    assert identity_of(made[0]) == identity_of(Feasible(pixels, view, loose, batch=1))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"space": "cifar10"}, "space"),
        ({"length": 3}, "length"),
        ({"evaluations": 13}, "algorithm"),
        ({"sampling": "object"}, "algorithm"),
        ({"seed": 1}, "seed"),
    ],
)
def test_another_setting_of_the_search_is_refused_by_its_name(tmp_path: Path, other: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"space": "mnist", "length": 2, "evaluations": 12, "seed": 0}
    random_search(by_length, **given, checkpoint=tmp_path / "a.jsonl")
    with pytest.raises(UserError, match=f"is the history of another search: {said} differ "):
        random_search(by_length, **{**given, **other}, checkpoint=tmp_path / "a.jsonl")


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


class Threshold:
    """A constraint with settings of every sort, which also counts."""

    def __init__(self, at: float, weights: list[float]) -> None:
        self.at, self.weights, self.asked, self.seen = at, weights, 0, {}

    def __call__(self, edits: tuple[str, ...]) -> bool:
        self.asked += 1
        self.seen[edits] = self.asked
        return len(edits[0]) * self.weights[0] > self.at

    def passes(self, edits: tuple[str, ...]) -> bool:
        return self(edits)


def with_table(at: float):
    table, seen = {"at": at}, []

    def allowed(edits: tuple[str, ...]) -> bool:
        seen.append(edits)
        return len(edits[0]) > table["at"]

    return allowed


TABLE = [0.1]


def by_table(edits: tuple[str, ...]) -> bool:
    return len(edits[0]) > TABLE[0]


def weighted(edits: tuple[str, ...], weights: list[float]) -> float:
    return weights[0]


SETTINGS = {
    "a number of an object": (lambda: Threshold(0.1, [1.0]), lambda: Threshold(9.0, [1.0])),
    "a number of NumPy": (lambda: Threshold(np.float32(0.1), [1.0]), lambda: Threshold(np.float32(9), [1.0])),
    "a list of an object": (lambda: Threshold(0.1, [1.0]), lambda: Threshold(0.1, [0.5])),
    "the object of a method": (lambda: Threshold(0.1, [1.0]).passes, lambda: Threshold(9.0, [1.0]).passes),
    "a table around a function": (lambda: with_table(0.1), lambda: with_table(9.0)),
    "a list given to a function": (lambda: partial(weighted, weights=[0.1]), lambda: partial(weighted, weights=[0.9])),
    "a date": (lambda: Threshold(date(2026, 1, 1), []), lambda: Threshold(date(2026, 1, 2), [])),
    "a set": (lambda: Threshold(0.1, {"a", "b"}), lambda: Threshold(0.1, {"a", "c"})),
    "a layer": (lambda: nn.Dropout(0.1), lambda: nn.Dropout(0.9)),
}  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_are_part_of_what_a_constraint_is_and_counts_are_not(setting: str) -> None:
    make, other = SETTINGS[setting]
    first = make()
    before = identity_of(first)
    assert before == identity_of(make()) != identity_of(other())
    if not isinstance(first, partial | nn.Module) and setting not in ("a date", "a set"):
        first(("brightness(0.8)",))
        assert identity_of(first) == before


def test_another_setting_of_a_constraint_does_not_get_the_result_of_the_first(tmp_path: Path) -> None:
    loose, strict = Threshold(0.1, [1.0]), Threshold(11.0, [1.0])
    random_search(by_length, "mnist", 2, 12, constraint=loose, checkpoint=tmp_path / "a.jsonl")
    random_search(by_length, "mnist", 2, 12, constraint=loose, checkpoint=tmp_path / "a.jsonl")
    with pytest.raises(UserError, match="constraint differ"):
        random_search(by_length, "mnist", 2, 12, constraint=strict, checkpoint=tmp_path / "a.jsonl")


def test_a_list_that_a_function_reads_is_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity_of(by_table)
    monkeypatch.setitem(globals(), "TABLE", [0.9])
    assert identity_of(by_table) != before


def test_code_of_ones_own_modules_counts_and_that_of_installed_ones_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A helper in another file that is edited makes another fitness, whether it is imported by name or by module."""

    def load(factor: int):
        (tmp_path / "scoring.py").write_text(f"def score(edits):\n    return {factor} * len(edits) / 99\n")
        (tmp_path / "mine.py").write_text(
            "import numpy\nimport scoring\nfrom scoring import score\n\n"
            "def by_name(edits):\n    return score(edits)\n\n"
            "def by_module(edits):\n    return scoring.score(edits)\n\n"
            "def by_numpy(edits):\n    return numpy.mean(len(edits))\n\n"
            "class Mine:\n    def __call__(self, edits):\n        return self.inner(edits)\n\n"
            f"    def inner(self, edits):\n        return {factor} / 99\n"
        )
        for name in ("scoring", "mine"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        linecache.clearcache()
        changed_names.cache_clear()
        module = importlib.import_module("mine")
        return [identity_of(thing) for thing in (module.by_name, module.by_module, module.Mine(), module.by_numpy)]

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    try:
        first, again, other = load(1), load(1), load(2)
    finally:
        for name in ("scoring", "mine"):
            sys.modules.pop(name, None)
    assert first == again
    assert [before != after for before, after in zip(first, other)] == [True, True, True, False]


def test_an_identity_is_the_same_in_every_process() -> None:
    """Sets come in another order where texts have other hashes."""
    code = (
        "from tests.search.test_checkpoints import SETTINGS, classifier, fitness, identity_of\n"
        "made = [make() for make, _ in SETTINGS.values()] + [fitness(), classifier(0)]\n"
        "print(*map(identity_of, made))"
    )
    printed = {
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, cwd=Path(__file__).parents[2],
                       capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(printed) == 1
    assert len(printed.pop().split()) == len(SETTINGS) + 2


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
