"""Label maps: names, synonyms, positions, rules; wrong is wrong and never dropped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torchvision.models import ResNet18_Weights

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


def test_numbered_folders_match_by_their_number_however_they_are_sorted() -> None:
    """Folders sort as words: ImageNet-V2's begin 0, 1, 10, 100."""
    wanted = ["0", "1", "10", "2"]
    label_map, notices = match_classes([f"class {i}" for i in range(11)], wanted, "m")
    assert label_map.targets == (0, 1, 3, -1, -1, -1, -1, -1, -1, -1, 2)
    assert notices == ["4 of 4 classes are matched with those of model 'm' by number; see `snellen match`"]
    assert match_classes(list("abcd"), ["1", "2", "3", "4"], "m") == (LabelMap(4), [])
    assert match_classes(list("ab"), ["7", "9"], "m") == (LabelMap(2), [])  # by position: no number fits


def test_lists_that_are_the_same_match_one_to_one_though_a_name_stands_twice() -> None:
    assert match_classes(["crane", "crane", "cat"], ["crane", "crane", "cat"], "m") == (LabelMap(3), [])


def test_a_name_of_several_outputs_takes_the_first_with_a_warning() -> None:
    label_map, notices = match_classes(["crane, n02012849", "crane, n03126707"], ["crane"], "m")
    assert label_map.targets == (0, -1)
    assert "bear a name of several classes of model 'm', of which the first is taken: 'crane' (0, 1)" in notices[0]


def test_two_classes_that_bear_one_name_are_told_apart_by_the_rest() -> None:
    label_map, _ = match_classes(["tench", "Cardigan", "cardigan"], ["Cardigan", "cardigan", "tench"], "m")
    assert label_map.targets == (2, 0, 1)


def test_ids_match_a_model_of_words_in_imagenets_order() -> None:
    words = list(ResNet18_Weights.IMAGENET1K_V1.meta["categories"])
    label_map, notices = match_classes(words, ["n02012849", "n01440764"], "m")
    assert (label_map.targets or ())[0] == 1
    assert (label_map.targets or ())[134] == 0
    assert notices == ["2 of 2 classes are matched with those of model 'm' by WordNet id; see `snellen match`"]


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
        ('{"outputs": 4, "classes": {"fish": [0]}}', "is for a model with 4 outputs, this one has 3"),
        ('{"classes": {"fsh": [0]}}', "names the data class 'fsh'; the data has: fish"),
    ],
)
def test_bad_map_files_are_told(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "map.json").write_text(content)
    with pytest.raises(UserError, match=message):
        read_label_map(tmp_path / "map.json", KNOWN, ["fish"])


def test_a_map_in_a_table_names_one_pair_per_row(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    path.write_text("class,output,note\nfish,0,\nfish,goldfish,\nshark,n01484850,sharp\nray,,?\n")
    label_map = read_label_map(path, KNOWN, ["shark", "fish", "ray"])
    assert label_map == LabelMap(3, "argmax", (1, 1, 0))
    path.write_text("class,output,rule,outputs\nfish,1,mean,7\n'=fish,2,mean,7\n")
    assert read_label_map(path, None, ["fish", "=fish"]) == LabelMap(2, "mean", (-1, 0, 1, -1, -1, -1, -1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("class,model\nfish,0\n", "has no column 'output'; it has: class, model"),
        ("class,output\nfish,9\n", "names the model class '9', which the model does not have"),
        ("class,output\nfsh,0\n", "names the data class 'fsh'; the data has: fish"),
        ("class,output\nfish,0\nfish,tench\n", "names the model's output 0 twice"),
        ("class,output,rule\nfish,0,max\n", "expected one rule of argmax, mean, sum, got max"),
        ("class,output,rule\nfish,0,mean\nfish,1,sum\n", "expected one rule of argmax, mean, sum, got mean, sum"),
        ("class,output,outputs\nfish,0,three\n", "expected one number of outputs, got three"),
        ("class,output,outputs\nfish,0,4\n", "is for a model with 4 outputs, this one has 3"),
    ],
)
def test_bad_tables_of_a_map_are_told(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "map.csv").write_text(content)
    with pytest.raises(UserError, match=message):
        read_label_map(tmp_path / "map.csv", KNOWN, ["fish"])
