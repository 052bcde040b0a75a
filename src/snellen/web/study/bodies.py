"""What a participant's page sends and receives, as declared types; the description of the API follows from them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Text = Annotated[str, Meta(max_length=100)]
Name = Annotated[str, Meta(max_length=200)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]


class EntryBody(Struct, forbid_unknown_fields=True):
    """A personal link's token."""

    token: Text


class Arrival(Struct, forbid_unknown_fields=True):
    """What a recruiting site puts into the address."""

    PROLIFIC_PID: Annotated[str, Meta(min_length=1, max_length=100)]
    STUDY_ID: Text = ""
    SESSION_ID: Text = ""


class Consent(Struct, forbid_unknown_fields=True):
    """That a person agrees; anything else is refused."""

    agreed: bool


class Withdrawal(Struct, forbid_unknown_fields=True):
    """A withdrawal code."""

    code: Text


class Screen(Struct, forbid_unknown_fields=True):
    """What is known of a person's screen: sizes in CSS pixels, the refresh rate in Hz, pixels per mm by a bank card."""

    width: Annotated[int, Meta(ge=0, le=100_000)]
    height: Annotated[int, Meta(ge=0, le=100_000)]
    pixel_ratio: Annotated[float, Meta(gt=0, le=100)]
    refresh_hz: Annotated[float, Meta(ge=0, le=10_000)] | None = None
    pixels_per_mm: Annotated[float, Meta(gt=0, le=1000)] | None = None
    touch: bool = False


class AnswerBody(Struct, forbid_unknown_fields=True):
    """An answer to one picture. `key` is the same when it is sent again; `x`, `y` are pixels of the picture, (0, 0) its top left;
    `response_ms` runs from the first frame that showed the picture, without `away_ms`, when the page was hidden; `onset_ms` is
    that frame since the trial began, `exposure_ms` how long the picture was there, `late_frames` how many frames came too late
    while it was; `shown_at` is the clock of the person's computer, ms since 1970; `scale` is device pixels per pixel."""

    trial: Text
    key: Annotated[str, Meta(min_length=1, max_length=64)]
    answer: Name
    response_ms: Milliseconds
    onset_ms: Milliseconds
    late_frames: Annotated[int, Meta(ge=0, le=1_000_000)]
    away_ms: Milliseconds
    scale: Annotated[float, Meta(gt=0, le=1000)]
    shown_at: Annotated[float, Meta(ge=0, le=1e14)]
    input: Literal["mouse", "touch", "pen", "keys"]
    steps: Annotated[list[Name], Meta(max_length=40)] = []
    exposure_ms: Milliseconds | None = None
    x: Annotated[float, Meta(ge=0, le=1e6)] | None = None
    y: Annotated[float, Meta(ge=0, le=1e6)] | None = None


class NextTrial(Struct):
    """A picture to show: its address (one for each of its pictures), its size in pixels and whether it is practice."""

    trial: str
    pictures: list[str]
    width: int
    height: int
    practice: bool


class StudyState(Struct):
    """Where a person is: `consent`, `trials` or `done`; how many pictures they have answered, and the next two."""

    csrf: str
    phase: Literal["consent", "trials", "done"]
    done: int
    total: int
    withdrawal: str
    screen_known: bool
    current: NextTrial | None = None
    following: NextTrial | None = None
    completion: str = ""
