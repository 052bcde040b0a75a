"""Fine-grainedness: sub-classes put together and read back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from snellen.data import load_data
from snellen.errors import UserError
from snellen.exam.run import load_run
from snellen.sweep import grain
from snellen.sweep.subclasses import coarsened, grained, read_groups, subclasses
from snellen.train import Recipe

RECIPE = Recipe(epochs=4, batch_size=32)
WORLD = "phantom:train?size=24&n=240"
GROUPS = {"round": ["disc", "ring", "crescent"], "pointed": ["star", "sparkle", "burst", "triangle"]}


def test_the_tree_gives_the_topmost_nodes():
    found = subclasses(load_data(WORLD), tree=True)
    assert set(found.groups) == {"round", "angular", "heart"}  # a heart lies right below the root
    assert {"disc", "ring"} <= set(found.groups["round"])
    assert {"square", "hexagram"} <= set(found.groups["angular"])  # whatever lies between
    assert sum(map(len, found.groups.values())) == 12


def test_samples_get_the_class_their_sub_class_was_put_into_and_the_others_go():
    data = load_data(WORLD)
    found = subclasses(data, groups=GROUPS)
    made, coarse = grained(data, found, 2)
    assert coarse == {"round": ["round 1", "round 2"], "pointed": ["pointed 1", "pointed 2"]}
    assert made.classes == ("round 1", "round 2", "pointed 1", "pointed 2")
    before = dict(zip(data.samples.ids, np.array(data.classes)[data.samples.labels]))
    belongs = {fine: group for group, fines in GROUPS.items() for fine in fines}
    assert set(made.samples.ids) == {name for name, label in before.items() if label in belongs}
    parts: dict[str, set[str]] = {}
    for name, label in zip(made.samples.ids, made.samples.labels):
        assert made.classes[label].startswith(belongs[before[name]])
        parts.setdefault(made.classes[label], set()).add(before[name])
    assert sorted(map(len, parts.values())) == [1, 2, 2, 2]  # 3 in two, 4 in two
    assert sum(map(len, parts.values())) == 7  # each sub-class in one part alone


def test_finer_grains_divide_coarser_ones():
    data = load_data(WORLD)
    found = subclasses(data, groups={"a": GROUPS["pointed"], "b": ["disc", "ring", "cross", "arrow"]})
    sets = {}
    for count in (1, 2, 4):
        made, _ = grained(data, found, count, seed=3)
        sets[count] = [
            frozenset(np.array(made.samples.ids)[made.samples.labels == k]) for k in range(len(made.classes))
        ]
    assert [len(sets[count]) for count in (1, 2, 4)] == [2, 4, 8]
    for coarse, fine in ((1, 2), (2, 4)):
        assert all(sum(one <= other for other in sets[coarse]) == 1 for one in sets[fine])
    one, _ = grained(data, found, 1)
    assert one.classes == ("a", "b")


def test_a_column_divides_classes():
    data = load_data(WORLD)
    found = subclasses(data, by="texture")
    assert tuple(found.groups) == data.classes
    one, _ = grained(data, found, 1)
    assert one.classes == data.classes  # so a grain of 1 is the ordinary training
    assert (one.samples.labels == data.samples.labels).all()
    made, coarse = grained(data, found, 2)
    assert len(made.classes) == 24
    assert len(made) == len(data)
    for old, new in zip(data.samples.labels, made.samples.labels):
        assert made.classes[new] in coarse[data.classes[old]]


def test_test_data_may_have_coarse_or_fine_classes():
    found = subclasses(load_data(WORLD), groups=GROUPS)
    fine = load_data("phantom:test?size=24&n=100")
    made = coarsened(fine, found)
    assert made.classes == ("round", "pointed")
    assert coarsened(made, found) is made
    kept = {*GROUPS["round"], *GROUPS["pointed"]}
    assert len(made) == sum(fine.classes[label] in kept for label in fine.samples.labels)
    with pytest.raises(UserError, match="has neither the classes"):
        coarsened(grained(fine, found, 2)[0], found)


def test_answers_of_fine_networks_are_read_as_coarse_classes(tmp_path):
    tests = {"original": "phantom:test?size=24&n=120"}
    found = grain(RECIPE, WORLD, [2, 1], tests, tmp_path, groups=GROUPS)
    table = found.table()
    assert table["x"].tolist() == [2, 4]
    assert table["classes"].tolist() == [2, 4]
    (folder,) = tmp_path.glob("runs/grain-2-on-original-*")
    answers = load_run(folder).predictions().query("distortion == 'none()'")
    coarse = np.array(["round", "round", "pointed", "pointed"])  # of the network's own classes
    by_hand = (coarse[answers["raw"].to_numpy()] == answers["class"].to_numpy()).mean()
    assert table.query("point == 'grain-2'")["value"].item() == pytest.approx(by_hand)
    assert (answers["raw"].nunique()) > 2
    assert json.loads((tmp_path / "labels" / "grain-2.json").read_text())["rule"] == "argmax"


def test_groups_are_read_from_json_and_csv(tmp_path):
    (tmp_path / "g.json").write_text(json.dumps({"rule": "mean", "classes": GROUPS}))
    rows = "\n".join(f"{fine},{coarse}" for coarse, fines in GROUPS.items() for fine in fines)
    (tmp_path / "g.csv").write_text("fine,coarse\n" + rows)
    assert read_groups(tmp_path / "g.json") == read_groups(tmp_path / "g.csv") == GROUPS


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "give one of --groups FILE, --tree and --by COLUMN"),
        ({"tree": True, "by": "texture"}, "give one of"),
        ({"by": "txture"}, "unknown column of phantom:train?size=24&n=240 'txture'; did you mean 'texture'?"),
        ({"groups": {"a": ["disk"]}}, "did you mean 'disc'?"),
        ({"groups": {"a": ["disc"], "b": ["disc"]}}, "class 'disc' is in two groups"),
        ({"groups": "none.json"}, "no file of groups 'none.json'"),
    ],
)
def test_bad_sub_classes_are_named(how, message):
    with pytest.raises(UserError) as caught:
        subclasses(load_data(WORLD), **how)
    assert message in str(caught.value)


def test_too_fine_a_grain_is_named():
    data = load_data(WORLD)
    with pytest.raises(UserError, match="class 'round' has 3 sub-classes, fewer than the grain 4"):
        grained(data, subclasses(data, groups=GROUPS), 4)
