"""A fitness from texts or objects, for every task; and searches with it that go on after a black box failed."""

from __future__ import annotations

import csv
import json
import re
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from snellen.data import Dataset, Photo, Samples, from_arrays
from snellen.errors import UserError
from snellen.models import from_callable, from_torch, load_model
from snellen.models.adapters.http import from_address
from snellen.models.remote.address import parse_address
from snellen.models.remote.client import Client
from snellen.search import confusion, fitness_of
from snellen.search.algorithms import RandomSearch
from snellen.search.history import History
from snellen.search.run_search import Search
from snellen.search.space import SPACES
from snellen.search.task_fitness import METRICS

from ..models.service import Server, brightness, serve

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "search-models.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)
WORLD = "phantom:test?size=24&n=30"


def coloured(count: int = 6, size: tuple[int, int] = (8, 12), void: int = 0) -> Dataset:
    """Pixels red, green or blue with the label map that says so; the first `void` rows of pixels have no label."""
    maps = np.random.default_rng(0).integers(0, 3, (count, *size))
    images = (np.eye(3)[maps] * 200 + 20).astype(np.uint8)
    maps[:, :void] = -100
    photos = [Photo(image, "", maps={"labels": one}) for image, one in zip(images, maps)]
    samples = Samples(tuple(f"picture{row}" for row in range(count)), np.full(count, -1, np.int64))
    return Dataset(
        "memory:colours", ("red", "green", "blue"), samples, f"c{count}", lambda rows: [photos[r] for r in rows],
        size=size, facts=frozenset({"labels"}),
    )  # fmt: skip


def squares(count: int = 8, boxed: bool = True) -> Dataset:
    """A white square on black in each image, with its box."""
    random = np.random.default_rng(1)
    images, boxes = np.zeros((count, 24, 24, 3), np.uint8), np.zeros((count, 1, 4))
    for row, (top, left) in enumerate(random.integers(0, 14, (count, 2))):
        images[row, top : top + 10, left : left + 10] = 255
        boxes[row, 0] = left, top, left + 10, top + 10
    content = {"images": images, "labels": np.zeros(count, np.int64)} | ({"boxes": boxes} if boxed else {})
    return from_arrays(content, "memory:squares", "s")


def white_boxes(images: np.ndarray) -> list[list[list[int]]]:
    """A detector without torch: the box around what is brighter than 220."""
    answers: list[list[list[int]]] = []
    for image in images:
        rows, columns = np.nonzero(image.min(-1) > 220)
        answers.append([[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]] if len(rows) else [])
    return answers


def brightest(images: np.ndarray) -> np.ndarray:
    """A segmentation without torch."""
    return images.argmax(-1)


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
        UserError, match="is for detection, and audits ask for the class of an image; search for what breaks"
    ):
        snellen.audit(BOXES, "phantom:test?size=24&n=6", quiet=True)


def test_answers_of_every_task_stand_for_a_callable() -> None:
    cards = [from_callable(brightest, task="segmentation").card, from_callable(white_boxes, task="detection").card]
    for card in cards:
        assert card.probes is not None
        assert len(card.probes) == 16
        assert len({len(row) for row in card.probes}) == 1
        json.dumps(card.to_json(), allow_nan=False)


class Moody:
    """A black box that fails at some of its calls."""

    def __init__(self, failures: Sequence[int]) -> None:
        self.failures, self.calls = set(failures), 0

    def __call__(self, images: np.ndarray) -> list[Any]:
        self.calls += 1
        if self.calls in self.failures:
            raise ConnectionError("the line is dead")
        return [[[0, 0, 1, 1]] if image.max(-1).argmax() % 24 < 7 or image.max() > 200 else [] for image in images]


def searched(box: Moody, history: History | None = None) -> Any:
    fitness = fitness_of(from_callable(box, task="detection", version="1"), squares(), metric="any", batch=8)
    return Search(SPACES["faces"], 3, RandomSearch(12), seed=2, at_once=1).run(fitness, history)


def test_a_black_box_that_fails_now_and_then_is_asked_again_and_the_search_is_the_same() -> None:
    calm, moody = Moody([]), Moody([2, 3, 7])
    assert searched(moody) == searched(calm)
    assert moody.calls == calm.calls + 3


def test_a_black_box_that_breaks_loses_nothing(tmp_path: Path) -> None:
    whole = searched(Moody([]))
    facts = {"search": "moody"}
    broken = Moody(range(5, 1000))
    with pytest.raises(
        UserError, match=r"failed 3 times \(ConnectionError: the line is dead\); fix the model and run the same"
    ):
        searched(broken, History(facts, tmp_path / "history.jsonl"))
    stored = History(facts, tmp_path / "history.jsonl").evaluations
    assert len(stored) == 4
    again = Moody([])
    resumed = searched(again, History(facts, tmp_path / "history.jsonl"))
    assert (resumed.best, resumed.value, resumed.history) == (whole.best, whole.value, whole.history)
    assert resumed.history[: len(stored)] == tuple(stored)
    assert again.calls == 12 - len(stored)


class Impatient(Client):
    """A client that waits for six answers (to 16 probe images and five evaluations), and then hardly at all."""

    posts = 0

    def post(self, body: bytes) -> bytes:
        self.posts += 1
        if self.posts == 7:
            self._close()
            self.address = replace(self.address, timeout=0.01)
        return super().post(body)


def test_a_service_that_hangs_in_the_middle_of_a_search_loses_nothing(tmp_path: Path) -> None:
    gate, answers = threading.Event(), iter(range(6))

    def hang_later(body: bytes) -> Any:
        if next(answers, None) is None:
            gate.wait()
        return brightness(body)

    content = {"images": np.full((8, 8, 8, 3), 150, np.uint8), "labels": np.ones(8, np.int64)}
    data = from_arrays(content | {"classes": np.array(["dark", "bright"])}, "memory:grey", "g")

    def search(server: Server, kind: type[Client]) -> Any:
        address = parse_address(f"{server.url}#timeout=600&retries=0")
        fitness = fitness_of(from_address(address, kind(address)), data, batch=8)
        history = History({"data": "grey"}, tmp_path / "history.jsonl")
        return Search(SPACES["mnist"], 2, RandomSearch(9), seed=1, at_once=1, stop=-1).run(fitness, history)

    with serve(hang_later) as server:
        with pytest.raises(
            UserError, match="did not answer within 0.01 s, the time-out; check the service, then run the same"
        ):
            search(server, Impatient)
        gate.set()
    assert len(History({"data": "grey"}, tmp_path / "history.jsonl").evaluations) == 5
    with serve() as server:
        resumed = search(server, Client)
        assert len(server.requests) == 1 + 9 - 5
    assert len(resumed.history) == 9


def test_cat_faces_are_detected_and_hidden_by_edits(shared: Path, tmp_path: Path) -> None:
    """OpenCV's cascade on real cats: some faces are detected, edits hide them, and a search finds such edits."""
    with (shared / "pets" / "boxes.csv").open() as file:
        cats = [row for row in csv.DictReader(file) if row["species"] == "cat"]
    lines = [
        f"{row['file']},cat,{','.join(row[f'head_{end}'] for end in ('xmin', 'ymin', 'xmax', 'ymax'))}" for row in cats
    ]
    (tmp_path / "cats.csv").write_text("\n".join(["path,label,x0,y0,x1,y1", *lines]) + "\n")
    data = f"manifest:{tmp_path}/cats.csv?root={shared}/pets"
    fitness = fitness_of("opencv:frontalcatface#size=96&neighbours=1", data, metric="any")
    clean = fitness(())
    assert 0.1 < clean < 0.9
    assert fitness_of("opencv:frontalcatface#size=96&neighbours=1", data)(()) <= clean  # the box must fit as well
    result = Search(SPACES["faces"], 3, RandomSearch(4), seed=0).run(fitness)
    assert result.value < clean


def test_a_cascade_is_named_with_its_settings() -> None:
    model = load_model("cats=opencv:frontalcatface#size=48")
    assert (model.name, model.card.task, str(model.canvas)) == ("cats", "detection", "48x48 crop 48 bicubic")
    other = load_model("opencv:haarcascade_frontalcatface.xml#neighbours=0&scale=1.5")
    assert model.card.fingerprint != other.card.fingerprint
    assert model(torch.zeros(2, 3, 48, 48, dtype=torch.uint8)).shape == (2, 0, 4)
    for text, message in (
        ("opencv:frontalcatfase", "unknown OpenCV cascade 'frontalcatfase'; did you mean 'frontalcatface'"),
        ("opencv:frontalcatface#size=x", "'opencv:frontalcatface': expected size in pixels"),
        ("opencv:frontalcatface#grade=1", "unknown setting of 'opencv:frontalcatface' 'grade'"),
    ):
        with pytest.raises(UserError, match=message):
            load_model(text)


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
