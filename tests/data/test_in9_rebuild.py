"""A set after people looked at it: what they rejected is gone, what they mended is in every variant, all else is as it was."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.build.in9 import build, rebuild, rebuilding
from snellen.build.in9.building import In9Built
from snellen.build.in9.curation import MENDED
from snellen.build.in9.rebuilding import write_revision
from snellen.data import load_data
from snellen.data.in9.layout import VARIANTS
from snellen.distort.background import MIXED
from snellen.errors import UserError

WORLD = "phantom:test?size=32&n=48&object_size=0.3..0.6"
SIZE = 32


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> In9Built:
    out = tmp_path_factory.mktemp("built") / "set"
    return build(WORLD, out, "all", masks="data", size=SIZE, scale=SIZE, workers=1)


@dataclass(frozen=True)
class Decided:
    """A list of decisions in a folder, with masks beside it."""

    folder: Path

    def write(self, rows: Sequence[Mapping[str, object]], masks: Mapping[str, np.ndarray] | None = None) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, mask in (masks or {}).items():
            np.save(self.folder / f"{name}.npy", mask.astype(np.uint8))
        with (self.folder / "curation.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, MENDED, restval="")
            writer.writeheader()
            writer.writerows(rows)
        return self.folder / "curation.csv"


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "provenance.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def by_place(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The rows of the manifest by variant and foreground."""
    return {(row["variant"], row["foreground"]): row for row in rows_of(folder)}


def pixels(file: Path) -> np.ndarray:
    with Image.open(file) as image:
        return np.asarray(image)


def mask_of(folder: Path, name: str) -> np.ndarray:
    (file,) = folder.glob(f"fg_mask/*/*/{name}.npy")
    return np.load(file).astype(bool)


def corners(row: Mapping[str, str]) -> tuple[int, ...]:
    return tuple(int(row[corner]) for corner in ("x0", "y0", "x1", "y1"))


def moved(mask: np.ndarray) -> np.ndarray:
    """Another mask: its left half alone."""
    columns = np.flatnonzero(mask.any(0))
    half = mask.copy()
    half[:, columns[len(columns) // 2] :] = False
    return half


def test_rejected_images_are_gone_mended_masks_are_in_all_variants_and_all_else_is_as_it_was(
    made: In9Built, tmp_path: Path
) -> None:
    before = by_place(made.out)
    names = sorted({name for _, name in before})
    gone, redrawn, boxed = names[5], names[11], names[17]
    mask = moved(mask_of(made.out, redrawn))
    x0, y0, x1, y1 = corners(before["original", boxed])
    box = (max(x0 - 2, 0), y0, min(x1 + 1, SIZE), y1)
    rows = [
        {"id": gone, "decision": "reject", "reason": "mask keeps background"},
        {"id": redrawn, "decision": "accept", "mask": f"{redrawn}.npy"},
        {"id": boxed, "decision": "accept", **dict(zip(("x0", "y0", "x1", "y1"), box))},
    ]
    file = Decided(tmp_path / "reviews").write(rows, {redrawn: mask})
    new = rebuild(made.out, file, tmp_path / "new", balance=False, workers=1)
    after = by_place(new.out)
    assert {name for _, name in after} == set(names) - {gone}
    assert gone not in {row["background"] for row in after.values()}
    assert not [path for path in new.out.rglob("*.png") if gone in path.name and path.parts[-2] != "rejections"]
    changed = set()
    for (kind, name), row in after.items():
        old = before[kind, name]
        same = (
            (new.out / row["file"]).read_bytes() == (made.out / old["file"]).read_bytes()
            if row["file"] == old["file"]
            else False
        )
        if same:
            assert row == old or name in (redrawn, boxed)
        else:
            changed.add((kind, name))
    lent = {
        (kind, row["foreground"]) for (kind, _), row in before.items() if kind in MIXED and row["background"] == gone
    }
    tiled = {
        (kind, row["foreground"]) for (kind, _), row in after.items() if kind in MIXED and row["background"] == boxed
    }
    expected = {(kind, redrawn) for kind in ("no_fg", "only_fg", "bg_blurred", *MIXED)}
    expected |= {("only_bg_b", boxed), ("only_bg_t", boxed)} | lent | tiled
    expected = {place for place in expected if place[1] != gone}
    assert changed <= expected
    assert lent - {(kind, gone) for kind in MIXED} <= changed  # another name, so another file
    assert {("no_fg", redrawn), ("only_fg", redrawn), ("only_bg_b", boxed)} <= changed
    # the mended mask is what every variant is made with
    original = pixels(new.out / after["original", redrawn]["file"])
    assert np.array_equal(mask_of(new.out, redrawn), mask)
    assert np.array_equal(pixels(new.out / after["only_fg", redrawn]["file"]), original * mask[..., None])
    assert np.array_equal(pixels(new.out / after["no_fg", redrawn]["file"]), original * ~mask[..., None])
    for kind in MIXED:
        lender = after[kind, redrawn]["background"]
        ground = pixels(new.out / after["only_bg_t", lender]["file"])
        mixed = pixels(new.out / after[kind, redrawn]["file"])
        assert np.array_equal(mixed[mask], original[mask])
        inside = np.zeros((SIZE, SIZE), bool)
        bx = corners(after["original", lender])
        inside[bx[1] : bx[3], bx[0] : bx[2]] = True
        assert np.array_equal(
            mixed[inside & ~mask], ground[inside & ~mask]
        )  # outside the box the lender itself is tiled over
    assert float(after["original", redrawn]["mask_share"]) == pytest.approx(mask.mean(), abs=1e-6)
    black = pixels(new.out / after["only_bg_b", boxed]["file"])
    assert not black[box[1] : box[3], box[0] : box[2]].any()
    assert corners(after["original", boxed]) == box


def test_a_rebuilt_set_is_what_the_builder_makes_of_the_same_list_but_for_lenders(
    made: In9Built, tmp_path: Path
) -> None:
    """The builder reads the same list, boxes and masks among it; only who lends a background is drawn again there."""
    names = sorted({row["foreground"] for row in rows_of(made.out)})
    mask = moved(mask_of(made.out, names[3]))
    box = dict(zip(("x0", "y0", "x1", "y1"), (3, 4, 20, 25)))
    rows = [
        {"id": names[0], "decision": "reject", "reason": "blurred"},
        {"id": names[3], "decision": "accept", "mask": "a.npy"},
        {"id": names[6], "decision": "accept", **box},
    ]
    file = Decided(tmp_path / "reviews").write(rows, {"a": mask})
    new = rebuild(made.out, file, tmp_path / "new", balance=False, workers=1)
    settings = {"masks": "data", "size": SIZE, "scale": SIZE, "workers": 1, "balance": False}
    whole = build(WORLD, tmp_path / "whole", "all", curation=str(file), **settings)
    assert (new.classes, new.rejected) == (whole.classes, whole.rejected)
    first, second = by_place(new.out), by_place(whole.out)
    assert first.keys() == second.keys()
    for (kind, name), row in first.items():
        other = second[kind, name]
        if row["background"] == other["background"]:
            assert row == other
            assert (new.out / row["file"]).read_bytes() == (whole.out / other["file"]).read_bytes()
        else:
            assert kind in MIXED
    assert (new.out / "curation.csv").read_bytes() == (whole.out / "curation.csv").read_bytes()
    assert (new.out / "rejected.csv").read_bytes() == (whole.out / "rejected.csv").read_bytes()


def test_classes_are_cut_to_the_smallest_again_and_the_set_is_read_like_any_other(
    made: In9Built, tmp_path: Path
) -> None:
    own = [row["foreground"] for row in rows_of(made.out) if row["variant"] == "original" and row["class"] == "disc"]
    file = Decided(tmp_path).write([{"id": name, "decision": "reject", "reason": "x"} for name in own[:2]])
    new = rebuild(made.out, file, tmp_path / "new", workers=1)
    assert set(new.classes.values()) == {made.classes["disc"] - 2}
    for variant in VARIANTS:
        data = load_data(f"in9:{new.out}/{variant}")
        assert len(data) == new.images
    again = rebuild(new.out, Decided(tmp_path / "b").write([]), tmp_path / "again", workers=1)
    assert again.classes == new.classes
    assert (again.out / "provenance.csv").read_bytes() == (new.out / "provenance.csv").read_bytes()
    assert (again.out / "curation.csv").read_bytes() == (new.out / "curation.csv").read_bytes()
    assert rebuild(made.out, file, tmp_path / "new", workers=1) == new  # a finished one is left as it is


def test_a_stopped_rebuild_goes_on_to_the_same_bytes(
    made: In9Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = rows_of(made.out)[0]["foreground"]
    file = Decided(tmp_path).write([{"id": name, "decision": "reject", "reason": "x"}])
    whole = rebuild(made.out, file, tmp_path / "whole", workers=2)
    calls = 0

    def stopping(*arguments: object) -> list[str]:
        nonlocal calls
        calls += 1
        if calls > 7:
            raise KeyboardInterrupt
        return write_revision(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(rebuilding, "write_revision", stopping)
    with pytest.raises(KeyboardInterrupt):
        rebuild(made.out, file, tmp_path / "new", workers=1)
    assert not (tmp_path / "new" / "build.json").exists()
    monkeypatch.undo()
    new = rebuild(made.out, file, tmp_path / "new", workers=1)
    for path in whole.out.rglob("*"):
        if path.is_file() and path.name != "settings.yaml":
            assert (new.out / path.relative_to(whole.out)).read_bytes() == path.read_bytes(), path


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"id": "stranger", "decision": "reject"}, "names 'stranger', and .* has no such image"),
        ({"decision": "accept", "x0": 1, "y0": 1, "x1": 0, "y1": 5}, "line 2: expected x0, y0, x1, y1 as whole pixels"),
        ({"decision": "accept", "x0": 1, "y0": 1, "x1": 5}, "line 2: .* got 1, 1, 5, nothing"),
        (
            {"decision": "accept", "x0": 0, "y0": 0, "x1": SIZE, "y1": SIZE},
            "the box of '.*' leaves the image of 32x32 pixels, or fills it",
        ),
        ({"decision": "accept", "mask": "../../secret.npy"}, "line 2: path '../../secret.npy' leaves"),
        ({"decision": "accept", "mask": "small.npy"}, r"the mask of '.*' is 4x4, the set's images 32x32"),
        ({"decision": "accept", "mask": "empty.npy"}, r"line 2: the mask 'empty.npy' is empty"),
        ({"decision": "accept", "mask": "none.npy"}, r"line 2: its mask none.npy cannot be read: no mask"),
    ],
)
def test_a_list_that_does_not_fit_is_one_line(
    made: In9Built, tmp_path: Path, row: dict[str, object], words: str
) -> None:
    masks = {"small": np.ones((4, 4)), "empty": np.zeros((SIZE, SIZE))}
    row = {"id": rows_of(made.out)[0]["foreground"], **row}
    file = Decided(tmp_path / "list").write([row], masks)
    with pytest.raises(UserError, match=words):
        rebuild(made.out, file, tmp_path / "new", workers=1)
    assert not (tmp_path / "new").exists()


def test_after_a_refusal_other_decisions_can_be_tried_in_the_same_folder(made: In9Built, tmp_path: Path) -> None:
    names = sorted({row["foreground"] for row in rows_of(made.out)})
    every = [{"id": name, "decision": "reject", "reason": "x"} for name in names]
    file = Decided(tmp_path).write(every)
    for _ in range(2):
        with pytest.raises(UserError, match="leaves no image of class .*; accept some of it"):
            rebuild(made.out, file, tmp_path / "new", workers=1)
    file = Decided(tmp_path).write(every[:1])
    new, whole = (rebuild(made.out, file, tmp_path / name, workers=1).out for name in ("new", "whole"))
    files = [path for path in whole.rglob("*") if path.is_file() and path.name != "settings.yaml"]
    assert len(files) == sum(path.is_file() for path in new.rglob("*")) - 1
    assert all((new / path.relative_to(whole)).read_bytes() == path.read_bytes() for path in files)
    assert not (tmp_path / "new" / ".part").exists()


def test_two_decisions_of_one_image_are_refused(made: In9Built, tmp_path: Path) -> None:
    """The rejection won, wherever it stood."""
    name = rows_of(made.out)[0]["foreground"]
    rows = [{"id": name, "decision": "accept"}, {"id": name, "decision": "reject", "reason": "x"}]
    file = Decided(tmp_path / "list").write(rows)
    with pytest.raises(UserError, match=f"line 3: '{name}' stands in line 2 too; keep one decision of an image"):
        rebuild(made.out, file, tmp_path / "new", workers=1)


def test_folders_that_cannot_be_rebuilt_are_one_line(made: In9Built, tmp_path: Path) -> None:
    file = Decided(tmp_path / "list").write([])
    (tmp_path / "plain").mkdir()
    with pytest.raises(UserError, match="has no build.json; expected a set that `snellen build in9` has written"):
        rebuild(tmp_path / "plain", file, tmp_path / "new")
    other = tmp_path / "other"
    shutil.copytree(made.out, other)
    facts = json.loads((other / "build.json").read_text())
    (other / "build.json").write_text(json.dumps({**facts, "schema": "snellen/in9/9"}))
    with pytest.raises(
        UserError, match="expected the schema 'snellen/in9/1', got 'snellen/in9/9'; build the set again"
    ):
        rebuild(other, file, tmp_path / "new")
    (other / "build.json").write_text(json.dumps(facts))
    text = (other / "provenance.csv").read_text()
    name = rows_of(other)[0]["foreground"]
    (other / "provenance.csv").write_text(text.replace("background", "ground"))
    with pytest.raises(UserError, match="has no column 'background', but mixed variants; build the set again"):
        rebuild(other, file, tmp_path / "new")
    (other / "provenance.csv").write_text(text.replace(name, "../../x"))
    with pytest.raises(UserError, match="is not the name of a file"):
        rebuild(other, file, tmp_path / "new")
    every = [row["foreground"] for row in rows_of(made.out) if row["variant"] == "original" and row["class"] == "disc"]
    gone = Decided(tmp_path / "all").write([{"id": one, "decision": "reject", "reason": "x"} for one in every])
    with pytest.raises(UserError, match=r"leaves no image of class 'disc' in .*; accept some of it"):
        rebuild(made.out, gone, tmp_path / "new")
