"""Classes renamed, put in order, put together or left out: every sample keeps what it shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import snellen
from snellen.data import Dataset, from_arrays, map_classes, rename_classes
from snellen.data.stl import CLASSES as STL
from snellen.errors import UserError

CIFAR = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def dataset(classes: tuple[str, ...] = STL, count: int = 30) -> Dataset:
    """Image n shows class n modulo the number of classes; the last one has no label."""
    labels = np.append(np.arange(count - 1) % len(classes), -1)
    content = {"images": np.zeros((count, 4, 4, 3), np.uint8), "labels": labels, "classes": np.array(classes)}
    return from_arrays(content, "arrays:stl.npz", "stl")


def names_by_id(data: Dataset) -> dict[str, str]:
    """What each labelled sample shows, in words."""
    return {i: data.classes[label] for i, label in zip(data.samples.ids, data.samples.labels) if label >= 0}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """STL's classes in an npz file."""
    data = dataset()
    np.savez(tmp_path / "a.npz", images=np.zeros((30, 4, 4, 3), np.uint8), labels=data.samples.labels, classes=STL)
    return tmp_path / "a.npz"


def test_stl_gets_the_classes_of_cifar10_in_their_order(file: Path) -> None:
    without_frog = ",".join(name for name in CIFAR if name != "frog")
    data = snellen.load_data(f"arrays:{file}?without=monkey&rename=car:automobile&classes={without_frog}")
    assert ",".join(data.classes) == without_frog
    before = names_by_id(dataset())
    assert names_by_id(data) == {
        sample: {"car": "automobile"}.get(name, name) for sample, name in before.items() if name != "monkey"
    }
    assert data.samples.labels[-1] == -1  # what has no label stays


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_a_file_says_what_each_class_is_made_of_and_may_leave_one_empty(file: Path, kind: str) -> None:
    members = {name: {"automobile": "car", "frog": []}.get(name, name) for name in CIFAR}
    (file.parent / f"cifar10.{kind}").write_text(json.dumps(members))  # JSON is YAML
    data = snellen.load_data(f"arrays:{file}?classes={file.parent}/cifar10.{kind}")
    assert data.classes == CIFAR
    assert set(names_by_id(data).values()) == set(CIFAR) - {"frog"}
    assert names_by_id(data)["000002"] == "automobile"


def test_a_list_orders_and_leaves_out(file: Path) -> None:
    (file.parent / "some.txt").write_text("truck\ncat\n")
    data = snellen.load_data(f"arrays:{file}?classes={file.parent}/some.txt")
    assert data.classes == ("truck", "cat")
    assert set(names_by_id(data).values()) == {"truck", "cat"}
    assert data.fingerprint == snellen.load_data(f"arrays:{file}?classes=truck,cat").fingerprint


def test_classes_that_get_one_name_become_one() -> None:
    data = rename_classes(dataset(), {"car": "vehicle", "truck": "vehicle", "cat": "pet", "dog": "pet"})
    assert data.classes == ("airplane", "bird", "vehicle", "pet", "deer", "horse", "monkey", "ship")
    assert [names_by_id(data)[f"{n:06d}"] for n in (2, 9, 3, 5)] == ["vehicle", "vehicle", "pet", "pet"]


@given(st.permutations(range(6)), st.integers(1, 6))
def test_order_and_choice_change_no_samples_class(order: list[int], count: int) -> None:
    whole = dataset(tuple("abcdef"))
    chosen = [whole.classes[place] for place in order[:count]]
    data = map_classes(whole, {name: [name] for name in chosen})
    assert list(data.classes) == chosen
    assert names_by_id(data) == {i: name for i, name in names_by_id(whole).items() if name in chosen}
    assert len(set(data.samples.ids)) == len(data)


def test_each_map_has_a_fingerprint_of_its_own_and_none_leaves_it() -> None:
    whole = dataset()
    assert rename_classes(whole, {}).fingerprint == whole.fingerprint
    maps = [{"a": ["car"], "b": ["cat"]}, {"b": ["cat"], "a": ["car"]}, {"a": ["car", "cat"]}, {"a": ["car"], "b": []}]
    prints = {map_classes(whole, one).fingerprint for one in maps}
    assert len({whole.fingerprint, *prints}) == 5


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("rename=carr:automobile", "unknown class of arrays:.*'carr'; did you mean 'car'?"),
        ("rename=car", "expected rename=OLD:NEW, several separated by commas, got 'car'"),
        ("rename=car:a,car:b", "gives the class 'car' two names"),
        ("rename=:a", "expected rename=OLD:NEW"),
        ("classes=", "classes= names no class; arrays:.* has: airplane, bird"),
        ("classes=cat,dgo", "unknown class of arrays:.*'dgo'; did you mean 'dog'?"),
        ("classes=cat,cat", "2 have the name 'cat'"),
        ("classes=none.txt", "no list of classes 'none.txt'"),
        ("without=monkey&classes=monkey", "unknown class of arrays:.*'monkey'"),
    ],
)
def test_a_wrong_map_is_one_line_that_names_the_class_and_the_data(file: Path, query: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        snellen.load_data(f"arrays:{file}?{query}")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", '{"pet": ["cat", "dgo"]}', "unknown class of .* in 'pet' 'dgo'; did you mean 'dog'?"),
        ("a.json", '{"pet": ["cat"], "beast": ["cat"]}', "class 'cat' of .* is in 'pet' and in 'beast'"),
        ("a.json", '{"pet": 3}', r"expected str \| array, got int"),
        ("a.json", '{"pet": "cat", "pet": "dog"}', "has the key 'pet' twice"),
        ("a.json", "[]", "classes= names no class"),
        ("a.json", '{"": ["cat"]}', "names that are not empty"),
        ("a.yaml", "- cat\n- 3", "expected"),
        ("a.yaml", "", "expected"),
        ("a.txt", "cat\ncat\n", "2 have the name 'cat'"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_it(file: Path, name: str, content: str, said: str) -> None:
    (file.parent / name).write_text(content)
    with pytest.raises(UserError, match=said) as caught:
        snellen.load_data(f"arrays:{file}?classes={file.parent / name}")
    assert name in str(caught.value)


def test_classes_of_which_nothing_is_shown_are_refused() -> None:
    labelled = dataset(count=30).at(np.arange(29))
    with pytest.raises(UserError, match="the classes frog leave no sample of arrays:stl.npz"):
        map_classes(labelled, {"frog": []})
