"""A fitness from texts or objects, for every task; and searches with it that go on after a black box failed."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from snellen.data import Dataset, from_arrays
from snellen.errors import UserError
from snellen.models import from_callable, from_torch, load_model
from snellen.search import confusion, fitness_of
from snellen.search.task_fitness import METRICS

from .toys import brightest, coloured, squares, white_boxes

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/search.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)
WORLD = "phantom:test?size=24&n=30"


def test_a_classifier_by_text_has_its_accuracy() -> None:
    fitness = fitness_of("observer:oracle('phantom:test?size=24&n=30')", WORLD)
    assert fitness(()) == 1
    assert len(fitness.images) == 30
    assert fitness_of("observer:shape", WORLD, limit=10).many([(), ("invert()",)]) != [1, 1]


def test_a_network_is_asked_as_its_accuracy_says() -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 12, 5), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    fitness = fitness_of(from_torch(network, device="cpu"), WORLD, batch=7)
    answers = network(fitness.images / 255).argmax(1).numpy()
    assert fitness(()) == pytest.approx((answers == fitness.view.labels).mean())


@pytest.mark.parametrize("void", [0, 3])
def test_a_segmentation_of_numpy_and_of_torch_are_alike(void: int) -> None:
    data = coloured(void=void)
    network = torch.nn.Conv2d(3, 3, 1)
    with torch.no_grad():
        network.weight.copy_(torch.eye(3).view(3, 3, 1, 1))
        network.bias.zero_()
    of_maps = fitness_of(brightest, data, task="segmentation")
    of_shares = fitness_of(lambda images: images.transpose(0, 3, 1, 2) / 255, data, task="segmentation")
    of_torch = fitness_of(from_torch(network, task="segmentation", device="cpu"), data, batch=4)
    tuples = [(), ("red(120)", "red(120)"), ("blue(-120)", "blue(-120)"), ("invert()",)]
    expected = of_maps.many(tuples)
    assert expected[0] == 1
    assert expected[1] < 1
    assert of_shares.many(tuples) == of_torch.many(tuples) == expected
    assert confusion(of_torch).sum() == 6 * (8 - void) * 12
    assert fitness_of(brightest, data, "segmentation", "pixel_accuracy_per_image").many(tuples) == pytest.approx(
        expected
    )


def test_a_coarse_network_is_scaled_to_the_images() -> None:
    network = torch.nn.Sequential(torch.nn.AvgPool2d(4))
    model = from_torch(network, task="segmentation", device="cpu")
    images = torch.zeros(1, 3, 8, 8, dtype=torch.uint8)
    images[:, 0, :, :4] = images[:, 2, :, 4:] = 255
    assert model(images)[0].tolist() == [[0] * 4 + [2] * 4] * 8
    with pytest.raises(UserError, match=r"answered \[1, 192\] for 1 images; expected \[1, classes, height, width\]"):
        from_torch(torch.nn.Flatten(), task="segmentation", device="cpu")(images)


def test_label_maps_are_put_on_the_models_canvas_and_its_padding_has_no_label() -> None:
    data = coloured(size=(8, 8))
    model = from_callable(brightest, size=(16, 32), task="segmentation")
    padded = fitness_of(from_torch(torch.nn.Identity(), size=(16, 16), task="segmentation", device="cpu"), data)
    assert padded.images.shape == (6, 3, 16, 16)
    assert fitness_of(model, coloured(size=(8, 16)))(()) > 0.6  # bicubic scaling mixes colours at the edges
    from snellen.data import Canvas

    pad = from_torch(torch.nn.Identity(), canvas=Canvas(8, 12, "pad"), task="segmentation", device="cpu")
    fitness = fitness_of(pad, data)
    assert (fitness(()), confusion(fitness).sum()) == (1, 6 * 64)


def test_a_detector_without_torch_is_right_where_it_meets_the_box() -> None:
    fitness = fitness_of(white_boxes, squares(), task="detection")
    assert fitness.many([(), ("brightness(0.5)",), ("invert()",)]) == [1, 0, 0]
    anything = fitness_of(white_boxes, squares(boxed=False), task="detection")
    assert anything.many([(), ("brightness(0.5)",), ("invert()",)]) == [1, 0, 1]
    assert fitness_of(white_boxes, squares(), "detection", "any")(("invert()",)) == 1


def test_a_factory_in_a_file_may_say_its_task(tmp_path: Path) -> None:
    code = "import numpy as np\n\nclass Detector:\n    task = 'detection'\n    def __call__(self, images):\n"
    code += "        return [[(0, 0, 24, 24)] if image.max() > 250 else None for image in images]\n"
    (tmp_path / "boxes.py").write_text(code + "\ndef detector():\n    return Detector()\n")
    model = load_model(f"python:{tmp_path}/boxes.py:detector")
    assert model.card.task == "detection"
    assert fitness_of(f"python:{tmp_path}/boxes.py:detector", squares(boxed=False))(()) == 1


def test_a_function_of_images_may_be_the_metric() -> None:
    fitness = fitness_of(
        brightest, coloured(), "segmentation", lambda images, rows: images.float().mean((1, 2, 3)) / 255
    )
    assert fitness(("brightness(0.5)",)) == pytest.approx(fitness(()) / 2, abs=0.01)


def unlabelled() -> Dataset:
    content = {"images": np.zeros((4, 8, 8, 3), np.uint8), "labels": np.array([0, -1, 1, -1])}
    return from_arrays(content, "memory:some", "u")


def emptied(void: int) -> Dataset:
    return coloured(void=void)


CLASSES = from_callable(lambda images: np.ones((len(images), 2)), version="1")
BOXES = from_callable(white_boxes, task="detection", version="1")
MAPS = from_callable(brightest, task="segmentation", version="1")


@pytest.mark.parametrize(
    ("model", "data", "settings", "message"),
    [
        (
            CLASSES,
            unlabelled(),
            {},
            "memory:some: 2 of 4 images have no label, the first is '000001'; add labels or leave",
        ),
        (
            MAPS,
            unlabelled(),
            {},
            "memory:some has no label maps, which pixel_accuracy needs; give data with a class per pixel",
        ),
        (MAPS, emptied(8), {}, "6 of 6 images have no labelled pixel on the canvas, the first is 'picture0'"),
        (
            BOXES,
            unlabelled(),
            {"metric": "found"},
            "memory:some has no boxes, which metric 'found' needs; .*or metric 'any'",
        ),
        (BOXES, coloured(), {"metric": "accuracy"}, "unknown metric 'accuracy' for detection; known: found, any"),
        (
            MAPS,
            coloured(),
            {"task": "detection"},
            "is for segmentation, not for detection; make it with task='detection'",
        ),
        (np.ones, "phantom:test?size=8&n=2", {"task": "detection"}, "answered 16 lists|expected a list|failed"),
    ],
)
def test_what_is_missing_is_named(model: Any, data: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        fitness_of(model, data, **settings)


def test_recorded_answers_cannot_be_searched(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("sample,pred\n0,1\n")
    with pytest.raises(UserError, match="holds recorded answers; a search shows images that it never saw"):
        fitness_of(f"predictions:{tmp_path}/p.csv", WORLD)


def test_an_image_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "broken.png").write_bytes(b"no image")
    with pytest.raises(UserError, match=r"cannot show 'cat/broken.png': .*; leave it out"):
        fitness_of(from_callable(lambda images: np.ones((len(images), 1)), size=8, version="1"), f"folder:{tmp_path}")


@pytest.mark.parametrize(
    ("answers", "task", "message"),
    [
        (np.zeros((2, 8, 12)), "segmentation", r"float64 \[2, 8, 12\] for 2 images; expected whole class numbers \[2, 8, 12\]"),
        (np.zeros((2, 12, 8), int), "segmentation", "expected whole class numbers"),
        (np.full((2, 8, 12), 10**9), "segmentation", "answered class 1000000000; expected numbers below 100,000"),
        ([[]], "detection", "answered 1 lists for 2 images; expected one list of boxes per image"),
        ([[1, 2, 3, 4], []], "detection", r"expected a list of up to 10,000 boxes \[x0, y0, x1, y1\]"),
        ([[[1, 2, 3, float("nan")]], []], "detection", "expected a list of up to"),
        (["ab", []], "detection", "expected a list of up to"),
        (None, "detection", "answered NoneType for 2 images"),
        (np.zeros((2, 3)) + 1j, "classification", "answered complex numbers"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_refused(answers: Any, task: Any, message: str) -> None:
    model = from_callable(lambda images: answers, task=task, name="odd", version="1")
    with pytest.raises(UserError, match=f"model 'odd' .*{message}"):
        model(torch.zeros(2, 3, 8, 12, dtype=torch.uint8))


def test_audits_refuse_models_of_other_tasks() -> None:
    import snellen

    with pytest.raises(
        UserError, match="'occlusion' asks for the class of an image, and model '.*' is for detection; .*: shift"
    ):
        snellen.audit(BOXES, "phantom:test?size=24&n=6", "occlusion", quiet=True)


def test_answers_of_every_task_stand_for_a_callable() -> None:
    cards = [from_callable(brightest, task="segmentation").card, from_callable(white_boxes, task="detection").card]
    for card in cards:
        assert card.probes is not None
        assert len(card.probes) == 16
        assert len({len(row) for row in card.probes}) == 1
        json.dumps(card.to_json(), allow_nan=False)


def test_the_face_example_of_the_page_works_with_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("face_recognition")
    stand_in.face_locations = lambda image: [(y0, x1, y1, x0) for x0, y0, x1, y1 in white_boxes(image[None])[0]]  # type: ignore[attr-defined]  # fmt: skip
    monkeypatch.setitem(sys.modules, "face_recognition", stand_in)
    (code,) = [one for one in EXAMPLES if one.startswith("# faces.py")]
    (tmp_path / "faces.py").write_text(code)
    fitness = fitness_of(f"python:{tmp_path}/faces.py:detector", squares())
    assert fitness.many([(), ("brightness(0.5)",)]) == [1, 0]


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(EXAMPLES[0], names)
    assert re.fullmatch(r"[01]\.\d\d clean, 0\.\d\d under .+ \| .+ \| .+\n", capsys.readouterr().out)
    (report,) = [one for one in EXAMPLES if "segmentation(confusion(" in one]
    exec(report, {"fitness": fitness_of(brightest, coloured(), "segmentation"), "result": names["result"]})


def test_the_page_names_every_metric() -> None:
    for metrics in METRICS.values():
        assert all(f"`{metric}`" in PAGE for metric in metrics)
