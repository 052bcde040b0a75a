"""Donors and cut-outs as one value: what keys and run.json say of them."""

from __future__ import annotations

import numpy as np

from snellen.data import load_data
from snellen.data.occluders import from_images
from snellen.engine import Pools


def test_a_pool_that_is_not_there_is_not_named() -> None:
    donors = load_data("phantom:train?size=16&n=9")
    assert (Pools().present, Pools().fingerprints, Pools().to_json()) == ({}, {}, {})
    assert Pools(donors).fingerprints == {"donors": donors.fingerprint}
    assert Pools(donors).to_json() == {"donors": {"text": donors.text, "fingerprint": donors.fingerprint}}


def test_both_pools_are_told_apart() -> None:
    cutout = np.zeros((4, 4, 4), np.uint8)
    cutout[1:3, 1:3] = 255
    occluders = from_images([cutout])
    pools = Pools(load_data("phantom:train?size=16&n=9"), occluders)
    assert list(pools.present) == ["donors", "occluders"]
    assert pools.to_json()["occluders"]["fingerprint"] == occluders.fingerprint
