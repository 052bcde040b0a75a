"""Run lengths of masks, against pycocotools."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as oracle

from snellen.data.segmentation import pack, rle, run_lengths


@given(arrays(bool, st.tuples(st.integers(1, 40), st.integers(1, 40)), elements=st.booleans(), fill=st.booleans()))
@settings(max_examples=200)
def test_run_lengths_are_those_of_pycocotools_to_the_byte(mask):
    expected = oracle.encode(np.asfortranarray(mask.astype(np.uint8)))
    assert rle(mask) == {"size": expected["size"], "counts": expected["counts"].decode()}


def test_run_lengths_of_large_areas_need_several_groups_and_signs():
    mask = np.zeros((300, 200), bool)
    mask[:, 3:190], mask[7, 50], mask[299, 199] = True, False, True
    expected = oracle.encode(np.asfortranarray(mask.astype(np.uint8)))
    assert rle(mask)["counts"] == expected["counts"].decode()


def test_runs_go_down_the_columns_and_start_outside():
    assert run_lengths(np.array([[1, 0, 0], [1, 1, 0]], bool)) == [0, 2, 1, 1, 2]
    # 0 → '0', 2 → '2', 1 → '1', then 1 − 2 = −1 → 31 → 'O', and 2 − 1 = 1 → '1'
    assert pack([0, 2, 1, 1, 2]) == "021O1"
