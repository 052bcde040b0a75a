"""Spaces by name and from a user's YAML file: what is in them, and how a wrong file is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import snellen.search
from snellen.distort import parse
from snellen.errors import UserError
from snellen.search.spaces import SPACES, Space, space

OWN = """
brightness: [0.8, 0.9, 1.1]
rotate: {from: -15, to: 15, count: 11}
"occlude({}, black)": [0.1, 0.2]
"background({})": [only_fg, mixed_rand]
posterize: {from: 1, to: 7, count: 7}
grayscale:
"noise(uniform(0, {}))": [0.05]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(text)
    return path


def test_a_name_gives_its_set_and_a_space_passes_through() -> None:
    assert snellen.search.space("mnist") is SPACES["mnist"]
    assert space(SPACES["faces"]) is SPACES["faces"]
    with pytest.raises(UserError, match="unknown space 'cifar'; did you mean 'cifar10'"):
        space("cifar")


@pytest.mark.parametrize("name", SPACES)
def test_every_level_is_a_distortion_of_its_own(name: str) -> None:
    texts = [str(parse(text)) for one in SPACES[name].transformations for text in one.levels]
    # Volpi & Murino's solarize skips no level twice, and no two levels of a set are the same edit.
    assert len(set(texts)) == len(texts) == SPACES[name].size


def test_the_extended_set_holds_the_published_one_and_ten_levels_of_whatever_can_have_them() -> None:
    wide = SPACES["extended"]
    assert wide.transformations[:10] == SPACES["mnist"].transformations
    few = {one.name: len(one.levels) for one in wide.transformations if len(one.levels) < 10}
    assert few == {"grayscale": 1, "posterize": 7, "equalize": 1, "invert": 1}
    assert wide.size == 386
    assert wide.outline().startswith("386 edits: autocontrast 20, ")
    unchanged = {"rotate(0)", "zoom(1)", "zoom(1.0)", "shift(0, 0)", "shift(0.0, 0)", "rotate(0.0)"}
    assert not unchanged & {text for one in wide.transformations for text in one.levels}


def test_a_users_file_gives_the_levels_it_lists(tmp_path: Path) -> None:
    own = space(write(tmp_path, OWN))
    assert own.name == "own"
    levels = {one.name: one.levels for one in own.transformations}
    assert levels["brightness"] == ("brightness(0.8)", "brightness(0.9)", "brightness(1.1)")
    assert levels["rotate"] == tuple(f"rotate({angle})" for angle in range(-15, 16, 3))
    assert levels["occlude({}, black)"] == ("occlude(0.1, black)", "occlude(0.2, black)")
    assert levels["background({})"] == ("background(only_fg)", "background(mixed_rand)")
    assert levels["posterize"][-1] == "posterize(7)"
    assert levels["grayscale"] == ("grayscale()",)
    assert own.size == 3 + 11 + 2 + 2 + 7 + 1 + 1
    assert space(str(write(tmp_path, OWN))) == own
    genes = own.draw(np.random.default_rng(0), 4)
    assert [parse(text) for text in own.texts(genes)]


def test_decimal_levels_are_those_that_one_would_write(tmp_path: Path) -> None:
    own = space(write(tmp_path, "zoom: {from: 0.7, to: 1.3, count: 7}"))
    assert own.transformations[0].levels[2:5] == ("zoom(0.9)", "zoom(1)", "zoom(1.1)")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected lines such as 'brightness: .*', got nothing"),
        ("- a", "got list"),
        ("brigthness: [0.8]", "own.yaml: brigthness: unknown distortion 'brigthness'; did you mean 'brightness'"),
        ("brightness: [0.8, 20]", r"own.yaml: brightness: brightness: expected factor in \[0, 10\], got 20"),
        ("brightness: []", "own.yaml: brightness: expected array of length >= 1"),
        ("brightness: 0.8", "own.yaml: brightness: expected .*object.*array|array.*object"),
        ("brightness: [[1]]", "own.yaml: brightness:"),
        ("rotate: {from: 1, to: 1, count: 3}", "own.yaml: rotate: expected 'from' and 'to' as two different numbers"),
        ("rotate: {from: .nan, to: 1, count: 3}", "two different numbers"),
        ("rotate: {from: 1, to: 5, count: 1}", "own.yaml: rotate: count: expected int >= 2"),
        ("rotate: {from: 1, to: 5, count: 100000000}", "count: expected int <= 1000"),
        ("rotate: {from: 1, to: 5, number: 3}", "own.yaml: rotate: object contains unknown field 'number'"),
        ("posterize: {from: 1, to: 2, count: 3}", "own.yaml: posterize: .*1.5"),
        ("'occlude(0.1, black)': [0.2]", r"own.yaml: occlude\(0.1, black\): expected {} where the level goes"),
        ("'blur({}) | invert()': [1]", "own.yaml: .*expected one distortion per level, got a chain"),
        ("'rotate({}) | rotate({})': [3]", "got a chain"),
        ("brightness: [0.8, 0.80]", r"own.yaml: brightness: 'brightness\(0.8\)' is there twice"),
        ("3: [1]", "expected the name of an operation before the colon, got '3'"),
        ("rotate: [abc]", "own.yaml: rotate: "),
        ("\n".join(f"o{n}: [1]" for n in range(201)), "at most 200 operations, got 201"),
        ("a: [", "own.yaml line 1 is not YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_file_key_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        space(write(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none.yaml"):
        space(tmp_path / "none.yaml")


def test_the_function_and_the_module_of_one_name_both_work() -> None:
    from snellen.search.spaces import Transformation

    assert callable(snellen.search.space)
    assert isinstance(Space("one", (Transformation("invert", ("invert()",)),)).size, int)


def test_an_operation_that_is_there_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"own.yaml line 3: 'brightness' stands there twice, first in line 1"):
        space(write(tmp_path, "brightness: [0.8]\ncontrast: [0.9]\nbrightness: [1.1]\n"))
    with pytest.raises(UserError, match=r"own.yaml: rotate.*1:30"):
        space(write(tmp_path, "rotate: [1:30]\n"))
