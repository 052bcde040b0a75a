"""The builder of ImageNet-9's variants: masks as OpenCV gives them, the same bytes however it is run, and its layout."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.build.in9 import building as building_module
from snellen.build.in9.building import In9Built
from snellen.build.in9.request import In9Request
from snellen.build.in9.variants import Order, Portrait
from snellen.build.in9.variants import variant as variant_of
from snellen.build.in9.variants import write_files as write_variants
from snellen.cli import main
from snellen.data import Photo, load_data
from snellen.data.in9 import build
from snellen.data.in9.layout import VARIANTS, file_name, folders, foreground_of
from snellen.distort import Background, View
from snellen.distort.background import MIXED
from snellen.engine.ask.canvas_pools import Pool, donor_pool
from snellen.errors import UserError

cv2 = pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def made(photographs: str, tmp_path_factory: pytest.TempPathFactory) -> In9Built:
    return build(photographs, tmp_path_factory.mktemp("made") / "set", size=56, workers=1)


def rows(made: In9Built, name: str = "provenance.csv") -> list[dict[str, str]]:
    with (made.out / name).open(newline="") as file:
        return list(csv.DictReader(file))


def digest(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "settings.yaml")
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image)


def test_the_same_bytes_from_two_processes(photographs: str, made: In9Built, tmp_path: Path) -> None:
    again = build(photographs, tmp_path / "set", size=56, workers=2)
    assert digest(again.out) == digest(made.out)
    assert again.classes == made.classes


def test_a_build_that_was_stopped_goes_on_to_the_same_bytes(
    photographs: str, made: In9Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def failing(*arguments: Any) -> str:
        nonlocal calls
        calls += 1
        if calls > 9:
            raise KeyboardInterrupt
        return write_variants(*arguments)

    monkeypatch.setattr(building_module, "write_files", failing)
    with pytest.raises(KeyboardInterrupt):
        build(photographs, tmp_path / "set", size=56, workers=1)
    assert not (tmp_path / "set" / "build.json").exists()
    monkeypatch.undo()
    monkeypatch.setattr(building_module, "judge", lambda *_: pytest.fail("judged twice"))
    again = build(photographs, tmp_path / "set", size=56, workers=1)
    assert digest(again.out) == digest(made.out)
    before = digest(made.out)
    assert build(photographs, made.out, size=56, workers=1) == made  # a finished one is left as it is
    assert digest(made.out) == before
    with pytest.raises(UserError, match=r"holds another export.*\(size: 56, not 64\); choose another out"):
        build(photographs, made.out, size=64, workers=1)


def test_the_layout_is_read_by_an_image_folder_loader(made: In9Built) -> None:
    from torchvision.datasets import ImageFolder

    for variant in VARIANTS:
        held = ImageFolder(str(made.out / variant / "val"))
        assert held.classes == list(folders(tuple(made.classes)))
        assert np.bincount(held.targets).tolist() == list(made.classes.values())
        assert held[0][0].size == (56, 56)
    assert len(set(made.classes.values())) == 1  # balanced
    assert not list(made.out.rglob("*.part"))


def test_variants_are_paired_by_their_foreground(made: In9Built) -> None:
    ids = None
    for variant in VARIANTS:
        data = load_data(f"in9:{made.out}/{variant}")
        ids = ids or data.samples.ids
        assert sorted(data.samples.ids) == sorted(ids)
        assert data.facts == {"masks", "boxes"}
        assert data.size == (56, 56)
        assert data.classes == tuple(made.classes)
    original, mixed = (load_data(f"in9:{made.out}/{variant}") for variant in ("original", "mixed_next"))
    label = dict(zip(original.samples.ids, original.samples.labels))
    for sample, own, name in zip(mixed.samples.ids, mixed.samples.labels, mixed.samples.columns["background"]):
        assert own == label[sample]
        assert label[name] == (own + 1) % len(original.classes)


def test_every_pixel_is_that_of_the_distortion_on_the_fly(made: In9Built) -> None:
    """Originals as test data and donors, shown as they are: each kind gives the very files of the builder."""
    data = load_data(f"in9:{made.out}/original")
    from snellen.data import Canvas

    photos = [photo for photo in data.read(range(len(data))) if isinstance(photo, Photo)]
    images = torch.from_numpy(np.stack([photo.image for photo in photos])).permute(0, 3, 1, 2).contiguous()
    pool = donor_pool(data, Pool(Canvas(56, 56, "native"), True), torch.device("cpu"), data.classes)
    view = View.of(
        data.samples.ids, 0, labels=data.samples.labels, donors=pool, boxes=[p.boxes for p in photos],
        masks=torch.from_numpy(np.stack([photo.maps["mask"] for photo in photos])),
    )  # fmt: skip
    files = {(row["variant"], row["foreground"]): row for row in rows(made)}
    for kind in VARIANTS:
        shown = Background(kind)(images, view)  # type: ignore[arg-type]
        for row, sample in enumerate(data.samples.ids):
            told = files[kind, sample]
            assert np.array_equal(shown[row].permute(1, 2, 0).numpy(), pixels(made.out / told["file"])), (kind, sample)
            if kind in MIXED:
                assert (view.notes["donor"][row], view.notes["donor_class"][row]) == (
                    told["background"],
                    told["background_class"],
                )


def test_provenance_names_every_file_and_where_it_is_from(made: In9Built, photographs: str) -> None:
    table = rows(made)
    files = {p.relative_to(made.out).as_posix() for variant in VARIANTS for p in (made.out / variant).rglob("*.png")}
    assert {row["file"] for row in table} == files
    assert len(table) == len(VARIANTS) * made.images
    sources = load_data(photographs)
    position = {sample: row for row, sample in enumerate(sources.samples.ids)}
    for row in table[:: len(VARIANTS)]:
        photo = sources.read([position[row["source"]]])[0]
        assert isinstance(photo, Photo)
        assert photo.checksum == row["source_checksum"]
        mask = np.load(made.out / "fg_mask" / "val" / Path(row["file"]).parts[2] / f"{row['foreground']}.npy")
        assert mask.mean() == pytest.approx(float(row["mask_share"]), abs=1e-6)
        assert foreground_of(row["id"])[0] == row["foreground"]


def test_the_curation_list_is_kept_and_respected(photographs: str, made: In9Built, tmp_path: Path) -> None:
    listed = rows(made, "curation.csv")
    assert [row["decision"] for row in listed] == ["accept"] * made.images
    gone = listed[3]["id"]
    (tmp_path / "mine.csv").write_text(f"id,decision,reason\n{gone},reject,two of them\n{listed[4]['id']},accept,\n")
    again = build(photographs, tmp_path / "set", size=56, workers=1, balance=False, curation=tmp_path / "mine.csv")
    assert again.rejected["curation"] == 1
    assert gone not in {row["foreground"] for row in rows(again)}
    assert {"id": gone, "decision": "reject", "reason": "two of them"} in rows(again, "curation.csv")
    (tmp_path / "mine.csv").write_text("id,decision,reason\na,perhaps,\n")
    with pytest.raises(UserError, match="line 2: expected accept or reject, got 'perhaps'"):
        build(photographs, tmp_path / "other", size=56, curation=tmp_path / "mine.csv")
    (tmp_path / "mine.csv").write_text("id,decision,reason\nstranger,reject,\n")
    with pytest.raises(UserError, match="mine.csv rejects 'stranger', …, and no image of voc:"):
        build(photographs, tmp_path / "other", size=56, curation=tmp_path / "mine.csv")


def test_true_masks_and_mask_models_replace_grabcut(photographs: str, tmp_path: Path) -> None:
    root = Path(photographs.removeprefix("voc:"))
    true = build(f"{photographs}?masks=true", tmp_path / "a", size=80, scale=80, workers=1, masks="data", limit=30)
    data = load_data(f"{photographs}?masks=true")
    truth = {file_name(sample): row for row, sample in enumerate(data.samples.ids)}
    for mask in sorted((true.out / "fg_mask").rglob("*.npy")):
        photo = data.read([truth[mask.stem]])[0]
        assert isinstance(photo, Photo)
        assert np.array_equal(np.load(mask) > 0, photo.maps["mask"])
    for file in (root / "SegmentationObject").glob("*.png"):  # the same as files, white on black
        (tmp_path / "white").mkdir(exist_ok=True)
        Image.fromarray((pixels(file) == 1).astype(np.uint8) * 255).save(tmp_path / "white" / file.name)
    filed = build(photographs, tmp_path / "b", size=80, scale=80, workers=1, masks=str(tmp_path / "white"), limit=30)
    assert digest(filed.out / "fg_mask") == digest(true.out / "fg_mask")
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ndef whole_box():\n    def mask(image, box):\n        out = np.zeros(image.shape[:2], bool)\n"
        "        x0, y0, x1, y1 = box.astype(int)\n        out[y0:y1, x0:x1] = True\n        return out\n    return mask\n"
    )
    boxed = build(
        photographs,
        tmp_path / "c",
        size=80,
        scale=80,
        workers=1,
        masks=f"python:{tmp_path}/mine.py:whole_box",
        limit=30,
    )
    for row in rows(boxed):
        area = (int(row["x1"]) - int(row["x0"])) * (int(row["y1"]) - int(row["y0"]))
        assert float(row["mask_share"]) == pytest.approx(area / 6400, abs=1e-6)
    (tmp_path / "bad.py").write_text(
        "def moody():\n    def mask(image, box):\n        raise ValueError('not today')\n    return mask\n"
    )
    with pytest.raises(UserError, match="segmentation failed"):
        build(photographs, tmp_path / "e", size=80, workers=1, masks=f"python:{tmp_path}/bad.py:moody")
    with pytest.raises(UserError, match="expected workers from 1 to 1,024, got 0"):
        build(photographs, tmp_path / "f", workers=0)
    with pytest.raises(UserError, match="has no masks; leave out masks"):
        build(photographs, tmp_path / "d", masks="data")
    with pytest.raises(UserError, match="has no factory|names no callable"):
        build(photographs, tmp_path / "d", masks=f"python:{tmp_path}/mine.py:nothing")


def test_a_set_is_built_again_from_its_own_masks_without_opencv(
    photographs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(photographs, tmp_path / "a", size=80, scale=80, workers=1, limit=24)
    (tmp_path / "masks").mkdir()
    for file in (first.out / "fg_mask").rglob("*.npy"):
        Image.fromarray(np.load(file) * np.uint8(255)).save(tmp_path / "masks" / f"{file.stem}.png")
    monkeypatch.setitem(sys.modules, "cv2", None)
    again = build(photographs, tmp_path / "b", size=80, scale=80, workers=1, masks=str(tmp_path / "masks"), limit=24)
    assert again.classes == first.classes
    assert {row["seed"] for row in rows(again)} == {""} != {row["seed"] for row in rows(first)}  # GrabCut was not asked
    assert again.lines[0] == f"{again.images} of {again.judged} images in {len(again.classes)} classes: {again.out}"
    for variant in VARIANTS:
        assert digest(again.out / variant) == digest(first.out / variant) != {}, variant


def test_the_command_builds_jpegs_of_groups(
    photographs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "groups.csv"
    round_ = {"disc", "ring", "crescent"}
    classes = load_data(photographs).classes
    table.write_text("class,group\n" + "".join(f"{c},{'round' if c in round_ else 'angular'}\n" for c in classes))
    words = (
        f"build in9 --data {photographs} --classes {table} --out {tmp_path}/set --size 48 --format jpeg --inpaint telea"
    )
    words += " --split train --limit 16 --workers 1 --interpolation bicubic --segment-size 64 --no-own --json"
    _run(words.split())
    told = json.loads(capsys.readouterr().out)
    assert list(told["classes"]) == ["angular", "round"]
    data = load_data(f"in9:{tmp_path}/set/mixed_same?split=train")
    assert all(a != b for a, b in zip(data.samples.ids, data.samples.columns["background"]))
    assert all(file.suffix == ".JPEG" for file in (tmp_path / "set" / "original").rglob("*") if file.is_file())


def _run(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0


def test_an_audit_answers_alike_on_files_and_on_the_fly(made: In9Built, tmp_path: Path) -> None:
    """The same foregrounds and backgrounds, so the same answers, sample by sample."""
    import snellen

    kinds = ("mixed_same", "mixed_rand", "mixed_next", "only_bg_t")
    audits = "interference([" + ", ".join(f"background({kind})" for kind in kinds) + "])"

    def eye(images: np.ndarray) -> np.ndarray:
        """Answers that hang on every pixel: a hash of the image, as probabilities."""
        weights = np.random.default_rng(0).random((images[0].size, len(made.classes)))
        scores = np.exp(images.reshape(len(images), -1) / 255 @ weights / 100)
        return scores / scores.sum(1, keepdims=True)

    model = snellen.models.from_callable(eye, classes=tuple(made.classes), size=56, name="eye", version="1")
    fly = snellen.audit(model, f"in9:{made.out}/original", audits, out=tmp_path / "fly", report=False).predictions()
    for kind in kinds:
        files = snellen.audit(
            model, f"in9:{made.out}/{kind}", "interference([shuffle(4)])", out=tmp_path / kind, report=False
        )
        clean = files.predictions().query("distortion == 'none()'").set_index("sample").confidence
        shown = fly[fly.distortion.str.contains(f"kind={kind},")].set_index("sample").confidence
        assert clean.sort_index().equals(shown.sort_index())


def test_reading_a_published_set_needs_no_manifest(made: In9Built, tmp_path: Path) -> None:
    """Without provenance the names tell foreground and background, and the mask the box."""
    for name in ("mixed_rand", "fg_mask"):
        shutil.copytree(made.out / name, tmp_path / name)
    data = load_data(f"in9:{tmp_path}/mixed_rand")
    with_table = load_data(f"in9:{made.out}/mixed_rand")
    assert data.samples.ids == with_table.samples.ids
    assert data.samples.columns["background"].tolist() == with_table.samples.columns["background"].tolist()
    assert data.facts == {"masks"}
    with pytest.raises(UserError, match=r"no folder '.*mixed_rnd'; .* has: mixed_rand"):
        load_data(f"in9:{tmp_path}/mixed_rnd")
    with pytest.raises(UserError, match="has no split 'train'; it has: val"):
        load_data(f"in9:{tmp_path}/mixed_rand?split=train")


@pytest.mark.parametrize("inpaint", ["tile", "telea", "ns"])
def test_a_variant_is_the_distortion_with_the_chosen_filling_and_blur(inpaint: Any) -> None:
    image = torch.randint(0, 256, (1, 3, 40, 40), dtype=torch.uint8, generator=torch.manual_seed(0))
    mask = torch.zeros(1, 40, 40, dtype=torch.bool)
    mask[:, 10:20, 12:30] = True
    box = np.array([[12, 10, 30, 20]], np.int64)
    request = In9Request(data="x", out="x", inpaint=inpaint, sigma=3.0)
    view = View.of(["a"], 0, masks=mask, boxes=[box.astype(float)], labels=np.zeros(1, int))
    for kind in ("only_bg_t", "bg_blurred"):
        made = variant_of(
            kind, Portrait(image, mask, box), Order("a", "0", (12, 10, 30, 20), {}), request, Path("none")
        )
        assert made.equal(Background(kind, 3.0, inpaint)(image, view)[0])  # type: ignore[arg-type]
    assert inpaint == "tile" or not made.equal(Background("only_bg_t", 3.0, "tile")(image, view)[0])
