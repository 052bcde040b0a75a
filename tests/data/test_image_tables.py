"""`parquet:` and `hf:`: images in tables, in the layouts of Hugging Face's library, and what is wrong with such tables."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from snellen.data import Photo, Unreadable, load_data
from snellen.errors import UserError
from snellen.files.rows import parquet_rows
from snellen.hashing import checksum

from .shapes import NAMES, class_of, encoded_images, folder, hf_dataset, hf_saved, parquet

datasets = pytest.importorskip("datasets")
datasets.disable_progress_bars()

IMAGES = encoded_images()
LABELS = [NAMES.index(class_of(name)) for name in IMAGES]


def write(place: Path, **columns: Any) -> str:
    pq.write_table(pa.table(columns), place / "a.parquet", row_group_size=5)
    return f"parquet:{place}/a.parquet"


def checksums(data: Any) -> list[str]:
    return [photo.checksum for photo in data.read(range(len(data)))]


def as_folder(place: Path) -> list[str]:
    return checksums(load_data(folder(IMAGES, place)))


def png(pixels: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def test_bytes_in_several_files_are_the_folders_images(tmp_path: Path) -> None:
    data = load_data(parquet(IMAGES, tmp_path))
    assert (data.samples.ids, data.classes) == (tuple(IMAGES), NAMES)
    assert data.samples.labels.tolist() == LABELS
    assert checksums(data) == as_folder(tmp_path)
    order = np.random.default_rng(0).permutation(12).tolist()
    assert [photo.checksum for photo in data.read(order)] == [checksum(list(IMAGES.values())[row]) for row in order]


def test_large_row_groups_are_read_in_small_batches_in_any_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MOST_IN_BATCH", 2), ("RECENT", 2), ("OPEN", 2)):
        monkeypatch.setattr(parquet_rows, name, value)
    contents = [f"{row:05d}".encode() * 10 for row in range(300)]
    for struct in (False, True):
        images = [{"bytes": c, "path": None} for c in contents] if struct else contents
        pq.write_table(pa.table({"image": images}), tmp_path / "a.parquet", row_group_size=90)
        rows = parquet_rows.ParquetRows([tmp_path / "a.parquet"])
        order = [*range(300), *np.random.default_rng(0).integers(0, 300, 100).tolist()]
        cells = rows.cells("image", order)
        assert [c["bytes"] if struct else c for c in cells] == [contents[row] for row in order]
        cursors = rows._cursors.values()
        assert len(cursors) <= 2
        assert all(len(cursor._recent) <= 2 for cursor in cursors)


def test_what_the_library_saves_is_read_in_all_its_layouts(tmp_path: Path) -> None:
    expected = as_folder(tmp_path)
    whole = hf_dataset(IMAGES)
    hf_saved(IMAGES, tmp_path)
    datasets.DatasetDict({"train": whole.select(range(3)), "test": whole}).save_to_disk(tmp_path / "dict")
    (tmp_path / "hub" / "data").mkdir(parents=True)
    whole.select(range(7)).to_parquet(tmp_path / "hub" / "data" / "test-00000-of-00002.parquet")
    whole.select(range(7, 12)).to_parquet(tmp_path / "hub" / "data" / "test-00001-of-00002.parquet")
    whole.select(range(3)).to_parquet(tmp_path / "hub" / "data" / "train-00000-of-00001.parquet")
    whole.to_parquet(tmp_path / "one.parquet")
    texts = [
        "hf:saved?id=name",
        "hf:dict?split=test&id=name",
        "hf:hub?split=test&id=name",
        "parquet:one.parquet?id=name",
    ]
    for text in texts:
        kind, _, rest = text.partition(":")
        data = load_data(f"{kind}:{tmp_path}/{rest}")
        assert (data.samples.ids, data.classes, data.samples.labels.tolist()) == (tuple(IMAGES), NAMES, LABELS), text
        assert checksums(data) == expected, text
    assert load_data(f"hf:{tmp_path}/saved").samples.ids[:2] == (
        "0.png",
        "3.jpg",
    )  # what the library keeps of the paths
    cached = datasets.load_dataset("parquet", data_files=str(tmp_path / "one.parquet"), cache_dir=tmp_path / "cache")
    (arrow,) = (Path(file["filename"]).parent for file in cached["train"].cache_files)
    assert checksums(load_data(f"hf:{arrow}")) == expected
    for name in ("dict", "hub"):
        with pytest.raises(UserError, match=r"has several splits; name one with \?split=: (train, test|test, train)"):
            load_data(f"hf:{tmp_path}/{name}")
        with pytest.raises(UserError, match="has no split 'val'; name one with"):
            load_data(f"hf:{tmp_path}/{name}?split=val")


def test_a_folder_of_images_is_read_by_the_library(tmp_path: Path) -> None:
    folder(IMAGES, tmp_path)
    (tmp_path / "photos").rename(tmp_path / "train")
    (tmp_path / "set").mkdir()
    (tmp_path / "train").rename(tmp_path / "set" / "train")
    data = load_data(f"hf:{tmp_path}/set?split=train")
    assert data.classes == NAMES
    assert sorted(checksums(data)) == sorted(checksum(content) for content in IMAGES.values())


def test_columns_of_objects_become_boxes(tmp_path: Path) -> None:
    names = datasets.ClassLabel(names=["cat", "dog", "eel"])
    lists = datasets.Features({
        "image": datasets.Image(),
        "objects": {"bbox": datasets.List(datasets.List(datasets.Value("float32"), length=4)), "category": datasets.List(names)},
    })  # fmt: skip
    structs = datasets.Features({
        "image": datasets.Image(),
        "objects": datasets.List({"bbox": datasets.List(datasets.Value("float32"), length=4), "category": names}),
    })  # fmt: skip
    images = [{"bytes": content, "path": None} for content in list(IMAGES.values())[:3]]
    objects = [
        {"bbox": [[1, 2, 3, 4], [2, 2, 8, 9]], "category": [0, 1]},
        {"bbox": [], "category": []},
        {"bbox": [[0, 0, 5, 5]], "category": [2]},
    ]
    apart = [[{"bbox": b, "category": c} for b, c in zip(row["bbox"], row["category"])] for row in objects]
    for number, (features, values) in enumerate([(lists, objects), (structs, apart)]):
        saved = tmp_path / f"saved-{number}"
        datasets.Dataset.from_dict({"image": images, "objects": values}, features=features).save_to_disk(saved)
        data = load_data(f"hf:{saved}")
        assert (data.classes, data.samples.labels.tolist()) == (NAMES, [1, -1, 2])
        assert data.facts == {"boxes"}
        photos = data.read(range(3))
        assert photos[0].boxes.tolist() == [[1, 2, 4, 6], [2, 2, 10, 11]]
        assert photos[1].boxes.shape == (0, 4)
        corners = load_data(f"hf:{saved}?boxes=xyxy")
        assert corners.read([2])[0].boxes.tolist() == [[0, 0, 5, 5]]
        assert corners.fingerprint != data.fingerprint
    apart[0][0]["bbox"] = [9, 9, 3, 4]
    datasets.Dataset.from_dict({"image": images, "objects": apart}, features=structs).save_to_disk(tmp_path / "turned")
    (photo,) = load_data(f"hf:{tmp_path}/turned?boxes=xyxy").read([0])
    assert photo == Unreadable("a box ends before it begins: [[9.0, 9.0, 3.0, 4.0], [2.0, 2.0, 8.0, 9.0]]; are they ?boxes=xywh?",
                               "broken annotation")  # fmt: skip


def test_columns_of_masks_become_masks(tmp_path: Path) -> None:
    outline = np.zeros((16, 16), np.uint8)
    outline[3:6, 4:9] = 2
    features = datasets.Features(
        {"image": datasets.Image(), "mask": datasets.Image(), "label": datasets.Value("string")}
    )
    rows = {"image": [{"bytes": c, "path": None} for c in list(IMAGES.values())[:3]], "label": ["a", "b", "a"],
            "mask": [{"bytes": png(outline), "path": None}, None, {"bytes": png(outline[:8]), "path": None}]}  # fmt: skip
    datasets.Dataset.from_dict(rows, features=features).save_to_disk(tmp_path / "saved")
    data = load_data(f"hf:{tmp_path}/saved?mask=mask")
    first, second, third = data.read(range(3))
    assert np.array_equal(first.maps["mask"], outline == 2)
    assert not second.maps["mask"].any()
    assert third == Unreadable("its mask is 8x16, the image 16x16")
    other = load_data(f"hf:{tmp_path}/saved?mask=mask&object=0")
    assert np.array_equal(other.read([0])[0].maps["mask"], outline == 0)
    plain = load_data(f"hf:{tmp_path}/saved?image=image")
    assert len({data.fingerprint, other.fingerprint, plain.fingerprint}) == 3


def test_images_may_be_paths_below_the_file_or_another_root(tmp_path: Path) -> None:
    folder(IMAGES, tmp_path)
    names = list(IMAGES)
    text = write(tmp_path / "photos", where=names, label=LABELS)
    assert checksums(load_data(f"{text}?image=where")) == as_folder(tmp_path)
    (tmp_path / "lists").mkdir()
    outside = write(tmp_path / "lists", where=[f"../photos/{name}" for name in names], label=LABELS)
    with pytest.raises(UserError, match=r"path '\.\./photos/.*' leaves .*; add \?root=DIR to name the folder"):
        load_data(f"{outside}?image=where")
    inside = write(tmp_path / "lists", where=names, label=LABELS)
    data = load_data(f"{inside}?image=where&root={tmp_path}/photos")
    assert checksums(data) == as_folder(tmp_path)
    Image.new("RGB", (16, 16)).save(tmp_path / "photos" / names[0])
    assert load_data(f"{inside}?image=where&root={tmp_path}/photos").fingerprint != data.fingerprint
    assert load_data(f"{inside}?image=where").read([0]) == [Unreadable("cannot be read: there is no such file")]
    struct = write(tmp_path / "photos", image=[{"bytes": None, "path": name} for name in names], label=LABELS)
    assert isinstance(load_data(struct).read([3])[0], Photo)


def test_scalars_are_columns_and_labels_may_be_texts_numbers_or_unknown(tmp_path: Path) -> None:
    contents = list(IMAGES.values())[:4]
    text = write(tmp_path, image=contents, label=["b", None, "", "a"], level=[1, 0, None, 1], word=["x", "y", None, "x"],
                 tags=[[1]] * 4)  # fmt: skip
    data = load_data(text)
    assert (data.classes, data.samples.labels.tolist()) == (("a", "b"), [1, -1, -1, 0])
    assert set(data.samples.columns) == {"level", "word"}
    assert len(load_data(f"{text}?word=x&level=1.0")) == 2
    (tmp_path / "names.txt").write_text("cat\ndog\neel\n")
    text = write(tmp_path, image=contents, label=[2, -1, 0, None])
    data = load_data(f"{text}?names={tmp_path}/names.txt")
    assert (data.classes, data.samples.labels.tolist()) == (NAMES, [2, -1, 0, -1])


@pytest.mark.parametrize(
    ("columns", "query", "message"),
    [
        ({"text": ["a"], "label": [0]}, "", r"has no column of images; it has: text, label; name one with \?image="),
        ({"image": [b"a"], "kind": [0]}, "", r"has no columns of labels; it has: image, kind; name one with \?label="),
        ({"image": [b"a"], "label": [0]}, "?label=class", r"has no column 'class'; it has: image, label; name one with \?label="),
        ({"image": [b"a"], "label": [0]}, "?image=img", r"has no column 'img'; it has: .*; name one with \?image="),
        ({"image": [b"a"], "label": [0]}, "?mask=m", r"has no column 'm'"),
        ({"a": [b"a"], "b": [b"a"], "label": [0]}, "", r"has several columns of images \(a, b\)"),
        ({"image": [[1, 2]], "label": [0]}, "?image=image", r"column 'image' holds list<.*>; expected encoded images as bytes"),
        ({"image": [b"a"], "label": [[1, 2]]}, "", r"row 1 has a label of the type list; expected the number or the name"),
        ({"image": [b"a"], "label": [0.5]}, "", "row 1 has a label of the type float"),
        ({"image": [b"a"], "label": [None]}, "", "row 1: neither it nor any other has a label"),
        ({"image": [b"a", b"b"], "label": [0, 7]}, "?names=NAMES", "row 2 has the label '7', which is none of the 3 classes"),
        ({"image": pa.array([], pa.binary()), "label": pa.array([], pa.int64())}, "", "has no rows; name another split or file"),
        ({"image": [b"a", b"b"], "label": [0, 1], "id": ["x", "x"]}, "?id=id", "2 have the id 'x'"),
        ({"image": [b"a"], "label": [0], "id": [[1]]}, "?id=id", "the ids in 'id' are not all texts or whole numbers"),
        ({"image": [b"a"], "objects": [{"box": [[1, 2]], "kind": [0]}]}, "", "row 1 has no 'category'; it has: box, kind"),
        ({"image": [b"a"], "objects": [{"bbox": [[1, 2]], "category": [0]}]}, "", "expected boxes of four numbers"),
        ({"image": [b"a"], "objects": [{"bbox": [[1, 2, 3, 4]], "category": [0, 1]}]}, "", "has 1 boxes and 2 categories"),
        ({"image": [b"a"], "objects": [{"bbox": [[1, 2, 3, 4]], "category": [0]}]}, "?boxes=cxcywh", "one of xywh, xyxy"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_one_line(tmp_path: Path, columns: dict, query: str, message: str) -> None:
    (tmp_path / "names.txt").write_text("cat\ndog\neel\n")
    with pytest.raises(UserError, match=message) as error:
        load_data(write(tmp_path, **columns) + query.replace("NAMES", f"{tmp_path}/names.txt"))
    assert "\n" not in str(error.value)


def test_cells_without_an_image_are_unreadable(tmp_path: Path) -> None:
    text = write(tmp_path, image=[b"text", None, b"", IMAGES["cat/0.png"]], label=[0, 0, 0, 0])
    photos = load_data(text).read(range(4))
    assert [isinstance(photo, Unreadable) for photo in photos] == [True, True, True, False]
    assert photos[1] == Unreadable("cannot be read: it is empty")


def test_files_that_change_are_noticed(tmp_path: Path) -> None:
    for text in (parquet(IMAGES, tmp_path), hf_saved(IMAGES, tmp_path)):
        data = load_data(text)
        assert load_data(text).fingerprint == data.fingerprint
        for file in [*tmp_path.glob("*.parquet"), *tmp_path.glob("saved/*.arrow")]:
            file.write_bytes(file.read_bytes() + b"x")
        assert all("has changed since it was listed" in photo.reason for photo in data.read(range(12)))
    with pytest.raises(UserError, match="no file"):
        load_data(f"parquet:{tmp_path}/gone-{{0..2}}.parquet")
    parquet(IMAGES, tmp_path)
    (tmp_path / "part-1.parquet").write_bytes((tmp_path / "part-0.parquet").read_bytes()[:500])
    with pytest.raises(UserError, match=r"part-1\.parquet cannot be read as Parquet"):
        load_data(f"parquet:{tmp_path}/part-*.parquet")
    write(tmp_path, image=[b"a"], kind=[0])
    with pytest.raises(
        UserError, match=r"part-2\.parquet has the columns image, label, name; .*a\.parquet has: image, kind"
    ):
        load_data(f"parquet:{tmp_path}/{{a,part-2}}.parquet")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("state.json", {"_data_files": [{"filename": "../a.arrow"}]}, "names '../a.arrow', which is no file in that folder"),
        ("state.json", {"_data_files": [{"filename": "gone.arrow"}]}, "no file '.*gone.arrow'"),
        ("state.json", {"_data_files": 3}, "expected '_data_files' as a list of file names"),
        ("state.json", {"_data_files": []}, "has no rows"),
        ("state.json", {"_indices_data_files": [1]}, "saved with indices by an old version"),
        ("dataset_info.json", {"features": {"label": {"_type": "ClassLabel", "names": ["a", "a"]}}}, "are not all different"),
        ("dataset_dict.json", {"splits": ["../x"]}, "expected 'splits' as the names of folders"),
    ],
)  # fmt: skip
def test_a_saved_folder_that_lies_is_refused(tmp_path: Path, file: str, content: Any, message: str) -> None:
    text = hf_saved(IMAGES, tmp_path)
    (tmp_path / "saved" / file).write_text(json.dumps(content))
    with pytest.raises(UserError, match=message):
        load_data(text)


def test_a_name_of_the_hub_without_network_is_one_line_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    begin = time.process_time()
    with pytest.raises(
        UserError, match="hf:owner/name is not here and could not be downloaded: '127.0.0.1' cannot be reached"
    ):
        load_data("hf:owner/name?split=test")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match="could not be downloaded: unset HF_HUB_OFFLINE"):
        load_data("hf:owner/name")
    assert time.process_time() - begin < 5
    with pytest.raises(UserError, match="no folder 'a/b/c', and no name of the hub"):
        load_data("hf:a/b/c")
    with pytest.raises(UserError, match=r"expected \?stream= as the number of rows"):
        load_data("hf:owner/name?stream=some")
