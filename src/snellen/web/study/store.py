"""The store of a study: people, what each is to see, and what they answered. One transaction per thing that happens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import sqlalchemy as sa

from snellen.files import decode_json
from snellen.web.bodies import Refusal, not_there
from snellen.web.database import Database
from snellen.web.pictures import new_address
from snellen.web.study.bodies import AnswerBody, Arrival, Screen
from snellen.web.study.designs import choose
from snellen.web.study.folder import FILE, Item, StudyFolder
from snellen.web.study.masks import on_object
from snellen.web.study.tables import ANSWERS, PEOPLE, RECRUITS, TABLES, TRIALS
from snellen.web.tokens import fingerprint, new_token, same

STORE_VERSION = 1
STALE_SECONDS = 24 * 3600  # after which unanswered images of a person who went away count as not shown, in `balanced`
LATEST = 1e11  # s since 1970
_TIMES = [(column, 1) for column in (PEOPLE.c.consent_at, PEOPLE.c.seen_at, PEOPLE.c.done_at, ANSWERS.c.stored_at)]
_TIMES += [(ANSWERS.c.shown_at, 1000)]
INVITED, ACTIVE, DONE, WITHDRAWN = "invited", "active", "done", "withdrawn"


class Person(NamedTuple):
    """One row of the table of people, without their token."""

    id: int
    name: str
    state: str
    consent_at: float | None
    screen: str


class AssignedTrial(NamedTuple):
    """One thing that a person sees: its place in their order, its item, the address of its pictures, whether sides change."""

    id: int
    place: int
    item: int
    address: str
    flipped: bool
    is_answered: bool


class StudyStore:
    """All that changes while a study runs."""

    def __init__(self, folder: StudyFolder, database: str | None = None) -> None:
        self.folder, self.study = folder, folder.study
        self.database = Database(folder.store_place(database), TABLES, f"study {self.study.id}", STORE_VERSION)
        if fault := self._fault():
            self.close()
            raise self.database.damaged(fault)

    def _fault(self) -> str | None:
        """What is wrong with the rows: a state that there is not, or an item that the study does not have."""
        unknown_state = PEOPLE.c.state.not_in((INVITED, ACTIVE, DONE, WITHDRAWN))
        out_of_range = sa.or_(TRIALS.c.item < 0, TRIALS.c.item >= len(self.study.items))
        not_consented = PEOPLE.c.state.in_((INVITED, WITHDRAWN))
        with self.database.reading() as connection:
            if connection.execute(sa.select(PEOPLE.c.id).where(unknown_state)).first():
                return "a person is in no known state"
            if connection.execute(sa.select(TRIALS.c.id).where(out_of_range)).first():
                return f"a person was shown an item that {FILE} does not have"
            if connection.execute(sa.select(TRIALS.c.id).join(PEOPLE).where(not_consented)).first():
                return "images were chosen for a person who has not consented"
            for time_of, unit in _TIMES:
                if connection.execute(sa.select(time_of).where((time_of < 0) | (time_of > unit * LATEST))).first():
                    return f"a value of '{time_of.table.name}.{time_of.name}' is no time"
            for (screen,) in connection.execute(sa.select(PEOPLE.c.screen).where(PEOPLE.c.screen != "")):
                decode_json(screen.encode(), Screen, f"{self.database.name}, a person's screen")
        return None

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    # people

    def add_links(self, count: int) -> dict[str, str]:
        """Make people who come by a personal link: their names and tokens, which are not stored."""
        with self.database.writing() as connection:
            self._lock(connection)
            return dict(self._add_person(connection, new_token()) for _ in range(count))

    def recruit_token(self, arrival: Arrival) -> str:
        """The token of a person whom a recruiting site sends; the same for the same person. Nothing is stored."""
        ids = "\n".join([arrival.PROLIFIC_PID, arrival.STUDY_ID])
        return base64.urlsafe_b64encode(self._derive("recruit", ids)[:24]).decode()

    def check_room(self) -> None:
        """Refuse a person whom a recruiting site sends after enough others have consented (409)."""
        with self.database.reading() as connection:
            self._check_room(connection)

    def person(self, token: str) -> Person | None:
        """The person with this token; None where there is none, and after a withdrawal."""
        with self.database.reading() as connection:
            return _by_token(connection, token)

    def withdrawal_code(self, person: Person) -> str:
        """The code by which a person's answers can be erased, such as `K7QX-2MZN-4HDB`; it follows from the secret."""
        return self._code(person.id)

    def withdraw(self, code: str) -> bool:
        """Erase all that is stored of the person with this code but that there was one; whether there was."""
        wanted = code.strip().upper().replace(" ", "")
        with self.database.writing() as connection:
            rows = connection.execute(sa.select(PEOPLE.c.id).where(PEOPLE.c.state != WITHDRAWN)).scalars().all()
            person = next((row for row in rows if same(self._code(row), wanted)), None)
            if person is None:
                return False
            own = sa.select(TRIALS.c.id).where(TRIALS.c.person == person)
            connection.execute(ANSWERS.delete().where(ANSWERS.c.trial.in_(own)))
            connection.execute(TRIALS.delete().where(TRIALS.c.person == person))
            connection.execute(RECRUITS.delete().where(RECRUITS.c.person == person))
            gone = {
                "token": f"withdrawn {person}",
                "state": WITHDRAWN,
                "screen": "",
                "consent_at": None,
                "done_at": None,
                "seen_at": 0.0,
            }
            connection.execute(PEOPLE.update().where(PEOPLE.c.id == person).values(**gone))
        self.database.forget()
        return True

    # what people see

    def consent(self, visitor: Person | Arrival) -> None:
        """Store that and when a person consented, and choose what they see; a second time changes nothing.

        Of somebody whom a recruiting site has sent nothing is stored before.
        """
        with self.database.writing() as connection:
            self._lock(connection)
            person = self._recruited(connection, visitor) if isinstance(visitor, Arrival) else visitor
            row = connection.execute(sa.select(PEOPLE.c.state).where(PEOPLE.c.id == person.id)).scalar_one()
            if row != INVITED:
                return
            chosen = self._chosen(connection, person)
            main = self.study.of_kind("main")
            if not chosen:
                raise Refusal(409, "all pictures have been seen; thank you for your interest")
            rows = [
                {"person": person.id, "place": place, "item": item.number, "address": new_address(), "flipped": flipped}
                for place, (item, flipped) in enumerate(self._ordered(person, [main[place] for place in chosen]))
            ]
            connection.execute(TRIALS.insert(), rows)
            now = time.time()
            values = {"state": ACTIVE, "consent_at": now, "seen_at": now}
            connection.execute(PEOPLE.update().where(PEOPLE.c.id == person.id).values(**values))

    def screen(self, person: Person, screen: Screen) -> None:
        """Store what is known of a person's screen, in place of what was known before.

        The size that a card gave stays while the ratio of pixels, which is the browser's zoom too, is the same.
        """
        before = msgspec.json.decode(person.screen, type=Screen) if person.screen else screen
        if screen.pixels_per_mm is None and before.pixel_ratio == screen.pixel_ratio:
            screen = msgspec.structs.replace(screen, pixels_per_mm=before.pixels_per_mm)
        text = msgspec.json.encode(screen).decode()
        with self.database.writing() as connection:
            connection.execute(PEOPLE.update().where(PEOPLE.c.id == person.id).values(screen=text, seen_at=time.time()))

    def trials(self, person: Person) -> list[AssignedTrial]:
        """What a person sees, in order, and which of it they have answered."""
        query = (
            sa.select(
                TRIALS.c.id,
                TRIALS.c.place,
                TRIALS.c.item,
                TRIALS.c.address,
                TRIALS.c.flipped,
                ANSWERS.c.trial.is_not(None),
            )
            .select_from(TRIALS.outerjoin(ANSWERS))
            .where(TRIALS.c.person == person.id)
            .order_by(TRIALS.c.place)
        )
        with self.database.reading() as connection:
            return [AssignedTrial(*row) for row in connection.execute(query)]

    def item(self, trial: AssignedTrial) -> Item:
        """What a trial shows."""
        return self.study.items[trial.item]

    # what people answer

    def answer(self, person: Person, answer: AnswerBody) -> None:
        """Store an answer, on disk when this returns; one to an image that has its answer already is dropped.

        Refused: an image that is not the person's (404), one that is not their turn (409), an answer that does not fit (400).
        """
        trials = self.trials(person)
        trial = next((trial for trial in trials if same(trial.address, answer.trial)), None)
        if trial is None:
            not_there()
        if trial.is_answered:
            return
        if any(not other.is_answered for other in trials[: trial.place]):
            raise Refusal(409, "another picture comes first; load the page again")
        values = self._checked(trial, answer)
        is_last = trial.place == len(trials) - 1
        with self.database.writing() as connection:
            self._lock(connection)
            if connection.execute(sa.select(ANSWERS.c.trial).where(ANSWERS.c.trial == trial.id)).first():
                return  # another tab was faster
            if not connection.execute(sa.select(TRIALS.c.id).where(TRIALS.c.id == trial.id)).first():
                not_there()  # withdrawn meanwhile
            now = time.time()
            connection.execute(ANSWERS.insert().values(trial=trial.id, stored_at=now, **values))
            person_values: dict[str, Any] = {"seen_at": now} | ({"state": DONE, "done_at": now} if is_last else {})
            connection.execute(PEOPLE.update().where(PEOPLE.c.id == person.id).values(**person_values))

    def _checked(self, trial: AssignedTrial, answer: AnswerBody) -> dict[str, Any]:
        item, question = self.item(trial), self.study.question
        if answer.answer not in question.answers:
            raise Refusal(400, "expected one of the answers that the question offers")
        has_click = answer.x is not None and answer.y is not None
        if has_click != question.click or (answer.x is None) != (answer.y is None):
            raise Refusal(
                400, "expected a click on the picture" if question.click else "expected no click on the picture"
            )
        on_target = None
        if answer.x is not None and answer.y is not None:
            if not (0 <= answer.x < item.width and 0 <= answer.y < item.height):
                raise Refusal(400, f"expected a click in the picture, {item.width} x {item.height} pixels")
            on_target = on_object(self.folder, item, answer.x, answer.y)
        meant = answer.answer
        if item.options:
            side = question.answers.index(meant)
            meant = item.options[1 - side if trial.flipped else side]
        values = {
            name: getattr(answer, name) for name in answer.__struct_fields__ if name not in ("trial", "answer", "steps")
        }
        return values | {"answer": meant, "steps": msgspec.json.encode(answer.steps).decode(), "on_target": on_target}

    # inside

    def _chosen(self, connection: sa.Connection, person: Person) -> list[int]:
        """The places, among the main items, of those that a person is to see."""
        main = self.study.of_kind("main")
        design = self.study.settings["design"]
        seen = Counter(self._shown(connection, design == "balanced"))
        counts = [seen[item.number] for item in main]
        return choose(design, self.study.per_person, [item.source for item in main], counts, self._rng("items", person))

    def _shown(self, connection: sa.Connection, forget: bool) -> Sequence[int]:
        """The items that people have or will be shown; with `forget` without those that a person who went away left open."""
        query = sa.select(TRIALS.c.item).select_from(TRIALS.join(PEOPLE).outerjoin(ANSWERS))
        if forget:
            query = query.where(sa.or_(ANSWERS.c.trial.is_not(None), PEOPLE.c.seen_at > time.time() - STALE_SECONDS))
        return connection.execute(query).scalars().all()

    def _ordered(self, person: Person, main: list[Item]) -> list[tuple[Item, bool]]:
        """Practice first, then the rest with catch trials anywhere among it; and whether the sides of pictures change."""
        rng = self._rng("order", person)
        rest: list[Item] = list(main)
        for item in self.study.of_kind("catch"):
            rest.insert(int(rng.integers(0, len(rest) + 1)), item)
        practice = self.study.of_kind("practice")
        everything = [practice[place] for place in rng.permutation(len(practice))] + rest
        return [(item, bool(item.options) and bool(rng.integers(2))) for item in everything]

    def _rng(self, use: str, person: Person) -> np.random.Generator:
        seed = int(self.study.settings["seed"])
        return np.random.default_rng([seed, person.id, *use.encode()])

    def _check_room(self, connection: sa.Connection) -> None:
        most = self.study.settings.get("most_people")
        recruited = connection.execute(sa.select(sa.func.count()).select_from(RECRUITS)).scalar_one()
        if most is not None and recruited >= most:
            raise Refusal(409, "enough people have taken part; thank you for your interest")

    def _recruited(self, connection: sa.Connection, arrival: Arrival) -> Person:
        """The person whom a recruiting site has sent, with their ids; made where this is the first time."""
        token = self.recruit_token(arrival)
        if person := _by_token(connection, token):
            return person
        self._check_room(connection)
        self._add_person(connection, token)
        person = _by_token(connection, token)
        assert person is not None
        values = {"pid": arrival.PROLIFIC_PID, "study": arrival.STUDY_ID, "session": arrival.SESSION_ID}
        connection.execute(RECRUITS.insert().values(person=person.id, **values))
        return person

    def _add_person(self, connection: sa.Connection, token: str) -> tuple[str, str]:
        values = {"token": fingerprint(token), "state": INVITED, "screen": "", "seen_at": 0.0, "name": new_address()}
        number = connection.execute(PEOPLE.insert().values(**values)).inserted_primary_key[0]  # type: ignore[index]
        name = f"p{number:03d}"
        connection.execute(PEOPLE.update().where(PEOPLE.c.id == number).values(name=name))
        return name, token

    def _lock(self, connection: sa.Connection) -> None:
        """Let others who choose or answer wait, on PostgreSQL; SQLite has one writer anyway."""
        store = TABLES.tables["store"]
        connection.execute(sa.select(store).with_for_update()).all()

    def _derive(self, use: str, what: str) -> bytes:
        return hmac.new(bytes.fromhex(self.study.secret), f"{use}\n{what}".encode(), hashlib.sha256).digest()

    def _code(self, person: int) -> str:
        letters = base64.b32encode(self._derive("withdrawal", str(person)))[:12].decode()
        return "-".join(letters[start : start + 4] for start in (0, 4, 8))


def _by_token(connection: sa.Connection, token: str) -> Person | None:
    columns = (PEOPLE.c.id, PEOPLE.c.name, PEOPLE.c.state, PEOPLE.c.consent_at, PEOPLE.c.screen)
    row = connection.execute(sa.select(*columns).where(PEOPLE.c.token == fingerprint(token))).first()
    return None if row is None else Person(*row)
