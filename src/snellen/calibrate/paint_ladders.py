"""Ladders about the square's paint: CutOcclusion is moved by it, iOcclusion orders observers by what they keep.

The observers split their answers between memory, which is all of their train-test gap, and texture, which knows both sides
alike. Under the square a planted share of memory is kept. What they do on seeing black is planted apart from that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from snellen.calibrate.ladder import CHANCE, Ladder

KEPT_SHARE = 0.6  # of what is remembered, the share that a square of AREA leaves
AREA = 0.3
# Objects that such a square never hides whole, and textures that tell the class: texture alone is always right.
PAINTED_WORLD = "size={size}&n={images}&texture_bias=1&object_size=0.7..0.9"
TRAIN, TEST = f"phantom:train?{PAINTED_WORLD}", f"phantom:test?{PAINTED_WORLD}"
FOOLED = "mixture(black(texture), texture, {x})"


def recall_observer(share: str) -> str:
    """An observer that recalls covered training images with probability `share`, clean ones always, else it guesses."""
    return f"mixture(memory(0.3, '{TRAIN}'), memory(0.8, '{TRAIN}'), {share})"


BOTH = f"observer:mixture({recall_observer(str(KEPT_SHARE))}, {FOOLED}, 0.5)"
KEEPING = f"observer:mixture({recall_observer('{x}')}, {FOOLED}, 0.5)"
WHOLE = f"mixture({recall_observer(str(KEPT_SHARE))}, texture, 0.5)"
BLINDED = f"observer:mixture(black({WHOLE}), {WHOLE}, {{x}})"
RECALLING = f"observer:memory(0.3, '{TRAIN}', mixture({FOOLED}, guess, 0.5))"
MEMORISED = f"observer:mixture({recall_observer(str(KEPT_SHARE))}, texture, {{x}})"


def paint_truth(x: float) -> float:
    """Covered test accuracy of BOTH: memory guesses, and of the texture's half black takes a share x."""
    return CHANCE / 2 + (1 - x + x * CHANCE) / 2


def ladder(
    title: str,
    says: str,
    model: str,
    finding: Literal["cut_occlusion", "iocclusion"],
    moves: Literal["up", "down", "flat"],
    truth: Callable[[float], float],
    **others: Any,
) -> Ladder:
    """A ladder of one square on test and training images, read under black unless `where` says otherwise."""
    settings = {"planted": "share of texture's answers that black decides", "where": {"fill": "black"}, **others}
    audits = f"occlusion([{AREA}], [black, stripes])"
    return Ladder(
        title=title, says=says, model=model, data=TEST, audit_train=TRAIN, audits=audits, finding=finding, moves=moves,
        truth=truth, **settings,
    )  # fmt: skip


PAINT_LADDERS: dict[str, Ladder] = {
    "paint_cut": ladder(
        "CutOcclusion is fooled by paint",
        "Half of the answers come from memory, of which a square leaves 60%, half from texture, which it leaves whole. "
        "On a share x of the latter black is taken for one class. Nothing else is hidden, yet CutOcclusion falls.",
        BOTH,
        "cut_occlusion",
        "down",
        paint_truth,
    ),
    "paint_stripes": ladder(
        "CutOcclusion under stripes",
        "The same observers under the same squares, striped: no observer takes stripes for a class, and what is hidden is "
        "the same on every rung.",
        BOTH,
        "cut_occlusion",
        "flat",
        lambda x: paint_truth(0),
        where={"fill": "stripes"},
    ),
    "paint_iocclusion": ladder(
        "iOcclusion is not fooled by the same paint",
        "The same observers under the same black squares: black costs training and test images equally many answers, so "
        "the gap stays, and with it the planted 60%.",
        BOTH,
        "iocclusion",
        "flat",
        lambda x: KEPT_SHARE,
    ),
    "keeping_iocclusion": ladder(
        "iOcclusion orders observers by what they remember",
        "As before, but the share of memory that a square leaves rises together with the share that black decides: "
        "iOcclusion is the former, x.",
        KEEPING,
        "iocclusion",
        "up",
        lambda x: x,
        planted="share of memory that is kept, and that black decides",
    ),
    "keeping_cut": ladder(
        "CutOcclusion orders them the other way",
        "The same observers: the more they keep, the less robust CutOcclusion calls them, because of the paint alone.",
        KEEPING,
        "cut_occlusion",
        "down",
        paint_truth,
        planted="share of memory that is kept, and that black decides",
    ),
    "memorised_iocclusion": ladder(
        "iOcclusion and how much is memorised",
        "A share x of the answers comes from memory, of which a square leaves 60%: how large the gap is does not matter, "
        "only what is left of it.",
        MEMORISED,
        "iocclusion",
        "flat",
        lambda x: KEPT_SHARE,
        planted="share of answers from memory",
        values=(0.2, 0.4, 0.6, 0.8, 1),
    ),
    "blinded_iocclusion": ladder(
        "Where paint fools iOcclusion: it blots out memory too",
        "Here black decides a share x of all answers, those from memory included. The gap closes by that share, and "
        "iOcclusion falls as if less were kept: 0.6 (1 − x).",
        BLINDED,
        "iocclusion",
        "down",
        lambda x: KEPT_SHARE * (1 - x),
        planted="share of all answers that black decides",
    ),
    "recalling_iocclusion": ladder(
        "Where paint fools iOcclusion: only new images fall for it",
        "Here every training image is recalled, covered or not, and black is looked at only where nothing is recalled. "
        "Test images alone fall for it, half of which are known by texture; the gap widens, and iOcclusion is 1 + x where 1 "
        "was planted.",
        RECALLING,
        "iocclusion",
        "up",
        lambda x: 1 + x,
    ),
}
