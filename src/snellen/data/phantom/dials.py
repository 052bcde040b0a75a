"""The dials of the phantom world: what each may be, and how it is written in a data text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from snellen.errors import UserError, unknown

LEAST_PIXELS = 4  # across an object: with fewer, a ring or a tree may have no pixel at all

Value = int | float | tuple[float, float]


class Dial(NamedTuple):
    """A setting: a whole number, a number or a range `0.3..0.6`, with its least and greatest value."""

    kind: Literal["whole", "number", "range"]
    low: float
    high: float


DIALS: dict[str, Dial] = {
    "n": Dial("whole", 1, 10_000_000),
    "size": Dial("whole", 16, 512),
    "frames": Dial("whole", 1, 1000),
    "background_bias": Dial("number", 0, 1),
    "texture_bias": Dial("number", 0, 1),
    "colour_bias": Dial("number", 0, 1),
    "edge_class": Dial("number", 0, 1),
    "object_size": Dial("range", 0.1, 1),
    "off_centre": Dial("number", 0, 1),
    "clutter": Dial("number", 0, 1),
    "occlusion": Dial("number", 0, 1),
    "label_noise": Dial("number", 0, 1),
    "seed": Dial("whole", 0, 2**63 - 1),
}


@dataclass(frozen=True, kw_only=True)
class Dials:
    """How a world is dialled.

    `n` is how many images it lists, `size` their side in pixels, `frames` how many images make a clip.
    Shares of 0 to 1: `background_bias`, `texture_bias` and `colour_bias` are how often an image gets the scene, texture
    or hue of its class's own number, else any, uniformly; `edge_class` how often images of EDGE_CLASS, and of no other
    class, have axis-parallel bars in their scene; `off_centre` how far from the middle the object may be, 1 being
    anywhere inside the image; `clutter` how often each of six slots holds a smaller object behind the main one;
    `occlusion` how often another object stands in front, or in a clip passes; `label_noise` how often the given label is
    another class. `object_size` is the diameter of the circle around the object as a share of the side, least and most.
    """

    n: int = 4000
    size: int = 64
    frames: int = 1
    background_bias: float = 0.0
    texture_bias: float = 0.0
    colour_bias: float = 0.0
    edge_class: float = 0.0
    object_size: tuple[float, float] | float = (0.5, 0.8)
    off_centre: float = 1.0
    clutter: float = 0.0
    occlusion: float = 0.0
    label_noise: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, dial in DIALS.items():
            setting = getattr(self, name)
            for value in setting if isinstance(setting, tuple) else (setting,):
                if not dial.low <= value <= dial.high:
                    raise UserError(f"expected {name} in [{dial.low}, {dial.high}], got {value}")
        if self.smallest > self.largest:
            raise UserError(f"expected object_size as least..most, got {format_dial('object_size', self.object_size)}")
        if self.smallest * self.size < LEAST_PIXELS:
            raise UserError(
                f"expected objects of at least {LEAST_PIXELS} pixels, got object_size {self.smallest} of {self.size} "
                "pixels; raise object_size or size"
            )

    @property
    def smallest(self) -> float:
        """The least diameter of an object, as a share of the side."""
        return self.object_size[0] if isinstance(self.object_size, tuple) else self.object_size

    @property
    def largest(self) -> float:
        """The greatest diameter of an object, as a share of the side."""
        return self.object_size[1] if isinstance(self.object_size, tuple) else self.object_size

    @property
    def written(self) -> str:
        """Every dial as in a data text: `n=4000&size=64&…`, the same however the values were given."""
        return "&".join(f"{name}={format_dial(name, getattr(self, name))}" for name in DIALS)


def format_dial(name: str, value: Value) -> str:
    """A dial's value as text."""
    if DIALS[name].kind == "range":
        low, high = value if isinstance(value, tuple) else (value, value)
        return f"{float(low)}" if low == high else f"{float(low)}..{float(high)}"
    number = value[0] if isinstance(value, tuple) else value
    return str(int(number) if DIALS[name].kind == "whole" else float(number))


def read_dials(options: Mapping[str, str]) -> dict[str, Any]:
    """The values of dials given as texts, as `Dials` takes them."""
    for name in options:
        if name not in DIALS:
            raise unknown("phantom dial", name, DIALS)
    return {name: _value(name, text) for name, text in options.items()}


def _value(name: str, text: str) -> Value:
    kind = DIALS[name].kind
    try:
        if kind == "whole":
            return int(text)
        if kind == "range" and ".." in text:
            low, high = text.split("..")
            return float(low), float(high)
        return float(text)
    except ValueError:
        wanted = {"whole": "a whole number", "number": "a number", "range": "a number or a range like 0.3..0.6"}[kind]
        raise UserError(f"expected {name} as {wanted}, got '{text}'") from None
