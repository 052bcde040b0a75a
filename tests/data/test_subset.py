"""Random labels, classes left out and lists of ids: the right samples, honest fingerprints, options of any data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.stats import chisquare

from snellen.data import Dataset, Photo, Samples, limited, load_data, only_ids, random_labels, without_classes
from snellen.errors import UserError

NAMES = ("cat", "dog", "ship", "truck")


def data(count: int = 40, labels: list[int] | None = None) -> Dataset:
    """Images of one pixel that says which sample it is."""

    def read(rows):
        return [Photo(np.full((1, 1, 3), row, np.uint8), "") for row in rows]

    given_labels = np.arange(count) % 4 if labels is None else np.array(labels)
    samples = Samples(tuple(f"s{i}" for i in range(count)), given_labels, {"level": np.arange(count)})
    tree = {"cat": "animal", "dog": "animal", "ship": "vehicle", "truck": "vehicle"}
    return Dataset("folder:some", NAMES, samples, "made", read, tree=tree)


def test_a_share_of_the_labels_is_drawn_anew_each_class_equally_often():
    plain = data(8000)
    mixed = random_labels(plain, 0.5)
    changed = mixed.samples.labels != plain.samples.labels
    assert changed.mean() == pytest.approx(0.5 * 3 / 4, abs=0.02)  # a quarter of the drawn ones are the old label
    assert chisquare(np.bincount(mixed.samples.labels[changed], minlength=4)).pvalue > 1e-3
    whole = random_labels(plain, 1.0).samples.labels
    assert chisquare(np.bincount(whole * 4 + plain.samples.labels, minlength=16)).pvalue > 1e-3
    assert mixed.classes == NAMES
    assert mixed.samples.ids == plain.samples.ids


@settings(max_examples=30)
@given(low=st.floats(0, 1), high=st.floats(0, 1), seed=st.integers(0, 2**40))
def test_a_larger_share_draws_the_same_labels_and_more(low, high, seed):
    low, high = sorted((low, high))
    plain = data(200)
    less, more = (random_labels(plain, share, seed).samples.labels for share in (low, high))
    changed = less != plain.samples.labels
    assert np.array_equal(less[changed], more[changed])
    assert np.array_equal(random_labels(plain, 0.0, seed).samples.labels, plain.samples.labels)


def test_random_labels_do_not_depend_on_what_else_is_shown():
    plain = data(100)
    small = random_labels(limited(plain, 20), 1.0, 3).samples
    whole = dict(zip(plain.samples.ids, random_labels(plain, 1.0, 3).samples.labels))
    assert [whole[i] for i in small.ids] == small.labels.tolist()
    assert not np.array_equal(random_labels(plain, 1.0, 4).samples.labels, random_labels(plain, 1.0, 3).samples.labels)


def test_unknown_labels_stay_unknown():
    labels = random_labels(data(4, [-1, 0, -1, 1]), 1.0).samples.labels
    assert labels[[0, 2]].tolist() == [-1, -1]


def test_a_class_left_out_takes_its_samples_and_its_number_along():
    left = without_classes(data(8), ["dog"])
    assert left.classes == ("cat", "ship", "truck")
    assert left.samples.ids == ("s0", "s2", "s3", "s4", "s6", "s7")
    assert left.samples.labels.tolist() == [0, 1, 2, 0, 1, 2]
    assert left.samples.columns["level"].tolist() == [0, 2, 3, 4, 6, 7]
    assert left.tree == {"cat": "animal", "ship": "vehicle", "truck": "vehicle"}
    assert [photo.image[0, 0, 0] for photo in left.read([1, 5])] == [2, 7]


def test_unlabelled_samples_stay_when_a_class_goes():
    left = without_classes(data(4, [3, -1, 2, 0]), ["truck", "cat"])
    assert left.classes == ("dog", "ship")
    assert left.samples.labels.tolist() == [-1, 1]


def test_listed_ids_are_kept_in_the_datas_order(tmp_path):
    (tmp_path / "list.txt").write_text("s5\n\ns1 \ns5\n")
    kept = only_ids(data(8), tmp_path / "list.txt")
    assert kept.samples.ids == ("s1", "s5")
    assert kept.classes == NAMES
    assert [photo.image[0, 0, 0] for photo in kept.read([0, 1])] == [1, 5]


def test_every_subset_has_a_fingerprint_of_its_own(tmp_path):
    plain = data(40)
    (tmp_path / "all.txt").write_text("\n".join(plain.samples.ids[:-1]))
    made = [
        plain,
        random_labels(plain, 0.5),
        random_labels(plain, 0.6),
        random_labels(plain, 0.5, 1),
        without_classes(plain, ["dog"]),
        without_classes(plain, ["dog", "cat"]),
        random_labels(without_classes(plain, ["dog"]), 0.5),
        only_ids(plain, tmp_path / "all.txt"),
        limited(plain, 39),
    ]
    assert len({held.fingerprint for held in made}) == len(made)
    assert without_classes(plain, ["cat", "dog"]).fingerprint == made[5].fingerprint
    assert random_labels(plain, 0.5).fingerprint == made[1].fingerprint


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, str]:
    """The same kind of option on every kind of data: scheme → text, each with classes named after places or shapes."""
    (tmp_path / "list.csv").write_text(
        "path,label,level\n" + "".join(f"p/{n}/{i}.png,{n},{i}\n" for n in NAMES for i in range(3))
    )
    for name in NAMES:
        (tmp_path / "p" / name).mkdir(parents=True)
        for i in range(3):
            Image.new("RGB", (4, 4), (i, 0, 0)).save(tmp_path / "p" / name / f"{i}.png")
    images = np.zeros((12, 4, 4, 3), np.uint8)
    np.savez(tmp_path / "a.npz", images=images, labels=np.arange(12) % 4, classes=np.array(NAMES))
    return {
        "folder": f"folder:{tmp_path}/p",
        "manifest": f"manifest:{tmp_path}/list.csv",
        "arrays": f"arrays:{tmp_path}/a.npz",
        "phantom": "phantom:test?n=40&size=16",
    }


@pytest.mark.parametrize("scheme", ["folder", "manifest", "arrays", "phantom"])
def test_the_options_work_on_every_kind_of_data(sources, scheme, tmp_path):
    text = sources[scheme]
    more = text + ("&" if "?" in text else "?")
    plain = load_data(text)
    gone = plain.classes[1]
    (tmp_path / "ids.txt").write_text("\n".join(plain.samples.ids[1:6]))
    assert load_data(f"{more}ids={tmp_path}/ids.txt").samples.ids == plain.samples.ids[1:6]
    left = load_data(f"{more}without={gone}")
    assert left.classes == tuple(name for name in plain.classes if name != gone)
    assert left.text == f"{more}without={gone}"
    drawn = load_data(f"{more}without={gone}&random_labels=1&labels_seed=2")
    assert np.array_equal(drawn.samples.labels, random_labels(left, 1.0, 2).samples.labels)
    assert drawn.samples.labels.max() < len(left.classes)
    assert isinstance(drawn.read([0])[0], Photo)


def test_options_and_filters_go_together(sources):
    kept = load_data(f"{sources['manifest']}?level=1&without=truck,cat")
    assert kept.samples.ids == ("p/dog/1.png", "p/ship/1.png")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("without=truk", "unknown class of phantom:.* 'truk'"),
        ("without=", "without= names no class; phantom:"),
        ("random_labels=half", "expected random_labels as a number, got 'half'"),
        ("random_labels=1.5", r"expected random_labels in \[0, 1\], got 1.5"),
        ("random_labels=nan", r"expected random_labels in \[0, 1\], got nan"),
        ("random_labels=1&labels_seed=0.5", "expected labels_seed as a whole number, got '0.5'"),
        ("random_labels=1&labels_seed=inf", "expected labels_seed as a whole number, got 'inf'"),
        ("random_labels=1&labels_seed=-1", "expected labels_seed of at least 0, got -1"),
        ("labels_seed=1", "add random_labels=SHARE or leave it out"),
        ("ids=nowhere.txt", "no file 'nowhere.txt' of sample ids"),
    ],
)
def test_bad_options_are_told(options, said):
    with pytest.raises(UserError, match=said):
        load_data(f"phantom:test?n=20&size=16&{options}")


def test_bad_lists_are_told(tmp_path):
    file = tmp_path / "ids.txt"
    file.write_text("s1\nsx\nsy\n")
    with pytest.raises(UserError, match="ids.txt line 2: folder:some has no sample 'sx'; its first is 's0'"):
        only_ids(data(4), file)
    file.write_text("\n")
    with pytest.raises(UserError, match="ids.txt lists no sample ids; write one per line"):
        only_ids(data(4), file)
    file.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(UserError, match="ids.txt' line 1: byte 0xff is not UTF-8"):
        only_ids(data(4), file)
    with pytest.raises(UserError, match="without=cat,dog,ship,truck leaves no class of folder:some"):
        without_classes(data(4), NAMES)
    with pytest.raises(UserError, match="without=cat leaves no sample of folder:some"):
        without_classes(data(2, [0, 0]), ["cat"])
