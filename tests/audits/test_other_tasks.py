"""Segmentation and detection models under audit: scores of cells, mIoU from the stored counts, searches and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image

import snellen
from snellen.audits import AUDITS
from snellen.data import Dataset, from_arrays, load_data
from snellen.data.dataset import Photo, Samples
from snellen.engine.keep.shard_file import read_rows, write_table
from snellen.errors import UserError
from snellen.measure import segmentation, segmentation_of_counts
from snellen.models import Model, from_callable, from_torch
from snellen.models.pixel_counts import class_counts, confusion_of, right_share
from snellen.search import confusion, fitness_of

from ..commands import exit_code
from ..search.toys import brightest, coloured, squares, white_boxes

SEARCH = "shift(set=mnist, length=2, random=20, evaluations=20, images=6)"
MOVING = {"rotate": [20], "shift({}, 0.25)": [0.25], "red": [-60, 60]}


def four_pixels() -> tuple[np.ndarray, np.ndarray]:
    """Three images of 2 × 2 pixels: labels (−100: none), and what a model answers (−1: none of the classes).

    labels   0 1   0 0   2 -      answers  0 1   1 0   2 0
             1 -   2 2   1 1               2 0   2 -1  2 1
    """
    labels = np.array([[[0, 1], [1, -100]], [[0, 0], [2, 2]], [[2, -100], [1, 1]]])
    answers = np.array([[[0, 1], [2, 0]], [[1, 0], [2, -1]], [[2, 0], [2, 1]]])
    return labels, answers


def painted() -> Dataset:
    """The four-pixel images; the red of a pixel is the answer that `read_red` gives, + 1."""
    labels, answers = four_pixels()
    images = np.zeros((3, 2, 2, 3), np.uint8)
    images[..., 0] = answers + 1
    photos = [Photo(image, "", maps={"labels": one.astype(np.int16)}) for image, one in zip(images, labels)]
    samples = Samples(("a", "b", "c"), np.full(3, -1, np.int64))
    return Dataset(
        "memory:four", ("sky", "road", "car"), samples, "four", lambda rows: [photos[r] for r in rows], size=(2, 2),
        facts=frozenset({"labels"}),
    )  # fmt: skip


def read_red(images: np.ndarray) -> np.ndarray:
    return images[..., 0].astype(np.int64) - 1


def segmenter(function: Any = brightest, **more: Any) -> Model:
    return from_callable(function, task="segmentation", version="1", **more)


def detector() -> Model:
    return from_callable(white_boxes, task="detection", version="1", name="boxes")


def audit(model: Any, data: Any, audits: Any = SEARCH, **more: Any) -> snellen.Run:
    return snellen.audit(model, data, audits, quiet=True, **{"report": False, **more})


def facts(run: snellen.Run, name: str) -> dict[str, Any]:
    (one,) = [one for one in run.results()["findings"] if one["name"] == name]
    return {**one["facts"], "value": one["value"], "n": one["n"], "interference": one["interference"]}


def stored(run: snellen.Run, distortion: str) -> Any:
    text = distortion.replace("'", "''")
    return run.sql(
        f"select sample, pred, raw, score, confidence, counts from answers join cells using (cell) where distortion = '{text}' "
        "order by sample"
    )


def test_four_pixels_worked_by_hand() -> None:
    run = audit(segmenter(read_red), painted(), "shift(set=mnist, length=1, random=0, evaluations=10, images=3)")
    table = stored(run, "none()")
    assert table["score"].tolist() == pytest.approx([2 / 3, 2 / 4, 2 / 3])
    assert set(table["pred"]) == set(table["raw"]) == {-1}
    assert table["confidence"].isna().all()
    # true positives of sky, road, car; then false positives; then false negatives
    assert [list(row) for row in table["counts"]] == [
        [1, 1, 0, 0, 0, 1, 0, 1, 0],
        [1, 0, 1, 0, 1, 0, 1, 0, 1],
        [0, 1, 1, 0, 0, 1, 0, 1, 0],
    ]
    clean = facts(run, "accuracy")
    assert clean["value"] == pytest.approx((2 / 3 + 1 / 2 + 2 / 3) / 3)
    assert clean["pixel_accuracy"] == pytest.approx(6 / 10)
    assert list(clean["iou"].values()) == pytest.approx([2 / 3, 2 / 5, 2 / 5])
    assert clean["miou"] == pytest.approx((2 / 3 + 2 / 5 + 2 / 5) / 3)
    assert clean["interference"] is None


def test_counts_of_four_pixels_are_those_of_the_confusion() -> None:
    labels, answers = (torch.from_numpy(one) for one in four_pixels())
    truth = torch.where(labels < 0, 0, labels + 1)
    counts, table = class_counts(answers, truth, 3).numpy(), confusion_of(answers, truth, 3).numpy()
    of_counts, of_table = segmentation_of_counts(counts), segmentation(table)
    for name in ("tp", "fp", "fn", "iou"):
        assert np.array_equal(getattr(of_counts, name), getattr(of_table, name), equal_nan=True)
    assert (of_counts.value, of_counts.low, of_counts.high) == (of_table.value, of_table.low, of_table.high)
    assert right_share(answers, truth).tolist() == pytest.approx([2 / 3, 1 / 2, 2 / 3])
    assert right_share(answers, torch.zeros_like(truth)).isnan().all()


@pytest.mark.parametrize("space", ["mnist", "moving"])
def test_the_worst_edits_are_cells_whose_numbers_are_those_of_the_search(tmp_path: Path, space: str) -> None:
    """The stored answers against another road to the same numbers: a fitness of the whole data, and its confusion."""
    if space == "moving":
        space = str(tmp_path / "moving.yaml")
        Path(space).write_text(json.dumps(MOVING))
    data = coloured(8, size=(12, 12), void=3)
    run = audit(segmenter(), data, f"shift(set='{space}', length=2, random=20, evaluations=20, images=0)")
    worst = facts(run, "worst_accuracy")
    edits = tuple(str(snellen.distort.parse(one)) for one in worst["edits"][0].split(" | "))
    fitness = fitness_of(segmenter(), data, metric="pixel_accuracy_per_image")
    measured = segmentation(confusion(fitness, edits))
    assert worst["miou"] == pytest.approx(measured.miou)
    assert worst["pixel_accuracy"] == pytest.approx(measured.pixel_accuracy.value)
    assert list(worst["iou"].values()) == pytest.approx(measured.iou.tolist())
    assert worst["miou_interval"] == pytest.approx([measured.low, measured.high])
    assert worst["value"] == pytest.approx(fitness(edits), abs=1e-6)
    searches = run.sql("select edits, value from searches")
    assert searches["value"].min() == pytest.approx(fitness(edits), abs=1e-6)
    some = searches.sample(5, random_state=0)
    assert some["value"].tolist() == pytest.approx(
        fitness.many([tuple(e.split(" | ")) for e in some["edits"]]), abs=1e-6
    )


def test_a_torch_network_and_a_black_box_give_the_same_answers() -> None:
    network = torch.nn.Conv2d(3, 3, 1)
    with torch.no_grad():
        network.weight.copy_(torch.eye(3).view(3, 3, 1, 1))
        network.bias.zero_()
    other = from_torch(network, task="segmentation", device="cpu", name="network")
    run = audit([segmenter(name="plain"), other], coloured(8), SEARCH)
    assert {one["value"] for one in run.results()["findings"] if one["name"] == "difference"} == {0}
    assert not [one for one in run.results()["findings"] if one["interference"]]


def test_a_model_of_other_classes_is_read_through_a_label_map() -> None:
    model = segmenter(classes=("blue", "green", "red"))  # answers 0 for red, which it calls blue
    table = stored(audit(model, coloured(4), ()), "none()")
    counts = np.stack(table["counts"]).sum(0)
    assert counts[:3].tolist()[0] == counts[2] == 0
    assert counts[1] > 0


def test_a_detector_is_scored_by_what_it_finds() -> None:
    run = audit(detector(), squares(10), "shift(set=faces, length=2, random=30, evaluations=20, images=10)")
    table = run.sql("select score from answers join cells using (cell) where distortion = 'none()'")
    assert set(table["score"]) == {1.0}
    worst = facts(run, "worst_accuracy")
    fitness = fitness_of(detector(), squares(10))
    assert worst["value"] == fitness(tuple(worst["edits"][0].split(" | ")))
    assert worst["value"] < 1
    assert "miou" not in worst
    assert facts(run, "random_worst")["edits"] in set(run.sql("select distortion from cells")["distortion"])


def test_without_boxes_any_detection_counts_and_a_notice_says_so() -> None:
    run = audit(detector(), squares(6, boxed=False), ())
    assert facts(run, "accuracy")["value"] == 1
    assert "wherever anything is detected" in run.results()["notices"][0]


def test_an_image_without_a_box_counts_nowhere() -> None:
    images = np.zeros((4, 24, 24, 3), np.uint8)
    boxes = np.full((4, 1, 4), np.nan)
    images[0, 4:14, 4:14], boxes[0] = 255, (4, 4, 14, 14)
    boxes[1] = (2, 2, 12, 12)
    data = load_data("phantom:test?size=24&n=4")
    photos = [Photo(one, "", boxes=some[~np.isnan(some[:, 0])]) for one, some in zip(images, boxes)]
    samples = Samples(tuple("abcd"), np.zeros(4, np.int64))
    data = Dataset(
        "memory:few", ("thing",), samples, "few", lambda rows: [photos[r] for r in rows], size=(24, 24),
        facts=frozenset({"boxes"}),
    )  # fmt: skip
    run = audit(detector(), data, ())
    assert (facts(run, "accuracy")["value"], facts(run, "accuracy")["n"]) == (0.5, 2)
    assert run.sql("select count(*) as n from answers where score is null")["n"].tolist() == [2]


def test_a_stopped_run_goes_on_and_a_whole_one_asks_nothing(tmp_path: Path) -> None:
    calls: list[int] = []

    def failing(images: np.ndarray) -> np.ndarray:
        calls.append(len(images))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return brightest(images)

    def counting(images: np.ndarray) -> np.ndarray:
        calls.append(len(images))
        return brightest(images)

    whole = audit(segmenter(name="m"), coloured(8), SEARCH, out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        audit(segmenter(failing, name="m"), coloured(8), SEARCH, out=tmp_path / "run")
    run = audit(segmenter(counting, name="m"), coloured(8), SEARCH, out=tmp_path / "run")
    assert run.findings().equals(whole.findings())
    calls.clear()
    audit(segmenter(counting, name="m"), coloured(8), SEARCH, out=tmp_path / "run")
    assert calls == []


def test_a_model_that_fails_on_an_image_is_asked_one_by_one() -> None:
    def odd(images: np.ndarray) -> list[Any]:
        if (images[:, 0, 0, 0] == 7).any():
            raise RuntimeError("sevens")
        return white_boxes(images)

    images, boxes = np.zeros((30, 24, 24, 3), np.uint8), np.zeros((30, 1, 4))
    images[:, 5:15, 5:15], boxes[:, 0] = 255, (5, 5, 15, 15)
    images[4] = 0
    images[3, 0, 0] = 7
    data = from_arrays({"images": images, "labels": np.zeros(30, int), "boxes": boxes}, "memory:odd", "o")
    run = audit(from_callable(odd, task="detection", version="1"), data, ())
    assert (facts(run, "accuracy")["n"], facts(run, "accuracy")["value"]) == (29, pytest.approx(28 / 29))


@pytest.mark.parametrize("name", [name for name, audit in AUDITS.items() if audit.tasks == ("classification",)])
def test_audits_of_classes_refuse_before_anything_is_asked(name: str, tmp_path: Path) -> None:
    def never(images: np.ndarray) -> np.ndarray:
        raise AssertionError("asked")

    with pytest.raises(
        UserError, match=f"the audit '{name}' asks for the class of an image, .*for segmentation; .*: shift"
    ):
        audit(segmenter(never), coloured(), name, out=tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize(
    ("model", "data", "more", "message"),
    [
        (segmenter(), squares(), {}, "has no label maps, which a model for segmentation is compared with"),
        (segmenter(), coloured(), {"keep": "top5"}, "--keep top5 stores answers of classifiers"),
        (
            [segmenter(), detector()],
            coloured(),
            {},
            "is for segmentation, 'boxes' for detection, and their numbers cannot",
        ),
        (segmenter(), coloured(), {"audits": "shift(references=true)"}, "leave references out"),
        ("observer:shape", coloured(), {}, "has a label, so no answer can be right or wrong"),
    ],
)
def test_what_does_not_fit_the_task_is_refused(model: Any, data: Dataset, more: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        audit(model, data, more.pop("audits", SEARCH), **more)


def drawn(page: str, words: str) -> int:
    """Pictures with these words; one that stands twice on the page is drawn from the first."""
    return page.count(f'alt="{words}"') + page.count(f'aria-label="{words}"')


def test_the_report_shows_inputs_truth_and_answers(tmp_path: Path) -> None:
    run = audit(segmenter(name="seg"), coloured(8), SEARCH, out=tmp_path / "seg", report=True)
    page = (run.path / "report.html").read_text()
    for words in (
        "Inputs, truth and answers",
        "Clean pixel accuracy",
        "mIoU",
        "3 classes with their colours",
        "IoU clean",
    ):
        assert words in page
    for words in ("What to trust", "chance (", "without a label", "noise yardstick", "DI:"):
        assert words not in page
    assert drawn(page, "truth") == drawn(page, "image") >= 8
    run = audit(detector(), squares(10), SEARCH, out=tmp_path / "det", report=True)
    page = (run.path / "report.html").read_text()
    assert "Found and not found" in page
    assert "✓ found" in page
    assert "✗ not found" in page


def test_a_search_from_the_command_line(tmp_path: Path) -> None:
    """Two folders and a file without torch; the four-pixel images again, as PNG files."""
    labels, answers = four_pixels()
    for name in ("images", "labels"):
        (tmp_path / name).mkdir()
    for row in range(3):
        pixels = np.zeros((2, 2, 3), np.uint8)
        pixels[..., 0] = answers[row] + 1
        Image.fromarray(pixels).save(tmp_path / "images" / f"{row}.png")
        Image.fromarray(np.where(labels[row] < 0, 255, labels[row]).astype(np.uint8)).save(
            tmp_path / "labels" / f"{row}.png"
        )
    code = "from snellen.models import from_callable\n\ndef segment(images):\n    return images[..., 0].astype('int64') - 1\n"
    code += "\ndef factory():\n    return from_callable(segment, size=2, task='segmentation')\n"
    (tmp_path / "own.py").write_text(code)
    command = [
        "search", f"python:{tmp_path}/own.py:factory", "--data", f"pairs:{tmp_path}/images,{tmp_path}/labels?ignore=255",
        "--length", "2", "--random", "10", "--evaluations", "10", "--images", "0", "--out", str(tmp_path / "run"), "--quiet",
    ]  # fmt: skip
    assert exit_code(command) == 0
    run = snellen.load_run(tmp_path / "run")
    assert facts(run, "accuracy")["pixel_accuracy"] == pytest.approx(6 / 10)
    assert facts(run, "worst_accuracy")["value"] <= facts(run, "accuracy")["value"]


def test_the_protocol_of_faces_searches_four_sets_of_images(tmp_path: Path) -> None:
    """Shortened to 4 × 10 images; what is found on each set, again with a fitness of that set alone."""
    data = squares(40)
    images, boxes = zip(*((one.image, one.boxes) for one in data.read(range(40))))  # type: ignore[union-attr]
    dim = (np.stack(images) * np.linspace(0.3, 1, 40)[:, None, None, None]).astype(np.uint8)
    content = {"images": dim, "labels": np.zeros(40, int), "boxes": np.stack(boxes)}
    np.savez(tmp_path / "squares.npz", **content)
    (tmp_path / "own.py").write_text(
        "import numpy as np\nfrom snellen.models import from_callable\n\ndef detect(images):\n    answers = []\n"
        "    for image in images:\n        grey = image.mean(-1)\n        far = np.ptp(grey) > 60\n"
        "        rows, columns = np.nonzero((grey > (grey.min() + grey.max()) / 2) & far)\n"
        "        answers.append([[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]] if len(rows) else [])\n"
        "    return answers\n\ndef factory():\n    return from_callable(detect, task='detection')\n"
    )
    model, text = f"python:{tmp_path}/own.py:factory", f"arrays:{tmp_path}/squares.npz"
    command = [
        "search",
        model,
        "--data",
        text,
        "--protocol",
        "faces",
        "--scale",
        "0.01",
        "--restarts",
        "1",
        "--random",
        "40",
    ]
    assert exit_code([*command, "--length", "5", "--out", str(tmp_path / "run"), "--quiet"]) == 0
    run = snellen.load_run(tmp_path / "run")
    chance, worst = facts(run, "random_worst"), facts(run, "worst_accuracy")
    assert (worst["protocol"], worst["length"], worst["set"]) == ("faces at scale 0.01", 5, "faces")
    tables = run.sql("select distortion, edits, value from searches join cells using (cell)")
    by_search = dict(list(tables[tables["distortion"].str.contains("algorithm=rs")].groupby("distortion")))
    assert len(by_search) == 4
    assert max(len(one) for one in by_search.values()) == 40  # one that reaches 0 stops
    assert tables["value"].nunique() > 4
    whole = load_data(text)
    order = np.argsort(whole.samples.keys, kind="stable")
    lowest = []
    for search, rows in by_search.items():
        subset = int(search.partition("subset=")[2].rstrip(")") or 0)
        fitness = fitness_of(model, whole.at(np.sort(order[10 * subset : 10 * subset + 10])))
        some = rows.sample(10, random_state=0)
        assert some["value"].tolist() == fitness.many([tuple(one.split(" | ")) for one in some["edits"]])
        lowest.append((subset, rows["value"].min()))
    assert chance["random_on"] == [[value for _, value in sorted(lowest)]]
    assert chance["value"] == pytest.approx(np.mean([value for _, value in lowest]))
    assert facts(run, "searched_worst")["value"] == pytest.approx(np.mean(worst["searched_on"]))
    with pytest.raises(UserError, match=r"looks at 11 images after 33 others, and .* has 40; search fewer images"):
        audit(model, text, "shift(set=faces, length=1, random=0, evaluations=10, images=11, subsets=4)")


@pytest.mark.parametrize("wrong", [[1, 2], [-1] * 9, None])
def test_counts_that_do_not_fit_the_classes_are_refused(tmp_path: Path, wrong: Any) -> None:
    """A file of our own making with other counts, under a name that fits its checksum."""
    run = audit(segmenter(), coloured(4), (), out=tmp_path / "run")
    (file,) = run.store.files("answers")
    table = read_rows(file)
    odd = pa.array([wrong, *table["counts"].to_pylist()[1:]], pa.list_(pa.int32()))
    write_table(file.parent, 0, table.set_column(table.column_names.index("counts"), "counts", odd))
    with pytest.raises(UserError, match=r"do not fit its 3 classes|is damaged or missing"):
        audit(segmenter(), coloured(4), (), out=tmp_path / "run")
