"""`snellen match` and `snellen.match`: a proposal to look at, its label map in audits, and a look at what the model says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

import snellen
from snellen.models import Model, from_callable
from snellen.models.label_file import read_label_map

from ..commands import exit_code
from ..models.stored_networks import write

AUDITS = ["occlusion(areas=[0.3], fills=[black])"]
STEP = 50  # of grey, between classes


@pytest.fixture
def greys(tmp_path: Path) -> Callable[..., str]:
    """Data of plain grey images: class i of those named is 20 + 50 i."""

    def make(classes: Sequence[str], each: int = 12) -> str:
        labels = np.repeat(np.arange(len(classes)), each)
        images = np.broadcast_to((20 + STEP * labels)[:, None, None, None], (len(labels), 8, 8, 3)).astype(np.uint8)
        np.savez(tmp_path / "greys.npz", images=images, labels=labels, classes=np.array(classes))
        return f"arrays:{tmp_path}/greys.npz"

    return make


def reader(names: Sequence[str] | None, answers: Sequence[int], outputs: int = 0) -> Model:
    """A model that answers `answers[i]` to the i-th grey."""

    def read(images: np.ndarray) -> np.ndarray:
        level = np.rint((images.mean((1, 2, 3)) - 20) / STEP).astype(int).clip(0, len(answers) - 1)
        return np.eye(outputs or len(names or answers))[np.array(answers)[level]]

    return from_callable(read, names, version="1", name="reader")


def accuracy(model: Model, data: str, labels: Path | None = None) -> float:
    run = snellen.audit(model, data, AUDITS, quiet=True, device="cpu", labels=labels, report=False)
    return float(run.findings().set_index("name")["value"]["accuracy"])


def test_both_files_of_a_proposal_are_the_map_that_an_audit_reads(tmp_path: Path, greys: Callable[..., str]) -> None:
    names, data = ["dogs", "toad", "Cat", "crane"], greys(["cat", "dog", "wading_crane"])
    model = reader(names, [2, 0, 3])
    proposal = snellen.match(model, data)
    assert [match.outputs for match in proposal.classes] == [(2,), (0,), ()]
    assert proposal.classes[2].candidates == (3,)
    assert proposal.unused == (1, 3)
    for ending in (".csv", ".json"):
        proposal.save(tmp_path / f"map{ending}")
        read = read_label_map(tmp_path / f"map{ending}", names, ["cat", "dog", "wading_crane"])
        assert read == proposal.label_map
        assert accuracy(model, data, tmp_path / f"map{ending}") == pytest.approx(2 / 3)


def test_what_was_left_open_is_told_and_filled_in_by_hand(
    tmp_path: Path, greys: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    names, data = ["crane", "crane", "cat"], greys(["crane", "cat"])
    model = reader(names, [1, 2])
    snellen.match(model, data, out=tmp_path / "map.csv")
    lines = (tmp_path / "map.csv").read_text().splitlines()
    assert lines[1] == "crane,12,,,name,ambiguous,0 crane; 1 crane,,argmax,3"
    run = snellen.audit(
        model, data, AUDITS, out=tmp_path / "run", device="cpu", labels=tmp_path / "map.csv", report=False
    )
    assert (
        f"label map '{tmp_path}/map.csv' leaves out 1 of 2 classes of {data}, never right: crane"
        in capsys.readouterr().err
    )
    assert run.findings().set_index("name")["value"]["accuracy"] == pytest.approx(0.5)
    (tmp_path / "map.csv").write_text("\n".join([lines[0], lines[1].replace("12,,", "12,1,"), *lines[2:]]))
    assert accuracy(model, data, tmp_path / "map.csv") == 1


def test_a_model_without_names_keeps_its_number_of_outputs_in_the_map(
    tmp_path: Path, greys: Callable[..., str]
) -> None:
    data = greys(["0", "1", "2"])
    model = reader(None, [0, 1, 2], outputs=7)
    for ending in (".csv", ".json"):
        proposal = snellen.match(model, data, out=tmp_path / f"map{ending}")
        assert len(proposal.outputs) == 7
        assert accuracy(model, data, tmp_path / f"map{ending}") == 1


def test_a_look_finds_exchanged_names_and_the_order_of_classes(greys: Callable[..., str]) -> None:
    data = greys(["ant", "bee", "cat", "dog"])
    proposal = snellen.match(reader(["ant", "bee", "cat", "dog"], [0, 2, 1, 3]), data, look=10)
    assert [match.note for match in proposal.classes] == [
        "",
        "the model says 2 cat on 10 of 10 images",
        "the model says 1 bee on 10 of 10 images",
        "",
    ]
    assert proposal.notes[0] == "looked at 40 images: of the 40 of matched classes 20 are classified correctly"
    assert "look like the data's classes in another order" in proposal.notes[1]


def test_a_look_at_a_right_match_remarks_nothing(greys: Callable[..., str]) -> None:
    proposal = snellen.match(reader(["ant", "bee"], [0, 1]), greys(["ant", "bee"]), look=20)
    assert [match.note for match in proposal.classes] == ["", ""]
    assert proposal.notes == ("looked at 24 images: of the 24 of matched classes 24 are classified correctly",)


def test_one_odd_answer_is_no_remark(greys: Callable[..., str]) -> None:
    proposal = snellen.match(reader(["ant", "bee"], [1, 1]), greys(["ant", "bee"]), look=1)
    assert [match.note for match in proposal.classes] == ["", ""]


def test_a_look_tells_where_numbers_count_from(greys: Callable[..., str]) -> None:
    proposal = snellen.match(reader(list("abcd"), [0, 1]), greys(["1", "2"]), look=3)
    assert [match.note for match in proposal.classes] == [
        "the model says 0 a on 3 of 3 images",
        "the model says 1 b on 3 of 3 images",
    ]


def test_stated_names_are_those_of_objectnets_file(tmp_path: Path, greys: Callable[..., str]) -> None:
    """Its labels are written otherwise than its folders, several classes are joined by a semicolon, and it names more classes."""
    (tmp_path / "objectnet.json").write_text(
        json.dumps({"Alarm clock": "analog clock; digital clock", "Chair": "folding chair"})
    )
    model = reader(["digital clock", "analog clock", "cat"], [1, 2])
    proposal = snellen.match(model, greys(["alarm_clock", "cat"]), synonyms=tmp_path / "objectnet.json")
    assert [match.outputs for match in proposal.classes] == [(1, 0), (2,)]
    with pytest.raises(snellen.UserError, match="names none of the data's 1 classes: bee; check synonyms"):
        snellen.match(model, greys(["bee"]), synonyms=tmp_path / "objectnet.json")


def test_the_command_prints_the_table_and_what_is_left(
    tmp_path: Path, greys: Callable[..., str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(
        "import torch\nfrom snellen.models import from_torch\n\n"
        "def make():\n    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 4))\n"
        "    return from_torch(net, ['crane', 'crane', 'cat', 'frog'], 8)\n"
    )
    data = greys(["crane", "Cats", "unicorn"])
    assert exit_code(["match", "python:net.py:make", data, "--out", "map.json", "--device", "cpu"]) == 0
    out = capsys.readouterr().out
    assert "perhaps 0 crane, 1 crane" in out
    assert "– 1 by spelling, likely" in out
    assert "– 1 ambiguous, none taken: crane" in out
    assert "– 1 of the data without an output, never right: unicorn" in out
    assert "– 3 outputs of the model left over, wrong where answered: 0 crane; 1 crane; 3 frog" in out
    assert "audits take it by --labels map.json" in out
    assert json.loads((tmp_path / "map.json").read_text())["classes"] == {"crane": [], "Cats": [2], "unicorn": []}
    assert exit_code(["match", "python:net.py:make", data, "--json", "--device", "cpu"]) == 0
    assert json.loads(capsys.readouterr().out)["unused"] == [0, 1, 3]


def test_nothing_to_save_and_nothing_to_look_at_are_one_line(
    tmp_path: Path, greys: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = reader(["ant", "bee", "cat"], [0]), greys(["x", "y"])
    assert not any(match.outputs for match in snellen.match(model, data).classes)
    with pytest.raises(snellen.UserError, match="no class of .* was matched with one of model 'reader'"):
        snellen.match(model, data, out=tmp_path / "map.csv")
    with pytest.raises(snellen.UserError, match="as .csv or .json, got"):
        snellen.match(reader(["x", "y"], [0]), data, out=tmp_path / "map.txt")
    assert not list(tmp_path.glob("map*"))
    (tmp_path / "answers.csv").write_text("sample,pred\n0,x\n")
    assert exit_code(["match", f"predictions:{tmp_path}/answers.csv", data]) == 2
    assert capsys.readouterr().err.count("\n") == 1


class Grey(torch.nn.Module):
    """Names the grey of an image, of three."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        levels = (20 + STEP * torch.arange(3.0)) / 255
        return -100 * (images.mean((1, 2, 3))[:, None] - levels) ** 2


def test_the_order_of_classes_of_a_network_in_a_file_is_doubted(tmp_path: Path, greys: Callable[..., str]) -> None:
    pytest.importorskip("onnxruntime")
    text = f"onnx:{write(Grey(), tmp_path / 'net.onnx', 8)}#mean=0&std=1&classes="
    data = greys(["ant", "bee", "cat"], each=20)
    for classes, exchanged in (("ant,bee,cat", False), ("bee,cat,ant", True)):
        run = snellen.audit(text + classes, data, AUDITS, quiet=True, device="cpu", report=False)
        assert ("class_order" in [warning["name"] for warning in run.results()["warnings"]]) == exchanged
        proposal = snellen.match(text + classes, data, look=20, device="cpu")
        assert any("in another order" in note for note in proposal.notes) == exchanged
