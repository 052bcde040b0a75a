"""Where reviews are kept: one row per decision, on disk before it is confirmed; undoing marks a row and loses nothing."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np
import sqlalchemy as sa

from snellen.errors import UserError
from snellen.web.bodies import Refusal
from snellen.web.curate.mending import Stroke
from snellen.web.curate.reviews import Decision, Review
from snellen.web.database import Database
from snellen.web.tokens import fingerprint, new_token

KIND, VERSION = "curation", 1
LINK_DAYS = 30

TABLES = sa.MetaData()
SETS = sa.Table(
    "sets",
    TABLES,
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.String(64), primary_key=True),
)
LINKS = sa.Table(
    "links",
    TABLES,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("reviewer", sa.String(40), nullable=False),
    sa.Column("made_at", sa.String(32), nullable=False),
)
REVIEWS = sa.Table(
    "reviews",
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("reviewer", sa.String(40), nullable=False),
    sa.Column("sample", sa.Text, nullable=False),
    sa.Column("attempt", sa.String(64), nullable=False),  # the same one sent again is the same row
    sa.Column("decision", sa.String(10), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("x0", sa.Integer),
    sa.Column("y0", sa.Integer),
    sa.Column("x1", sa.Integer),
    sa.Column("y1", sa.Integer),
    sa.Column("strokes", sa.Text, nullable=False),
    sa.Column("mask", sa.LargeBinary),  # bits, row by row
    sa.Column("height", sa.Integer),
    sa.Column("width", sa.Integer),
    sa.Column("final", sa.Boolean, nullable=False),
    sa.Column("at", sa.String(32), nullable=False),
    sa.Column("undone_at", sa.String(32)),
    sa.UniqueConstraint("reviewer", "attempt"),
    sqlite_autoincrement=True,
)
_PLAIN = [column for column in REVIEWS.c if column.name != "mask"]


@dataclass(frozen=True)
class Draft:
    """A decision before it is kept: as a `Review`, with the mask itself; one that is sent again has the same `attempt`."""

    sample: str
    attempt: str
    decision: Decision
    reason: str = ""
    note: str = ""
    box: tuple[int, ...] | None = None
    strokes: str = ""
    mask: np.ndarray | None = None
    final: bool = False

    def is_same(self, review: Review) -> bool:
        """Whether a review says the same."""
        names = ("sample", "decision", "reason", "note", "box", "strokes", "final")
        return all(getattr(self, name) == getattr(review, name) for name in names)


class ReviewStore:
    """The reviews of one set in the file reviews.sqlite of a folder."""

    def __init__(self, folder: Path, text: str, fingerprint: str) -> None:
        self.database = Database(folder / "reviews.sqlite", TABLES, KIND, VERSION)
        with self.database.writing() as connection:
            stored = connection.execute(sa.select(SETS)).first()
            if stored is None:
                connection.execute(SETS.insert().values(text=text, fingerprint=fingerprint))
            elif stored.fingerprint != fingerprint:
                raise UserError(
                    f"{folder} holds reviews of '{stored.text[:200]}' as it was when they began, not of '{text[:200]}' as it is "
                    "now; give another folder of reviews, or the set as it was"
                )

    def check(self, names: Container[str]) -> None:
        """Refuse a store with a review that nobody can have given of images of these names."""
        query = sa.select(*_PLAIN, sa.func.length(REVIEWS.c.mask).label("bytes"))
        with self.database.reading() as connection:
            for row in connection.execute(query):
                fault = "is of an image that the set does not have" if row.sample not in names else _fault_of(row)
                if fault:
                    raise self.database.damaged(f"review {row.number} {fault}")

    def link(self, reviewer: str) -> str:
        """A new token by which a reviewer comes in; earlier ones hold for 30 days."""
        token, now = new_token(), datetime.now(UTC)
        with self.database.writing() as connection:
            old = (now - timedelta(days=LINK_DAYS)).isoformat()
            connection.execute(LINKS.delete().where(LINKS.c.made_at < old))
            row = {"hash": fingerprint(token), "reviewer": reviewer, "made_at": now.isoformat()}
            connection.execute(LINKS.insert().values(row))
        return token

    def reviewer(self, token: str) -> str | None:
        """Whose token it is; None for nobody's."""
        with self.database.reading() as connection:
            found_row = connection.execute(
                sa.select(LINKS.c.reviewer).where(LINKS.c.hash == fingerprint(token))
            ).first()
        return None if found_row is None else str(found_row.reviewer)

    def add(self, reviewer: str, draft: Draft) -> Review:
        """Keep a decision and return it; what was sent before, or says what counts already, is the row that is there."""
        with self.database.writing() as connection:
            sent = (REVIEWS.c.reviewer == reviewer) & (REVIEWS.c.attempt == draft.attempt)
            earlier = connection.execute(sa.select(*_PLAIN).where(sent)).first()
            if earlier is not None:
                review = _review(earlier)
                if not draft.is_same(review):
                    raise Refusal(409, "this decision was sent before with another content; load the page again")
                return review
            current = self._current(connection, reviewer, draft.sample, draft.final)
            if current is not None and draft.is_same(current):
                return current
            inserted = connection.execute(REVIEWS.insert().values(_row(reviewer, draft)))
            number = inserted.inserted_primary_key[0] if inserted.inserted_primary_key else 0
            kept_row = connection.execute(sa.select(*_PLAIN).where(REVIEWS.c.number == number)).one()
        return _review(kept_row)

    def undo(self, reviewer: str, number: int) -> Review | None:
        """Take back a decision of a reviewer and return it, also where that was done before; None where it is not theirs."""
        own = (REVIEWS.c.number == number) & (REVIEWS.c.reviewer == reviewer)
        with self.database.writing() as connection:
            row = connection.execute(sa.select(*_PLAIN).where(own)).first()
            if row is not None and row.undone_at is None:
                now = datetime.now(UTC).isoformat()
                connection.execute(REVIEWS.update().where(own).values(undone_at=now))
        return None if row is None else _review(row)

    def last(self, reviewer: str) -> int | None:
        """The number of a reviewer's latest decision that stands."""
        stands = (REVIEWS.c.reviewer == reviewer) & REVIEWS.c.undone_at.is_(None)
        with self.database.reading() as connection:
            number = connection.execute(sa.select(sa.func.max(REVIEWS.c.number)).where(stands)).scalar()
        return None if number is None else int(number)

    def review(self, number: int) -> Review | None:
        """The review of this number, if it stands."""
        stands = (REVIEWS.c.number == number) & REVIEWS.c.undone_at.is_(None)
        with self.database.reading() as connection:
            row = connection.execute(sa.select(*_PLAIN).where(stands)).first()
        return None if row is None else _review(row)

    def current(self, reviewer: str, sample: str) -> Review | None:
        """What a reviewer has decided of an image, as it stands."""
        with self.database.reading() as connection:
            return self._current(connection, reviewer, sample, False)

    def standing(self) -> tuple[Mapping[str, Mapping[str, Review]], Mapping[str, Review]]:
        """All that stands: by reviewer and sample, and by sample what settled a difference."""
        own: dict[str, dict[str, Review]] = {}
        final: dict[str, Review] = {}
        query = sa.select(*_PLAIN).where(REVIEWS.c.undone_at.is_(None)).order_by(REVIEWS.c.number)
        with self.database.reading() as connection:
            for row in connection.execute(query):
                review = _review(row)
                if review.final:
                    final[review.sample] = review
                else:
                    own.setdefault(review.reviewer, {})[review.sample] = review
        return own, final

    def mask(self, number: int) -> np.ndarray | None:
        """bool [H, W]: the mask of a review; None where it changed none."""
        query = sa.select(REVIEWS.c.mask, REVIEWS.c.height, REVIEWS.c.width).where(REVIEWS.c.number == number)
        with self.database.reading() as connection:
            row = connection.execute(query).first()
        if row is None or row.mask is None:
            return None
        bits = np.unpackbits(np.frombuffer(row.mask, np.uint8), count=row.height * row.width)
        return bits.reshape(row.height, row.width).astype(bool)

    def close(self) -> None:
        self.database.close()

    def _current(self, connection: sa.Connection, reviewer: str, sample: str, final: bool) -> Review | None:
        same = (REVIEWS.c.sample == sample) & REVIEWS.c.undone_at.is_(None) & (REVIEWS.c.final == final)
        mine = same if final else same & (REVIEWS.c.reviewer == reviewer)
        row = connection.execute(sa.select(*_PLAIN).where(mine).order_by(REVIEWS.c.number.desc()).limit(1)).first()
        return None if row is None else _review(row)


def _row(reviewer: str, draft: Draft) -> dict[str, Any]:
    mask, box = draft.mask, draft.box or (None,) * 4
    return {
        "reviewer": reviewer,
        **{
            name: getattr(draft, name)
            for name in ("sample", "attempt", "decision", "reason", "note", "strokes", "final")
        },
        **dict(zip(("x0", "y0", "x1", "y1"), box)),
        "mask": None if mask is None else np.packbits(mask).tobytes(),
        "height": None if mask is None else mask.shape[0],
        "width": None if mask is None else mask.shape[1],
        "at": datetime.now(UTC).isoformat(),
    }


def _fault_of(row: Any) -> str | None:
    """What no page can have sent of a review, whose mask has so many `bytes`."""
    numbers = [row.x0, row.y0, row.x1, row.y1]
    if row.decision not in get_args(Decision):
        return "has no known decision"
    if None in numbers and numbers != [None] * 4:
        return "has half a box"
    if (row.bytes, row.height, row.width) != (None, None, None):
        sides = [side or 0 for side in (row.height, row.width)]
        if min(sides) < 1 or row.bytes != (sides[0] * sides[1] + 7) // 8:
            return "has a mask of another size than it says"
    try:
        msgspec.json.decode(row.strokes or "[]", type=list[Stroke])
    except (msgspec.DecodeError, UnicodeError):
        return "has strokes that cannot be read"
    return None


def _review(row: Any) -> Review:
    box = None if row.x0 is None else (row.x0, row.y0, row.x1, row.y1)
    facts = (row.number, row.reviewer, row.sample, row.decision, row.reason, row.note)
    return Review(*facts, box, row.strokes, row.height is not None, row.final)
