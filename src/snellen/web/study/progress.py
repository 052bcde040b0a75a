"""How far a study is: people and answers counted, and what tells a careless person."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from snellen.web.study.store import ACTIVE, DONE, INVITED, WITHDRAWN, StudyStore
from snellen.web.study.tables import ANSWERS, PEOPLE, TRIALS


class PersonProgress(msgspec.Struct):
    """One person: answers of main images out of all, catch trials answered right (of those answered), median response time."""

    observer: str
    state: str
    answered: int
    total: int
    catch_right: int
    catch_total: int
    median_ms: float | None
    late_share: float | None


class StudyProgress(msgspec.Struct):
    """People by state, answers, the fewest and most ratings of an image, and a row for each person who has consented."""

    title: str
    states: dict[str, int]
    answers: int
    images: int
    fewest: int
    most: int
    people: list[PersonProgress]


def progress_of(store: StudyStore) -> StudyProgress:
    """The state of a study now.

    >>> from snellen.web.study import StudyFolder, StudyRequest, StudyStore, create_study, progress_of
    >>> source = "phantom:test?size=32&n=24"
    >>> request = StudyRequest(source=source, out="new", protocol="forced", participants=2, per_person=6)
    >>> _ = create_study(request)
    >>> progress_of(StudyStore(StudyFolder("new"))).answers
    0
    """
    query = (
        sa.select(PEOPLE.c.name, TRIALS.c.item, ANSWERS.c.answer, ANSWERS.c.response_ms, ANSWERS.c.late_frames)
        .select_from(TRIALS.join(PEOPLE).outerjoin(ANSWERS))
        .order_by(PEOPLE.c.id, TRIALS.c.place)
    )
    with store.database.reading() as connection:
        people = connection.execute(sa.select(PEOPLE.c.name, PEOPLE.c.state).order_by(PEOPLE.c.id)).all()
        rows = connection.execute(query).all()
    trials: dict[str, list[Any]] = {name: [] for name, state in people if state in (ACTIVE, DONE)}
    ratings = {item.number: 0 for item in store.study.of_kind("main")}
    for row in rows:
        trials[row.name].append(row)
        if row.answer is not None and row.item in ratings:
            ratings[row.item] += 1
    states = dict(people_row for people_row in [(name, 0) for name in (INVITED, ACTIVE, DONE, WITHDRAWN)])
    for _, state in people:
        states[state] += 1
    return StudyProgress(
        title=str(store.study.settings["title"]),
        states=states,
        answers=sum(ratings.values()),
        images=len(ratings),
        fewest=min(ratings.values(), default=0),
        most=max(ratings.values(), default=0),
        people=[_of_person(store, name, state, trials[name]) for name, state in people if name in trials],
    )


def _of_person(store: StudyStore, name: str, state: str, rows: list[Any]) -> PersonProgress:
    items = store.study.items
    main = [row for row in rows if items[row.item].kind == "main"]
    answered = [row for row in main if row.answer is not None]
    catch = [row for row in rows if items[row.item].kind == "catch" and row.answer is not None]
    times = sorted(row.response_ms for row in answered)
    middle = len(times) // 2
    return PersonProgress(
        observer=name,
        state=state,
        answered=len(answered),
        total=len(main),
        catch_right=sum(row.answer == items[row.item].label for row in catch),
        catch_total=len(catch),
        median_ms=None if not times else times[middle] if len(times) % 2 else (times[middle - 1] + times[middle]) / 2,
        late_share=None if not answered else sum(row.late_frames > 0 for row in answered) / len(answered),
    )


def day(seconds: float | None) -> str:
    """A time as ISO 8601 in UTC with milliseconds; empty for none."""
    if seconds is None:
        return ""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="milliseconds")
