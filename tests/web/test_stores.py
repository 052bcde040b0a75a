"""An SQLite store that is not as it was written is refused in one line when it is opened, before anybody is let in."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.web.participants import make

from snellen.errors import UserError
from snellen.web.curate.collection import Exhibit
from snellen.web.curate.reviews import Mend
from snellen.web.curate.store import Draft, ReviewStore
from snellen.web.study import SimulateRequest, StudyFolder, StudyStore, simulate_study
from snellen.web.study.masks import on_object


def change(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study in which one person took part."""
    folder, _ = make(tmp_path_factory.mktemp("taken") / "study", participants=0)
    simulate_study(SimulateRequest(study=folder.path, people=1))
    return folder.path


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("update answers set response_ms = 'long'", "values of 'answers.response_ms' are of another type"),
        ("update trials set place = 1e300 where place = 1", "1 values of 'trials.place' are of another type"),
        ("update trials set item = 999 where place = 0", "an item that study.json does not have"),
        ("update people set state = 'asleep'", "a person is in no known state"),
        ("update people set state = 'invited'", "chosen for a person who has not consented"),
        ("update people set seen_at = 1e13", "a value of 'people.seen_at' is no time"),
        ("update people set screen = '{'", "a person's screen"),
        ("alter table people rename column state to mood", "its table 'people' has no column 'state'"),
        ("delete from people", "a row of 'trials' belongs to one of 'people' that is not there"),
        ("delete from trials", "a row of 'answers' belongs to one of 'trials' that is not there"),
        ("drop table recruits", "it has no table 'recruits'"),
        ("drop table store", "it has no table 'store'"),
        ("delete from store", "it does not say what it is"),
    ],
)
def test_a_store_of_a_study_that_was_changed(taken: Path, tmp_path: Path, statement: str, fault: str) -> None:
    shutil.copytree(taken, tmp_path / "study")
    StudyStore(StudyFolder(tmp_path / "study")).close()
    change(tmp_path / "study" / "study.sqlite", "pragma foreign_keys = off", statement)
    with pytest.raises(UserError, match=r"study\.sqlite.*") as refused:
        StudyStore(StudyFolder(tmp_path / "study"))
    assert fault in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_pages_that_were_lost_are_found(taken: Path, tmp_path: Path) -> None:
    content = bytearray((taken / "study.sqlite").read_bytes())
    content[3 * 4096 : 5 * 4096] = bytes(2 * 4096)
    shutil.copytree(taken, tmp_path / "study")
    (tmp_path / "study" / "study.sqlite").write_bytes(content)
    with pytest.raises(UserError, match=r"study\.sqlite"):
        StudyStore(StudyFolder(tmp_path / "study"))


def test_a_mask_of_another_size_is_named(tmp_path: Path) -> None:
    folder, _ = make(tmp_path / "study")
    item = next(item for item in folder.study.items if item.has_mask)
    Image.new("L", (3, 2)).save(folder.mask_file(item))
    with pytest.raises(UserError, match=r"masks/\d+\.png has 3×2 pixels, its picture 32×32"):
        on_object(folder, item, 8, 8)
    folder.mask_file(item).write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"masks/\d+\.png: cannot be decoded"):
        on_object(folder, item, 8, 8)


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("update reviews set decision = 'maybe'", "review 1 has no known decision"),
        ("update reviews set sample = 'c'", "review 1 is of an image that the set does not have"),
        ("update reviews set x0 = null", "review 1 has half a box"),
        ("update reviews set width = 9", "review 1 has a mask of another size than it says"),
        ("update reviews set strokes = '[{}]'", "review 1 has strokes that cannot be read"),
        ("update reviews set mask = 'text'", "values of 'reviews.mask' are of another type"),
    ],
)
def test_a_store_of_reviews_that_was_changed(tmp_path: Path, statement: str, fault: str) -> None:
    store = ReviewStore(tmp_path, "a set", "0" * 64)
    store.add("ann", Draft("a", "1", "mend", box=(1, 2, 3, 4), strokes="[]", mask=np.eye(4) > 0))
    store.check({"a", "b"})
    store.close()
    change(tmp_path / "reviews.sqlite", statement)
    with pytest.raises(UserError, match=r"reviews\.sqlite is damaged: ") as refused:
        ReviewStore(tmp_path, "a set", "0" * 64).check({"a", "b"})
    assert fault in str(refused.value)


def test_a_mask_of_another_set_is_not_laid_over_an_image() -> None:
    exhibit = Exhibit(np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), bool), (0, 0, 4, 4))
    with pytest.raises(UserError, match="the mask of its review has 5×5 pixels, the image 4×4"):
        exhibit.mended(Mend(None, np.eye(5) > 0))
