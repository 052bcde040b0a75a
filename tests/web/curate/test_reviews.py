"""Decisions and what they come to: the store, several reviewers, strokes as masks, the list."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.build.in9.building import In9Built
from snellen.build.in9.curation import read_curation
from snellen.build.in9.request import In9Request
from snellen.data.phantom import World
from snellen.errors import UserError
from snellen.web.bodies import Refusal
from snellen.web.curate import curate
from snellen.web.curate.collection import Exhibit
from snellen.web.curate.mending import Stroke, mended, painted, runs_of
from snellen.web.curate.request import CurateRequest
from snellen.web.curate.reviews import Review, settle
from snellen.web.curate.session import Session
from snellen.web.curate.store import Draft, ReviewStore

SETTINGS = In9Request(data="-", out=Path("-"), segment_size=128)


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path, "in9:set", "key")


def test_the_same_decision_sent_twice_is_one_row_and_another_one_counts_instead(store: ReviewStore) -> None:
    first = store.add("ann", Draft("a", "1", "accept"))
    assert store.add("ann", Draft("a", "1", "accept")) == first  # a lost reply
    assert store.add("ann", Draft("a", "2", "accept")) == first  # another tab
    other = store.add("ann", Draft("a", "3", "reject", "mask misses object"))
    assert other.number > first.number
    assert store.current("ann", "a") == other
    with pytest.raises(Refusal, match="sent before with another content"):
        store.add("ann", Draft("b", "3", "accept"))
    assert store.current("ben", "a") is None


def test_undoing_takes_back_one_decision_of_ones_own_once(store: ReviewStore) -> None:
    first = store.add("ann", Draft("a", "1", "accept"))
    second = store.add("ann", Draft("a", "2", "reject", "other", "no dog"))
    assert store.undo("ben", second.number) is None
    assert store.last("ann") == second.number
    assert store.undo("ann", second.number) == store.undo("ann", second.number) == second
    assert store.current("ann", "a") == first
    assert store.last("ann") == first.number
    store.undo("ann", first.number)
    assert (store.current("ann", "a"), store.last("ann")) == (None, None)
    again = store.add("ann", Draft("a", "4", "reject", "other", "no dog"))
    assert again.number > second.number


def test_a_mask_is_kept_bit_by_bit_and_all_is_there_when_the_store_is_opened_again(tmp_path: Path) -> None:
    mask = np.random.default_rng(0).random((7, 5)) < 0.5
    store = ReviewStore(tmp_path, "in9:set", "key")
    token = store.link("ann")
    review = store.add("ann", Draft("a", "1", "mend", box=(1, 2, 3, 4), strokes="[]", mask=mask))
    store.close()
    again = ReviewStore(tmp_path, "in9:set", "key")
    assert again.current("ann", "a") == review
    assert review.box == (1, 2, 3, 4)
    assert np.array_equal(again.mask(review.number), mask)
    assert again.reviewer(token) == "ann"
    assert again.reviewer("x" * 32) is None
    assert token.encode() not in b"".join(file.read_bytes() for file in tmp_path.glob("reviews.sqlite*"))
    with pytest.raises(UserError, match=r"holds reviews of 'in9:set' as it was when they began, not of 'in9:other'"):
        ReviewStore(tmp_path, "in9:other", "another key")


def review(number: int, reviewer: str, sample: str, decision: str, reason: str = "", strokes: str = "") -> Review:
    return Review(number, reviewer, sample, decision, reason, strokes=strokes)  # type: ignore[arg-type]


def test_what_reviewers_decide_alike_counts_and_differences_wait_until_one_is_chosen() -> None:
    own = {
        "ann": {
            "a": review(1, "ann", "a", "accept"),
            "b": review(2, "ann", "b", "reject", "mask misses object"),
            "c": review(3, "ann", "c", "mend", strokes="[1]"),
            "d": review(4, "ann", "d", "reject", "other"),
            "e": review(5, "ann", "e", "accept"),
        },
        "ben": {
            "a": review(6, "ben", "a", "reject", "other"),
            "b": review(7, "ben", "b", "reject", "other"),
            "c": review(8, "ben", "c", "mend", strokes="[2]"),
            "d": review(9, "ben", "d", "accept"),
        },
    }
    final = {"d": review(10, "ben", "d", "accept")}
    settled = settle(own, final)
    assert {name: one.number for name, one in settled.reviews.items()} == {"b": 2, "d": 10, "e": 5}
    assert {name: [one.number for one in reviews] for name, reviews in settled.open.items()} == {
        "a": [1, 6],
        "c": [3, 8],
    }
    (pair,) = settled.pairs
    assert (pair.first, pair.second, pair.agreement.n, pair.agreement.observed) == ("ann", "ben", 4, 0.5)
    assert settle({"ann": own["ann"]}, {}).open == {}
    assert settle({}, {}).pairs == []


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**36 - 1))
def test_runs_give_the_mask_back(height: int, width: int, bits: int) -> None:
    mask = np.array([bool(bits >> place & 1) for place in range(height * width)]).reshape(height, width)
    runs = runs_of(mask)
    assert np.array_equal(np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(mask.shape), mask)


def test_strokes_paint_the_pixels_under_them_and_the_last_one_wins() -> None:
    paint = painted([Stroke(True, 3, [2.5, 2.5, 6.5, 2.5])], 6, 10)
    assert paint[1:4, 2:7].all()
    assert not paint[5].any()
    assert not paint[:, 9].any()
    crossed = painted([Stroke(True, 3, [2.5, 2.5, 6.5, 2.5]), Stroke(False, 1, [4.5, 2.5])], 6, 10)
    assert crossed[2, 4] == -1
    assert (crossed != paint).sum() == 1


@pytest.fixture(scope="module")
def phantom() -> Exhibit:
    """A phantom whose true mask is known."""
    truth = World("test", size=64, object_size=0.5).truth([4])
    mask = truth.visible[0]
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return Exhibit(truth.images[0], mask, box)


def iou(first: np.ndarray, second: np.ndarray) -> float:
    return float((first & second).sum() / (first | second).sum())


def test_grabcut_with_strokes_comes_back_to_the_true_mask(phantom: Exhibit) -> None:
    """The stored mask keeps a band of background and misses half of the object; a stroke on each mends both."""
    x0, y0, x1, y1 = phantom.box
    wrong = np.zeros_like(phantom.mask)
    wrong[y0:y1, x0 : (x0 + x1) // 2] = True
    exhibit = Exhibit(phantom.image, wrong, phantom.box)
    rows, columns = np.nonzero(phantom.mask)
    middle = [float(columns.mean()), float(rows.mean())]
    inside = Stroke(True, 5, [*middle, middle[0] + (x1 - x0) / 5, middle[1]])
    outside = Stroke(False, 3, [x0 + 1.0, y0 + 1.0, x0 + 2.0, y0 + 1.0])
    mend = mended(exhibit, "a", phantom.box, [inside, outside], SETTINGS)
    assert mend.mask is not None
    assert iou(mend.mask, phantom.mask) > max(0.85, iou(wrong, phantom.mask) + 0.2)
    paint = painted([inside, outside], *phantom.mask.shape)
    assert mend.mask[paint > 0].all()
    assert not mend.mask[paint < 0].any()
    again = mended(exhibit, "a", phantom.box, [inside, outside], SETTINGS)
    assert np.array_equal(again.mask, mend.mask)


def test_the_box_grows_around_what_is_painted_as_the_object_and_must_leave_some_of_the_image(phantom: Exhibit) -> None:
    x0, y0, x1, y1 = phantom.box
    small = (x0, y0, x1 - 6, y1 - 6)
    mend = mended(phantom, "a", small, [Stroke(True, 1, [x1 - 2.0, y1 - 3.5])], SETTINGS)
    assert mend.box is not None
    assert mend.box[2] >= x1 - 2
    assert mended(phantom, "a", phantom.box, None, SETTINGS).box is None
    assert mended(phantom, "a", small, None, SETTINGS).box == small
    assert mended(phantom, "a", small, None, SETTINGS).mask is None
    for box in ((0, 0, 64, 64), (5, 5, 5, 9), (-1, 0, 4, 4), (0, 0, 65, 9), (1, 2, 3)):
        with pytest.raises(UserError, match="expected a box inside the image of 64 × 64 pixels"):
            mended(phantom, "a", box, None, SETTINGS)
    with pytest.raises(UserError, match="GrabCut (found no object|could not work)"):
        mended(phantom, "a", phantom.box, [Stroke(False, 200, [32.0, 32.0])], SETTINGS)


def test_the_list_is_what_builders_read_and_only_the_rest_is_kept(
    session: Session, made: In9Built, tmp_path: Path
) -> None:
    names = session.collection.names
    exhibit = session.collection.exhibit(2)
    mask = exhibit.mask.copy()
    mask[:20] = False
    session.store.add("ann", Draft(names[0], "1", "accept"))
    session.store.add("ann", Draft(names[1], "2", "reject", "other", '=1+1, "quoted"'))
    session.store.add("ann", Draft(names[2], "3", "mend", box=(1, 2, 30, 40), strokes="[]", mask=mask))
    session.store.add("ben", Draft(names[0], "1", "reject", "mask misses object"))
    curated = session.settle()
    assert (curated.accepted, curated.mended, curated.rejected, curated.differing, curated.undecided) == (
        0,
        1,
        1,
        1,
        21,
    )
    assert "1 judged differently" in curated.lines[-1]
    listed = read_curation(curated.out / "curation.csv")
    assert listed.rejects == {names[1]: 'other: =1+1, "quoted"'}
    assert listed.mends[names[2]].box == (1, 2, 30, 40)
    assert np.array_equal(listed.mends[names[2]].mask, mask)
    kept = (curated.out / "kept.txt").read_text().splitlines()
    assert kept == [name for name in names if name != names[1]]
    assert json.loads((curated.out / "agreement.json").read_text())[0]["agreement"]["n"] == 1
    assert json.loads(curated.json)["undecided"] == 21
    with pytest.raises(
        UserError, match="1 images are judged differently by several reviewers; settle them on the page"
    ):
        curate(f"in9:{made.out}", out=session.out, apply=tmp_path / "clean", workers=1)
    session.store.add("ben", Draft(names[0], "2", "accept"))
    session.store.undo("ann", session.store.current("ann", names[2]).number)  # type: ignore[union-attr]
    clean = curate(f"in9:{made.out}", out=session.out, apply=tmp_path / "clean", workers=1)
    assert not list((session.out / "masks").glob("*"))
    with (tmp_path / "clean" / "provenance.csv").open(newline="") as file:
        foregrounds = {row["foreground"] for row in csv.DictReader(file)}
    assert foregrounds == set(names) - {names[1]}
    assert clean.built == tmp_path / "clean"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"reviewers": ("ann", "Ann")}, "two reviewers have one name"),
        ({"reviewers": ("<b>",)}, "expected the name of a reviewer"),
        ({"reviewers": ()}, "at least one name"),
        ({"dataset": None}, "dataset is required"),
        ({"port": 70_000}, "expected port from 0 to 65,535"),
    ],
)
def test_settings_that_do_not_fit_are_one_line(settings: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        CurateRequest(**{"dataset": "in9:set", **settings})  # type: ignore[arg-type]
