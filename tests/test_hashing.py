"""Checksums tell images apart and do not depend on the batch."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.hashing import key_of, pixel_checksums


@pytest.mark.parametrize("shape", [(5, 4, 4, 3), (5, 3, 5, 3), (5, 1, 1, 3)])
def test_any_single_changed_pixel_changes_the_checksum_of_its_image_alone(shape: tuple[int, ...]) -> None:
    images = np.random.default_rng(0).integers(0, 255, shape, dtype=np.uint8)
    before = pixel_checksums(images)
    assert len(set(before)) == 5
    for place in np.ndindex(shape[1:]):
        changed = images.copy()
        changed[(2, *place)] += 1
        after = pixel_checksums(changed)
        assert after[2] != before[2]
        assert after[:2] + after[3:] == before[:2] + before[3:]


def test_an_image_has_its_checksum_alone_and_in_a_batch() -> None:
    images = np.random.default_rng(1).integers(0, 256, (6, 7, 5, 3), dtype=np.uint8)
    assert [pixel_checksums(images[i : i + 1])[0] for i in range(6)] == pixel_checksums(images)


def test_keys_do_not_depend_on_the_order_of_a_dictionary() -> None:
    assert key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1}) != key_of({"a": 1, "b": [3]})
