"""What the desk's page asks and is told: images, decisions, undoing, previews of mending, agreement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from snellen.build.in9.curation import Mend
from snellen.errors import UserError, one_line
from snellen.web.bodies import Refusal, not_there
from snellen.web.curate.collection import Collection, Exhibit
from snellen.web.curate.mending import Stroke, mended, runs_of
from snellen.web.curate.reviews import OTHER, Review, mend_of, settle
from snellen.web.curate.store import Draft, ReviewStore
from snellen.web.pictures import Addresses, plain_png

ItemAddress = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Corners = Annotated[list[int], msgspec.Meta(min_length=4, max_length=4)]
Number = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
IMAGE = "image"


class Mending(msgspec.Struct, forbid_unknown_fields=True):
    """A box and strokes to try on an image; strokes null: the box alone changes."""

    item: ItemAddress
    box: Corners
    strokes: Annotated[list[Stroke], msgspec.Meta(max_length=2000)] | None = None


class Deciding(msgspec.Struct, forbid_unknown_fields=True):
    """A decision about an image. `attempt` is drawn by the page and the same when it is sent again."""

    item: ItemAddress
    attempt: ItemAddress
    decision: Literal["accept", "mend", "reject"]
    reason: Annotated[str, msgspec.Meta(max_length=80)] = ""
    note: Annotated[str, msgspec.Meta(max_length=500)] = ""
    box: Corners | None = None
    strokes: Annotated[list[Stroke], msgspec.Meta(max_length=2000)] | None = None


class Undoing(msgspec.Struct, forbid_unknown_fields=True):
    """The number of the decision to take back."""

    number: Number


class Choosing(msgspec.Struct, forbid_unknown_fields=True):
    """Which of the reviews of an image shall count."""

    item: ItemAddress
    attempt: ItemAddress
    number: Number


class Desk:
    """One collection and the store of its reviews, for any number of reviewers."""

    def __init__(self, collection: Collection, store: ReviewStore) -> None:
        self.collection, self.store, self.addresses = collection, store, Addresses()

    def state(self, reviewer: str) -> dict[str, Any]:
        """What the page begins with: the images, and what this reviewer has decided of each."""
        data, own = self.collection.data, self.store.standing()[0].get(reviewer, {})
        items = []
        for row, name in enumerate(self.collection.names):
            review = own.get(name)
            decided = [None, None] if review is None else [review.decision, review.reason]
            items.append([self._address(reviewer, row), int(data.samples.labels[row]), *decided])
        return {
            "reviewer": reviewer,
            "data": self.collection.text,
            "classes": list(data.classes),
            "reasons": [*self.collection.reasons, OTHER],
            "items": items,
            "last": self.store.last(reviewer),
        }

    def item(self, reviewer: str, address: str) -> dict[str, Any]:
        """All that is shown of an image: its class, its box, its mask as runs, and the addresses of its pictures."""
        row = self._row(reviewer, address)
        name, label = self.collection.names[row], int(self.collection.data.samples.labels[row])
        review = self.store.current(reviewer, name)
        facts = {
            "id": name,
            "class": self.collection.data.classes[label] if label >= 0 else "",
            "review": None if review is None else _facts_of(review),
        }
        try:
            exhibit = self.collection.exhibit(row).mended(self._mend(review))
        except UserError as error:
            return {**facts, "error": str(error)}
        version = review.number if review is not None and review.decision == "mend" else 0
        variants = [[kind, self._picture(reviewer, row, kind, version)] for kind in self.collection.variants]
        image = self._picture(reviewer, row, IMAGE, 0)
        return {**facts, **_shown(exhibit), "image": image, "variants": variants}

    def picture(self, reviewer: str, address: str) -> bytes:
        """The PNG file at an address."""
        thing = self.addresses.thing(reviewer, address)
        if thing is None or not thing.startswith("picture "):
            not_there()
        row, kind, version = thing.split(" ")[1:]
        if kind == IMAGE:
            return plain_png(self.collection.exhibit(int(row)).image)
        review = self.store.review(int(version)) if version != "0" else None
        return plain_png(self.collection.variant(int(row), kind, self._mend(review)))

    def try_mending(self, reviewer: str, mending: Mending) -> dict[str, Any]:
        """The box and the mask that a decision with these strokes would keep."""
        row = self._row(reviewer, mending.item)
        exhibit = self.collection.exhibit(row)
        return _shown(exhibit.mended(self._mended(row, exhibit, mending.box, mending.strokes)))

    def decide(self, reviewer: str, deciding: Deciding) -> dict[str, Any]:
        """Keep a decision: it is on disk when this returns."""
        row = self._row(reviewer, deciding.item)
        draft = Draft(self.collection.names[row], deciding.attempt, deciding.decision)
        if deciding.decision == "reject":
            draft = self._rejection(draft, deciding)
        elif deciding.reason or deciding.note:
            raise Refusal(400, "expected a reason with a rejection only")
        if deciding.decision == "mend":
            draft = self._mending(draft, row, deciding)
        elif deciding.box is not None or deciding.strokes is not None:
            raise Refusal(400, "expected a box and strokes with mending only")
        review = self.store.add(reviewer, draft)
        return {"review": _facts_of(review), "last": self.store.last(reviewer)}

    def undo(self, reviewer: str, number: int) -> dict[str, Any]:
        """Take back a decision; what is decided of its image then, if anything."""
        undone = self.store.undo(reviewer, number)
        if undone is None:
            not_there()
        review = self.store.current(reviewer, undone.sample)
        return {
            "item": self._address(reviewer, self.collection.rows[undone.sample]),
            "review": None if review is None else _facts_of(review),
            "last": self.store.last(reviewer),
        }

    def agreement(self, reviewer: str) -> dict[str, Any]:
        """How far reviewers agree, and the images that they judge differently."""
        settled = settle(*self.store.standing())
        pairs = [
            {
                "first": pair.first,
                "second": pair.second,
                "images": pair.agreement.n,
                "kappa": _number(pair.agreement.value),
                "low": _number(pair.agreement.low),
                "high": _number(pair.agreement.high),
                "observed": _number(pair.agreement.observed),
            }
            for pair in settled.pairs
        ]
        differing = [
            {
                "item": self._address(reviewer, self.collection.rows[name]),
                "id": name,
                "reviews": [_facts_of(review) for review in reviews],
            }
            for name, reviews in settled.open.items()
        ]
        return {"pairs": pairs, "open": differing, "settled": len(settled.reviews)}

    def choose(self, reviewer: str, choosing: Choosing) -> dict[str, Any]:
        """Let one of the reviews of an image count where they differ."""
        name = self.collection.names[self._row(reviewer, choosing.item)]
        chosen = self.store.review(choosing.number)
        if chosen is None or chosen.sample != name or chosen.final:
            raise Refusal(409, "this review no longer stands; load the page again")
        mask = self.store.mask(chosen.number)
        own = (chosen.decision, chosen.reason, chosen.note, chosen.box, chosen.strokes)
        self.store.add(reviewer, Draft(name, choosing.attempt, *own, mask, final=True))
        return {**self.agreement(reviewer), "last": self.store.last(reviewer)}

    def _rejection(self, draft: Draft, deciding: Deciding) -> Draft:
        if deciding.reason not in (*self.collection.reasons, OTHER):
            raise Refusal(400, f"expected a reason: {', '.join([*self.collection.reasons, OTHER])}")
        note = one_line(deciding.note).strip()
        if deciding.reason == OTHER and not note:
            raise Refusal(400, f"expected a note with the reason '{OTHER}'")
        return Draft(draft.sample, draft.attempt, "reject", deciding.reason, note)

    def _mending(self, draft: Draft, row: int, deciding: Deciding) -> Draft:
        exhibit = self.collection.exhibit(row)
        if deciding.box is None:
            raise Refusal(400, "expected a box with mending")
        mend = self._mended(row, exhibit, deciding.box, deciding.strokes)
        if mend.box is None and mend.mask is None:
            return Draft(draft.sample, draft.attempt, "accept")  # it is as it was
        painted = None if deciding.strokes is None else msgspec.json.encode(deciding.strokes).decode()
        return Draft(draft.sample, draft.attempt, "mend", box=mend.box, strokes=painted or "", mask=mend.mask)

    def _mended(self, row: int, exhibit: Exhibit, box: list[int], strokes: list[Stroke] | None) -> Mend:
        return mended(exhibit, self.collection.names[row], box, strokes, self.collection.settings)

    def _mend(self, review: Review | None) -> Mend | None:
        if review is None or review.decision != "mend":
            return None
        return mend_of(review, self.store.mask(review.number))

    def _address(self, reviewer: str, row: int) -> str:
        return self.addresses.of(reviewer, f"item {row}")

    def _picture(self, reviewer: str, row: int, kind: str, version: int) -> str:
        return self.addresses.of(reviewer, f"picture {row} {kind} {version}")

    def _row(self, reviewer: str, address: str) -> int:
        thing = self.addresses.thing(reviewer, address)
        if thing is None or not thing.startswith("item "):
            not_there()
        return int(thing.removeprefix("item "))


def _shown(exhibit: Exhibit) -> dict[str, Any]:
    height, width = exhibit.mask.shape
    share = float(np.mean(exhibit.mask))
    return {"width": width, "height": height, "box": exhibit.box, "mask": runs_of(exhibit.mask), "share": share}


def _facts_of(review: Review) -> dict[str, Any]:
    strokes: Any = msgspec.json.decode(review.strokes) if review.strokes else None
    facts: Mapping[str, Any] = {
        name: getattr(review, name) for name in ("number", "reviewer", "decision", "reason", "note")
    }
    return {**facts, "strokes": strokes}


def _number(value: float) -> float | None:
    return None if value != value else value
