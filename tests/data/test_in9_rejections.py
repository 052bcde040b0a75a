"""What the builder of ImageNet-9's variants refuses, and the reason it gives."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from snellen.build.in9 import In9Request, build, segment
from snellen.build.in9.judging import In9Candidate, judge
from snellen.build.in9.rejections import _small
from snellen.cli import main
from snellen.data import Photo, load_data
from snellen.data.phantom import export
from snellen.errors import UserError

from .test_boxed import write_image, write_voc
from .test_in9 import rows

pytest.importorskip("cv2")


def bad_input(root: Path) -> str:
    """One good image of each class, and one for each thing that can be wrong."""
    shapes = {
        "large": [("cat", 1, 1, 100, 80)], "outside": [("cat", 60, 10, 120, 40)], "flat": [("cat", 10, 10, 9, 40)],
        "several": [("cat", 10, 10, 30, 30), ("cat", 40, 40, 60, 60)], "none": [],
        "corner": [("cat", 1, 10, 12, 40)], "other": [("cat", 20, 20, 60, 60)],
    }  # fmt: skip
    for name, boxes in shapes.items():
        write_image(root, f"cat/{name}", (100, 80))
        write_voc(root, f"cat/{name}", boxes, (100, 80) if name != "other" else (50, 40))
    write_image(root, "cat/missing", (100, 80))
    write_image(root, "cat/blank", (100, 80))  # one colour: GrabCut finds nothing, or all
    write_voc(root, "cat/blank", [("cat", 20, 20, 60, 60)], (100, 80))
    (root / "JPEGImages" / "cat" / "damaged.png").write_bytes(b"no image")
    write_voc(root, "cat/damaged", [("cat", 20, 20, 60, 60)], (100, 80))
    random = np.random.default_rng(0)
    for name in ("cat", "dog"):
        picture = random.integers(0, 60, (80, 100, 3), dtype=np.uint8)
        picture[20:60, 30:70] = random.integers(180, 255, (40, 40, 3), dtype=np.uint8)
        (root / "JPEGImages" / name).mkdir(exist_ok=True)
        Image.fromarray(picture).save(root / "JPEGImages" / name / "good.png")
        write_voc(root, f"{name}/good", [(name, 26, 16, 75, 65)], (100, 80))
    return f"voc:{root}"


def test_what_is_wrong_is_a_rejection_with_a_reason(tmp_path: Path) -> None:
    text = bad_input(tmp_path / "voc")
    made = build(text, tmp_path / "set", size=64, workers=1)
    assert made.classes == {"cat": 1, "dog": 1}
    told = {row["source"].removeprefix("cat/").removesuffix(".png"): row for row in rows(made, "rejected.csv")}
    assert {name: row["reason"] for name, row in told.items()} == {
        "large": "box too large", "outside": "box outside the image", "flat": "box without area",
        "several": "several boxes", "none": "no box", "corner": "cropped away", "other": "size differs",
        "missing": "no annotation", "damaged": "unreadable", "blank": "segmentation failed",
    }  # fmt: skip
    assert told["outside"]["detail"] == "59, 9 to 120, 40 in 100x80"
    assert told["other"]["detail"] == "Annotations/cat/other.xml says 50x40 pixels, the image has 100x80"
    page = (made.out / "rejections.md").read_text()
    assert "12 images judged, 2 taken; 0 more are of no class of this set." in page
    assert "| several boxes | 1 | 8.3% |" in page
    assert (made.out / "rejections" / "several-boxes.png").exists()


@pytest.mark.parametrize(
    ("width", "box", "reason"),
    [
        (100, (0, 0, 100, 90), ""),  # 90 % of the image
        (100, (0, 0, 100, 91), "box too large"),
        (200, (30, 20, 70, 60), ""),  # the crop is 50 to 150: 20 of 40 columns
        (200, (29, 20, 70, 60), "cropped away"),
        (200, (130, 20, 170, 60), ""),
        (200, (130, 20, 171, 60), "cropped away"),
        (200, (20, 0, 140, 90), ""),  # as large as the crop, but only 81% of the crop are of it
        (200, (20, 0, 150, 90), ""),  # 90% of the crop
        (200, (20, 0, 150, 91), "box too large"),
    ],
)
def test_the_published_limits_of_boxes(width: int, box: tuple[int, ...], reason: str, tmp_path: Path) -> None:
    """A box of 90 % and one of which half is kept are the last that pass (paper 004, appendix A)."""
    mask = np.ones((100, width), bool)
    photo = Photo(np.zeros((100, width, 3), np.uint8), "", np.array([box], float), {"mask": mask})
    verdict = judge(
        In9Candidate("a", "a", photo), In9Request(data="x", out="x", size=100, scale=100, masks="data"), tmp_path
    )
    assert verdict.reason == reason, verdict.detail


@pytest.mark.parametrize(("pixels", "reason"), [(160, ""), (159, "segmentation failed")])
def test_a_mask_of_a_tenth_of_the_box_is_the_smallest(pixels: int, reason: str, tmp_path: Path) -> None:
    mask = np.zeros((100, 100), bool)
    mask[30:70, 30:70] = (np.arange(1600) < pixels).reshape(40, 40)
    photo = Photo(np.zeros((100, 100, 3), np.uint8), "", np.array([[30.0, 30, 70, 70]]), {"mask": mask})
    verdict = judge(
        In9Candidate("a", "a", photo), In9Request(data="x", out="x", size=100, scale=100, masks="data"), tmp_path
    )
    assert verdict.reason == reason, verdict.detail


@pytest.mark.parametrize("succeeds", [10, 11])
def test_grabcut_is_tried_ten_times_each_with_another_seed(succeeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def found(image: np.ndarray, box: tuple[int, int, int, int], seed: int, iterations: int) -> np.ndarray:
        seeds.append(seed)
        mask = np.zeros(image.shape[:2], bool)
        mask[20 : 24 if len(seeds) == succeeds else 20, 20:60] = True  # 4 of 40 rows: a tenth
        return mask

    monkeypatch.setattr(segment, "grabcut", found)
    photo, box = np.zeros((80, 80, 3), np.uint8), np.array([20.0, 20, 60, 60])
    made = segment.segment_object(photo, box, "a", In9Request(data="x", out="x"))
    assert len(set(seeds)) == len(seeds) == 10
    assert (made.mask is not None) == (succeeds == 10)
    assert (made.tries, made.seed) == (10, seeds[-1])


def test_every_image_has_seeds_of_its_own_that_follow_from_the_seed_of_the_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GrabCut starts from random clusters: with one seed for all images a bad start would spoil all of them alike."""
    seeds: list[int] = []

    def find_nothing(image: np.ndarray, box: tuple[int, int, int, int], seed: int, iterations: int) -> np.ndarray:
        seeds.append(seed)
        return np.zeros(image.shape[:2], bool)

    monkeypatch.setattr(segment, "grabcut", find_nothing)
    photo = Photo(np.zeros((100, 100, 3), np.uint8), "", np.array([[30.0, 30, 70, 70]]))
    tried = [("a", 0), ("b", 0), ("a", 1), ("a", 0)]
    for name, seed in tried:
        verdict = judge(
            In9Candidate(name, name, photo),
            In9Request(data="x", out="x", size=100, scale=100, tries=3, seed=seed),
            tmp_path,
        )
        assert verdict.reason == "segmentation failed"
    assert len(set(seeds[:9])) == 9
    assert seeds[9:] == seeds[:3]


@pytest.mark.parametrize("all_images", [False, True])
def test_an_image_whose_class_nothing_tells_is_rejected_too(all_images: bool, tmp_path: Path) -> None:
    """In a flat folder an XML file is all that names the class; without it an image must not vanish uncounted."""
    export("phantom:test?n=12&size=32&object_size=0.4..0.6", "voc", tmp_path / "voc", quiet=True)
    kept, missing, broken, nothing = sorted((tmp_path / "voc" / "Annotations").iterdir())[:4]
    missing.unlink()
    broken.write_text("<annotation>")
    nothing.write_text("<annotation><size><width>32</width><height>32</height></size></annotation>")
    made = build(
        f"voc:{tmp_path / 'voc'}?masks=true", tmp_path / "set", size=32, workers=1, masks="data", all_images=all_images
    )
    assert made.judged == 12
    told = {row["id"]: row["reason"] for row in rows(made, "rejected.csv")}
    assert [told.get(xml.stem) for xml in (missing, broken, nothing)] == [
        "no annotation",
        "broken annotation",
        "no box",
    ]
    assert kept.stem not in told
    assert "0 more are of no class of this set." in (made.out / "rejections.md").read_text()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sigma": -1.0}, "expected sigma from 0 to 1,000, got -1"),
        ({"quality": 101}, "expected quality from 1 to 100, got 101"),
        ({"split": "../val"}, "expected split as the name of a folder, such as val or train, got '../val'"),
        ({"split": ""}, "expected split as the name of a folder"),
        ({"split": ".."}, "expected split as the name of a folder"),
    ],
)
def test_settings_that_no_set_can_have_are_told_before_the_first_image(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        In9Request(data="x", out="x", **settings)


def test_data_without_boxes_are_refused_at_once(tmp_path: Path) -> None:
    write_image(tmp_path, "cat/a", (32, 32))
    write_image(tmp_path, "dog/a", (32, 32))
    text = f"folder:{tmp_path / 'JPEGImages'}"
    with pytest.raises(UserError, match="has no boxes; use voc:, coco: or boxes: data, or all_images"):
        build(text, tmp_path / "set", size=32, workers=1)
    assert build(text, tmp_path / "set", size=32, workers=1, all_images=True).images == 2


def test_classes_without_images_are_named_with_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = bad_input(tmp_path / "voc")
    shutil.rmtree(tmp_path / "voc" / "JPEGImages" / "dog")
    (tmp_path / "voc" / "JPEGImages" / "cat" / "good.png").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["build", "in9", "--data", text, "--out", str(tmp_path / "set"), "--size", "64", "--workers", "1"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "error: no images are left of class 'cat' (" in error
    assert "1 several boxes" in error
    assert "leave it out (--classes, ?without=), or add images of it" in error


def test_all_images_with_or_without_boxes(tmp_path: Path) -> None:
    made = build(bad_input(tmp_path / "voc"), tmp_path / "set", size=64, workers=1, all_images=True, balance=False)
    assert made.classes == {"cat": 9, "dog": 1}  # all but the damaged one and the one of another size
    assert [p.name for p in made.out.iterdir() if p.is_dir()] == ["original"]
    data = load_data(f"in9:{made.out}/original")
    assert data.facts == set()


def test_as_published_makes_every_published_choice_at_once() -> None:
    """The default differs in the filter alone; what the paper does not state may still be chosen."""
    published = In9Request(data="x", out="x", published=True, sigma=3.0, seed=4)
    assert (published.interpolation, published.canvas.scale, published.tries) == ("nearest", 256, 10)
    assert (published.sigma, published.seed) == (3.0, 4)
    plain = In9Request(data="x", out="x", sigma=3.0, seed=4)
    assert replace(published, published=False, interpolation="bicubic", scale=0) == plain
    assert In9Request(data="x", out="x", published=True, interpolation="nearest").interpolation == "nearest"


@pytest.mark.parametrize(("name", "value"), [("interpolation", "lanczos"), ("size", 64), ("inpaint", "telea")])
def test_a_choice_beside_as_published_is_refused(name: str, value: object) -> None:
    with pytest.raises(UserError, match=f"^published has a {name} of .*, got {name}={value!r}; leave one"):
        build("x", "x", published=True, **{name: value})


def test_the_option_as_published_builds_by_nearest_neighbours(tmp_path: Path) -> None:
    """Through the command line, pixel by pixel as Pillow scales and the centre is cut; the default is another filter."""
    data, table = load_data("phantom:test?n=12&size=32"), tmp_path / "groups.csv"
    photo, name = data.read([0])[0], data.classes[data.samples.labels[0]]
    assert isinstance(photo, Photo)
    table.write_text(f"class,group\n{name},one\n")  # so that the first image is the only one
    for option, scaling in (("--quiet", Image.Resampling.BICUBIC), ("--as-published", Image.Resampling.NEAREST)):
        out = tmp_path / scaling.name
        words = f"build in9 --data {data.text} --classes {table} --out {out} --all-images --workers 1 {option}"
        with pytest.raises(SystemExit) as ended:
            main(words.split())
        assert ended.value.code == 0
        (file,) = (out / "original").rglob("*.png")
        scaled = np.asarray(Image.fromarray(photo.image).resize((256, 256), scaling))
        np.testing.assert_array_equal(np.asarray(Image.open(file)), scaled[16:240, 16:240])


def test_a_rejected_photo_keeps_its_aspect_and_its_box_is_drawn_where_it_is() -> None:
    """Of 192 × 96 pixels half, with a box from 48 to 96 across and 24 to 72 down."""
    boxes = np.array([[48.0, 24.0, 96.0, 72.0]])
    picture = _small(Photo(np.zeros((96, 192, 3), np.uint8), "checksum", boxes))
    assert picture.size == (96, 48)
    ys, xs = np.nonzero(np.asarray(picture)[..., 0] > 128)
    assert (xs.min(), ys.min(), xs.max(), ys.max()) == (24, 12, 47, 35)
