"""Models that answer in words: names become classes, and any other word is counted as outside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import snellen
from snellen.errors import UserError
from snellen.models import from_callable, from_labels
from snellen.models.text_answers import OTHER, is_text, probabilities_of

from .service import images_in, reply, serve

CLASSES = ["traffic light", "dog, hound", "cat"]


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("traffic light", 0),
        ("Traffic_Light.", 0),
        ("dog", 1),
        ("HOUND", 1),
        ("dog, hound", 1),
        (" cat ", 2),
        ("cow", 3),
        (None, 3),
        ("", 3),
    ],
)
def test_a_name_is_found_however_it_is_written(answer: str | None, place: int) -> None:
    rows = probabilities_of([answer], CLASSES)
    assert rows.tolist() == [[float(number == place) for number in range(4)]]


def by_brightness(images: np.ndarray) -> list[str]:
    names = ("black", "grey", "white thing")
    return [names[min(2, int(image.mean() // 90))] for image in images]


def test_an_unknown_name_is_wrong_and_counted_as_outside(tmp_path: Path) -> None:
    values = np.array([0, 0, 100, 100, 250, 250], np.uint8)
    images = np.broadcast_to(values[:, None, None, None], (6, 16, 16, 3))
    np.savez(tmp_path / "set.npz", images=images, labels=[0, 0, 1, 1, 0, 1], classes=["black", "grey"])
    model = from_labels(by_brightness, ["black", "grey"], size=16, name="words")
    assert model.classes == ("black", "grey", OTHER)
    run = snellen.audit(model, f"arrays:{tmp_path}/set.npz", [], out=tmp_path / "run", quiet=True)
    answers = run.predictions()
    clean = answers[answers["distortion"] == "none()"].sort_values("sample")
    assert clean["pred"].tolist() == [0, 0, 1, 1, -1, -1]
    assert clean["raw"].tolist() == [0, 0, 1, 1, 2, 2]
    assert clean["score"].tolist() == [1, 1, 1, 1, 0, 0]


def test_a_factory_may_return_what_answers_in_words(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "class Words:\n    answers, classes = 'labels', ['cat', 'dog']\n"
        "    def __call__(self, images):\n        return ['dog'] * len(images)\n"
        "def factory():\n    return Words()\n"
    )
    model = snellen.load_model(f"python:{tmp_path}/words.py:factory")
    assert model(torch.zeros(2, 3, 8, 8, dtype=torch.uint8)).tolist() == [[0, 1, 0]] * 2


def test_two_functions_have_two_fingerprints() -> None:
    first, second = (
        from_labels(function, ["black", "grey"], size=8, name="words")
        for function in (by_brightness, lambda images: ["grey"] * len(images))
    )
    assert first.card.fingerprint != second.card.fingerprint


def test_a_service_may_answer_in_words() -> None:
    def answer(body: bytes) -> tuple[int, dict[str, str], bytes]:
        return reply(
            {
                "labels": ["Bright" if image.mean() > 99 else None for image in images_in(body)],
                "classes": ["dark", "bright"],
            }
        )

    with serve(answer) as server:
        model = snellen.load_model(f"{server.url}#size=8&answers=labels")
        images = torch.zeros(2, 3, 8, 8, dtype=torch.uint8)
        images[0] = 200
        assert model(images).tolist() == [[0, 1, 0], [0, 0, 1]]
        assert model.classes == ("dark", "bright", OTHER)
        server.behaviours = [lambda body: reply({"labels": ["bright"], "classes": ["dark", "bright"]})]
        with pytest.raises(UserError, match="labels has 1 entries for 2 images"):
            model(images)
        server.behaviours = [lambda body: reply({"labels": ["bright", "dark"]})]
        with pytest.raises(UserError, match="missing required field 'classes'"):
            model(images)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["cat"], "answered 1 of them for 2 images; expected the name of a class for each"),
        ([0.5, 0.5], r"answered list '\[0.5, 0.5\]' for 2 images; expected the name of a class"),
        ("cat", "answered str 'cat' for 2 images"),
    ],
)
def test_answers_that_are_no_list_of_names_are_refused(answers: object, message: str) -> None:
    model = from_labels(lambda images: answers, ["cat", "dog"], size=8, name="words", version="1")
    with pytest.raises(UserError, match=message):
        model(torch.zeros(2, 3, 8, 8, dtype=torch.uint8))


def test_words_without_classes_are_told_what_to_do() -> None:
    with pytest.raises(
        UserError, match=r"answered words, such as 'cat'; make it a model by snellen.models.from_labels"
    ):
        from_callable(lambda images: ["cat"] * len(images), size=8)
    with pytest.raises(UserError, match="stands for answers that name no class"):
        from_labels(by_brightness, ["a", OTHER], size=8)


def test_words_are_recognised_in_lists_and_arrays() -> None:
    assert is_text(["a", None])
    assert is_text(np.array(["a", "b"]))
    assert not is_text([0.1, 0.2])
    assert not is_text(np.eye(2))
