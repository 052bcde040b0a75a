"""The answers of a study as tables: CSV or Parquet in the form that measures and audits read."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import sqlalchemy as sa

from snellen.atomic import write_atomic
from snellen.files.spreadsheet import to_csv
from snellen.web.study.folder import StudyFolder
from snellen.web.study.progress import day, progress_of
from snellen.web.study.request import ExportRequest
from snellen.web.study.store import StudyStore
from snellen.web.study.tables import ANSWERS, PEOPLE, RECRUITS, TRIALS

COLUMNS = (  # public names, in this order
    *("observer", "sample", "label", "answer", "level", "distortion", "seed", "x", "y", "on_target", "response_ms"),
    *("onset_ms", "late_frames", "away_ms", "shown_at"),
)
RECRUITING = "recruiting_ids"
MORE = ("exposure_ms", "scale", "input", "place", "stored_at")  # behind them


@dataclass(frozen=True)
class ExportedStudy:
    """The tables that were written, and how many answers and people they have."""

    files: tuple[Path, ...]
    answers: int
    people: int


def export_study(request: ExportRequest) -> ExportedStudy:
    """Write answers, catch trials and people; one state of the store, also while the study runs.

    >>> from snellen.web.study import ExportRequest, SimulateRequest, StudyRequest
    >>> from snellen.web.study import create_study, export_study, simulate_study
    >>> source = "phantom:test?size=32&n=24"
    >>> request = StudyRequest(source=source, out="done", protocol="forced", participants=2, per_person=6)
    >>> _ = create_study(request)
    >>> _ = simulate_study(SimulateRequest(study="done", people=2, bad=0))
    >>> export_study(ExportRequest(study="done", out="answers")).answers
    12
    """
    store = StudyStore(StudyFolder(request.study), request.database)
    try:
        answers = answers_frame(store)
        frames = {"answers": answers, "catch": answers_frame(store, "catch"), "observers": observers_frame(store)}
        if request.recruiting_ids:
            frames[RECRUITING] = recruits_frame(store)
    finally:
        store.close()
    files = tuple(_write(request, name, frame) for name, frame in frames.items())
    if request.recruiting_ids:
        os.chmod(files[-1], 0o600)
    return ExportedStudy(files, len(answers), answers["observer"].nunique())


def answers_frame(store: StudyStore, kind: str = "main") -> pd.DataFrame:
    """One row per answer to an image of a kind; missing values where nothing was measured."""
    query = (
        sa.select(PEOPLE.c.name.label("observer"), TRIALS.c.item, TRIALS.c.place, *ANSWERS.c)
        .select_from(ANSWERS.join(TRIALS).join(PEOPLE))
        .order_by(PEOPLE.c.id, TRIALS.c.place)
    )
    with store.database.reading() as connection:
        rows = [dict(row) for row in connection.execute(query).mappings()]
    items = store.study.items
    rows = [row for row in rows if items[row["item"]].kind == kind]
    for row in rows:
        item = items[row["item"]]
        row |= {name: getattr(item, name) for name in ("sample", "label", "level", "distortion", "seed")}
        row |= {"shown_at": day(row["shown_at"] / 1000), "stored_at": day(row["stored_at"])}
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *MORE])
    types: dict[str, Any] = {"on_target": "Int64", "x": float, "y": float, "exposure_ms": float}
    return frame.astype(types)


def observers_frame(store: StudyStore) -> pd.DataFrame:
    """One row per person who has consented: times, screen, catch trials."""
    columns = (PEOPLE.c.name, PEOPLE.c.consent_at, PEOPLE.c.done_at, PEOPLE.c.screen)
    with store.database.reading() as connection:
        known = {row.name: row for row in connection.execute(sa.select(*columns))}
    rows = []
    for person in progress_of(store).people:
        row = known[person.observer]
        screen = msgspec.json.decode(row.screen or "{}", type=dict[str, Any])
        times = {"consent_at": day(row.consent_at), "done_at": day(row.done_at)}
        rows.append(msgspec.structs.asdict(person) | times | screen)
    return pd.DataFrame(rows)


def recruits_frame(store: StudyStore) -> pd.DataFrame:
    """The ids of the recruiting site by observer."""
    query = sa.select(PEOPLE.c.name.label("observer"), RECRUITS.c.pid, RECRUITS.c.study, RECRUITS.c.session)
    with store.database.reading() as connection:
        rows = connection.execute(query.select_from(RECRUITS.join(PEOPLE)).order_by(PEOPLE.c.id)).mappings().all()
    return pd.DataFrame([dict(row) for row in rows], columns=["observer", "pid", "study", "session"])


def _write(request: ExportRequest, name: str, frame: pd.DataFrame) -> Path:
    path = request.out / f"{name}.{request.format}"
    buffer = io.BytesIO()
    if request.format == "csv" and name == RECRUITING:
        buffer.write(to_csv(frame).encode())  # what anybody may have put into an address
    elif request.format == "csv":
        frame.to_csv(buffer, index=False)
    else:
        frame.to_parquet(buffer, index=False)
    write_atomic(path, buffer.getvalue())
    return path
