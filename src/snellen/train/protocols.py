"""The trainings of Volpi & Murino (2019) by name: network, recipe, and what RDA, RSDA and ESDA are set to there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from snellen.errors import UserError, unknown
from snellen.notation import Call, build, field_types, read
from snellen.train.shift.ways import SHIFTS, Searching


@dataclass(frozen=True)
class Protocol:
    """`edits` are set for all three ways, `searching` for RSDA and ESDA, whose recipe has other `lengths`."""

    recipe: str
    arch: str
    edits: Mapping[str, Any]
    searching: Mapping[str, Any]
    lengths: Mapping[str, Any] = field(default_factory=dict)


PROTOCOLS: dict[str, Protocol] = {
    # Section 5.1: N = 3, a search every 10,000 updates on 1,000 images, a million updates in all.
    "mnist": Protocol("volpi2019", "convnet", dict(set="mnist", length=3), dict(updates=10_000, images=1000)),
    # Section 5.2: N = 5, 100 searches on 2,000 images, each followed by 5 epochs, and the decay after them. The paper does not
    # say how it goes on: here as for the others, whose rate decays at 60, 120 and 160 of 200 epochs, without their first 60.
    "cifar10": Protocol(
        "volpi2019-cifar10", "wide_resnet16_4", dict(set="cifar10", length=5), dict(every=5, images=2000, searches=100),
        dict(epochs=505 + 140, schedule="after_searches(at=[0, 0.4286, 0.7143], factor=0.2)"),
    ),
    # Section 5.3: N = 5, a search every 10 epochs on 30 images.
    "camvid": Protocol("volpi2019-camvid", "fc_densenet103", dict(set="camvid", length=5), dict(every=10, images=30)),
}  # fmt: skip


def protocol_settings(name: str, scale: float, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a protocol's recipe, shortened, under some that were given.

    `scale` multiplies the length of the training and the number of searches; how often and how long each searches stays, and
    so does whatever is given.
    """
    from snellen.train.presets import PRESETS

    if name not in PROTOCOLS:
        raise unknown("protocol", name, PROTOCOLS)
    values = {**PRESETS[PROTOCOLS[name].recipe], "arch": PROTOCOLS[name].arch}
    return with_shift(PROTOCOLS[name], values, changes, scale)


def with_shift(
    protocol: Protocol, values: Mapping[str, Any], changes: Mapping[str, Any], scale: float = 1.0
) -> dict[str, Any]:
    """The values of a recipe and the changes, where these name RDA, RSDA or ESDA with what the protocol sets it to."""
    if not 0 < scale <= 1:
        raise UserError(f"expected a scale above 0 and at most 1, got {scale}")
    below, above = dict(values), dict(changes)
    robust = str(above.get("robust", "none"))
    way = SHIFTS.get(robust.partition("(")[0].strip())
    if way is not None:
        searches = issubclass(way, Searching)
        below.update(protocol.lengths if searches else {})
        defaults = _shortened({**protocol.edits, **(protocol.searching if searches else {})}, ("searches",), scale)
        above["robust"] = complete(robust, defaults)
    below = _shortened(below, ("epochs", "updates"), scale)
    if "epochs" in above and "updates" not in above:
        below.pop("updates", None)
    return {**below, **above}


def complete(text: str, defaults: Mapping[str, Any]) -> str:
    """The text of a way with the parameters that it does not name."""
    node = read(text)
    call = node if isinstance(node, Call) else Call(str(node))
    way: type = SHIFTS[call.name]
    fields = list(field_types(way))
    known = {*fields[: len(call.positional)], *(name for name, _ in call.named)}
    if "every" in known:
        known.add("updates")  # of the two ways to say how often, the one that was given counts
    more = tuple((name, value) for name, value in defaults.items() if name not in known)
    return str(build(Call(call.name, call.positional, (*call.named, *more)), SHIFTS, "way of training"))


def protocol_of(recipe: str) -> Protocol | None:
    """The protocol that a preset belongs to."""
    return next((protocol for protocol in PROTOCOLS.values() if protocol.recipe == recipe), None)


def _shortened(values: Mapping[str, Any], names: tuple[str, ...], scale: float) -> dict[str, Any]:
    short = {name: max(1, round(values[name] * scale)) for name in names if values.get(name)}
    return {**values, **short}
