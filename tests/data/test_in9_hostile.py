"""Built sets whose files are damaged or lie: refused in one line, or made again by the same command."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.build.in9 import building as building_module
from snellen.build.in9.curation import read_curation
from snellen.build.in9.grouping import group_classes
from snellen.build.in9.masks import with_masks
from snellen.build.in9.pool import In9Verdict, keep_image, keep_refusal, read_image, read_verdict
from snellen.data import Photo, Unreadable, load_data
from snellen.data.in9 import build
from snellen.data.in9.layout import file_name
from snellen.errors import UserError


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of six images, built from their own masks."""
    folder = tmp_path_factory.mktemp("built")
    random = np.random.default_rng(0)
    masks = np.zeros((6, 24, 24), bool)
    masks[:, 8:16, 8:16] = True
    boxes = np.tile([8.0, 8, 16, 16], (6, 1))
    images = random.integers(0, 256, (6, 24, 24, 3), dtype=np.uint8)
    np.savez(folder / "a.npz", images=images, labels=np.arange(6) % 2, masks=masks, boxes=boxes, classes=["cat", "dog"])
    build(f"arrays:{folder}/a.npz", folder / "set", "all", size=24, scale=24, masks="data", workers=1)
    return folder


@pytest.fixture
def built(source: Path, tmp_path: Path) -> Path:
    shutil.copytree(source / "set", tmp_path / "set")
    return tmp_path / "set"


def change(file: Path, edit: Callable[[str], str]) -> None:
    file.write_text(edit(file.read_text()))


CHANGES: dict[str, Callable[[str], str]] = {
    "mask_share": lambda text: text.replace("0.111111", "0.222222"),
    "x1": lambda text: text.replace(",16,16,", ",17,16,"),
    "background": lambda text: text.replace("original,val,original/val/00_cat/000000.png,cat,cat,000000,000000,", 
                                            "original,val,original/val/00_cat/000000.png,cat,cat,000000,000002,"),
    "background_class": lambda text: text.replace(",cat,0.1", ",dog,0.1"),
    "source": lambda text: text.replace(",000000,", ",000009,"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_the_fingerprint_covers_every_column(built: Path, name: str) -> None:
    before = load_data(f"in9:{built}/original")
    change(built / "provenance.csv", CHANGES[name])
    after = load_data(f"in9:{built}/original")
    assert before.fingerprint != after.fingerprint


def test_the_fingerprint_covers_masks_and_the_size(built: Path) -> None:
    seen = {load_data(f"in9:{built}/original").fingerprint}
    mask = next((built / "fg_mask").rglob("*.npy"))
    np.save(mask, 1 - np.load(mask))
    os.utime(mask, ns=(1, 1))
    seen.add(load_data(f"in9:{built}/original").fingerprint)
    change(built / "build.json", lambda text: text.replace('"size": 24', '"size": 25'))
    seen.add(load_data(f"in9:{built}/original").fingerprint)
    mask.unlink()
    seen.add(load_data(f"in9:{built}/original").fingerprint)
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("provenance.csv", b"", "provenance.csv is empty"),
        ("provenance.csv", b"a,b\n1,2\n", "has no column 'variant'.*build the set again, or remove the file"),
        ("provenance.csv", b"\x00\x01\x02", "provenance.csv"),
        ("provenance.csv", b"variant,split,file,foreground,x0,y0,x1,y1\noriginal,val,a.png,a,wide,0,1,1\n",
         "line 2: expected a number in 'x0'"),
        ("provenance.csv", b"variant,split,file,foreground,x0,y0,x1,y1\noriginal,val,a.png,a,inf,0,1,1\n", "line 2"),
        ("provenance.csv", b"variant,split,file,foreground,x0,y0,x1,y1\noriginal,val,a.png,../../x,0,0,1,1\n",
         "line 2: foreground '../../x' is not the name of a file"),
        ("provenance.csv", b"variant,split,file,foreground,x0,y0,x1,y1,mask_share\noriginal,val,a.png,a,0,0,1,1,7\n",
         "'mask_share' from 0 to 1, got '7'"),
        ("build.json", b"null", "build.json: expected object, got null"),
        ("build.json", b'{"size": "wide"}', "build.json: size: expected int"),
        ("build.json", b'{"size": 1e400}', "build.json"),
        ("build.json", b'{"size": -3}', "build.json: size"),
        ("build.json", b'{"size": ' + b"[" * 100_000, "build.json"),
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_named(built: Path, name: str, content: bytes, words: str) -> None:
    (built / name).write_bytes(content)
    with pytest.raises(UserError, match=words):
        load_data(f"in9:{built}/original")


def test_a_manifest_that_is_a_pipe_or_a_folder_holds_nobody_up(built: Path) -> None:
    for name in ("provenance.csv", "build.json"):
        (built / name).unlink()
        os.mkfifo(built / name)
        with pytest.raises(UserError, match="is a pipe"):
            load_data(f"in9:{built}/original")
        (built / name).unlink()
    assert load_data(f"in9:{built}/original").facts == {"masks"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((24, 25), np.uint8), "the image (24, 24)"),
        (np.zeros((24, 24), complex), "expected truth values or numbers, got complex128"),
        (np.full((24, 24), "x"), "expected truth values or numbers"),
        (np.array(3), "is (), the image"),
        (np.zeros((24, 24), [("a", int)]), "holds records"),
    ],
)
def test_a_mask_of_another_type_or_shape_makes_its_image_unreadable(
    built: Path, values: np.ndarray, words: str
) -> None:
    mask = built / "fg_mask" / "val" / "00_cat" / "000000.npy"
    np.save(mask, values)
    reads = load_data(f"in9:{built}/original").read(range(6))
    (bad,) = [read for read in reads if isinstance(read, Unreadable)]
    assert "its mask 000000.npy" in bad.reason
    assert words in bad.reason
    masked = with_masks(load_data(f"in9:{built}/original"), str(built / "fg_mask" / "val" / "00_cat"))
    assert sum(isinstance(read, Unreadable) for read in masked.read([0])) == 1


def test_masks_of_any_format_but_named_ones_are_not_opened(source: Path, tmp_path: Path) -> None:
    data = load_data(f"arrays:{source}/a.npz")
    Image.new("L", (24, 24), 255).save(tmp_path / "000000.png")
    (tmp_path / "000001.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n")
    os.mkfifo(tmp_path / "000002.png")
    good, postscript, pipe = with_masks(data, str(tmp_path)).read([0, 1, 2])
    assert isinstance(good, Photo)
    assert isinstance(postscript, Unreadable)
    assert "not an image of a known format" in postscript.reason
    assert pipe == Unreadable("there is no mask of it", "no mask")


@pytest.mark.parametrize("damage", [b"", b"PK", b"nothing"])
def test_an_image_of_the_pool_that_is_damaged_is_judged_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    arguments = (f"arrays:{source}/a.npz", tmp_path / "set", "all")
    settings = {"size": 24, "scale": 24, "masks": "data", "workers": 1}

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building_module, "write_files", stop)
    with pytest.raises(KeyboardInterrupt):
        build(*arguments, **settings)
    monkeypatch.undo()
    pool = tmp_path / "set" / ".part" / ".pool"
    (pool / "000003.npz").write_bytes(damage)
    whole = (pool / "000004.npz").read_bytes()
    (pool / "000004.npz").write_bytes(whole[: len(whole) // 2])
    np.savez(pool / "000005.npz", image=np.zeros((3, 24, 24), np.uint8))
    again = build(*arguments, **settings)
    for file in sorted(path for path in (source / "set").rglob("*") if path.is_file() and path.name != "settings.yaml"):
        assert (again.out / file.relative_to(source / "set")).read_bytes() == file.read_bytes(), file


def test_what_the_pool_keeps_is_read_as_it_was(tmp_path: Path) -> None:
    image, mask = np.full((3, 8, 8), 7, np.uint8), np.eye(8, dtype=bool)
    taken = In9Verdict("a\n.png", "a", box=(1, 2, 3, 4), mask_share=0.125, seed=3, checksum="c")
    keep_image(tmp_path, taken, image, mask)
    assert read_verdict(tmp_path, "a") == taken
    np.testing.assert_array_equal(read_image(tmp_path, "a")[1], mask)
    keep_refusal(tmp_path, In9Verdict("b.png", "b", "no box", "none"))
    refusal = read_verdict(tmp_path, "b")
    assert refusal is not None
    assert (refusal.reason, np.isnan(refusal.mask_share)) == ("no box", True)
    for content in (b"", b"null", b'{"source": 1}', b'{"source": "b.png", "name": "other"}', b"[" * 100_000):
        (tmp_path / "b.json").write_bytes(content)
        assert read_verdict(tmp_path, "b") is None


def test_the_facts_of_a_finished_set_are_checked(source: Path, built: Path) -> None:
    def again() -> None:
        settings = {"size": 24, "scale": 24, "masks": "data", "workers": 1}
        build(f"arrays:{source}/a.npz", built, "all", **settings)

    again()
    for content in ("null", "{}", '{"classes": {"cat": -1}, "judged": 3, "rejected": {}}', "[" * 100_000):
        (built / "counts.json").write_text(content)
        with pytest.raises(UserError, match=r"counts\.json.*build the set again"):
            again()
    for content in ("null", "{}", "[]", json.dumps({"schema": 1})):
        (built / "build.json").write_text(content)
        with pytest.raises(UserError, match="is not the build.json of an export; choose another out"):
            again()


def test_lists_of_classes_and_decisions_are_read_as_text(source: Path, tmp_path: Path) -> None:
    data = load_data(f"arrays:{source}/a.npz")
    file = tmp_path / "list.csv"
    file.write_bytes(b"class,group\ncat,01\ndog,\xc3\xa9\n")
    assert group_classes(data, file).classes == ("01", "é")
    for content, words in {
        b"class,group\ncat,a\ncat,b\n": "line 3: class 'cat' is in 'a' already",
        b"class,group\ncat,\n": "line 2: class or group is empty",
        b"class,other\ncat,a\n": "has no column 'group'",
        b"": "is empty",
    }.items():
        file.write_bytes(content)
        with pytest.raises(UserError, match=words):
            group_classes(data, file)
    file.write_text('id,decision,reason\n000000,reject,"two\nlines"\n01,accept,\n')
    assert read_curation(file).rejects == {"000000": "two\nlines"}
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (lambda: group_classes(data, pipe), lambda: read_curation(pipe)):
        with pytest.raises(UserError, match="is a pipe"):
            read()


def test_long_ids_give_names_that_file_systems_take() -> None:
    assert file_name("a/b c.png") == "a-b-c"
    long = file_name("d/" * 300 + "a.png")
    assert len(long) == 100
    assert long != file_name("d/" * 300 + "b.png")
