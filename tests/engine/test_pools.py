"""Donors and cut-outs as one value: what keys and run.json say of them."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.data import load_data
from snellen.data.occluders import from_images
from snellen.engine import Pools
from snellen.errors import UserError
from snellen.models import from_callable


def test_a_pool_that_is_not_there_is_not_named() -> None:
    donors = load_data("phantom:train?size=16&n=9")
    assert (Pools().present, Pools().fingerprints, Pools().to_json()) == ({}, {}, {})
    assert Pools(donors).fingerprints == {"donors": donors.fingerprint}
    assert Pools(donors).to_json() == {"donors": {"text": donors.text, "fingerprint": donors.fingerprint}}


def test_a_command_without_donors_does_not_make_a_folder_forget_them(tmp_path: Path) -> None:
    """Else a third command could paste other donors, and run.json would name those for answers that had the first."""
    model = from_callable(lambda images: np.full((len(images), 12), 1 / 12), size=16, name="flat", version="1")
    ask = functools.partial(snellen.audit, model, "phantom:test?size=16&n=12", out=tmp_path, quiet=True, report=False)
    pasted, plain = "interference([occlude(1, donor)])", "interference([occlude(1)])"
    ask(pasted, donors="phantom:train?size=16&n=9")
    first = ask(plain).facts["donors"]
    assert first["text"] == load_data("phantom:train?size=16&n=9").text
    with pytest.raises(UserError, match=r"was made with other donors \(phantom:train.*n=9.*, not phantom:train.*n=8"):
        ask(pasted, donors="phantom:train?size=16&n=8")


def test_both_pools_are_told_apart() -> None:
    cutout = np.zeros((4, 4, 4), np.uint8)
    cutout[1:3, 1:3] = 255
    occluders = from_images([cutout])
    pools = Pools(load_data("phantom:train?size=16&n=9"), occluders)
    assert list(pools.present) == ["donors", "occluders"]
    assert pools.to_json()["occluders"]["fingerprint"] == occluders.fingerprint
