"""The tables of a study. Times are seconds since 1970, UTC; durations are milliseconds."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, String, Text

TABLES = sa.MetaData()

PEOPLE = sa.Table(
    "people",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", String(40), unique=True, nullable=False),
    Column("token", String(64), unique=True, nullable=False),  # its sha256
    Column("state", String(16), nullable=False),
    Column("consent_at", Float),
    Column("seen_at", Float, nullable=False),
    Column("done_at", Float),
    Column("screen", Text, nullable=False),
)
RECRUITS = sa.Table(  # apart from the answers, and exported only when wanted
    "recruits",
    TABLES,
    Column("person", Integer, ForeignKey("people.id"), primary_key=True),
    Column("pid", String(100), nullable=False),
    Column("study", String(100), nullable=False),
    Column("session", String(100), nullable=False),
)
TRIALS = sa.Table(
    "trials",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("person", Integer, ForeignKey("people.id"), nullable=False, index=True),
    Column("place", Integer, nullable=False),
    Column("item", Integer, nullable=False),
    Column("address", String(40), unique=True, nullable=False),
    Column("flipped", Boolean, nullable=False),
    sa.UniqueConstraint("person", "place"),
    sa.UniqueConstraint("person", "item"),
)
ANSWERS = sa.Table(
    "answers",
    TABLES,
    Column("trial", Integer, ForeignKey("trials.id"), primary_key=True),  # so that an answer is one row
    Column("key", String(64), nullable=False),
    Column("answer", String(200), nullable=False),
    Column("steps", Text, nullable=False),
    Column("x", Float),
    Column("y", Float),
    Column("on_target", Boolean),
    Column("response_ms", Float, nullable=False),
    Column("onset_ms", Float, nullable=False),
    Column("exposure_ms", Float),
    Column("late_frames", Integer, nullable=False),
    Column("away_ms", Float, nullable=False),
    Column("scale", Float, nullable=False),
    Column("input", String(8), nullable=False),
    Column("shown_at", Float, nullable=False),
    Column("stored_at", Float, nullable=False),
)
