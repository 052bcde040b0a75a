"""What distortions declare, of instances and chains: draws, donors and what they can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from snellen.distort import Distortion, View, parse
from snellen.distort.law import Law, Uniform

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Dim(Distortion):
    """Takes `levels` grey levels away; draws nothing of its own."""

    levels: float | Law = 0

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return images - view.tensor(view.parameter("levels", self.levels)).to(images.dtype)[:, None, None, None]


def test_a_distortion_that_declares_nothing_has_every_default() -> None:
    dim = Dim(3)
    assert str(dim) == dim.words() == "dim(levels=3)"
    assert (dim.version, dim.needs, dim.identity) == (1, frozenset(), None)
    assert (dim.draws, dim.floating, dim.own_data, dim.whole_pool, dim.donor_objects) == (False,) * 5


def test_a_law_in_a_parameter_makes_an_instance_draw() -> None:
    assert Dim(Uniform(0, 3)).draws
    assert not (Dim(1) | Dim(2)).draws
    assert (Dim(1) | Dim(Uniform(0, 3))).draws


@pytest.mark.parametrize(
    ("text", "own_data", "whole_pool", "donor_objects"),
    [
        ("mix()", True, False, False),
        ("background(mixed_rand)", True, True, True),
        ("background(only_fg)", True, True, False),
        ("occlude(0.2, donor)", False, False, False),
        ("noise(0.1) | mix()", True, False, False),
        ("background(mixed_same) | shuffle(4)", True, True, True),
        ("mix() | occlude(0.2, donor)", False, False, False),
    ],
)
def test_a_chain_wants_of_donors_what_its_stages_want(
    text: str, own_data: bool, whole_pool: bool, donor_objects: bool
) -> None:
    distortion = parse(text)
    assert (distortion.own_data, distortion.whole_pool, distortion.donor_objects) == (
        own_data,
        whole_pool,
        donor_objects,
    )


def test_a_chain_is_floating_where_a_stage_is() -> None:
    assert parse("shuffle(2) | fourier(0.3)").floating
    assert parse("mix(fmix)").floating
    assert not parse("shuffle(2) | mix(cutmix)").floating
