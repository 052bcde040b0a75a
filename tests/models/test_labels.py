"""Label maps: names, synonyms, positions, rules; wrong is wrong and never dropped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from snellen.errors import UserError
from snellen.models.label_file import read_label_map
from snellen.models.labels import LabelMap, match_classes

KNOWN = ["tench, Tinca tinca, n01440764", "goldfish, n01443537", "great white shark, n01484850"]


def test_the_same_names_in_the_same_order_need_no_map() -> None:
    assert match_classes(["a", "b"], ["a", "b"], "m") == (LabelMap(2), [])


def test_names_match_by_synonym_whatever_their_case_and_joints() -> None:
    label_map, warnings = match_classes(KNOWN, ["Great_White-Shark", "n01440764"], "m")
    assert label_map.targets == (1, -1, 0)
    assert warnings == []


def test_a_class_the_model_does_not_know_is_warned_of() -> None:
    label_map, warnings = match_classes(KNOWN, ["goldfish", "unicorn"], "m")
    assert label_map.targets == (-1, 0, -1)
    assert warnings == ["1 of 2 classes are unknown to model 'm' and can never be right: unicorn"]


def test_other_names_in_the_same_number_match_by_position_with_a_warning() -> None:
    label_map, warnings = match_classes(["x", "y"], ["a", "b"], "m")
    assert label_map == LabelMap(2)
    assert "matched by position" in warnings[0]


def test_nothing_in_common_is_refused_with_the_way_out() -> None:
    with pytest.raises(
        UserError, match=r"none of the data's 2 classes \('cat', …\) is among the 3 of model 'm'.*--labels"
    ):
        match_classes(KNOWN, ["cat", "dog"], "m")


PROBABILITIES = torch.tensor([[0.4, 0.3, 0.25, 0.05], [0.1, 0.2, 0.3, 0.4]])


@pytest.mark.parametrize(
    ("rule", "pred", "confidence", "label_prob"),
    [
        # Outputs 1 and 2 are class 0, output 3 is class 1, output 0 is none of them; labels 0 and 1.
        ("argmax", [-1, 1], [0.4, 0.4], [0.55, 0.4]),
        ("sum", [0, 0], [0.55, 0.5], [0.55, 0.4]),
        ("mean", [0, 1], [0.275, 0.4], [0.275, 0.4]),
    ],
)
def test_the_rules_on_a_hand_worked_example(rule: str, pred: list, confidence: list, label_prob: list) -> None:
    label_map = LabelMap(2, rule, (-1, 0, 0, 1))  # type: ignore[arg-type]
    reading = label_map.read(PROBABILITIES, torch.tensor([0, 1]))
    assert reading.pred.tolist() == pred
    assert reading.raw.tolist() == [0, 3]
    assert reading.confidence.tolist() == pytest.approx(confidence)
    assert reading.label_prob.tolist() == pytest.approx(label_prob)


def test_a_map_file_names_outputs_by_number_or_name(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"rule": "mean", "classes": {"fish": [0, "goldfish"], "shark": ["n01484850"]}}))
    label_map = read_label_map(path, KNOWN, ["shark", "fish"])
    assert (label_map.rule, label_map.targets) == ("mean", (1, 1, 0))
    path.write_text(json.dumps({"map": {"0": "fish", "1": -1, "2": "shark"}}))
    assert read_label_map(path, KNOWN, ["shark", "fish"]).targets == (1, -1, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "map.json cannot be read as JSON: "),
        ('{"rule": "max", "classes": {}}', "rule: invalid enum value 'max'"),
        ("{}", "expected .*argmax|mean|sum"),
        ("null", "expected object, got null"),
        ('{"classes": {"fish": 0}}', r"classes\['fish'\]: expected array, got int"),
        ('{"map": {"0": ["fish"]}}', r"map\[...\]: expected int | str | null, got array"),
        ('{"map": {"0": "fish", "0": "fish"}}', "has the key '0' twice in one object"),
        ('{"classes": {"fish": [0, "tench"]}}', "names the model's output 0 twice, for 'fish' and for 'fish'"),
        ('{"classes": {"fish": [9]}}', "names the model class '9', which the model does not have"),
        ('{"classes": {"fsh": [0]}}', "names the data class 'fsh'; the data has: fish"),
    ],
)
def test_bad_map_files_are_told(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "map.json").write_text(content)
    with pytest.raises(UserError, match=message):
        read_label_map(tmp_path / "map.json", KNOWN, ["fish"])
